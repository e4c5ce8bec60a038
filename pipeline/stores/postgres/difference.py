"""What a base and an index differ in, by content hashes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

__all__ = ["BODY", "Difference", "difference"]

BODY = 16
"""Bytes of a hash that stand for what is costly to send: texts and vectors. The rest stand for labels."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What has to be done to the rows of one source.

    Attributes:
        sent: Row number in the index -> hash: rows that are sent whole.
        relabelled: Likewise: rows that stay, with other labels.
        gone: Ids of rows that are removed, those that are sent anew among them.
        kept: Rows that stay, with or without other labels.
    """

    sent: Mapping[int, bytes]
    relabelled: Mapping[int, bytes]
    gone: tuple[str, ...]
    kept: int

    @property
    def nothing(self) -> bool:
        """True if the base holds all of it already."""
        return not (self.sent or self.relabelled or self.gone)


def difference(known: Mapping[str, bytes], wanted: Iterable[tuple[str, bytes]]) -> Difference:
    """Compare the hashes of a base, by id, with those of an index, in row order."""
    left = dict(known)
    sent: dict[int, bytes] = {}
    relabelled: dict[int, bytes] = {}
    gone: list[str] = []
    kept = 0
    for number, (name, digest) in enumerate(wanted):
        found = left.pop(name, None)
        if found is not None and found[:BODY] == digest[:BODY]:
            kept += 1
            if found != digest:
                relabelled[number] = digest
            continue
        sent[number] = digest
        if found is not None:
            gone.append(name)
    return Difference(sent, relabelled, (*gone, *left), kept)
