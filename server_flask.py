"""Otvet over flask."""
