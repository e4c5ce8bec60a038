"""Qdrant: several indexers, unfinished writes, a server that fails, a folder for one process."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from qdrant_server import QdrantServer, serve_qdrant
from store_bases import Paper, asked, base, texts_of

from pipeline.bootstrap import create_store
from pipeline.errors import ExtraMissingError, IndexMissingError, StoreNotWrittenError, StoreUnreachableError
from pipeline.messages import Phrase
from pipeline.settings import load_settings
from pipeline.snapshot import Store
from pipeline.stores.qdrant import heads, writing
from pipeline.stores.qdrant.connection import connect
from pipeline.stores.qdrant.layout import Layout
from pipeline.stores.qdrant.store import QdrantStore
from pipeline.types import Filter

LEAVE = Paper("кадры/отпуск.md", ["Отпуск длится 28 дней.", "Перенос отпуска возможен."], topic="Отпуск")
TRIPS = Paper("кадры/командировка.md", ["Суточные в командировке 700 рублей."], topic="Командировка")
GUIDE = Paper("docs/guide.html", ["The guide explains the settings."], topic="Guide")


@pytest.fixture
def server() -> Iterator[QdrantServer]:
    with serve_qdrant() as running:
        yield running


def listed(store: Store, wanted: Filter | None = None) -> list[str]:
    with store.snapshot() as snapshot:
        return sorted(texts_of(snapshot.listing(wanted, 100)))


def paths(server: QdrantServer, ending: str) -> int:
    return sum(path.endswith(ending) for _, path, _ in server.requests)


def test_several_indexers_share_one_base(server: QdrantServer) -> None:
    people, office = QdrantStore(server.url, source="people"), QdrantStore(server.url, source="office")
    reader = QdrantStore(server.url)
    people.write(base((LEAVE, TRIPS)))
    office.write(base((GUIDE, TRIPS)))
    with reader.snapshot() as snapshot:
        assert snapshot.statistics.chunks == 5
        assert snapshot.statistics.holding("командировк") == 2
        assert snapshot.manifest.build_id not in {base((LEAVE, TRIPS)).manifest.build_id, "build"}
        assert set(snapshot.manifest.files) == {LEAVE.file, TRIPS.file, GUIDE.file}
        found = texts_of(
            snapshot.candidates(asked(snapshot, "суточные"), None, mode="hybrid", fusion="rrf", count=10)
        )
        assert TRIPS.passages[0] in found
        assert len(found) == len(set(found)) == 4  # what both have counts once
    assert {chunk.text for chunk in reader.read().chunks} == {
        *LEAVE.passages,
        *TRIPS.passages,
        *GUIDE.passages,
    }
    stamp = reader.stamp()
    people.write(base((LEAVE,)))
    assert reader.stamp() != stamp
    assert listed(reader) == sorted([*LEAVE.passages, *GUIDE.passages, *TRIPS.passages])
    office.write(base((GUIDE,)))
    assert listed(reader, Filter(path_prefix="кадры/")) == sorted(LEAVE.passages)


def test_what_is_known_is_not_sent_again(server: QdrantServer) -> None:
    store = QdrantStore(server.url)
    store.write(base((LEAVE, TRIPS)))
    server.requests.clear()
    store.write(base((LEAVE, TRIPS)))
    assert paths(server, "/points") - paths(server, "-heads/points") <= 2  # reads, no upsert of points
    assert not [one for method, path, one in server.requests if method == "PUT" and "points" in one]
    server.requests.clear()
    report = store.write(
        base((LEAVE, replace(TRIPS, passages=[*TRIPS.passages, "Проезд в командировке 500 рублей."])))
    )
    sent = [
        point["payload"]["chunk"]["text"]
        for method, path, body in server.requests
        if method == "PUT" and path.endswith("/points")
        for point in body["points"]
        if point["payload"].get("kind") == "chunk"
    ]
    assert (report.added, report.kept, sent) == (1, 3, ["Проезд в командировке 500 рублей."])


def test_hybrid_is_one_query_with_the_filter_in_both_lists(server: QdrantServer) -> None:
    store = QdrantStore(server.url)
    store.write(base((LEAVE, TRIPS, GUIDE)))
    with store.snapshot() as snapshot:
        question = asked(snapshot, "отпуск")
        server.requests.clear()
        snapshot.candidates(question, Filter(path_prefix="кадры/"), mode="hybrid", fusion="zscore", count=3)
    ((_, path, body),) = server.requests
    assert path.endswith("/points/query")
    assert body["query"] == {"fusion": "rrf"}
    assert [one["using"] for one in body["prefetch"]] == ["topic_text", "words"]
    assert body["prefetch"][0]["params"]["hnsw_ef"] >= 128
    for one in body["prefetch"]:
        assert {"key": "path", "match": {"any": ["кадры/"]}} in one["filter"]["must"]


def test_a_writer_waits_for_no_other_of_its_name(server: QdrantServer) -> None:
    one, other = QdrantStore(server.url), QdrantStore(server.url)
    one.write(base((LEAVE,)))
    refused: list[StoreNotWrittenError] = []

    def while_writing(method: str, path: str) -> None:
        if method == "PUT" and path.endswith("/points") and "heads" not in path and not refused:
            server.before = lambda method, path: None
            with pytest.raises(StoreNotWrittenError) as caught:
                other.write(base((GUIDE,)))
            refused.append(caught.value)

    server.before = while_writing
    one.write(base((TRIPS,)))
    assert refused[0].values["reason"] == Phrase("store_being_written", {"source": "main"})
    assert listed(other) == list(TRIPS.passages)
    other.write(base((GUIDE,)))  # the lease has been given back
    assert listed(one) == list(GUIDE.passages)


def test_a_writer_that_was_overtaken_changes_nothing(
    server: QdrantServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its lease ran out while it was stopped; another has it now."""
    one, other = QdrantStore(server.url), QdrantStore(server.url)
    one.write(base((LEAVE,)))
    monkeypatch.setattr(heads, "_LEASE_S", 0)
    overtaken = False

    def while_writing(method: str, path: str) -> None:
        nonlocal overtaken
        if method == "PUT" and path.endswith("/points") and "heads" not in path and not overtaken:
            overtaken = True
            time.sleep(0.01)
            other.write(base((GUIDE,)))

    server.before = while_writing
    with pytest.raises(StoreNotWrittenError):
        one.write(base((TRIPS,)))
    assert listed(one) == list(GUIDE.passages)


