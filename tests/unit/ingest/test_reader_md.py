"""Markdown: sections, heading paths, front matter, code, comments."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.errors import UnreadableFileError
from pipeline.ingest.readers.md import read_markdown
from pipeline.types import Document


def read(tmp_path: Path, text: str) -> Document:
    path = tmp_path / "vacation .md"
    path.write_bytes(text.encode())
    return read_markdown(path, "docs/vacation .md")[0]


def sections(document: Document) -> list[tuple[tuple[str, ...], str]]:
    return [(block.headings, document.text[block.start : block.end]) for block in document.blocks]


TEXT = """# Отпуск
Вступление.
## Срок *и* `порядок` ##
28 дней.
### Перенос
Можно.
## [Оплата](pay.md) {#pay}

За 3 дня.
"""


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_sections_have_the_path_of_their_headings(tmp_path: Path, line_break: str) -> None:
    """Case 5: the same blocks whatever the line breaks."""
    document = read(tmp_path, TEXT.replace("\n", line_break))
    assert sections(document) == [
        (("Отпуск",), "Вступление."),
        (("Отпуск", "Срок и порядок"), "28 дней."),
        (("Отпуск", "Срок и порядок", "Перенос"), "Можно."),
        (("Отпуск", "Оплата"), "За 3 дня."),
    ]
    assert document.title == "Отпуск"
    assert document.blocks[2].topic == "Отпуск / Срок и порядок / Перенос"


def test_underlined_headings_and_rulers(tmp_path: Path) -> None:
    document = read(tmp_path, "Отпуск\n======\nа\n\nСрок\n---\nб\n\n---\n\nв")
    assert sections(document) == [(("Отпуск",), "а"), (("Отпуск", "Срок"), "б\n\n---\n\nв")]


def test_hash_signs_in_code_are_no_headings(tmp_path: Path) -> None:
    text = "# А\n```sh\n# комментарий\n<!-- остаётся -->\n```\n`<!-- и это -->` #не заголовок\n"
    assert sections(read(tmp_path, text)) == [(("А",), text.split("\n", 1)[1].rstrip())]


def test_comments_are_dropped_with_their_lines(tmp_path: Path) -> None:
    document = read(tmp_path, "# А\n<!-- не трогать\n# Б -->\nтекст <!-- тут -->дальше\n<!-- незакрытый")
    assert sections(document) == [(("А",), "текст дальше\n<!-- незакрытый")]


def test_sections_without_text_are_no_blocks(tmp_path: Path) -> None:
    """Case 7."""
    assert sections(read(tmp_path, "# А\n\n# Б\n\nтекст")) == [(("Б",), "текст")]
    with pytest.raises(UnreadableFileError, match="no text"):
        read(tmp_path, "# А\n\n## Б\n<!-- пусто -->\n")


def test_front_matter_is_metadata(tmp_path: Path) -> None:
    text = (
        '---\ntitle: "Правила: отпуск"\ntags: [кадры, отпуск]\nlink: https://example.org/a\n'
        "version: 3\nrate: 1.5\nactive: true\nowner: Анна\n---\nТекст"
    )
    document = read(tmp_path, text)
    assert (document.title, document.link, document.tags) == (
        "Правила: отпуск", "https://example.org/a", ("кадры", "отпуск"),
    )  # fmt: skip
    expected = {"version": 3, "rate": 1.5, "active": True, "owner": "Анна"}
    assert {key: document.metadata[key] for key in expected} == expected
    assert document.text == "Текст"
    assert document.blocks[0].topic == "Правила: отпуск"


def test_front_matter_with_a_list_of_lines(tmp_path: Path) -> None:
    document = read(tmp_path, "---\nтеги:\n  - кадры\n  - 'отпуск'\nnested:\n  deep: 1\n---\nТекст")
    assert document.tags == ("кадры", "отпуск")


def test_two_rulers_are_no_front_matter(tmp_path: Path) -> None:
    assert read(tmp_path, "---\nПросто текст\n---\nДальше").text.startswith("---\nПросто")


@pytest.mark.parametrize(
    "link", ["javascript:alert(1)", "file:///etc/passwd", "http://", "http://a b", "ftp://a"]
)
def test_only_web_links_are_kept(tmp_path: Path, link: str) -> None:
    assert read(tmp_path, f"---\nlink: {link}\n---\nТекст").link is None


def test_a_file_without_headings_is_named_after_itself(tmp_path: Path) -> None:
    document = read(tmp_path, "Просто текст")
    assert (document.title, document.blocks[0].topic, document.blocks[0].headings) == (
        "vacation", "vacation", (),
    )  # fmt: skip


def test_a_mark_at_the_start_hides_no_heading(tmp_path: Path) -> None:
    """Case 3."""
    document = read(tmp_path, "\ufeff# Отпуск\n\nТекст")
    assert sections(document) == [(("Отпуск",), "Текст")]
    assert "\ufeff" not in document.text + document.title
