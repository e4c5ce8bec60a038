"""The rules of the house that no linter knows."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SOURCES = sorted((ROOT / "pipeline").rglob("*.py"))
HEAVY = {
    "torch",
    "transformers",
    "sentence_transformers",
    "llama_cpp",
    "onnxruntime",
    "onnx",
    "tokenizers",
    "huggingface_hub",
    "umap",
    "sklearn",
    "scipy",
    "matplotlib",
    "plotly",
    "chromadb",
    "faiss",
    "psycopg",
    "psycopg_pool",
    "pymysql",
    "qdrant_client",
    "sqlalchemy",
    "sqlglot",
    "ir_measures",
    "httpx",
}
NOT_SERVED = HEAVY | {"sqlite3", "rich", "watchfiles", "pipeline.ingest.readers", "pipeline.tables"}
"""What serving needs only where something asks for it."""


def top_level_imports(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_heavy_libraries_are_imported_where_they_are_used(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not top_level_imports(tree) & HEAVY


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_only_settings_reads_the_environment(path):
    if path.parent.name == "pipeline" and path.name in ("settings.py", "__init__.py"):
        return  # the package itself reads nothing; it sets what numpy and pydantic read
    source = path.read_text(encoding="utf-8")
    assert "os.getenv" not in source
    assert "os.environ" not in source


def test_every_exported_name_exists():
    for path in SOURCES:
        module = ast.parse(path.read_text(encoding="utf-8"))
        defined = {
            name
            for node in ast.walk(module)
            for name in (
                [node.name]
                if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
                else [node.id]
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
                else [alias.asname or alias.name for alias in node.names]
                if isinstance(node, ast.ImportFrom)
                else []
            )
        }
        for node in module.body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
                exported = ast.literal_eval(node.value)
                assert set(exported) <= defined, path


@pytest.mark.parametrize("server", ["server_fastapi", "server_flask"])
def test_importing_a_server_loads_nothing_heavy(server):
    code = f"import {server}, sys; print(*sorted(set(sys.modules) & {NOT_SERVED!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_server_files_stay_thin():
    for name in ("server_fastapi.py", "server_flask.py"):
        assert len((ROOT / name).read_text(encoding="utf-8").splitlines()) <= 120