def test_an_unfinished_write_is_taken_back_by_the_next(server: QdrantServer) -> None:
    store = QdrantStore(server.url)
    store.write(base((LEAVE, TRIPS)))

    def fail_late(method: str, path: str) -> None:
        if path.endswith("/points/payload") and "heads" not in path:  # all is sent, the old is being marked
            server.failures += [(0, "")] * 9

    server.before = fail_late
    with pytest.raises(StoreUnreachableError):
        store.write(base((GUIDE, TRIPS)))
    server.before, server.failures = lambda method, path: None, []
    assert listed(store) == sorted([*LEAVE.passages, *TRIPS.passages])
    (head,) = server.engine.scroll("otvet-heads")[0]
    assert head.payload["last"] == 2
    server.engine.set_payload("otvet-heads", {"until": 0.0}, points=[head.id])  # the lease has run out
    store.write(base((TRIPS, LEAVE)))
    assert listed(store) == sorted([*LEAVE.passages, *TRIPS.passages])
    (collection,) = [
        one.name for one in server.engine.get_collections().collections if one.name != "otvet-heads"
    ]
    held = server.engine.scroll(collection, limit=100)[0]
    assert not [one for one in held if one.payload["added"] == 2]


def test_a_refused_write_gives_the_lease_back(server: QdrantServer) -> None:
    store = QdrantStore(server.url)
    store.write(base((LEAVE,)))

    def full(method: str, path: str) -> None:
        if method == "PUT" and path.endswith("/points"):
            server.before = lambda method, path: None
            server.failures.append((500, '{"status": {"error": "No space left on device"}}'))

    server.before = full
    with pytest.raises(StoreNotWrittenError) as caught:
        store.write(base((GUIDE,)))
    assert caught.value.values["reason"] == "HTTP 500 No space left on device"
    assert listed(store) == sorted(LEAVE.passages)
    store.write(base((GUIDE,)))
    assert listed(store) == sorted(GUIDE.passages)


