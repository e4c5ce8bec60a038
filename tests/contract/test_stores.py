"""What every store owes: what was written is found, filtered before it is ranked, in whole versions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from store_bases import EMBEDDER, Paper, asked, base, found, texts_of, vectors_by_id
from store_makers import MAKERS

from pipeline.errors import IndexMissingError
from pipeline.fusion import Fusion
from pipeline.index import Calibration, Index
from pipeline.retrieval.exact import IndexSnapshot
from pipeline.retrieval.keyword import PostingsStatistics, coverage
from pipeline.snapshot import Excerpt, Snapshot, Store
from pipeline.stores.token_store import pack_tokens
from pipeline.types import Filter, SearchMode

MODES: tuple[SearchMode, ...] = ("dense", "keyword", "hybrid")
FUSIONS: tuple[Fusion, ...] = ("zscore", "rrf")

LEAVE = Paper(
    "кадры/отпуск.md",
    ["Отпуск длится 28 дней.", "Заявление на отпуск подают за две недели.", "Перенос отпуска возможен."],
    topic="Отпуск",
    tags=("Кадры",),
    metadata={"owner": "Анна", "year": 2024, "date": "2024-03-05", "draft": False, "share": 0.5},
    link="https://example.org/leave",
    source_type="md",
)
TRIPS = Paper(
    "кадры/командировка.md",
    ["Командировка оформляется приказом.", "Суточные в командировке 700 рублей."],
    topic="Командировка",
    tags=("кадры", "деньги"),
    metadata={"owner": "Борис", "year": 2023, "date": "2023-11-20", "draft": True},
    source_type="md",
)
STORE_ROOM = Paper(
    "склад.txt",
    ["Склад открыт с девяти до шести.", "Ключ от склада у кладовщика."],
    topic="Склад",
    metadata={"owner": "Анна", "year": "2024"},
    chunk_tags=("Помещения",),
)
GUIDE = Paper(
    "docs/guide.html",
    ["The guide explains the settings.", "Отпуск упомянут и здесь."],
    topic="Guide",
    metadata={"date": "2022"},
    source_type="html",
)
PAPERS = (LEAVE, TRIPS, STORE_ROOM, GUIDE)
CALIBRATION = Calibration("test", 0.25, -0.5, 30, 20, (0.1,) * 5, (0.9,) * 5, (0.8,) * 5)


@pytest.fixture(params=list(MAKERS))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Each store in turn, empty."""
    made = MAKERS[request.param](tmp_path / "store", request)
    yield made
    made.close()


@pytest.fixture
def filled(store: Store) -> Store:
    store.write(base(PAPERS, CALIBRATION))
    return store


