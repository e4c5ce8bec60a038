"""Web pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import UnreadableFileError
from pipeline.ingest.readers.html import decode_html, html_sections, read_html
from pipeline.types import Document


def read(folder: Path, html: str | bytes) -> Document:
    path = folder / "a.html"
    path.write_bytes(html if isinstance(html, bytes) else html.encode())
    return read_html(path, "a.html")[0]


def text(html: str) -> str:
    return html_sections(html, "a.html").text


def test_blocks_are_apart_and_inline_parts_are_not(tmp_path: Path) -> None:
    """Case 41."""
    document = read(
        tmp_path,
        "<html><head><meta charset=windows-1251><title>Сайт</title><style>p {color: red}</style></head>"
        "<h1>Отпуск</h1><p>28 дней</p><ul><li>раз<li>два</ul><p>При<b>вет</b>!</p><script>alert(1)</script>"
        "<p>м<sup>2</sup>&nbsp;&#1105;&laquo;&amp;&raquo;".encode("cp1251"),
    )
    assert document.text == "Отпуск\n\n28 дней\n\n- раз\n- два\n\nПривет!\n\nм2 ё«&»"
    assert (document.title, document.metadata["encoding"]) == ("Отпуск", "cp1251")
    assert [block.headings for block in document.blocks] == [("Отпуск",)]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<div>а</div><div>б</div>", "а\n\nб"),
        ("а<br>б<br/>\n  в", "а\nб\nв"),
        ("<p> а\n  б\t<i> в</i></p>", "а б в"),
        ("<p>а<!-- скрыто -->б", "аб"),
        ("<details><summary>Ещё</summary>Внутри</details>", "Ещё\n\nВнутри"),
        ("<p hidden>а<p aria-hidden=true>б<p style='display: none'>в<p hidden=until-found>г<p>д", "г\n\nд"),
        ("<p>г<noscript>а</noscript><template>б</template><svg><text>в</text></svg>", "г"),
        ("<nav>а</nav><aside>б</aside><footer>в</footer><button>г</button>д", "д"),
        ("<article>а<aside class=note>Важно</aside></article>", "а\n\nВажно"),
        ("<div class=sidebar><a href=/>меню</a></div><div class=sidebar>длинный текст <a>раз</a></div>",
         "длинный текст раз"),
        ("<header><a>лого</a></header><header><h1>З</h1></header>т", "З\n\nт"),
        ("<div role=navigation>а</div><p class='x headerlink'>б<p>в", "в"),
        ("<ol start=3><li>а<ul><li>б</ul><li><p>в<p>г</ol>", "3. а\n  - б\n4. в\n   г"),
        ("<ul><li>а</ul><ul><li>б</ul>", "- а\n\n- б"),
        ("<dl><dt>Термин<dd>смысл<dt>Один</dl>", "Термин: смысл\n\nОдин"),
        ("<pre>if x:\n    y</pre>", "```\nif x:\n    y\n```"),
        ("<nav>всё здесь — меню</nav>", "всё здесь — меню"),
        ("<ul><li><h3>Шаг</h3>делай</ul>", "- Шаг\n  делай"),
    ],
)  # fmt: skip
def test_what_of_a_page_is_text(html: str, expected: str) -> None:
    assert text(html) == expected


def test_tables_keep_value_and_header_together() -> None:
    """Case 40 in HTML: merged cells once, nested tables inside their row."""
    html = (
        "<p>до<table><caption>Оклады</caption><tr><th>Должность<th>Оклад<th>Срок"
        "<tr><td rowspan=2>Кладовщик<td>45&nbsp;000<td>год<tr><td>46 000<td>два"
        "<tr><td colspan=2>Все<td><table><tr><td>А<td>Б<tr><td>1<td>2</table></table>после"
    )
    assert text(html) == (
        "до\n\nОклады\n"
        "| Должность: Кладовщик | Оклад: 45 000 | Срок: год |\n"
        "| Оклад: 46 000 | Срок: два |\n"
        "| Должность: Все | Срок: А: 1, Б: 2 |\n\nпосле"
    )


def test_a_table_that_only_lays_out_a_page_is_read_as_a_page() -> None:
    assert text("<table><tr><td><h2>Раздел</h2><p>раз<td>два</table>") == "Раздел\n\nраз\n\nдва"
    assert text("<table role=presentation><tr><td>а<td>б</table>") == "а\n\nб"


def test_headings_become_paths_and_links(tmp_path: Path) -> None:
    document = read(
        tmp_path,
        "<html lang=ru><head><link rel=canonical href='https://e.org/p#x'><meta name=Keywords content='а, б'>"
        "<meta name=description content='О чём'><meta property=article:published_time content=2024-03-05>"
        "</head><h1>Оплата</h1>начало<h2 id=premium>Премии <a class=headerlink href=#premium>¶</a></h2>раз"
        "<h3>Годовые</h3>два<section id=trips><h2>Поездки</h2>три</section>",
    )
    assert (document.title, document.link, document.tags) == ("Оплата", "https://e.org/p#x", ("а", "б"))
    assert document.metadata == {
        "lang": "ru",
        "description": "О чём",
        "date": "2024-03-05",
        "source_type": "html",
        "encoding": "utf-8",
    }
    assert [(block.topic, block.link) for block in document.blocks] == [
        ("Оплата", None),
        ("Оплата / Премии", "https://e.org/p#premium"),
        ("Оплата / Премии / Годовые", None),
        ("Оплата / Поездки", "https://e.org/p#trips"),
    ]


def test_main_is_the_page_and_a_saved_page_knows_its_address(tmp_path: Path) -> None:
    body = "<body><div>шапка</div><main><p>Текст статьи, ради которой сюда пришли.</main><div>подвал</div>"
    document = read(tmp_path, f"<!-- saved from url=(0020)https://e.org/saved -->{body}")
    assert document.text == "Текст статьи, ради которой сюда пришли."
    assert (document.link, document.title) == ("https://e.org/saved", "a")


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("<meta charset=koi8-r>Отпуск".encode("koi8-r"), "koi8-r"),
        ("<meta http-equiv=Content-Type content='text/html; charset=cp866'>Отпуск".encode("cp866"), "cp866"),
        ("<?xml version='1.0' encoding='windows-1251'?><html>Отпуск".encode("cp1251"), "cp1251"),
        ("<meta charset=windows-1251>Отпуск".encode(), "utf-8"),  # saved by a browser
        ("\ufeff<meta charset=windows-1251>Отпуск".encode(), "utf-8"),
        ("<meta charset=windows-1251>Отпуск".encode("utf-16"), "utf-16-le"),
        ("<meta charset=utf-8>Отпуск работника".encode("cp1251"), "cp1251"),
        ("<meta charset=iso-8859-1>Отпуск работника".encode("cp1251"), "cp1251"),
        ("<meta charset=zip>Отпуск работника".encode("cp1251"), "cp1251"),
        (b"<meta charset=windows-1251>" + "Отпуск".encode("cp1251") + b"\x98", "cp1251"),
    ],
)
def test_the_encoding_is_found(data: bytes, encoding: str) -> None:
    """Case 41: the page's own word, unless the bytes say otherwise."""
    decoded = decode_html(data)
    assert "Отпуск" in decoded.text
    assert decoded.encoding == encoding


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 5000,
        "<b><i>" * 5000 + "а",
        "<table><tr><td>" * 2000 + "а",
        "<font>" * 900 + "<p>" * 9000,
    ],
)
def test_endless_nesting_is_refused_at_once(tmp_path: Path, html: str) -> None:
    with pytest.raises(UnreadableFileError, match="nested too deeply"):
        read(tmp_path, html)


