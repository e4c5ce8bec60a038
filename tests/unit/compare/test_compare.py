"""Ways side by side, over sets, and their history; figures worked out by hand."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from small_index import Passage, small_index

from pipeline.answer.evidence import gather
from pipeline.compare.figures import summaries
from pipeline.compare.history import Entry, append, changes, history_of, read
from pipeline.compare.plot import history_svg, lines_of
from pipeline.compare.png import write_png
from pipeline.compare.question import overlap, side_by_side
from pipeline.compare.sets import compare_set
from pipeline.compare.trial import Journal, Trial, run_trials
from pipeline.compare.ways import WHOLE, Way, default_way, ways_of
from pipeline.embedders.hash import HashEmbedder
from pipeline.errors import CancelledError
from pipeline.evaluation.questions import KnownQuestion
from pipeline.retrieval.search import retrieve
from pipeline.settings import SearchSettings, Settings
from pipeline.text.flags import parse_flags
from pipeline.types import AskRequest, Explanation
from pipeline.understand import understand

EMBEDDER = HashEmbedder(256)
INDEX = small_index(
    [
        Passage("Отпуск длится 28 календарных дней.", "отпуск.txt"),
        Passage("Пропуск на склад выдаёт охрана.", "склад.txt"),
        Passage("Отпуск без сохранения зарплаты согласуют с директором.", "отпуск.txt"),
        Passage("Больничный лист оплачивает бухгалтерия.", "лист.txt"),
    ],
    EMBEDDER,
)
DEFAULT = default_way(SearchSettings())
KEYWORD = Way("keyword", "none")
QUESTIONS = [
    KnownQuestion(1, "Сколько дней длится отпуск?", ("отпуск.txt",)),
    KnownQuestion(2, "Кто выдаёт пропуск на склад?", ("склад.txt",)),
    KnownQuestion(3, "Как починить крышу?", ()),
]


@dataclass
class SmallService:
    """Explains over a small index; counts tokens as words."""

    asked: list[AskRequest] = field(default_factory=list)

    def parse(self, question: str, language: str) -> tuple[str, tuple[str, ...]]:
        parsed = parse_flags(question)
        return parsed.text, parsed.flags

    def explain(self, request: AskRequest, chunk_id: str = "") -> Explanation:
        self.asked.append(request)
        found = retrieve(understand(request), INDEX, EMBEDDER, SearchSettings())
        tokens = sum(len(hit.chunk.text.split()) for hit in found.hits)
        return Explanation(found, gather(found), (), 0, "kb1", read_tokens=tokens, counted_by="words")


def compared(question: str = QUESTIONS[0].text, **changes: Any) -> Any:
    ways = changes.pop("ways", ways_of((), ()))
    request = AskRequest(question=question, **changes)
    service: Any = SmallService()
    return side_by_side(service, request, ways, DEFAULT)


def test_all_strategies_on_one_question() -> None:
    found = compared(top_k=2)
    assert [one.way.strategy for one in found.seen] == ["none", "keyword", "dense", "hybrid-rrf", "hybrid-z"]
    assert found.usual.way == DEFAULT
    assert [len(one.hits) for one in found.seen] == [4, 2, 2, 2, 2]
    whole = found.seen[0]
    assert found.whole_tokens == whole.tokens == 21
    assert found.saving(whole) == 0.0
    assert found.saving(found.usual) == pytest.approx(1 - found.usual.tokens / 21)
    assert len({one.timings_ms["encode"] for one in found.seen}) == 1


def test_overlap_is_of_the_shorter_list() -> None:
    found = compared(top_k=2)
    whole, usual = found.seen[0], found.usual
    assert overlap(whole.hits, usual.hits) == overlap(usual.hits, whole.hits) == 1.0
    assert overlap(usual.hits[:1], usual.hits[1:]) == 0.0
    assert overlap((), usual.hits) == 0.0


def test_the_default_and_the_measure_of_saving_are_always_known() -> None:
    found = compared(ways=[KEYWORD])
    assert [one.way for one in found.seen] == [DEFAULT, KEYWORD]
    assert found.whole_tokens == 21


def test_a_flag_of_the_question_does_not_undo_the_ways() -> None:
    found = compared("Сколько дней длится отпуск? -k -nr -2")
    assert (found.question, found.flags) == ("Сколько дней длится отпуск?", ("-k", "-nr", "-2"))
    assert [one.found.retrieval.query.strategy for one in found.seen] == [
        one.way.strategy for one in found.seen
    ]
    looks_like_flags = compared("-- ключ -s")
    assert looks_like_flags.question == "ключ -s"
    assert looks_like_flags.usual.found.retrieval.query.text == "ключ -s"


def test_whoever_leaves_is_searched_for_no_more() -> None:
    service: Any = SmallService()
    left = iter([False, False, True])
    with pytest.raises(CancelledError):
        side_by_side(service, AskRequest(question="отпуск"), ways_of((), ()), DEFAULT, lambda: next(left))
    assert len(service.asked) == 2


def a_trial(key: str, way: Way, rank: int | None, **changes: Any) -> Trial:
    right = tuple(0 if place == rank else None for place in range(1, 4))
    trial = Trial(key, way, right, 1, refused=False, tokens=100, ms=2.0, encode_ms=1.0)
    return replace(trial, **changes)


def test_figures_by_hand() -> None:
    """Ranks 1, 2 and none: hit@1 1/3, hit@3 2/3, MRR (1 + 1/2) / 3; savings against 400 tokens."""
    trials = [
        *(a_trial(key, DEFAULT, rank) for key, rank in (("a", 1), ("b", 2), ("c", None))),
        *(a_trial(key, WHOLE, None, tokens=400) for key in "abc"),
        a_trial("d", DEFAULT, None, places=0, refused=True),
        a_trial("d", WHOLE, None, places=0, tokens=400),
    ]
    usual, whole = summaries(trials, DEFAULT)
    values = {name: one.value for name, one in usual.figures.items()}
    assert values["hit@1"] == pytest.approx(1 / 3)
    assert values["hit@3"] == pytest.approx(2 / 3)
    assert values["mrr"] == pytest.approx(0.5)
    assert values["recall"] == pytest.approx(2 / 3)
    assert (values["refused_wrongly"], values["refused_rightly"]) == (0.0, 1.0)
    assert (values["tokens"], values["ms"]) == (100.0, 2.0)
    assert (usual.saving, whole.saving) == (0.75, 0.0)
    assert usual.against == {}
    assert whole.against["mrr"].difference == pytest.approx(-0.5)
    for one in usual.figures.values():
        assert one.low <= one.value <= one.high


def test_a_set_without_answers_and_one_without_the_default() -> None:
    (only,) = summaries([a_trial("a", KEYWORD, None, places=0)], DEFAULT)
    assert "hit@1" not in only.figures
    assert (only.against, only.saving) == ({}, None)


def test_an_interrupted_set_goes_on_where_it_stopped(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journals", {"kb": "kb1"})
    service: Any = SmallService()
    ways = [DEFAULT, KEYWORD]
    left = iter([False, False, False, True])
    with pytest.raises(CancelledError):
        run_trials(service, QUESTIONS, ways, journal, cancelled=lambda: next(left))
    with journal.path.open("ab") as file:
        file.write(b'{"key": "cut sho')
    told: list[tuple[int, int]] = []
    trials = run_trials(service, QUESTIONS, ways, journal, step=lambda *step: told.append(step))
    assert len(service.asked) == 6
    assert told[-1] == (6, 6)
    assert [trial.way for trial in trials] == ways * 3
    assert journal.read() == {(trial.key, trial.way): trial for trial in trials}
    journal.close()
    assert journal.read() == {}


def settings_in(folder: Path) -> Settings:
    return Settings(home=folder)


def test_a_set_is_kept_in_the_history(tmp_path: Path) -> None:
    service: Any = SmallService()
    settings = settings_in(tmp_path)
    found = compare_set(service, settings, "вопросы.jsonl", QUESTIONS, [KEYWORD, WHOLE], top_k=3)
    entries = read(history_of(settings))
    assert entries == found.entries
    assert [entry.way for entry in entries] == [KEYWORD, WHOLE, DEFAULT]
    assert [entry.is_default for entry in entries] == [False, False, True]
    assert entries[0].figures["hit@1"][0] == 1.0
    assert (entries[0].count, entries[0].questions, entries[0].kb_version) == (3, "вопросы.jsonl", "kb1")
    assert entries[0].settings["top_k"] == 3
    assert list((tmp_path / "embeddings/.eval/compare").iterdir()) == [history_of(settings)]


def test_ways_that_would_only_be_called_so_are_left_out(tmp_path: Path) -> None:
    """There is no cross-encoder: late interaction under its name would be a lie."""
    service: Any = SmallService()
    crossed = Way("dense", "cross-encoder")
    found = compare_set(service, settings_in(tmp_path), "a", QUESTIONS, [crossed, KEYWORD])
    assert found.left_out == (crossed,)
    assert [one.way for one in found.summaries] == [KEYWORD, DEFAULT]


def an_entry(when: str, way: Way, value: float, **changes: Any) -> Entry:
    figures = {"mrr": (value, value - 0.05, value + 0.05), "tokens": (600.0, 590.0, 610.0)}
    entry = Entry(
        when, "kb1", "a.jsonl", 3, {"candidates": 30}, way, way == DEFAULT, figures, 0.8, {"mrr": 0.5}
    )
    return replace(entry, **changes)


HISTORY = [
    an_entry("2026-11-01T10:00:00+00:00", DEFAULT, 0.9),
    an_entry("2026-11-01T10:00:00+00:00", WHOLE, 0.02),
    an_entry("2026-11-02T10:00:00+00:00", DEFAULT, 0.92, settings={"candidates": 60}),
    an_entry("2026-11-02T10:00:00+00:00", KEYWORD, 0.85, settings={"candidates": 60}),
]


def test_lines_that_are_none_do_not_hide_the_others(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    append(path, summaries([a_trial("a", DEFAULT, 1)], DEFAULT), questions="a", count=1, kb_version="k",
           settings={}, default=DEFAULT)  # fmt: skip
    with path.open("ab") as file:
        file.write(b'\nnonsense\n[]\n{"when": 3}\n{"when": "2026-11-01", "figures": {"mrr": [1]}}\n')
    assert len(read(path)) == 1
    assert read(tmp_path / "missing.jsonl") == []


def test_what_changed_from_run_to_run() -> None:
    assert changes(HISTORY) == [("2026-11-02T10:00:00+00:00", "candidates 30 → 60")]
    moved = replace(HISTORY[0], when="2026-11-03T10:00:00+00:00", kb_version="kb2")
    assert changes([HISTORY[0], moved])[0][1] == "kb kb1 → kb2"


def test_the_picture_is_well_formed_and_says_everything() -> None:
    drawn = history_svg(HISTORY, "mrr", "<MRR> & co")
    root = ET.fromstring(drawn)
    texts = [node.text or "" for node in root.iter() if node.tag.endswith("text")]
    assert root.attrib["aria-label"] == "<MRR> & co"
    assert "0.920 hybrid-z + late-interaction" in texts
    assert "0.850 keyword + none" in texts
    assert "↓ 0.020 none + none" in texts
    lines = [node for node in root.iter() if node.tag.endswith("polyline")]
    assert [len(line.attrib["points"].split()) for line in lines] == [2, 1]
    assert "<style>" in drawn
    assert "<style>" not in history_svg(HISTORY, "mrr", "x", alone=False)


def test_a_picture_of_counts_of_many_ways_and_of_nothing() -> None:
    many = [an_entry(HISTORY[0].when, Way(f"s{n}", "none"), 0.9 - n / 100) for n in range(12)]
    drawn = history_svg([*many, HISTORY[0]], "mrr", "x")
    assert drawn.count("<polyline") == 8
    assert "hybrid-z + late-interaction" in drawn
    assert "600" in history_svg(HISTORY, "tokens", "x", lower_is_better=True)
    ET.fromstring(history_svg([], "mrr", "x"))


def test_the_default_of_the_picture_is_that_of_the_last_run() -> None:
    later = an_entry("2026-11-03T10:00:00+00:00", DEFAULT, 0.9, is_default=False)
    _, lines = lines_of([*HISTORY, later], "mrr")
    assert [line.is_default for line in lines if line.way == DEFAULT] == [False]


def test_the_picture_as_png(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    write_png(HISTORY, "", "mrr", "ru", tmp_path / "history.png")
    assert (tmp_path / "history.png").read_bytes().startswith(b"\x89PNG")
