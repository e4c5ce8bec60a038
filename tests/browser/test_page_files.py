"""The page's files by themselves, without a browser: texts, policy, weight."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from small_index import small_index

from pipeline.embedders.hash import HashEmbedder
from pipeline.rerankers.overlap import OverlapReranker
from pipeline.retrieval.search import retrieve
from pipeline.settings import SearchSettings
from pipeline.types import Query

ROOT = Path(__file__).resolve().parents[2]
STATIC = ROOT / "static"
INDEX = (ROOT / "templates" / "index.html").read_text(encoding="utf-8")
TEXTS = {
    language: json.loads((STATIC / "i18n" / f"{language}.json").read_text(encoding="utf-8"))
    for language in ("ru", "en")
}
SCRIPTS = {path.name: path.read_text(encoding="utf-8") for path in sorted((STATIC / "js").glob("*.js"))}
BUDGET = 100_000
CLOCKED = ("service.py", "writer.py", "retrieval/search.py")


class Texts(HTMLParser):
    """Collects what the file says for every data-text, data-label and data-placeholder."""

    def __init__(self) -> None:
        super().__init__()
        self.said: dict[str, str] = {}
        self.open: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.open = values.get("data-text")
        if self.open:
            self.said[self.open] = ""
        if "data-label" in values:
            self.said[values["data-label"]] = values["aria-label"]
        if "data-placeholder" in values:
            self.said[values["data-placeholder"]] = values["placeholder"]

    def handle_data(self, data: str) -> None:
        if self.open:
            self.said[self.open] += data

    def handle_endtag(self, tag: str) -> None:
        self.open = None


def placeholders(text: Any) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", json.dumps(text)))


def test_both_languages_have_the_same_texts_and_placeholders() -> None:
    assert list(TEXTS["ru"]) == list(TEXTS["en"])
    for key, text in TEXTS["ru"].items():
        assert placeholders(text) == placeholders(TEXTS["en"][key]), key
    assert all(
        set(text) == {"one", "few", "many", "other"}
        for text in TEXTS["ru"].values()
        if isinstance(text, dict)
    )
    assert all(set(text) == {"one", "other"} for text in TEXTS["en"].values() if isinstance(text, dict))


def test_the_file_says_in_russian_what_the_texts_say() -> None:
    """So nothing changes on the first paint of a Russian page."""
    parser = Texts()
    parser.feed(INDEX)
    assert parser.said
    assert parser.said == {key: TEXTS["ru"][key] for key in parser.said}


def test_every_text_asked_for_exists_and_every_text_is_used() -> None:
    code = "\n".join(SCRIPTS.values())
    named = set(re.findall(r'"(\w+)"', code)) | set(
        re.findall(r'data-(?:text|label|placeholder)="(\w+)"', INDEX)
    )
    prefixes = tuple(re.findall(r"`(\w+_)\$\{", code))
    asked = set(re.findall(r'\bt\("(\w+)"', code))
    assert asked <= set(TEXTS["ru"])
    assert {key for key in TEXTS["ru"] if key not in named and not key.startswith(prefixes)} == set()


def test_stages_and_times_have_a_name_for_people() -> None:
    """What a real search measures is never shown under its bare name."""
    index = small_index(["Отпуск длится 28 дней.", "Пароль от склада."])
    asked = Query("отпуск", "отпуск", reranker="cross-encoder")
    found = retrieve(asked, index, HashEmbedder(), SearchSettings(), OverlapReranker())
    code = "\n".join((ROOT / "pipeline" / name).read_text(encoding="utf-8") for name in CLOCKED)
    laps = set(re.findall(r'\.(?:lap|mark_once)\("(\w+)"\)', code)) | {"cross_encoder", "total"}
    stages = {stage.name for stage in found.hits[0].stages} - {OverlapReranker().name}
    assert {"cosine", "late_interaction"} <= stages
    assert {"encode", "generation"} <= laps
    named = {f"stage_{name}" for name in stages | {"cross_encoder"}} | {f"time_{name}" for name in laps}
    assert named <= set(TEXTS["ru"])


@pytest.mark.parametrize("page", ["compare", "kb", "map"])
def test_the_texts_of_the_other_pages(page: str) -> None:
    texts = {
        language: json.loads((STATIC / page / f"{language}.json").read_text(encoding="utf-8"))
        for language in ("ru", "en")
    }
    assert list(texts["ru"]) == list(texts["en"])
    for key, text in texts["ru"].items():
        assert placeholders(text) == placeholders(texts["en"][key]), key
    html = (ROOT / "templates" / f"{page}.html").read_text(encoding="utf-8")
    parser = Texts()
    parser.feed(html)
    assert parser.said == {key: texts["ru"][key] for key in parser.said}
    code = "\n".join(path.read_text(encoding="utf-8") for path in (STATIC / page).glob("*.js"))
    assert set(re.findall(r'\bt\("(\w+)"', code)) <= set(texts["ru"])
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=", html)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", code)


def test_no_inline_script_or_style_and_nothing_from_outside() -> None:
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=", INDEX)
    addresses = re.findall(r'(?:src|href)="([^"]+)"', INDEX)
    assert all(re.match(r"/(?!/)|#", address) for address in addresses)
    for address in addresses:
        if address.startswith("/static/"):
            assert (ROOT / address.lstrip("/")).is_file(), address
    for path in (STATIC / "css").glob("*.css"):
        assert not re.search(r"url\(|@import", path.read_text(encoding="utf-8")), path.name


def test_no_markup_is_ever_made_from_text() -> None:
    for name, code in SCRIPTS.items():
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc", code
        ), name


def loaded_by(page: str) -> set[Path]:
    """What a browser needs for the first paint: the file, what it links, what its scripts import."""
    html = (ROOT / "templates" / page).read_text(encoding="utf-8")
    waiting = [
        ROOT / address.lstrip("/") for address in re.findall(r'(?:src|href)="(/static/[^"]+\.\w+)"', html)
    ]
    found = {ROOT / "templates" / page, STATIC / "i18n" / "ru.json"}
    while waiting:
        path = waiting.pop().resolve()
        if path not in found:
            found.add(path)
            code = path.read_text(encoding="utf-8")
            waiting += [path.parent / name for name in re.findall(r'^import[^;]+?"(\.[^"]+)";', code, re.M)]
    return found


@pytest.mark.parametrize("page", sorted(path.name for path in (ROOT / "templates").glob("*.html")))
def test_each_page_is_light(page: str) -> None:
    assert sum(path.stat().st_size for path in loaded_by(page)) < BUDGET


def test_files_hold_one_idea() -> None:
    for path in [*STATIC.rglob("*.css"), *STATIC.rglob("*.js")]:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 250, path.name
