"""Rerankers: candidates in, better order out."""