def test_old_versions_go_when_no_request_can_be_at_them(
    server: QdrantServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = QdrantStore(server.url)

    def stored() -> set[str]:
        points = [
            point
            for one in server.engine.get_collections().collections
            if one.name != "otvet-heads"
            for point in server.engine.scroll(one.name, limit=100)[0]
        ]
        return {point.payload["chunk"]["text"] for point in points if point.payload["kind"] == "chunk"}

    store.write(base((LEAVE,)))
    with store.snapshot() as old:
        store.write(base((TRIPS,)))
        store.write(base((GUIDE,)))
        assert stored() == {*LEAVE.passages, *TRIPS.passages, *GUIDE.passages}
        assert sorted(texts_of(old.listing(None, 10))) == sorted(LEAVE.passages)
    monkeypatch.setattr(writing, "GRACE_S", -1)
    store.write(base((GUIDE, LEAVE)))
    assert stored() == {*GUIDE.passages, *LEAVE.passages}


def test_the_folder_keeps_a_version_as_long_as_it_is_read(tmp_path: Path) -> None:
    store = QdrantStore(folder=tmp_path)
    store.write(base((LEAVE, TRIPS)))
    with store.snapshot() as old:
        store.write(base((GUIDE,)))
        store.write(base((TRIPS, GUIDE)))
        assert sorted(texts_of(old.listing(None, 10))) == sorted([*LEAVE.passages, *TRIPS.passages])
        with store.snapshot() as new:
            assert sorted(texts_of(new.listing(None, 10))) == sorted([*GUIDE.passages, *TRIPS.passages])
    store.write(base((GUIDE,)))
    store.close()
    again = QdrantStore(folder=tmp_path)
    assert again.read().chunks == base((GUIDE,)).chunks
    assert again.read().tokens[0].vectors.shape == base((GUIDE,)).tokens[0].vectors.shape
    again.close()


def test_a_share_of_another_embedder_is_refused(server: QdrantServer) -> None:
    index = base((LEAVE,))
    QdrantStore(server.url, source="one").write(index)
    other = replace(index, manifest=replace(index.manifest, embedder_id="other"))
    with pytest.raises(StoreNotWrittenError) as caught:
        QdrantStore(server.url, source="two").write(other)
    assert caught.value.values["reason"] == Phrase("store_mixed_embedders")
    QdrantStore(server.url, source="one").write(other)  # alone it may change


def test_another_embedder_leaves_no_collection_behind(
    server: QdrantServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = QdrantStore(server.url)
    index = base((LEAVE,))
    store.write(index)
    store.write(replace(index, manifest=replace(index.manifest, embedder_id="other", build_id="b")))
    assert len(server.engine.get_collections().collections) == 3
    monkeypatch.setattr(writing, "GRACE_S", -1)
    store.write(replace(index, manifest=replace(index.manifest, embedder_id="other", build_id="c")))
    assert len(server.engine.get_collections().collections) == 2


def test_sharding_is_the_clusters(server: QdrantServer) -> None:
    QdrantStore(server.url, layout=Layout("base", shards=6, replicas=2)).write(base((LEAVE,)))
    made = {path.rsplit("/", 1)[-1]: body for method, path, body in server.requests if body.get("vectors")}
    ((name, body),) = made.items()
    assert name.startswith("base-")
    assert (body["shard_number"], body["replication_factor"]) == (6, 2)
    assert body["vectors"]["text"]["hnsw_config"]["m"] == 0
    indexed = {
        body["field_name"]: body["field_schema"] for _, path, body in server.requests if "/index" in path
    }
    assert indexed["path"] == "keyword"
    assert indexed["day"] == indexed["added"] == "integer"


@pytest.mark.parametrize(
    "url",
    ["postgresql://u:secret@h/x", "secret@h:6333", "http://", "://", "http://h:secret", "http://[::1", "/x"],
)
def test_what_is_no_address_of_a_server_is_a_plain_error(url: str) -> None:
    with (
        pytest.raises(StoreUnreachableError, match="http://host:6333") as caught,
        QdrantStore(url).snapshot(),
    ):
        pass
    assert "secret" not in str(caught.value)


def test_nobody_at_the_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    store = QdrantStore(f"http://secret@127.0.0.1:{port}")
    for act in (store.stamp, store.read, lambda: store.write(base((LEAVE,)))):
        with pytest.raises(StoreUnreachableError) as caught:
            act()
        assert caught.value.values["address"] == f"http://127.0.0.1:{port}"
        assert "secret" not in str(caught.value.values)


def test_a_server_that_says_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        store = QdrantStore(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout_s=1)
        with pytest.raises(StoreUnreachableError, match="timed out"):
            store.stamp()


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (401, "Must provide an API key", "HTTP 401 Must provide an API key"),
        (500, '{"status": {"error": "disk full"}, "time": 0.1}', "HTTP 500 disk full"),
        (400, '{"status": {"error": "Wrong input"}}', "HTTP 400 Wrong input"),
    ],
)
def test_a_refusal_is_told_in_the_servers_words(
    server: QdrantServer, status: int, body: str, reason: str
) -> None:
    server.failures = [(status, body)]
    with pytest.raises(StoreUnreachableError) as caught:
        QdrantStore(server.url).stamp()
    assert caught.value.values["reason"] == reason
    assert server.failures == []  # it was not asked again


