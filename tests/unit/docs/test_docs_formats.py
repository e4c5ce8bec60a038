"""Whoever reads about formats reads about those that there are."""

from pathlib import Path

import pytest

from pipeline.ingest.readers.registry import READERS

ROOT = Path(__file__).parents[3]
PAGES = (
    "README.md",
    "docs/knowledge-base.md",
    "knowledge_base/ru/baza-znaniy.txt",
    "knowledge_base/en/api.txt",
)
# Another spelling of a format that is named already.
SPELLINGS = {".db", ".htm", ".markdown", ".tsv"}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_on_formats_names_all_of_them(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert [suffix for suffix in READERS if suffix not in SPELLINGS and suffix not in text] == []
