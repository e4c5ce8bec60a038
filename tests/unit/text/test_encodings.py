"""Recognition of encodings."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.text.encodings import Decoded, NotTextError, decode

PHRASES = [
    "Срок отпуска 28 дней", "Счёт-фактура №5", "Пароль: 1234", "ВНИМАНИЕ! РАБОТЫ ПРОВОДЯТСЯ ПОСЛЕ 18:00",
    "Привет", "Оплата по договору", "«Ёлка»", "Ёлка", "Отпуск", "Акт сверки", "ИП Иванов", "Доступ к Wi-Fi",
    "Чёрный ящик", "Объём", "ПРИКАЗ О ПРИЁМЕ НА РАБОТУ", "Щука", "комплекс", "после обеда", "деревья",
    "Генеральный директор утвердил график отпусков.", "Тел. 8-800-555", "имеются замечания",
]  # fmt: skip


@pytest.mark.parametrize("phrase", PHRASES)
@pytest.mark.parametrize("encoding", ["cp1251", "cp866", "koi8-r"])
def test_short_russian_text_in_old_code_pages(phrase: str, encoding: str) -> None:
    """Case 1."""
    if encoding == "koi8-r":
        phrase = phrase.replace("«", "").replace("»", "").replace("№", "N")
    if encoding == "cp866":
        phrase = phrase.replace("«", '"').replace("»", '"')
    decoded = decode(phrase.encode(encoding))
    assert (decoded.text, decoded.encoding) == (phrase, encoding)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("phrase", [*PHRASES, "plain ASCII", "Größe", "日本語"])
def test_unicode_encodings(phrase: str, encoding: str) -> None:
    if phrase == "日本語" and encoding != "utf-8":
        pytest.skip("too short to tell without a mark")
    assert decode(phrase.encode(encoding)).text == phrase


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_decides_and_goes(encoding: str) -> None:
    """Case 3."""
    assert decode("Отпуск 日本".encode(encoding)).text == "Отпуск 日本"


@given(st.text(max_size=100))
def test_anything_with_a_mark_comes_back(text: str) -> None:
    # (a NUL right after the mark of UTF-16 would be the mark of UTF-32)
    assert decode(("а" + text).encode("utf-16")).text == "а" + text
    assert decode(text.encode("utf-8-sig")).text == text


def test_a_western_text_is_not_made_russian() -> None:
    assert decode("Straße über café naïve".encode("cp1252")).text == "Straße über café naïve"


def test_a_stray_nul_does_not_make_a_text_binary() -> None:
    """Case 6."""
    assert decode("Возврат това\x00ра 14 дней".encode()).text == "Возврат това\x00ра 14 дней"


def test_noise_and_pictures_are_refused() -> None:
    """Case 4."""
    for seed in range(50):
        with pytest.raises(NotTextError):
            decode(random.Random(seed).randbytes(2048))
    with pytest.raises(NotTextError):
        decode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0\x08\x06\0\0\0" * 4)
    with pytest.raises(NotTextError):
        decode(bytes(range(32)) * 20)


def test_a_file_cut_inside_its_last_character_is_read() -> None:
    assert decode("\ufeffОтпуск".encode()[:-1]).text == "Отпус\ufffd"


def test_no_bytes_are_an_empty_text() -> None:
    assert decode(b"").text == ""


NEEDLE = "Привет, это комментарий на русском языке."


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "cp1251", "cp866", "koi8-r"])
@pytest.mark.parametrize(
    "text",
    [
        "\n".join(PHRASES * 2000).replace("№", "N").replace("«", '"').replace("»", '"'),
        " ".join(["Один очень длинный абзац без переводов строки."] * 8000),
        "x = 1\n" * 60_000 + f"# {NEEDLE}\n" + "y = 2\n" * 60_000,
        "x=1;" * 90_000 + NEEDLE + "y=2;" * 90_000,
        f"{NEEDLE}\n" + "plain english text\n" * 30_000,
        "plain english text\n" * 30_000 + NEEDLE,
    ],
    ids=["phrases", "one line", "one line of many", "within a line", "first line", "last line"],
)
def test_a_sample_of_a_large_file_tells_its_encoding(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == Decoded(text, encoding)


def test_large_noise_and_large_western_texts() -> None:
    with pytest.raises(NotTextError):
        decode(random.Random(1).randbytes(400_000))
    with pytest.raises(NotTextError):  # text at both ends, a program between
        decode(b"text\n" * 20_000 + bytes(range(32)) * 3000 + b"text\n" * 20_000)
    western = "Le café est très bon près de la forêt où règne le silence.\n" * 4000
    assert decode(western.encode("cp1252")).text == western
