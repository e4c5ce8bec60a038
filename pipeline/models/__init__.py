"""Where model files come from: catalogue, download, verification, conversion."""
