"""How well an index stands: its files, its documents, and whether its passages can be found."""
