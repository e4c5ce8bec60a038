"""``recursive``: cut at the strongest separator that helps: empty line, line, sentence, word, character.

The splitter that LangChain made common (RecursiveCharacterTextSplitter), counting tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pipeline.ingest.chunkers.body import Body, Range
from pipeline.ingest.chunkers.packing import pack
from pipeline.ingest.chunkers.paragraphs import lines_of, paragraphs
from pipeline.ingest.chunkers.units import units_of
from pipeline.text.sentences import split_sentences

__all__ = ["by_separators"]


def by_separators(body: Body) -> Iterator[Range]:
    """Cut at separators, the coarsest first; see `body.Strategy`.

    Small neighbours are put together as far as a chunk holds them; what is over it is cut at the
    next finer separator. Nothing is shared between neighbours.
    """
    return _merged(body, paragraphs(body.text), _FINER)


def _merged(body: Body, pieces: Sequence[Range], finer: Sequence[_Level]) -> Iterator[Range]:
    group: list[Range] = []
    for piece in pieces:
        if group and body.count(group[0][0], piece[1]) > body.budget:
            yield from _fitted(body, group)
            group = []
        if finer and body.count(*piece) > body.budget:
            yield from _merged(body, finer[0](body.text, *piece), finer[1:])
        else:
            group.append(piece)
    if group:
        yield from _fitted(body, group)


def _fitted(body: Body, group: Sequence[Range]) -> Iterator[Range]:
    """A group as one chunk, or as more where it does not fit as a whole."""
    return pack(body, units_of(body, group, body.budget), body.budget)


def _sentences(text: str, start: int, end: int) -> list[Range]:
    return [(start + first, start + last) for first, last in split_sentences(text[start:end])]


_Level = Callable[[str, int, int], list[Range]]
_FINER: tuple[_Level, ...] = (lines_of, _sentences)
