"""Otvet over fastapi."""
