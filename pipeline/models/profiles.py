"""Which models a profile stands for on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pipeline.models.catalog import Catalog, ProfileName, profile_models
from pipeline.models.layout import installed

__all__ = ["ProfileModels", "resolve_profile"]


@dataclass(frozen=True, slots=True)
class ProfileModels:
    """Names (or paths) of the models in force; None: the profile does without.

    Attributes:
        profile: The profile that ``auto`` came to.
        embedder: Always there.
        cross_encoder: The profile's own or, where it has none, the first installed one.
        generator: None means extractive answers.
    """

    profile: ProfileName
    embedder: str
    cross_encoder: str | None
    generator: str | None

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(filter(None, (self.embedder, self.cross_encoder, self.generator)))


def resolve_profile(
    profile: Literal["auto", "embedded", "reference", "search"],
    models: Path,
    *,
    embedder: str = "",
    cross_encoder: str = "",
    generator: str = "",
    catalog: Catalog | None = None,
) -> ProfileModels:
    """The models of a profile; ``auto`` is ``reference`` where that is fully installed, else ``embedded``.

    Args:
        profile: As in the settings.
        models: The models folder.
        embedder: The setting that replaces the profile's own; empty: none does.
        cross_encoder: The same.
        generator: The same.
        catalog: Another catalogue than the shipped one.
    """
    catalog = catalog or Catalog.load()
    name: ProfileName
    if profile == "auto":
        wanted = profile_models("reference", catalog)
        complete = all(installed(models, model, catalog) for model in wanted)
        name = "reference" if complete else "embedded"
    else:
        name = profile
    own = catalog.profiles[name]
    return ProfileModels(
        profile=name,
        embedder=embedder or own.embedder,
        cross_encoder=cross_encoder or own.cross_encoder or _any_cross_encoder(models, catalog),
        generator=generator or own.generator,
    )


def _any_cross_encoder(models: Path, catalog: Catalog) -> str | None:
    for name, entry in catalog.models.items():
        if entry.role == "cross_encoder" and installed(models, name, catalog) is not None:
            return name
    return None
