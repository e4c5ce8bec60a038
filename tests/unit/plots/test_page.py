"""The map in a file of its own."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from made_map import a_map, a_point, a_source

from pipeline.plots import page
from pipeline.plots.page import place_record, standalone_page, write_page
from pipeline.plots.palette import COLOURS
from pipeline.plots.position import place_among

ROOT = Path(__file__).parents[3]
STATIC = ROOT / "static"
EVIL = "</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>"


class Elements(HTMLParser):
    """What a browser sees: tags, attributes, and the content of each script."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.scripts = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "script":
            self.scripts.append([dict(attrs), ""])

    def handle_data(self, data):
        if self.tags and self.tags[-1] == "script":
            self.scripts[-1][1] += data


@pytest.fixture(scope="module")
def elements():
    shown = a_map(a_point(5, (0.5, 0.5), topic=EVIL, text=EVIL, file=f"{EVIL}.txt"))
    place = place_among(shown, EVIL, [a_source(0, 0.9)])
    return Elements(standalone_page(shown, "en", place))


def test_nothing_is_fetched_from_anywhere(elements):
    names = {name for name, _ in elements.attributes}
    assert "src" not in names
    assert [value for name, value in elements.attributes if name == "href"] == ["#words"]
    assert "link" not in elements.tags


def test_documents_cannot_leave_their_place(elements):
    assert [script[0].get("type") for script in elements.scripts] == [None, "application/json", "module"]
    assert "img" not in elements.tags
    given = json.loads(elements.scripts[1][1])
    assert given["map"]["points"][5]["topic"] == EVIL
    assert given["place"]["question"] == EVIL
    assert given["language"] == "en"
    assert given["texts"]["flat"] == "Plane"


def test_the_modules_become_one_script(elements):
    code = elements.scripts[2][1]
    assert not re.search(r"^\s*(import|export) ", code, re.MULTILINE)
    names = re.findall(r"^(?:async )?(?:const|let|function\*?|class) (\w+)", code, re.MULTILINE)
    assert len(names) == len(set(names)), "two modules give one name to different things"
    assert {"show", "traces", "t", "el"} <= set(names)


def test_a_file_is_written(tmp_path):
    write_page(a_map(), tmp_path / "map.html", "ru")
    text = (tmp_path / "map.html").read_text(encoding="utf-8")
    assert text.startswith('<!doctype html>\n<html lang="ru">')
    assert '"place":null' in text


def test_no_question_no_place():
    assert place_record(None) is None


def test_a_script_that_names_its_own_end_is_kept_inside():
    assert (
        page._inside('a = "</script>" + "</SCRIPT" + "<!--"') == 'a = "<\\/script>" + "<\\/SCRIPT" + "<\\!--"'
    )


def test_page_and_picture_have_the_same_colours():
    code = (STATIC / "map" / "figure.js").read_text(encoding="utf-8")
    assert tuple(json.loads(re.search(r"COLOURS = (\[[^\]]+\])", code)[1])) == COLOURS


def texts(language):
    return json.loads((STATIC / "map" / f"{language}.json").read_text(encoding="utf-8"))


def test_both_languages_say_the_same():
    russian, english = texts("ru"), texts("en")
    assert list(russian) == list(english)
    for key, text in russian.items():
        holes = [set(re.findall(r"\{(\w+)\}", json.dumps(value))) for value in (text, english[key])]
        assert holes[0] == holes[1], key


def test_every_text_is_used_and_every_used_text_exists():
    template = (ROOT / "templates" / "map.html").read_text(encoding="utf-8")
    code = "".join((STATIC / "map" / name).read_text(encoding="utf-8") for name in ("view.js", "app.js"))
    asked = set(re.findall(r'\bt\("(\w+)"', code))
    asked |= set(re.findall(r'data-(?:text|label|placeholder)="(\w+)"', template))
    asked |= {key for key in texts("ru") if key.startswith("error_")}
    assert asked == set(texts("ru"))


def test_the_file_says_in_russian_what_the_texts_say():
    template = (ROOT / "templates" / "map.html").read_text(encoding="utf-8")
    for key, said in re.findall(r'data-text="(\w+)"[^>]*>([^<]+)<', template):
        assert said == texts("ru")[key]


def test_no_inline_code_and_no_markup_from_text():
    template = (ROOT / "templates" / "map.html").read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=", template)
    for script in (STATIC / "map").glob("*.js"):
        code = script.read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|\beval\(|new Function", code), (
            script.name
        )
