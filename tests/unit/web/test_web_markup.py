"""From a plain answer to simple HTML (case 34)."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.types import Answer, Mark
from pipeline.web.markup import fragment, is_web_address

ALLOWED = {"h4", "p", "ul", "ol", "li", "a", "b", "i", "br", "table", "tr", "td", "th", "tbody"}
LINKS = {
    1: "https://example.org/a?b=1&c=2",
    2: "http://127.0.0.1:8000/source/x#passage",
    3: "javascript:alert(1)",
}


def html(text, *marks):
    return fragment(Answer(text, "answered", (), marks), LINKS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("Да.", "<p>Да.</p>"),
        ("Раз.\nДва.\n\nТри.", "<p>Раз.<br>Два.</p><p>Три.</p>"),
        ("Раз.\r\n\r\nДва.", "<p>Раз.</p><p>Два.</p>"),
        ("## Отпуск\n28 дней", "<h4>Отпуск</h4><p>28 дней</p>"),
        ("- раз\n* два\n• три", "<ul><li>раз</li><li>два</li><li>три</li></ul>"),
        ("1. раз\n2) два", '<ol><li value="1">раз</li><li value="2">два</li></ol>'),
        ("3. третье", '<ol><li value="3">третье</li></ol>'),
        ("-5 градусов", "<p>-5 градусов</p>"),
        ("**Важно:** 28", "<p><b>Важно:</b> 28</p>"),
        ("2 ** 3 ** 4", "<p>2 ** 3 ** 4</p>"),
        ("__init__ и C:\\_temp\\*", "<p>__init__ и C:\\_temp\\*</p>"),
        ("a < b && c > d", "<p>a &lt; b &amp;&amp; c &gt; d</p>"),
        ("&lt;b&gt;", "<p>&amp;lt;b&amp;gt;</p>"),
        ("Да [1].", '<p>Да <a href="https://example.org/a?b=1&amp;c=2">[1]</a>.</p>'),
        ("Да [2][9].", '<p>Да <a href="http://127.0.0.1:8000/source/x#passage">[2]</a>[9].</p>'),
        ("Да [3].", "<p>Да [3].</p>"),
        ("[текст](https://evil.example)", "<p>[текст](https://evil.example)</p>"),
        ("![x](https://evil.example/x.png)", "<p>![x](https://evil.example/x.png)</p>"),
        ("<a href='https://evil.example'>x</a>", "<p>&lt;a href='https://evil.example'&gt;x&lt;/a&gt;</p>"),
    ],
)
def test_forms(text, expected):
    assert html(text) == expected


def test_a_table():
    found = html("| Должность | Оклад |\n|---|---:|\n| Кладовщик | 45 000 [1] |")
    assert found.replace("<tbody>", "").replace("</tbody>", "") == (
        "<table><tr><td>Должность</td><td>Оклад</td></tr><tr><td>Кладовщик</td>"
        '<td>45 000 <a href="https://example.org/a?b=1&amp;c=2">[1]</a></td></tr></table>'
    )


def test_what_the_sources_do_not_say_is_in_italics():
    text = "Отпуск 31 день [1].\n- пункт\n\nКонец."
    assert html(text, Mark(7, 9, "number")).startswith("<p>Отпуск <i>31</i> день ")
    whole = html(text, Mark(0, len(text), "no_source"))
    assert whole == (
        '<p><i>Отпуск 31 день <a href="https://example.org/a?b=1&amp;c=2">[1]</a>.</i></p>'
        "<ul><li><i>пункт</i></li></ul><p><i>Конец.</i></p>"
    )


def test_the_signs_that_stand_for_italics_cannot_be_smuggled_in():
    assert html("a\ue000b\ue001c") == "<p>a b c</p>"


class Seen(HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.text = set(), set(), ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {(tag, name) for name, _ in attrs}

    def handle_data(self, data):
        self.text += data


PIECES = (
    *(
        "<script>",
        "</p>",
        "<img src=x onerror=y>",
        "[1]",
        "[3]",
        "**",
        "# ",
        "- ",
        "1. ",
        "|",
        "\n",
        "&",
        '"',
    ),
    *("'", "<!--", "]]>", "слово", " ", "\x00", "\ue000", "javascript:", "<a href=", "|--|", "\u2028"),
)
pieces = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)


@given(pieces | st.text(max_size=60), st.integers(0, 40), st.integers(0, 40))
def test_nothing_but_the_simple_tags_ever_comes_out(text, start, length):
    seen = Seen(html(text, Mark(start, start + length, "name")))
    assert seen.tags <= ALLOWED
    assert seen.attributes <= {("a", "href"), ("li", "value")}


@given(st.text(alphabet="абв <>&\"'/=;#x", max_size=60))
def test_every_letter_of_the_answer_is_shown(text):
    shown = Seen(html(text)).text
    kept = "".join(line.strip() for line in text.splitlines())
    marks = sum(line.strip().startswith("#") for line in text.splitlines())
    assert marks or shown == kept


@pytest.mark.parametrize(
    ("link", "fits"),
    [
        ("https://example.org", True),
        ("HTTP://example.org/а б".replace(" ", "%20"), True),
        ("https://пример.рф/путь?x=1#y", True),
        ("javascript:alert(1)", False),
        ("java\nscript:alert(1)", False),
        (" https://example.org", False),
        ("https://", False),
        ("https:///x", False),
        ("//example.org", False),
        ("data:text/html,x", False),
        ("file:///etc/passwd", False),
        ("https://example.org/\nx", False),
        ("", False),
    ],
)
def test_only_web_addresses_become_links(link, fits):
    assert is_web_address(link) is fits
