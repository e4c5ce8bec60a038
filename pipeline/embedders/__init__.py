"""Embedders, one engine a file."""
