"""The check of a generated text against its sources, sentence by sentence.

The model proposes, the server decides: a marker must name a known source that supports its sentence, a
sentence without one gets the source that does, and every number, date, code and quoted name must stand in
a cited source. What fails is marked, never silently kept.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.answer.facts import Fact, find_facts
from pipeline.answer.markers import Statement, split_statements
from pipeline.answer.support import CitedSource, content_terms, negates, shared
from pipeline.text.language import detect_language

__all__ = ["Checked", "check_statement", "checked_statements"]

SUPPORTED = 0.5
"""Share of a sentence's content words that a source must hold to support it."""

FAITHFUL = 0.8
"""Share of them that one sentence of the cited source must hold (with its title) for a faithful rendering."""

_LINK = re.compile(r"(?:https?://|www\.)[^\s<>«»\"'`\])]+", re.IGNORECASE)
_MARKDOWN_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\(([^()\s]*)[^()\n]*\)")
_EMPTY_BRACKETS = re.compile(r"\s*[(\[<]\s*[)\]>]")


@dataclass(frozen=True, slots=True)
class Checked:
    """A sentence after the check.

    Attributes:
        lead: White space before it.
        text: Its words, without markers and without links that no source holds.
        numbers: The sources it cites; each is known.
        unsupported: True when no source says it.
        strange: Facts of it that no cited source holds; offsets into ``text``.
        loose: True when no single sentence of a cited source says all of it: the model has blended several,
            added something, or dropped a «не».
        foreign: True when it is in another language than its sources; words cannot be compared then.
        verbatim: True for words of a source put in the place of the model's.
        obedient: True when it holds a word that only an order to the model does.
    """

    lead: str
    text: str
    numbers: tuple[int, ...]
    unsupported: bool = False
    strange: tuple[Fact, ...] = ()
    loose: bool = False
    foreign: bool = False
    obedient: bool = False
    verbatim: bool = False

    @property
    def sound(self) -> bool:
        """True when nothing is wrong with it."""
        return not self.unsupported and not self.strange


def checked_statements(text: str, sources: Mapping[int, CitedSource]) -> list[Checked]:
    """Every sentence of a generated text, checked; sentences said before are left out.

    Args:
        text: What the generator wrote, markers and all.
        sources: The sources by number; all of them may be cited.
    """
    seen: set[str] = set()
    checked: list[Checked] = []
    for statement in split_statements(text, sources):
        one = _with_obedience(check_statement(statement, sources), sources)
        key = " ".join(content_terms(one.text)) or one.text
        if one.text and key not in seen:
            seen.add(key)
            checked.append(one)
    return checked


def check_statement(statement: Statement, sources: Mapping[int, CitedSource]) -> Checked:
    """One sentence with its links, markers and facts put right or marked."""
    text = _without_foreign_links(statement.text, sources.values())
    claim = content_terms(text)
    checked = Checked(statement.lead, text, statement.numbers)
    if text.endswith("?"):
        return replace(checked, numbers=(), unsupported=True)  # the question said again is no answer
    if not claim or text.endswith(":"):
        return checked  # «Да.» or the line that opens a list: nothing to support
    language = detect_language(text)
    # Two languages share no words: there the model's own marker is all there is to go by.
    foreign = {n for n in statement.numbers if sources[n].language != language}
    numbers = tuple(n for n in statement.numbers if n in foreign or _supports(sources[n], claim))
    if not numbers:
        best = max(sources.values(), key=lambda source: shared(claim, source.terms), default=None)
        if best is None or not _supports(best, claim):
            return replace(checked, numbers=(), unsupported=True)
        numbers = (best.n,)
    checked = replace(checked, numbers=numbers, foreign=not foreign.isdisjoint(numbers))
    checked = _with_facts(checked, sources)
    return replace(checked, loose=not checked.foreign and _is_loose(checked, claim, sources))


def _is_loose(checked: Checked, claim: Sequence[str], sources: Mapping[int, CitedSource]) -> bool:
    """One sentence of each cited source, with its title, does not say the same."""
    terms = frozenset[str]()
    said = ""
    for n in checked.numbers:
        passage = sources[n].best_passage(claim)
        terms |= sources[n].title_terms | (passage.terms if passage else frozenset())
        said += sources[n].chunk.text[passage.start : passage.end] if passage else ""
    return shared(claim, terms) < FAITHFUL or negates(checked.text) != negates(said)


def _with_facts(checked: Checked, sources: Mapping[int, CitedSource]) -> Checked:
    """Facts that a cited source lacks: cite the source that has them, or call them strange."""
    numbers = list(checked.numbers)
    strange: list[Fact] = []
    for fact in find_facts(checked.text):
        if any(sources[n].facts.holds(fact) for n in numbers):
            continue
        other = next((n for n, source in sources.items() if source.facts.holds(fact)), None)
        if other is None:
            strange.append(fact)
        else:
            numbers.append(other)
    return replace(checked, numbers=tuple(sorted(numbers)), strange=tuple(strange))


def _with_obedience(checked: Checked, sources: Mapping[int, CitedSource]) -> Checked:
    ordered = frozenset[str]().union(*(source.ordered for source in sources.values()))
    said = frozenset[str]().union(*(source.terms for source in sources.values()))
    return replace(checked, obedient=not (ordered - said).isdisjoint(content_terms(checked.text)))


def _supports(source: CitedSource, claim: Sequence[str]) -> bool:
    return shared(claim, source.terms) >= SUPPORTED


def _without_foreign_links(text: str, sources: Collection[CitedSource]) -> str:
    """The text without addresses that no source has as its link or in its own words."""

    def known(link: str) -> bool:
        bare = link.rstrip(".,;:!?/")
        return any(bare in (source.chunk.link or "") or bare in source.text for source in sources)

    text = _MARKDOWN_LINK.sub(lambda m: m[0] if known(m[2]) else m[1], text)
    text = _LINK.sub(lambda m: m[0] if known(m[0]) else "", text)
    return " ".join(_EMPTY_BRACKETS.sub("", text).split(" ")).strip()
