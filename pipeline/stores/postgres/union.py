"""What several sources of one base are together: one manifest, one calibration."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.index import Calibration, Manifest

__all__ = ["Part", "united_calibration", "united_manifest"]


@dataclass(frozen=True, slots=True)
class Part:
    """One source of a base."""

    name: str
    manifest: Manifest
    calibration: Calibration | None
    chunks: int


def united_manifest(parts: Sequence[Part]) -> Manifest:
    """The manifest of a base: of its one source, or of all of them, with a build id made of theirs.

    Files of the same name in two sources are told apart by the source's name before the later one.

    Args:
        parts: At least one, in the order of their names.
    """
    first = parts[0].manifest
    if len(parts) == 1:
        return first
    names = "\0".join(f"{part.name}\0{part.manifest.build_id}" for part in parts)
    return replace(
        first,
        build_id=hashlib.sha256(names.encode()).hexdigest()[: max(len(first.build_id), 16)],
        files=_united([(part.name, part.manifest.files) for part in parts]),
        skipped=_united([(part.name, part.manifest.skipped) for part in parts]),
        unread=_united([(part.name, part.manifest.unread) for part in parts]),
        beside=_united([(part.name, part.manifest.beside) for part in parts]),
    )


def united_calibration(parts: Sequence[Part]) -> Calibration | None:
    """A calibration for all sources together, never laxer than that of any one of them.

    The best evidence for a question about something else is the best in any source, so the union needs at
    least the highest threshold of its sources. None where a source that holds chunks has none, or where they
    were made by different methods. The shares are those of the source whose threshold holds.
    """
    found = [part.calibration for part in parts if part.chunks]
    known = [one for one in found if one is not None]
    if not known or len(known) < len(found) or len({one.method for one in known}) > 1:
        return None
    strictest = max(known, key=lambda one: one.shift)
    return replace(strictest, shift_abroad=max(one.shift_abroad for one in known))


def _united(parts: Sequence[tuple[str, Mapping[str, str]]]) -> dict[str, str]:
    made: dict[str, str] = {}
    for name, values in parts:
        for file, value in values.items():
            made[f"{name}:{file}" if made.get(file, value) != value else file] = value
    return made
