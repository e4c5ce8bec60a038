"""Removing a model and whatever an unfinished installation of it left."""

from __future__ import annotations

import shutil
from pathlib import Path

from pipeline.errors import ModelError
from pipeline.models.catalog import Catalog
from pipeline.models.layout import staging_folder
from pipeline.models.lock import model_lock

__all__ = ["remove"]


def remove(models: Path, name: str, catalog: Catalog | None = None) -> bool:
    """Remove a model; False if there was nothing of it.

    Raises:
        ModelUnknownError: There is no such name in the catalogue.
        ModelError: The files cannot be removed, for example because a server has them open.
    """
    (catalog or Catalog.load()).entry(name)
    folder, staging = models / name, staging_folder(models, name)
    if not folder.is_dir() and not staging.is_dir():
        return False
    try:
        with model_lock(models, name, lambda: None):
            if folder.is_dir():
                # First out of sight in one step: an interrupted removal must not leave half a model.
                staging.mkdir(parents=True, exist_ok=True)
                folder.replace(staging / "removed")
            if staging.is_dir():
                shutil.rmtree(staging)
    except OSError as error:
        raise ModelError(reason=error) from error
    return True
