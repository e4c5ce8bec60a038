"""From documents to chunks: one strategy a file, all behind `body.Strategy`."""
