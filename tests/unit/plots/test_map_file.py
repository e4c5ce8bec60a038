"""The map beside the index: kept, found stale, never half written."""

import errno

import orjson
import pytest
from made_map import a_map
from word_embedder import WordEmbedder

from pipeline.errors import IndexMissingError, MapMissingError
from pipeline.ingest.build import build_index
from pipeline.plots import map_file
from pipeline.plots.map_file import MAP, current_map, map_record, read_map, shows_current_index, write_map
from pipeline.settings import IndexSettings
from pipeline.stores import json_store


def index_of(folder, text):
    (folder / "kb").mkdir(exist_ok=True)
    (folder / "kb" / "a.txt").write_text(text, encoding="utf-8")
    built = build_index(folder / "kb", WordEmbedder(), IndexSettings()).index
    json_store.save(built, folder / "embeddings")
    return folder / "embeddings"


def test_what_is_written_is_read(tmp_path):
    write_map(a_map(), tmp_path)
    assert read_map(tmp_path) == a_map()
    assert [path.name for path in tmp_path.iterdir()] == [MAP]
    record = orjson.loads((tmp_path / MAP).read_bytes())
    assert list(record) == ["format", "build_id", "method", "clusters", "points"]
    assert record == map_record(a_map())


def test_a_map_that_was_changed_is_read_again(tmp_path):
    write_map(a_map(), tmp_path)
    read_map(tmp_path)
    write_map(a_map(build_id="later"), tmp_path)
    assert read_map(tmp_path).build_id == "later"


@pytest.mark.parametrize(
    "content", [None, b"", b"{", b"[]", b'{"format": 99}', b'{"format": 1, "points": [{"id": "c"}]}']
)
def test_no_map_and_what_is_no_map(tmp_path, content):
    if content is not None:
        (tmp_path / MAP).write_bytes(content)
    with pytest.raises(MapMissingError):
        read_map(tmp_path)


def test_it_is_made_once_for_an_index_and_again_for_the_next(tmp_path, monkeypatch):
    made = []
    make = map_file.make_map
    monkeypatch.setattr(map_file, "make_map", lambda index, watch: made.append(index) or make(index, watch))
    folder = index_of(tmp_path, "Отпуск — 28 дней.")
    first = current_map(folder)
    assert current_map(folder) == first
    assert len(made) == 1
    assert shows_current_index(first, folder)
    index_of(tmp_path, "Отпуск — 14 дней.")
    assert not shows_current_index(first, folder)
    assert current_map(folder).points[0].text == "Отпуск — 14 дней."
    assert len(made) == 2
    (folder / MAP).write_bytes(b"broken")
    assert current_map(folder).points[0].text == "Отпуск — 14 дней."


def test_without_an_index_there_is_no_map(tmp_path):
    with pytest.raises(IndexMissingError):
        current_map(tmp_path)
    assert not shows_current_index(a_map(), tmp_path)


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_where_nothing_can_be_kept_it_is_still_shown(tmp_path, monkeypatch, number):
    def refuse(*_):
        raise OSError(number, "refused")

    folder = index_of(tmp_path, "Отпуск — 28 дней.")
    monkeypatch.setattr(map_file, "put_in_place", refuse)
    assert len(current_map(folder).points) == 1
    assert not (folder / MAP).exists()


def test_another_fault_of_the_disk_is_not_hidden(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EIO, "refused")

    folder = index_of(tmp_path, "Отпуск — 28 дней.")
    monkeypatch.setattr(map_file, "put_in_place", refuse)
    with pytest.raises(OSError, match="refused"):
        current_map(folder)
