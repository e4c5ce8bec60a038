"""Where an index lives on disk."""
