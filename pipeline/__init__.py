"""Otvet: question answering over your own documents, on an ordinary laptop."""

__all__ = ["__version__"]

__version__ = "0.1.0"
