"""The registry of strategies and rerankers, and that one registration is seen everywhere."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from small_index import Passage, small_index

from pipeline.answer.evidence import gather
from pipeline.answer.prompt import build_prompt
from pipeline.compare.ways import Way, default_way, every_way, ways_of
from pipeline.embedders.hash import HashEmbedder
from pipeline.errors import InvalidRequestError, SettingsError
from pipeline.retrieval.room import Room
from pipeline.retrieval.search import retrieve
from pipeline.settings import SearchSettings, load_settings
from pipeline.snapshot import Asked, Excerpt, Snapshot
from pipeline.strategies import RERANKERS, STRATEGIES, About, Reranking, Strategy, letter_flags, settled
from pipeline.text.flags import parse_flags
from pipeline.types import AskRequest, Filter, Query
from pipeline.understand import understand
from pipeline.web.openapi import document
from pipeline.web.schemas import parse

EMBEDDER = HashEmbedder(256)
TEXTS = (
    "Отпуск длится 28 календарных дней.",
    "Больничный лист оплачивает бухгалтерия.",
    "Пропуск на склад выдаёт охрана.",
    "Отпуск без сохранения зарплаты согласуют с директором.",
)
INDEX = small_index([Passage(text, f"{n}.txt", f"Тема {n}") for n, text in enumerate(TEXTS)], EMBEDDER)
QUESTION = "Сколько дней длится отпуск?"


def search(**changes: Any) -> Any:
    settings = changes.pop("settings", SearchSettings())
    room = changes.pop("room", None)
    return retrieve(Query(QUESTION, QUESTION, **changes), INDEX, EMBEDDER, settings, room=room)


class Backwards:
    """A cross-encoder that prefers what stands last."""

    name = "cross_encoder"

    def score(self, question: str, passages: Sequence[str]) -> NDArray[np.float32]:
        return np.arange(len(passages), dtype=np.float32)


@pytest.fixture
def fifth() -> Iterator[Strategy]:
    """A strategy from outside: dense search of the two best only."""
    words = About("Два лучших", "Двое по смыслу.", "Коротко.", "Мало.", "Проверка.")
    english = About("The best two", "By meaning.", "Short.", "Few.", "Tests.")

    def find(snapshot: Snapshot, asked: Asked, wanted: Filter | None, count: int) -> Excerpt:
        return snapshot.candidates(asked, wanted, mode="dense", fusion="zscore", count=2)

    strategy = Strategy("top-two", "-two", {"ru": words, "en": english}, find)
    STRATEGIES.add(strategy)
    yield strategy
    STRATEGIES.remove(strategy.name)


def test_the_names_of_the_issue_are_there() -> None:
    assert STRATEGIES.names() == ("none", "keyword", "dense", "hybrid-rrf", "hybrid-z")
    assert RERANKERS.names() == ("none", "text-only", "late-interaction", "cross-encoder")
    assert default_way(SearchSettings()) == Way("hybrid-z", "late-interaction")
    assert len(every_way()) == 20


def test_no_flag_means_two_things() -> None:
    flags = [*STRATEGIES.flags(), *RERANKERS.flags(), "-s", "-t"]
    assert len(flags) == len(set(flags)) == len(letter_flags())
    assert {"-k", "-d", "-ce"} <= set(flags)


def test_every_one_is_described_in_both_languages() -> None:
    for one in (*STRATEGIES, *RERANKERS):
        for language in ("ru", "en"):
            about = one.about[language]
            for words in (about.title, about.what, about.pros, about.cons, about.best_for):
                assert words.strip()
        assert one.about["ru"] != one.about["en"]


def test_one_registration_is_seen_everywhere(fifth: Strategy, tmp_path: Path) -> None:
    """Flag, field, setting, contract, documentation, comparison, and the search itself."""
    assert parse_flags("отпуск -two").strategy == "top-two"
    assert understand(AskRequest(question="отпуск", strategy="top-two")).strategy == "top-two"
    fields = {"question": "отпуск", "strategy": "top-two"}
    assert parse(fields, language="ru").request.strategy == "top-two"
    assert load_settings({"home": tmp_path, "search.strategy": "top-two"}, {}).settings.search.strategy
    schemas: Any = document()["components"]
    assert "top-two" in schemas["schemas"]["Question"]["properties"]["strategy"]["enum"]
    assert "| `top-two` | `-two` |" in generate().strategies_table()
    assert "`top-two`" in generate().settings_table()
    assert Way("top-two", "none") in ways_of((), ())
    assert len(search(strategy="top-two", top_k=4).hits) == 2


def test_a_reranker_from_outside() -> None:
    words = About("Наоборот", "Худшее первым.", "—", "—", "Проверка.")
    RERANKERS.add(
        Reranking("reversed", "-rev", {"ru": words, "en": words}, lambda stages: -stages["text_only"])
    )
    try:
        best = search(reranker="text-only", top_k=4).hits
        assert [hit.chunk.id for hit in search(reranker="reversed", top_k=4).hits] == [
            hit.chunk.id for hit in reversed(best)
        ]
        assert len(every_way()) == 25
    finally:
        RERANKERS.remove("reversed")


@pytest.mark.parametrize(
    ("name", "flag"),
    [("Dense", "-x"), ("a b", "-x"), ("x", "x"), ("x", "-toolong"), ("dense", "-x"), ("x", "-d")],
)
def test_what_would_confuse_is_not_registered(name: str, flag: str) -> None:
    words = About("x", "x", "x", "x", "x")
    found = STRATEGIES["dense"].find
    with pytest.raises(ValueError, match=r"malformed|taken"):
        STRATEGIES.add(Strategy(name, flag, {"ru": words, "en": words}, found))
    assert len(STRATEGIES.names()) == 5


def test_half_described_is_not_described() -> None:
    words = About("x", "x", "x", "x", "x")
    with pytest.raises(ValueError, match="both languages"):
        STRATEGIES.add(Strategy("x", "-x", {"ru": words}, STRATEGIES["dense"].find))


@pytest.mark.parametrize("field", ["strategy", "reranker"])
def test_unknown_names_are_refused_everywhere(field: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequestError, match=field):
        understand(AskRequest(question="отпуск", **{field: "nearest"}))
    with pytest.raises(InvalidRequestError, match=field):
        parse({"question": "отпуск", field: "nearest"}, language="ru")
    with pytest.raises(SettingsError, match=f"search.{field}"):
        load_settings({"home": tmp_path, f"search.{field}": "nearest"}, {})


def test_old_settings_are_unknown_now(tmp_path: Path) -> None:
    for key, value in (("search.fusion", "rrf"), ("search.order", "fusion")):
        with pytest.raises(SettingsError, match=key):
            load_settings({"home": tmp_path, key: value}, {})


def test_who_decides_which_reranker() -> None:
    """The question, else the setting, else what suits the strategy."""
    assert search().query.reranker == "late-interaction"
    assert search(strategy="dense").query.reranker == "none"
    assert (
        search(settings=SearchSettings(reranker="text-only"), strategy="dense").query.reranker == "text-only"
    )
    assert search(settings=SearchSettings(reranker="text-only"), reranker="none").query.reranker == "none"
    with pytest.raises(InvalidRequestError):
        settled("dense", "nearest")


def test_a_flag_wins_over_the_field_and_the_new_field_over_the_old() -> None:
    asked = understand(AskRequest(question="отпуск -k -to", strategy="dense", reranker="none"))
    assert (asked.strategy, asked.reranker) == ("keyword", "text-only")
    assert understand(AskRequest(question="отпуск", cross_encoder=True)).reranker == "cross-encoder"
    both = AskRequest(question="отпуск", cross_encoder=True, reranker="none")
    assert understand(both).reranker == "none"


def test_none_takes_everything_in_document_order() -> None:
    found = search(strategy="none")
    assert [hit.chunk.file for hit in found.hits] == ["0.txt", "1.txt", "2.txt", "3.txt"]
    assert (found.query.top_k, found.query.sources_limit) == (4, 4)
    assert {hit.score for hit in found.hits} == {0.0}
    ordered = search(strategy="none", reranker="late-interaction")
    assert ordered.hits[0].chunk.file == "0.txt"
    assert {hit.chunk.id for hit in ordered.hits} == {hit.chunk.id for hit in found.hits}


@pytest.mark.parametrize(("words", "sources"), [(1, 1), (30, 2), (46, 3), (1000, 4)])
def test_none_is_cut_to_what_the_prompt_has_room_for(words: int, sources: int) -> None:
    """A passage costs 12 for what stands around it, and its words less 4: 15, 29, 44 and 59 by now."""
    found = search(strategy="none", room=Room(words, lambda text: len(text.split()) - 4))
    assert len(found.hits) == sources
    assert found.notes == (("whole_cut",) if sources < len(TEXTS) else ())


def test_the_prompt_of_none_holds_every_source_whole() -> None:
    found = search(strategy="none")
    prompt = build_prompt(found.query, gather(found, 0.0), "ru", lambda text: len(text.split()), 1000)
    assert prompt.sources == (1, 2, 3, 4)
    assert all(text in prompt.messages[-1].content for text in TEXTS)
    chosen = search(strategy="hybrid-z")
    less = build_prompt(chosen.query, gather(chosen, 0.0), "ru", lambda text: len(text.split()), 1000)
    assert less.tokens < prompt.tokens


def test_none_with_a_cross_encoder_loses_nothing() -> None:
    """It reads the first ten and puts them in order; what comes after them stays, in its order."""
    passages = [Passage(f"Отпуск номер {n} длится {n} дней", f"{n:02}.txt") for n in range(14)]
    index = small_index(passages, EMBEDDER)
    query = Query(QUESTION, QUESTION, strategy="none", reranker="cross-encoder")
    found = retrieve(query, index, EMBEDDER, SearchSettings(), Backwards())
    files = [hit.chunk.file for hit in found.hits]
    assert files == [f"{n:02}.txt" for n in (*range(9, -1, -1), *range(10, 14))]


def test_none_of_an_empty_base() -> None:
    """Case 7."""
    empty = retrieve(
        Query(QUESTION, QUESTION, strategy="none"), small_index([], EMBEDDER), EMBEDDER, SearchSettings()
    )
    assert empty.hits == ()
    assert gather(empty).refused


def test_a_missing_cross_encoder_is_said_with_every_strategy() -> None:
    for name in STRATEGIES.names():
        crossed = search(strategy=name, reranker="cross-encoder")
        assert crossed.notes == ("no_cross_encoder",)
        plain = search(strategy=name)
        assert [hit.chunk.id for hit in crossed.hits] == [hit.chunk.id for hit in plain.hits]


def test_scores_of_the_stages_do_not_depend_on_the_reranker() -> None:
    for name in ("dense", "keyword", "hybrid-rrf", "hybrid-z"):
        plain = {h.chunk.id: h.stages for h in search(strategy=name, reranker="none", top_k=4).hits}
        for reranker in ("text-only", "late-interaction"):
            other = {h.chunk.id: h.stages for h in search(strategy=name, reranker=reranker, top_k=4).hits}
            assert other == plain
        assert all(np.isfinite([stage.score for stage in stages]).all() for stages in plain.values())


def generate() -> Any:
    path = Path(__file__).parents[3] / "docs/generate.py"
    if "docs_generate" not in sys.modules:
        spec = importlib.util.spec_from_file_location("docs_generate", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["docs_generate"] = module
        spec.loader.exec_module(module)
    return sys.modules["docs_generate"]
