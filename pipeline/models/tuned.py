"""How the models of a folder run fastest on this machine: ``tuned.json``, written by ``otvet tune``."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from pipeline.durable import put_in_place
from pipeline.hardware import processor

__all__ = ["TUNED", "TunedEncoder", "TunedGenerator", "Tuning", "read_tuning", "write_tuning"]

TUNED = "tuned.json"

logger = logging.getLogger(__name__)


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TunedGenerator(_Record):
    """The language model.

    Attributes:
        model: Its catalogue name or path.
        size: Bytes of its file: another file of the same name is another model.
        engine: Package and version that was measured.
        threads: Threads of llama.cpp.
        options: Fields of `EngineOptions`.
        seconds: What a typical answer takes so, by the speeds measured.
        gain: How many times less that is than with the options that were tried first.
        defaults_run: Whether those are the library's own; False where the model does not run with them.
    """

    model: str
    size: int
    engine: str
    threads: int
    options: Mapping[str, bool | int]
    seconds: float
    gain: float
    defaults_run: bool = True


class TunedEncoder(_Record):
    """The embedder: seconds that it takes for a few questions and passages, else as the language model."""

    model: str
    engine: str
    threads: int
    seconds: float
    gain: float


class Tuning(_Record):
    """Everything measured on one machine."""

    format: Literal[1] = 1
    processor: str
    measured: str
    generator: TunedGenerator | None = None
    encoder: TunedEncoder | None = None


def read_tuning(models: Path) -> Tuning | None:
    """What was measured on this very processor; None where nothing was, or where it cannot be read."""
    try:
        data = (models / TUNED).read_bytes()
    except OSError:
        return None
    try:
        found = Tuning.model_validate_json(data)
    except ValidationError as error:
        # Defaults are always right, only slower: a file that somebody broke is no reason to stop.
        logger.warning("%s is not used: %s", TUNED, error)
        return None
    return found if found.processor == processor() else None


def write_tuning(models: Path, tuning: Tuning) -> None:
    """Replace what was measured before."""
    models.mkdir(parents=True, exist_ok=True)
    put_in_place(models / TUNED, f"{tuning.model_dump_json(indent=2)}\n".encode())
