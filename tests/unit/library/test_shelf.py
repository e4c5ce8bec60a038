"""Files put in, taken out and brought back: never half there, never elsewhere, never lost at once."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import FileNameError, FileTakenError, NotFoundError, NotWrittenError, OtvetError
from pipeline.library import shelf as shelves
from pipeline.library.names import checked_name
from pipeline.library.shelf import Shelf


@pytest.fixture
def shelf(tmp_path):
    (tmp_path / "knowledge_base").mkdir()
    return Shelf(tmp_path / "knowledge_base", tmp_path / "removed_files")


def files(tmp_path):
    root = tmp_path / "knowledge_base"
    return {
        path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }


def test_a_file_is_put_in_with_its_folders_and_letters_composed(shelf, tmp_path):
    decomposed = "кадры/йод.txt".replace("й", "и\u0306")
    assert shelf.put(decomposed, b"1").file == "кадры/йод.txt"
    assert files(tmp_path) == {"кадры/йод.txt": b"1"}


def test_another_of_the_name_is_not_replaced_unasked_and_comes_back(shelf, tmp_path):
    shelf.put("a.txt", b"old")
    with pytest.raises(FileTakenError):
        shelf.put("a.txt", b"new")
    done = shelf.put("a.txt", b"new", replace=True)
    assert files(tmp_path) == {"a.txt": b"new"}
    with pytest.raises(FileTakenError):
        shelf.restore(done.replaced)
    shelf.remove("a.txt")
    assert shelf.restore(done.replaced) == "a.txt"
    assert files(tmp_path) == {"a.txt": b"old"}


def test_names_that_differ_in_case_only_are_one_on_windows(shelf):
    shelf.put("Приказ.txt", b"1")
    for replace in (False, True):
        with pytest.raises(FileTakenError):
            shelf.put("приказ.TXT", b"2", replace=replace)


def test_folders_that_differ_in_case_only_are_one_on_windows(shelf, tmp_path):
    shelf.put("Кадры/2024/a.txt", b"1")
    for name in ("кадры/2024/b.txt", "КАДРЫ/a.txt"):
        with pytest.raises(FileTakenError):
            shelf.put(name, b"2")
    shelf.put("Кадры/2024/b.txt", b"3")
    assert set(files(tmp_path)) == {"Кадры/2024/a.txt", "Кадры/2024/b.txt"}


@pytest.mark.parametrize("replace", [False, True])
def test_a_link_or_a_folder_is_not_replaced_and_what_it_leads_to_not_kept(shelf, tmp_path, replace):
    """Else the content of a file outside would come into the knowledge base with the way back."""
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "knowledge_base" / "link.txt").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "knowledge_base" / "folder.txt").mkdir()
    for name in ("link.txt", "folder.txt"):
        with pytest.raises(FileTakenError):
            shelf.put(name, b"new", replace=replace)
    assert not (tmp_path / "removed_files").exists()


def test_a_file_whose_name_could_not_be_given_comes_back_too(shelf, tmp_path):
    """The page lists files that are not read and lets them be removed."""
    (tmp_path / "knowledge_base" / "photo.xyz").write_bytes(b"1")
    assert shelf.restore(shelf.remove("photo.xyz")) == "photo.xyz"
    assert files(tmp_path) == {"photo.xyz": b"1"}


@pytest.mark.parametrize("file", ["../out.txt", "a/../../out.txt", ".git/hooks", "sources.toml"])
def test_a_label_that_leads_elsewhere_is_not_followed(shelf, tmp_path, file):
    shelf.put("a.txt", b"1")
    removed = shelf.remove("a.txt")
    label = {"file": file, "removed_at": "2026-01-01T00:00:00Z"}
    (tmp_path / "removed_files" / removed / "label.json").write_text(json.dumps(label))
    with pytest.raises(NotFoundError):
        shelf.restore(removed)
    assert files(tmp_path) == {}


def test_what_was_removed_is_listed_and_comes_back(shelf, tmp_path):
    shelf.put("кадры/a.txt", b"one")
    removed = shelf.remove("кадры/a.txt")
    assert files(tmp_path) == {}
    (entry,) = shelf.removed()
    assert (entry.id, entry.file, entry.bytes) == (removed, "кадры/a.txt", 3)
    assert shelf.restore(removed) == "кадры/a.txt"
    assert files(tmp_path) == {"кадры/a.txt": b"one"}
    assert shelf.removed() == []
    with pytest.raises(NotFoundError):
        shelf.restore(removed)


def test_only_so_many_removed_files_are_kept(shelf, monkeypatch):
    monkeypatch.setattr(shelves, "KEPT", 3)
    for number in range(5):
        shelf.put("a.txt", str(number).encode(), replace=True)
    assert len(shelf.removed()) == 3


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/etc/passwd.txt",
        "../otvet.txt",
        "a/../../b.txt",
        "a//b.txt",
        ".hidden.txt",
        "a/.git/b.txt",
        "C:\\a.txt",
        "a\\..\\b.txt",
        "c:a.txt",
        "a\0.txt",
        "a\u202etxt.md",
        "con.txt",
        "папка/LPT1.md",
        "a.txt ",
        " a.txt",
        "папка./a.txt",
        "x" * 300 + ".txt",
        "a/" * 9 + "b.txt",
        "вирус.exe",
        "без_расширения",
        "sources.toml",
        "a\ufffd.txt",
    ],
)
def test_names_that_lead_elsewhere_or_cannot_be_had_are_refused(shelf, tmp_path, name):
    """Case 33, and Windows."""
    with pytest.raises(FileNameError) as raised:
        shelf.put(name, b"1")
    assert files(tmp_path) == {}
    for language in ("ru", "en"):
        assert raised.value.message(language)


@given(st.text(max_size=40), st.sampled_from([".txt", ".md", "", "/a.txt"]))
def test_whatever_the_name_nothing_is_written_outside(tmp_path_factory, name, ending):
    folder = tmp_path_factory.mktemp("home")
    root = folder / "knowledge_base"
    root.mkdir()
    try:
        done = Shelf(root, folder / "removed_files").put(name + ending, b"1")
    except (FileNameError, FileTakenError):
        assert list(folder.iterdir()) == [root]
    else:
        assert (root / done.file).read_bytes() == b"1"
        assert checked_name(done.file) == done.file


@pytest.mark.parametrize(
    "name",
    [
        *("../secret.txt", "нет.txt", "", ".", "кадры", ".part", "link.txt", "linked/a.txt"),
        *("a\0.txt", "\ud800.txt", ".git/config.txt", "sources.toml", "Sources.TOML", "x" * 300),
    ],
)
def test_only_plain_files_of_the_folder_are_taken_out(shelf, tmp_path, name):
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.txt").write_text("secret")
    root = tmp_path / "knowledge_base"
    (root / "кадры").mkdir()
    (root / ".part").write_text("1")
    (root / ".git").mkdir()
    (root / ".git" / "config.txt").write_text("1")
    (root / "sources.toml").write_text("")
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")
    (root / "linked").symlink_to(tmp_path / "outside")
    with pytest.raises(NotFoundError):
        shelf.remove(name)
    assert (tmp_path / "secret.txt").read_text() == "secret"


def test_a_link_on_the_way_is_not_followed(shelf, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "knowledge_base" / "linked").symlink_to(tmp_path / "outside")
    with pytest.raises(FileTakenError):
        shelf.put("linked/a.txt", b"1")
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_disk_that_refuses_is_told_and_leaves_nothing_half_written(shelf, tmp_path, monkeypatch):
    shelf.put("a.txt", b"old")

    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(NotWrittenError):
        shelf.put("a.txt", b"new", replace=True)
    monkeypatch.undo()
    assert files(tmp_path) == {"a.txt": b"old"}


@pytest.mark.parametrize("entry", ["..", "../knowledge_base", "20260101000000-zzzzzzzz", "", "x" * 300])
def test_ids_of_nothing_are_not_found(shelf, entry):
    with pytest.raises(OtvetError):
        shelf.restore(entry)
