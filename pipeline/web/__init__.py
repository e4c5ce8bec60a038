"""The HTTP contract, independent of any web framework."""