@pytest.mark.parametrize("failure", [(503, "starting"), (429, "{}"), (0, "")])
def test_what_passes_is_waited_for(server: QdrantServer, failure: tuple[int, str]) -> None:
    store = QdrantStore(server.url)
    store.write(base((LEAVE,)))
    server.failures = [failure, failure]
    assert listed(store) == sorted(LEAVE.passages)
    server.failures = [failure] * 3
    with pytest.raises(StoreUnreachableError):
        store.stamp()


def test_an_answer_that_is_none(server: QdrantServer) -> None:
    for text in ("<html>", "[]", '{"result": 5, "status": "ok", "time": 0}'):
        server.failures = [(200, text)]
        with pytest.raises(StoreUnreachableError):
            QdrantStore(server.url).stamp()


def test_the_key_goes_in_a_header(server: QdrantServer) -> None:
    store = QdrantStore(server.url.replace("//", "//s3cret@"))
    store.stamp()
    assert server.headers["api-key"] == "s3cret"
    assert connect("https://:k@[::1]:6333", 1, 1).address == "https://[::1]:6333"


def test_a_folder_is_for_one_process(tmp_path: Path) -> None:
    store = QdrantStore(folder=tmp_path)
    store.write(base((LEAVE,)))
    again = QdrantStore(folder=tmp_path)  # of the same process
    assert listed(again) == sorted(LEAVE.passages)
    again.close()
    assert listed(store) == sorted(LEAVE.passages)
    code = (
        "import sys; from pathlib import Path; from pipeline.stores.qdrant.store import QdrantStore\n"
        "from pipeline.errors import StoreUnreachableError\n"
        "try: QdrantStore(folder=Path(sys.argv[1])).stamp()\n"
        "except StoreUnreachableError as error: print(error.values['reason'].key)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "store_folder_taken"
    store.close()


def test_the_folder_opens_no_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(self: socket.socket, address: object) -> None:
        raise AssertionError(f"a connection to {address}")

    monkeypatch.setattr(socket.socket, "connect", connect)
    before = threading.active_count()
    store = QdrantStore(folder=tmp_path)
    store.write(base((LEAVE,)))
    assert listed(store) == sorted(LEAVE.passages)
    assert threading.active_count() == before
    store.close()


def test_nothing_is_opened_before_it_is_used(tmp_path: Path) -> None:
    store = QdrantStore(folder=tmp_path / "q")
    assert not (tmp_path / "q").exists()
    store.close()
    with pytest.raises(IndexMissingError):
        QdrantStore(folder=tmp_path / "q").read()


def test_a_missing_package_names_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "qdrant_client", None)
    with pytest.raises(ExtraMissingError) as caught:
        QdrantStore(folder=tmp_path).stamp()
    assert caught.value.values == {"package": "qdrant-client", "extra": "qdrant"}


def test_the_settings_reach_the_cluster(server: QdrantServer) -> None:
    chosen = {
        "store.kind": "qdrant",
        "store.url": server.url,
        "store.base": "otvet2",
        "store.shards": 3,
        "store.replicas": 2,
        "store.hnsw_links": 24,
    }
    create_store(load_settings(chosen, {}).settings).write(base((LEAVE,)))
    (body,) = [body for method, _, body in server.requests if body.get("vectors")]
    assert (body["shard_number"], body["replication_factor"], body["hnsw_config"]["m"]) == (3, 2, 24)
    assert "otvet2-heads" in {one.name for one in server.engine.get_collections().collections}
