"""Evidence made by hand."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.text.sentences import split_sentences
from pipeline.types import Chunk, Evidence, EvidenceSentence, Hit


def chunk(text: str, n: int = 1, topic: str = "", link: str | None = None) -> Chunk:
    return Chunk(f"c{n}", f"d{n}", 0, topic, text, start=100, end=100 + len(text), link=link, file=f"{n}.txt")


def hit(text: str, n: int = 1, topic: str = "", link: str | None = None) -> Hit:
    return Hit(chunk(text, n, topic, link), score=1 - n / 10, rank=n)


def evidence(*texts: str, best: Sequence[str] = (), topics: Sequence[str] = ()) -> Evidence:
    """One hit a text; ``best`` names the chosen sentences, best first (by default all, in order)."""
    titles = [*topics, *[""] * len(texts)]
    hits = tuple(hit(text, n, titles[n - 1]) for n, text in enumerate(texts, 1))
    sentences = [
        EvidenceSentence(one.rank, one.chunk, start, end, 0.9)
        for one in hits
        for start, end in split_sentences(one.chunk.text)
    ]
    if best:
        sentences = [next(s for s in sentences if s.text == text) for text in best]
    return Evidence(hits, tuple(sentences), relevance=0.9, refused=False)