@pytest.mark.parametrize(
    "html",
    [
        "<p>" * 50_000 + "а",
        "<div>" * 900 + "а",
        "<table><tr><td>" * 300 + "а",
        "<table><tr><td colspan=99999999 rowspan=99999999>а<td rowspan=5>б</table>",
        "<table>" + "<tr><td colspan=1000 rowspan=1000>а<td>б" * 200,
        "а" * 200_000,
        "<p " + "x=1 " * 20_000 + ">а",
        "&amp;" * 20_000 + "а",
        "<p " + " ".join(f"a{number}=1" for number in range(50_000)) + ">а",
        "<![CDATA[<" + "<a" * 5000 + "а",
    ],
)
def test_hostile_pages_are_read_in_bounded_time(tmp_path: Path, html: str) -> None:
    with_text = read(tmp_path, html + "</p></table><p>конец</p>")
    assert with_text.blocks


TAGS = """<p> </p> <div> </div> <table> <tr> <td> <th> </table> <ul> <li> </ul> <h1> </h2> <h3> <pre> </pre>
<br> <dl><dt> <dd> <a> </a> <main> </main> <!-- --> &nbsp; &#0; &#x110000; < > ё <svg><desc> </svg> <template>
<aside> <ol> <b> </i> <script>тайна</script> <style>тайна</style> <td\tcolspan=3\trowspan=2> \0 \ud7ff"""
HTML_PIECES = st.sampled_from(re.split("[ \n]", TAGS))


@given(st.lists(HTML_PIECES | st.text(max_size=6), max_size=40))
def test_any_page_is_read_without_script_text(pieces: list[str]) -> None:
    sections = html_sections("".join(pieces), "a.html")
    text = sections.text
    if not any("<" in piece for piece in pieces if piece not in TAGS) and "<!--" not in pieces:
        assert "тайна" not in text or "<" in pieces
    position = 0
    for block in sections.blocks("t"):
        assert position <= block.start < block.end <= len(text)
        position = block.end
