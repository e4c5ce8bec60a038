"""Readers: one file format a module, each a function ``(path, file) -> list[Document]``."""
