"""From the files of a knowledge base to an index."""
