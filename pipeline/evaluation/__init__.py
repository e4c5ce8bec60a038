"""Measures of retrieval and answer quality."""