@pytest.fixture(scope="module", params=list(MAKERS))
def shelf(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Each store in turn, filled once: for tests that only read."""
    made = MAKERS[request.param](tmp_path_factory.mktemp("shelf") / "store", request)
    made.write(base(PAPERS, CALIBRATION))
    yield made
    made.close()


def test_what_was_written_is_read(store: Store) -> None:
    index = base(PAPERS, CALIBRATION)
    report = store.write(index)
    assert (report.added, report.removed, report.kept) == (len(index.chunks), 0, 0)
    assert_equal(store.read(), index)


def assert_equal(one: Index, other: Index) -> None:
    """Equal as knowledge bases: in which order the rows are is the store's own affair."""
    assert one.manifest == other.manifest
    assert one.calibration == other.calibration
    assert {chunk.id: chunk for chunk in one.chunks} == {chunk.id: chunk for chunk in other.chunks}
    assert len(one.chunks) == len(other.chunks)
    assert dict(one.documents) == dict(other.documents)
    vectors, others = vectors_by_id(one), vectors_by_id(other)
    for name, pair in vectors.items():
        assert np.array_equal(pair, others[name])
    assert one.vectors.dtype == one.text_vectors.dtype == np.float32
    places = {chunk.id: row for row, chunk in enumerate(other.chunks)}
    for row, chunk in enumerate(one.chunks):
        tokens, others_tokens = one.tokens[row], other.tokens[places[chunk.id]]
        assert np.array_equal(tokens.spans, others_tokens.spans)
        np.testing.assert_allclose(tokens.vectors, others_tokens.vectors, atol=1e-6)
    assert occurrences(one) == occurrences(other)


def occurrences(index: Index) -> set[tuple[str, str, int, int]]:
    """Term, chunk, how often, and how long that chunk is."""
    postings, found_terms = index.postings, set()
    for term, number in postings.terms.items():
        for place in range(int(postings.starts[number]), int(postings.starts[number + 1])):
            row = int(postings.rows[place])
            count, length = int(postings.counts[place]), int(postings.lengths[row])
            found_terms.add((term, index.chunks[row].id, count, length))
    return found_terms


def test_only_what_differs_is_written(filled: Store) -> None:
    changed = replace(STORE_ROOM, passages=[STORE_ROOM.passages[0], "Ключ у охраны."])
    report = filled.write(base((LEAVE, STORE_ROOM, GUIDE)))
    assert (report.added, report.removed, report.kept) == (0, 2, 7)
    report = filled.write(base((LEAVE, changed, GUIDE)))
    assert (report.added, report.removed, report.kept) == (1, 1, 6)
    index = base((LEAVE, changed, GUIDE), CALIBRATION)
    report = filled.write(index)
    assert (report.added, report.removed, report.kept) == (0, 0, 7)
    assert_equal(filled.read(), index)
    with filled.snapshot() as snapshot:
        assert snapshot.calibration == CALIBRATION


def test_what_changed_beside_the_text_is_written_too(filled: Store) -> None:
    renamed = replace(LEAVE, tags=("архив",), metadata={"owner": "Вера"}, link=None, topic="Отпуска")
    index = base((renamed, TRIPS, STORE_ROOM, GUIDE))
    filled.write(index)
    assert_equal(filled.read(), index)
    with filled.snapshot() as snapshot:
        assert listed(snapshot, Filter(tags=("кадры",))) == {*TRIPS.passages}
        assert listed(snapshot, Filter(tags=("архив",))) == {*LEAVE.passages}
        assert listed(snapshot, Filter(metadata={"owner": "Вера"})) == {*LEAVE.passages}


def test_a_write_of_the_same_changes_nothing(filled: Store) -> None:
    before = filled.stamp()
    index = base(PAPERS, CALIBRATION)
    report = filled.write(index)
    assert (report.added, report.removed, report.kept) == (0, 0, len(index.chunks))
    assert_equal(filled.read(), index)
    filled.write(base((LEAVE,)))
    assert filled.stamp() != before


def test_a_snapshot_stays_whole_while_a_new_version_is_written(filled: Store) -> None:
    old_id = base(PAPERS).manifest.build_id
    gone = base((TRIPS,)).chunks[0]
    with filled.snapshot() as old:
        assert old.manifest.build_id == old_id
        filled.write(base((LEAVE, GUIDE)))
        assert old.manifest.build_id == old_id
        assert old.statistics.chunks == 9
        assert old.chunk(gone.id) == gone
        assert old.document(gone.document_id) is not None
        assert gone.text in texts_of(ask(old, "командировка приказом"))
        assert listed(old) == {text for paper in PAPERS for text in paper.passages}
        assert old.calibration == CALIBRATION
        with filled.snapshot() as new:
            assert new.manifest == base((LEAVE, GUIDE)).manifest
            assert new.statistics.chunks == 5
            assert new.chunk(gone.id) is None
            assert new.document(gone.document_id) is None
            assert gone.text not in texts_of(ask(new, "командировка приказом"))
            assert new.calibration is None


def ask(
    snapshot: Snapshot,
    question: str,
    wanted: Filter | None = None,
    *,
    mode: SearchMode = "hybrid",
    fusion: Fusion = "zscore",
    count: int = 30,
) -> Excerpt:
    excerpt = snapshot.candidates(asked(snapshot, question), wanted, mode=mode, fusion=fusion, count=count)
    check(excerpt, question, snapshot)
    return excerpt


def check(excerpt: Excerpt, question: str, snapshot: Snapshot) -> None:
    """What later stages rest on: arrays that fit, exact cosines, and words, vectors and documents at hand."""
    index, pool = excerpt.index, excerpt.pool
    rows = list(pool.rows)
    assert len(set(rows)) == len(rows) == len(pool.cosine) == len(pool.keyword) == len(pool.fused)
    assert pool.cosine.dtype == pool.keyword.dtype == pool.fused.dtype == np.float32
    vector = asked(snapshot, question).vector
    np.testing.assert_allclose(pool.cosine, index.vectors[rows] @ vector, atol=1e-5)
    assert np.all(np.diff(np.round(pool.fused.astype(float), 5)) <= 0)
    held = coverage(index.postings, asked(snapshot, question).terms, rows).max(axis=1, initial=0)
    assert np.array_equal(pool.keyword > 0, held > 0)
    for row in rows:
        chunk = index.chunks[row]
        document = index.documents[chunk.document_id]
        assert document.text[chunk.start : chunk.end] == chunk.text
        assert np.all(index.tokens[row].spans <= len(chunk.text))
        assert index.text_vectors[row].shape == (index.manifest.dimension,)


def listed(snapshot: Snapshot, wanted: Filter | None = None) -> set[str]:
    return set(texts_of(snapshot.listing(wanted, 1000)))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fusion", FUSIONS)
@pytest.mark.parametrize("question", ["Отпуск длится 28 дней", "суточные рублей", "the settings", "ключ"])
def test_a_small_base_is_searched_exactly(
    shelf: Store, mode: SearchMode, fusion: Fusion, question: str
) -> None:
    """The meaning is compared exactly; the measure of words may be the store's own."""
    exact = IndexSnapshot(base(PAPERS, CALIBRATION))
    with shelf.snapshot() as snapshot:
        mine, its = (ask(one, question, mode=mode, fusion=fusion, count=4) for one in (exact, snapshot))
        if mode == "dense":
            assert texts_of(its) == texts_of(mine)
            np.testing.assert_allclose(its.pool.fused, mine.pool.fused, atol=1e-5)
        assert texts_of(its)[0] == texts_of(mine)[0]
        if mode == "keyword":
            assert set(texts_of(its)) == set(texts_of(mine))
            assert np.array_equal(its.pool.fused, its.pool.keyword)


FILTERS: list[tuple[Filter, Callable[[Paper], bool]]] = [
    (Filter(), lambda paper: True),
    (Filter(source_types=(".MD",)), lambda paper: paper.source_type == "md"),
    (Filter(source_types=("html", "txt")), lambda paper: paper.source_type != "md"),
    (Filter(tags=(" КАДРЫ ",)), lambda paper: paper in (LEAVE, TRIPS)),
    (Filter(tags=("деньги", "помещения")), lambda paper: paper in (TRIPS, STORE_ROOM)),
    (Filter(path_prefix="кадры/"), lambda paper: paper.file.startswith("кадры/")),
    (Filter(path_prefix="./docs\\gui"), lambda paper: paper is GUIDE),
    (Filter(path_prefix="Кадры/"), lambda paper: False),
    (Filter(path_prefix="%"), lambda paper: False),
    (Filter(path_prefix="кадры_"), lambda paper: False),
    (Filter(metadata={"owner": "Анна"}), lambda paper: paper in (LEAVE, STORE_ROOM)),
    (Filter(metadata={"owner": "анна"}), lambda paper: False),
    (Filter(metadata={"owner": ("Анна", "Борис")}), lambda paper: paper is not GUIDE),
    (Filter(metadata={"owner": ()}), lambda paper: False),
    (Filter(metadata={"year": 2024}), lambda paper: paper in (LEAVE, STORE_ROOM)),
    (Filter(metadata={"year": "2024"}), lambda paper: paper in (LEAVE, STORE_ROOM)),
    (Filter(metadata={"year": (2023, 2024.0)}), lambda paper: paper is not GUIDE),
    (Filter(metadata={"draft": True}), lambda paper: paper is TRIPS),
    (Filter(metadata={"draft": "true"}), lambda paper: False),
    (Filter(metadata={"draft": 1}), lambda paper: False),
    (Filter(metadata={"share": 0.5}), lambda paper: paper is LEAVE),
    (Filter(metadata={"owner": "Анна", "year": 2024, "draft": False}), lambda paper: paper is LEAVE),
    (Filter(metadata={"colour": "red"}), lambda paper: False),
    (Filter(metadata={"'; DROP TABLE chunks; --": "x"}), lambda paper: False),
    (Filter(since="2024"), lambda paper: paper is LEAVE),
    (Filter(until="2023-11-20"), lambda paper: paper in (TRIPS, GUIDE)),
    (Filter(since="2022-06", until="2023"), lambda paper: paper is TRIPS),
    (Filter(since="2022-01-01", until="2022-01-01"), lambda paper: paper is GUIDE),
    (Filter(since="2025", until="2024"), lambda paper: False),
    (Filter(("md",), ("кадры",), "кадры/", {"owner": "Борис"}, "2023", "2023"), lambda paper: paper is TRIPS),
    (Filter(("txt",), ("кадры",)), lambda paper: False),
]


@pytest.mark.parametrize("number", range(len(FILTERS)))
def test_a_filter_lets_through_what_it_should(shelf: Store, number: int) -> None:
    wanted, suits = FILTERS[number]
    expected = {text for paper in PAPERS if suits(paper) for text in paper.passages}
    with shelf.snapshot() as snapshot:
        assert listed(snapshot, wanted) == expected
        assert set(texts_of(ask(snapshot, "отпуск", wanted, mode="dense"))) == expected
        holding = {text for text in expected if "отпуск" in text.lower()} | {
            text for text in LEAVE.passages if text in expected
        }
        assert set(texts_of(ask(snapshot, "отпуск", wanted, mode="keyword"))) == holding
        assert set(texts_of(ask(snapshot, "отпуск", wanted))) == expected


def test_the_filter_applies_before_the_ranking(store: Store) -> None:
    """50 chunks of another file are nearer, and k is 3."""
    near = Paper(
        "near.txt",
        [f"alpha beta gamma {number}" for number in range(50)],
        metadata={"owner": "a", "date": "2024-04-30"},
    )
    far = Paper(
        "wanted.md",
        [f"alpha delta epsilon zeta eta {number}" for number in range(4)],
        tags=("wanted",),
        metadata={"owner": "b", "date": "2024-05-01"},
        source_type="md",
    )
    store.write(base((near, far)))
    filters = (
        Filter(path_prefix="wanted"),
        Filter(tags=("wanted",)),
        Filter(source_types=("md",)),
        Filter(metadata={"owner": "b"}),
        Filter(since="2024-05-01"),
    )
    with store.snapshot() as snapshot:
        for mode, fusion, wanted in product(MODES, FUSIONS, filters):
            everything = texts_of(ask(snapshot, "alpha beta gamma", mode=mode, fusion=fusion, count=3))
            assert not set(everything) & set(far.passages)
            excerpt = ask(snapshot, "alpha beta gamma", wanted, mode=mode, fusion=fusion, count=3)
            assert len(excerpt.pool.rows) >= 3, (mode, fusion, wanted)
            assert set(texts_of(excerpt)) <= set(far.passages)


def test_a_text_that_occurs_several_times_counts_once(store: Store) -> None:
    copies = [Paper(f"copy{number:02}.txt", ["alpha beta gamma"]) for number in range(40)]
    others = Paper("z.txt", [f"alpha beta {word}" for word in ("delta", "epsilon", "zeta")])
    store.write(base((*copies, others)))
    first = min(chunk.id for chunk in base(copies).chunks)
    only = Filter(path_prefix="copy07")
    with store.snapshot() as snapshot:
        for mode in MODES:
            excerpt = ask(snapshot, "alpha beta gamma", mode=mode, count=4)
            assert sorted(texts_of(excerpt)) == sorted(["alpha beta gamma", *others.passages])
            assert found(excerpt)[0].id == first
            assert [chunk.file for chunk in found(ask(snapshot, "alpha", only, mode=mode))] == ["copy07.txt"]


def test_equal_scores_are_in_the_order_of_ids(store: Store) -> None:
    papers = [Paper(f"{number}.txt", [f"alpha {number}"], topic="t") for number in range(12)]
    index = base([replace(paper, passages=["alpha"], topic=f"t{paper.file}") for paper in papers])
    # All vectors the same, so that nothing but the id can decide.
    vectors = np.repeat(index.vectors[:1], len(index.chunks), axis=0)
    store.write(replace(index, vectors=vectors))
    with store.snapshot() as snapshot:
        question = asked(snapshot, "alpha")
        for mode in MODES:
            excerpt = snapshot.candidates(question, None, mode=mode, fusion="zscore", count=5)
            ids = [chunk.id for chunk in found(excerpt)]
            assert ids == sorted(ids), mode
            assert ids[:5] == sorted(chunk.id for chunk in index.chunks)[:5]


def test_a_listing_is_in_document_order(shelf: Store) -> None:
    with shelf.snapshot() as snapshot:
        excerpt = snapshot.listing(None, 5)
        papers = sorted(PAPERS, key=lambda paper: paper.file)
        assert texts_of(excerpt) == [text for paper in papers for text in paper.passages][:5]
        for scores in (excerpt.pool.cosine, excerpt.pool.keyword, excerpt.pool.fused):
            assert scores.tolist() == [0.0] * 5
        assert texts_of(snapshot.listing(Filter(tags=("помещения",)), 1)) == [STORE_ROOM.passages[0]]
        assert snapshot.listing(None, 0).pool.rows == ()


def test_statistics_are_those_of_all_chunks(shelf: Store) -> None:
    index = base(PAPERS)
    mine = PostingsStatistics(index.postings)
    with shelf.snapshot() as snapshot:
        its = snapshot.statistics
        assert its.chunks == mine.chunks == 9
        for term in (*index.postings.terms, "нетакого", "", "%", "'", "\x00"):
            assert its.holding(term) == mine.holding(term), term
        for term in ("отпусл", "командировк", "skald", "склaд", "guyde", "700", "ыыыыы", "%%%%", "settingss"):
            assert its.nearest(term) == mine.nearest(term), term


def test_chunks_and_documents_are_found_by_id(shelf: Store) -> None:
    index = base(PAPERS)
    with shelf.snapshot() as snapshot:
        for chunk in index.chunks:
            assert snapshot.chunk(chunk.id) == chunk
        for document in index.documents.values():
            assert snapshot.document(document.id) == document
        for unknown in ("", "нет", "' OR 1=1 --", "\x00", "f" * 32, "я" * 5000):
            assert snapshot.chunk(unknown) is None
            assert snapshot.document(unknown) is None


def test_nothing_written_yet_is_an_error_of_its_own(store: Store) -> None:
    store.stamp()
    with pytest.raises(IndexMissingError), store.snapshot():
        pass
    with pytest.raises(IndexMissingError):
        store.read()


def test_an_empty_base_is_a_base(store: Store) -> None:
    store.write(base(()))
    with store.snapshot() as snapshot:
        assert snapshot.statistics.chunks == 0
        assert snapshot.statistics.holding("отпуск") is None
        for mode in MODES:
            assert ask(snapshot, "отпуск", mode=mode).pool.rows == ()
        assert listed(snapshot, Filter(tags=("x",))) == set()
    assert_equal(store.read(), base(()))
    store.write(base((GUIDE,)))
    report = store.write(base(()))
    assert (report.added, report.removed, report.kept) == (0, 2, 0)


HOSTILE = (
    "нуль \x00 внутри",
    "👨\u200d👩\u200d👧 семья",
    "кавычки ' \" ` « » \\ $1 %s {} ; --",
    "\u202eсправа налево \u0000\u0001\u001f",
    "'); DROP TABLE chunks; --",
    "\ufeffметка\r\nстрока\u2028ещё",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 \U0010fffd",
)


def test_hostile_texts_are_kept_as_they_are(store: Store) -> None:
    papers = [
        Paper(
            f"файл {number} '%_\\ {text[:6]!r}.txt",
            [text],
            topic=text,
            tags=(text,),
            metadata={text: text, "key": text},
            chunk_tags=(f"«{text}»",),
            link=f"https://example.org/?{number}",
        )
        for number, text in enumerate(HOSTILE)
    ]
    long = Paper("long.txt", ["слово " * 400, *[f"строка {number}" for number in range(5)]])
    index = base([*papers, long])
    large = next(document for document in index.documents.values() if document.file == "long.txt")
    documents = {**index.documents, large.id: replace(large, text=large.text + "ж" * (1 << 20))}
    index = replace(index, documents=documents)
    store.write(index)
    assert_equal(store.read(), index)
    with store.snapshot() as snapshot:
        for text in HOSTILE:
            assert listed(snapshot, Filter(tags=(text,))) == {text}
            assert listed(snapshot, Filter(metadata={"key": text})) == {text}
            assert listed(snapshot, Filter(metadata={text: text})) == {text}
            for mode in MODES:
                ask(snapshot, text, mode=mode)
            assert texts_of(ask(snapshot, text, mode="dense"))[0] == text
        assert snapshot.document(large.id) == documents[large.id]
        assert listed(snapshot, Filter(path_prefix="файл 2 '%_\\")) == set()  # a backslash is a slash there


def test_many_read_while_one_writes(filled: Store) -> None:
    """Nobody sees parts of two versions."""
    versions = {
        one.manifest.build_id: {chunk.text for chunk in one.chunks}
        for one in (base(PAPERS), base((LEAVE, GUIDE)), base((TRIPS, STORE_ROOM)))
    }
    stop, wrong = threading.Event(), list[object]()

    def read() -> None:
        while not stop.is_set():
            try:
                with filled.snapshot() as snapshot:
                    expected = versions[snapshot.manifest.build_id]
                    for found_texts in (
                        listed(snapshot),
                        set(texts_of(ask(snapshot, "отпуск", mode="dense"))),
                    ):
                        if found_texts != expected:
                            wrong.append((found_texts, expected))
            except Exception as error:  # noqa: BLE001 - whatever it is, it must be shown
                wrong.append(error)
                return

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for _ in range(2):
        filled.write(base((LEAVE, GUIDE)))
        filled.write(base((TRIPS, STORE_ROOM)))
        filled.write(base(PAPERS))
    stop.set()
    for reader in readers:
        reader.join()
    assert wrong == []


def test_an_embedder_of_another_dimension_may_follow(filled: Store) -> None:
    index = base((LEAVE,))
    wide = np.pad(index.vectors, ((0, 0), (0, 32)))
    tokens = replace(index.tokens, values=np.pad(index.tokens.values, ((0, 0), (0, 32))))  # type: ignore[type-var]
    manifest = replace(index.manifest, dimension=64, embedder_id="hash/64", build_id="other")
    text_vectors = np.pad(index.text_vectors, ((0, 0), (0, 32)))
    other = replace(index, manifest=manifest, vectors=wide, text_vectors=text_vectors, tokens=tokens)
    report = filled.write(other)
    assert report.removed + report.kept == 9
    assert_equal(filled.read(), other)


def test_an_index_without_token_vectors(store: Store) -> None:
    """What a remote embedder gives: none are stored, everything else is."""
    index = base(PAPERS)
    nothing = (np.zeros((0, 32), np.int8), np.zeros((0, 2), np.int32))
    bare = replace(index, tokens=pack_tokens([nothing] * len(index.chunks), 32))
    store.write(bare)
    assert_equal(store.read(), bare)
    with store.snapshot() as snapshot:
        for mode in MODES:
            excerpt = ask(snapshot, "отпуск", mode=mode)
            assert "Отпуск длится 28 дней." in texts_of(excerpt)
            assert all(len(excerpt.index.tokens[row]) == 0 for row in excerpt.pool.rows)


def test_its_name_is_the_settings(store: Store, request: pytest.FixtureRequest) -> None:
    assert store.name in MAKERS
    assert EMBEDDER.spec.dimension == 32
