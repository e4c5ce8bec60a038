"""Finds the page's files in a wheel and in a checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

__all__ = ["asset_folder"]


def asset_folder(name: Literal["static", "templates"]) -> Path:
    """The folder with the page's files: inside the installed package, else beside it in a checkout."""
    package = Path(__file__).resolve().parent
    installed = package / "_assets" / name
    return installed if installed.is_dir() else package.parent / name
