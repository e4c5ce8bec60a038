"""``format``: a page for the HTML field of a 1C form, and a fragment for its formatted document (B19-B22)."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from pipeline.types import Answer, Mark, Reply, Source
from pipeline.web.markup import fragment, page

LINKS = {1: "https://example.org/a?b=1&c=2", 2: "http://127.0.0.1:8000/source/x#passage"}
ANSWER = """# Отпуск
Длится **28 дней** [1].

1. Подать заявление
2. Дождаться приказа [2]

- раз
- два

| Должность | Дней |
|---|---|
| Кладовщик | 28 |
"""
VOID = {"meta", "br"}
# HTML 4.01, which Internet Explorer's engine and any WebKit know.
HTML_4 = {"html", "head", "meta", "title", "style", "body", "h4", "p", "ul", "ol", "li", "a", "b", "i", "br"}
HTML_4 |= {"table", "tbody", "tr", "td", "th"}
# CSS 2.1 and nothing later: no flex, no grid, no variables, no functions.
CSS_2 = {"font", "margin", "color", "background", "word-wrap", "padding-left", "border-left", "padding"}
CSS_2 |= {"border-collapse", "border", "text-align"}


def source(n: int) -> Source:
    return Source(n, f"Источник {n} <b>", None, "f.md", "Строка раз\nстрока два", 0, 9, 0.5, None, "c1")


def reply(text: str = ANSWER, *marks: Mark) -> Reply:
    answer = Answer(text, "partial" if marks else "answered", (), marks)
    return Reply("Сколько <i>дней</i>?", (), answer, (source(1), source(2)), {}, "m", "kb", "r")


def shown(text: str = ANSWER, *marks: Mark, language: str = "ru") -> str:
    made = reply(text, *marks)
    return page(made, fragment(made.answer, LINKS), LINKS, language, ("Заметка & другая",))


class Tree(HTMLParser):
    """Checks that tags are closed in their order, and collects what there is."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.declarations: list[str] = []
        self.style = ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_decl(self, decl):
        self.declarations.append(decl)

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "style":
            self.style += data


def test_the_page_is_a_whole_document_that_names_its_charset_first():
    html = shown()
    assert html.startswith("<!DOCTYPE html>\n<html")
    assert html.endswith("</body></html>")
    # The standard wants the charset within the first 1024 bytes.
    assert '<meta charset="utf-8">' in html.encode()[:1024].decode(errors="ignore")
    assert '<meta http-equiv="X-UA-Compatible" content="IE=edge">' in html
    assert html.index("<meta charset") < html.index("<title>")
    assert html.index("X-UA-Compatible") < html.index("<style>")
    assert html.encode("utf-8").decode("utf-8") == html
    assert "\ufeff" not in html


def test_only_old_tags_and_old_css():
    tree = Tree(shown())
    assert tree.declarations == ["DOCTYPE html"]
    assert tree.seen <= HTML_4
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", tree.style)
    assert "".join(f"{where}{{{what}}}" for where, what in rules) == tree.style
    properties = {line.partition(":")[0] for _, what in rules for line in what.split(";") if line}
    assert properties <= CSS_2
    for later in ("var(", "calc(", "@", "flex", "grid", "url(", "expression", "!important", "\\"):
        assert later not in tree.style


def test_nothing_runs_and_nothing_is_loaded():
    html = shown("# <script>alert(1)</script>\n<img src=x onerror=alert(1)> [1]")
    tree = Tree(html)
    assert {"script", "img", "link", "iframe", "object", "base", "form"}.isdisjoint(tree.seen)
    for tag, name, value in tree.attributes:
        assert not name.startswith("on")
        assert name not in ("src", "style", "background", "action", "data")
        if name == "href":
            assert tag == "a"
            assert value.startswith(("http://", "https://"))


def test_the_page_has_all_that_the_reply_says():
    html = shown(ANSWER, Mark(ANSWER.index("28"), ANSWER.index("28") + 2, "number"))
    assert "Сколько &lt;i&gt;дней&lt;/i&gt;?" in html
    assert "Источник 1 &lt;b&gt;" in html
    assert "Строка раз<br>строка два" in html
    assert "Заметка &amp; другая" in html
    assert "<i>28</i>" in html
    assert 'href="https://example.org/a?b=1&amp;c=2"' in html
    assert 'lang="en"' in shown(language="en")


@pytest.mark.parametrize("text", [ANSWER, "", "Просто текст.", "a\n\n\n- б\n1. в\n# г", "<b>", "| а |"])
def test_a_fragment_is_well_formed_simple_markup(text):
    """What the formatted document is given: tags closed in their order, two attributes, no style."""
    tree = Tree(fragment(Answer(text, "answered"), LINKS))
    assert tree.seen <= {"h4", "p", "ul", "ol", "li", "a", "b", "i", "br", "table", "tbody", "tr", "td", "th"}
    assert {(tag, name) for tag, name, _ in tree.attributes} <= {("a", "href"), ("li", "value")}
    assert tree.declarations == []
