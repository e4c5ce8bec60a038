"""The wheel holds all the product needs and nothing of the user's data."""

import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", str(folder), str(ROOT)], check=True)
    return zipfile.ZipFile(next(folder.glob("otvet-*.whl")))


def test_every_source_file_is_in_it(wheel):
    packed = set(wheel.namelist())
    sources = [*(ROOT / "pipeline").rglob("*.py"), *(ROOT / "pipeline").rglob("*.toml")]
    for path in sources:
        assert path.relative_to(ROOT).as_posix() in packed


@pytest.mark.parametrize("name", ["static", "templates"])
def test_the_page_is_in_it(wheel, name):
    packed = set(wheel.namelist())
    files = [path for path in (ROOT / name).rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert f"pipeline/_assets/{path.relative_to(ROOT).as_posix()}" in packed


def test_no_user_data_and_no_tests_are_in_it(wheel):
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "pipeline",
        "server_fastapi.py",
        "server_flask.py",
    }


def test_the_default_install_has_no_torch(wheel):
    name = next(name for name in wheel.namelist() if name.endswith("METADATA"))
    metadata = Parser().parsestr(wheel.read(name).decode())
    required = [line for line in metadata.get_all("Requires-Dist") if "extra ==" not in line]
    assert required
    for word in ("torch", "transformers", "chromadb", "faiss"):
        assert not any(line.startswith(word) for line in required)
