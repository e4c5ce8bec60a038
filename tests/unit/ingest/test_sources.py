"""Pages and database tables fetched on request, from a server inside the test."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pipeline.errors import ExtraMissingError, SettingsError
from pipeline.ingest.build import collect
from pipeline.ingest.notes import notes_of
from pipeline.ingest.sources.declared import load_sources
from pipeline.ingest.sources.download import Limits, file_name
from pipeline.ingest.sources.fetch import fetch_sources

PAGE = "<title>Правила</title><p>Склад открыт с девяти."


class Handler(BaseHTTPRequestHandler):
    """Answers by path."""

    def do_GET(self) -> None:
        if self.path == "/slow":
            self._slow()
        elif self.path in ("/round", "/away"):
            self.send_response(302)
            self.send_header("Location", "/round" if self.path == "/round" else "ftp://127.0.0.1/x")
            self.end_headers()
        elif self.path == "/none":
            self.send_error(404)
        else:
            kind, data, coding = {
                "/big": ("text/plain", b"x" * 5000, ""),
                "/bomb": ("text/plain", gzip.compress(b"x" * 500_000), "gzip"),
                "/cp1251": ("text/html; charset=windows-1251", PAGE.encode("cp1251"), ""),
                "/packed": ("text/html; charset=utf-8", gzip.compress(PAGE.encode()), "gzip"),
            }.get(self.path, ("text/html", PAGE.encode(), ""))
            self.send_response(200)
            self.send_header("Content-Type", kind)
            if coding:
                self.send_header("Content-Encoding", coding)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def _slow(self) -> None:
        self.send_response(200)
        self.end_headers()
        for _ in range(100):
            time.sleep(0.05)
            try:
                self.wfile.write(b"x")
            except OSError:
                return

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def declare(folder: Path, *urls: str, more: str = "") -> None:
    listed = "".join(f'[[url]]\nurl = "{url}"\n' for url in urls)
    (folder / "sources.toml").write_text(listed + more, "utf-8")


def test_pages_are_kept_as_files_that_know_their_address(tmp_path: Path, address: str) -> None:
    declare(tmp_path, f"{address}/rules", f"{address}/cp1251", f"{address}/packed")
    calls: list[tuple[int, int]] = []
    report = fetch_sources(tmp_path, progress=lambda done, total: calls.append((done, total)))
    assert (len(report.changed), report.unchanged, report.failed) == (3, [], {})
    assert calls == [(1, 3), (2, 3), (3, 3)]
    documents = {document.link: document for document in collect(tmp_path).documents}
    assert set(documents) == {f"{address}/{name}" for name in ("rules", "cp1251", "packed")}
    assert {document.text for document in documents.values()} == {"Склад открыт с девяти."}
    again = fetch_sources(tmp_path)
    assert (again.changed, len(again.unchanged), again.removed) == ([], 3, [])


def test_every_failure_has_a_reason_and_the_old_file_stays(tmp_path: Path, address: str) -> None:
    declare(tmp_path, f"{address}/rules")
    kept = fetch_sources(tmp_path).changed[0]
    names = ("none", "big", "bomb", "round", "away", "slow")
    declare(tmp_path, *(f"{address}/{name}" for name in names), "http://127.0.0.1:9/rules")
    origins = json.loads((tmp_path / "fetched" / ".origins.json").read_text("utf-8"))
    origins[kept.removeprefix("fetched/")]["url"] = "http://127.0.0.1:9/rules"
    (tmp_path / "fetched" / ".origins.json").write_text(json.dumps(origins), "utf-8")
    report = fetch_sources(tmp_path, Limits(size=4000, seconds=0.5))
    assert {url.rpartition("/")[2]: phrase.key for url, phrase in report.failed.items()} == {
        "none": "skip_fetch",
        "big": "skip_too_large",
        "bomb": "skip_too_large",
        "round": "skip_fetch",
        "away": "skip_fetch",
        "slow": "skip_fetch_slow",
        "rules": "skip_fetch",
    }
    assert (tmp_path / kept).is_file()
    assert report.removed == []


def test_a_source_named_no_more_goes_unless_the_user_changed_its_file(tmp_path: Path, address: str) -> None:
    declare(tmp_path, f"{address}/a", f"{address}/b")
    first, second = fetch_sources(tmp_path).changed
    (tmp_path / second).write_text("моё", "utf-8")
    declare(tmp_path)
    assert fetch_sources(tmp_path).removed == [first]
    assert (tmp_path / second).read_text("utf-8") == "моё"


def test_a_database_table_is_copied_and_read(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "remote.file")) as connection, connection:
        connection.execute("CREATE TABLE articles (id INTEGER, title TEXT, body TEXT, secret TEXT)")
        connection.executemany(
            "INSERT INTO articles VALUES (?, ?, ?, 'x')", [(2, "Б", "Два."), (1, "А", "Раз.")]
        )
    base = tmp_path / "kb"
    base.mkdir()
    declare(
        base,
        more=f'[[table]]\nname = "wiki"\ndatabase = "sqlite:///{(tmp_path / "remote.file").as_posix()}"\n'
        'table = "articles"\nid = "id"\ntitle = "title"\ntext = "body"\n',
    )
    assert fetch_sources(base).changed == ["fetched/wiki.sqlite"]
    assert fetch_sources(base).unchanged == ["fetched/wiki.sqlite"]
    documents = collect(base).documents
    assert [document.file for document in documents] == [
        "fetched/wiki.sqlite/articles/1", "fetched/wiki.sqlite/articles/2",
    ]  # fmt: skip
    assert b"secret" not in (base / "fetched" / "wiki.sqlite").read_bytes()
    (tmp_path / "remote.file").unlink()
    assert [phrase.key for phrase in fetch_sources(base).failed.values()] == ["skip_database"]


@pytest.mark.parametrize(
    "declared",
    [
        '[[url]]\nurl = "file:///etc/passwd"\n',
        '[[url]]\nurl = "ftp://e.org/a"\n',
        '[[url]]\nurl = "https://e.org/a"\nfile = "../a.html"\n',
        '[[url]]\nurl = "https://e.org/a"\nfile = ".hidden"\n',
        '[[url]]\naddress = "https://e.org/a"\n',
        '[[table]]\ndatabase = "postgresql://h/d"\ntable = "t"\ntext = "b"\n',
        '[[table]]\ndatabase = "postgresql://h/d"\ntable = "t"\ntext = "b"\nname = "a/b"\n',
        "= 5",
        "a = " + "[" * 5000,
        ".".join("a" * 5000) + " = 1",
        "[[table]]\n" * 3 + "[[table",
        '[[url]]\nurl = "https://e.org/a"\n[[url]]\nurl = "https://e.org/a"\n',
        '[[url]]\nurl = "http://e.org/a"\nfile = "a.htm"\n[[url]]\nurl = "http://e.org/b"\nfile = "A.htm"\n',
        '[[table]]\ndatabase = "x://h/d"\ntable = "t"\ntext = "b"\nname = "w"\n' * 2,
        '[[url]]\nurl = "https://user:secret@e.org/a"\n',
        f'[[url]]\nurl = "https://e.org/a"\nfile = "{"я" * 150}.html"\n',
        '[[url]]\nurl = "http://[::1/"\n',
        '[[url]]\nurl = "https:///a"\n',
        "#" * 1_100_000,
        "\x00",
    ],
    ids=range(20),
)
def test_wrong_declarations_are_refused(tmp_path: Path, declared: str) -> None:
    declare(tmp_path, more=declared)
    with pytest.raises(SettingsError, match=r"sources\.toml"):
        load_sources(tmp_path)


def test_a_declaration_that_is_no_file_or_no_text(tmp_path: Path) -> None:
    (tmp_path / "real.toml").write_text("", "utf-8")
    if os.name != "nt":
        (tmp_path / "sources.toml").symlink_to(tmp_path / "real.toml")
        with pytest.raises(SettingsError, match="link"):
            load_sources(tmp_path)
        (tmp_path / "sources.toml").unlink()
    (tmp_path / "sources.toml").write_bytes('# Таблицы\n[[url]]\nurl = "x"\n'.encode("cp1251"))
    with pytest.raises(SettingsError, match=r"sources\.toml"):
        load_sources(tmp_path)
    (tmp_path / "sources.toml").unlink()
    (tmp_path / "sources.toml").mkdir()
    assert load_sources(tmp_path).url == ()


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("http://a..b/", "skip_fetch"),
        ("http://127.0.0.1:99999/", "skip_fetch"),
        ("http://" + "a" * 300 + ".example/", "skip_fetch"),
        ("http://127.0.0.1:9/\\u0000", "skip_fetch"),
    ],
)
def test_an_address_that_leads_nowhere_stops_nothing(tmp_path: Path, address: str, key: str) -> None:
    declare(tmp_path, address)
    assert [phrase.key for phrase in fetch_sources(tmp_path).failed.values()] == [key]


@pytest.mark.parametrize(
    "database",
    [
        "nothing://h/d",
        "postgresql+nothing://h/d",
        "sqlite:///no/such/folder/a.db",
        "postgresql://h:port/d",
        "://",
    ],
)
def test_a_database_that_cannot_be_opened_stops_nothing(tmp_path: Path, database: str) -> None:
    declare(tmp_path, more=f'[[table]]\nname = "w"\ndatabase = "{database}"\ntable = "t"\ntext = "b"\n')
    try:
        report = fetch_sources(tmp_path)
    except ExtraMissingError:
        return  # the driver is an extra of its own
    assert [phrase.key for phrase in report.failed.values()] == ["skip_database"]
    assert not list((tmp_path / "fetched").glob(".w*"))


@pytest.mark.parametrize(
    "database", ["../outside.sqlite", "/outside.sqlite", "base.sqlite/../../outside.sqlite"]
)
def test_a_declaration_opens_nothing_outside(tmp_path: Path, database: str) -> None:
    """The kind of case 37."""
    with closing(sqlite3.connect(tmp_path / "outside.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE t (b TEXT)")
        connection.execute("INSERT INTO t VALUES ('Тайна.')")
    base = tmp_path / "kb"
    base.mkdir()
    (base / "base.sqlite").write_bytes((tmp_path / "outside.sqlite").read_bytes())
    declare(base, more=f'[[table]]\ndatabase = "{database}"\ntable = "t"\ntext = "b"\n')
    made = collect(base)
    assert made.documents == []
    assert made.skipped["base.sqlite"].key == "skip_not_declared"


def test_a_database_with_more_rows_than_are_read_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.ingest.readers.sqlite._MAX_ROWS", 3)
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE t (b TEXT)")
        connection.executemany("INSERT INTO t VALUES (?)", [("Раз.",), ("Два.",), ("Три.",), ("Нет.",)])
    declare(tmp_path, more='[[table]]\ndatabase = "a.sqlite"\ntable = "t"\ntext = "b"\n')
    documents = collect(tmp_path).documents
    assert [document.text for document in documents] == ["Раз.", "Два.", "Три."]
    assert [note.text("en") for document in documents for note in notes_of(document)] == [
        "the table is too large: some rows were not read; rows read: 3"
    ]


def test_no_declaration_no_sources(tmp_path: Path) -> None:
    assert not fetch_sources(tmp_path).changed
    assert not (tmp_path / "fetched").exists()


@pytest.mark.parametrize(
    ("url", "kind", "name"),
    [
        ("https://e.org/a/b.html", "text/html", "e_org_a_b.html"),
        ("https://e.org/", "text/html", "e_org.html"),
        ("https://e.org/%D0%BF%D1%80%D0%B8%D0%BA%D0%B0%D0%B7.pdf", "application/pdf", "e_org_приказ.pdf"),
        ("https://e.org/get?id=5", "application/pdf", "e_org_get_id_5.pdf"),
        ("https://e.org/a.docx", "application/octet-stream", "e_org_a.docx"),
        ("https://e.org/a.php", "", "e_org_a_php.html"),
    ],
)
def test_names_of_fetched_files(url: str, kind: str, name: str) -> None:
    assert file_name(url, kind) == name
