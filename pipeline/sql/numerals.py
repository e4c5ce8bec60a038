"""Counts written as digits or as Russian and English words."""

from __future__ import annotations

__all__ = ["COUNT", "count_of"]

_WORDS = {
    "один": 1, "одного": 1, "одну": 1, "одна": 1, "два": 2, "две": 2, "двух": 2, "пару": 2, "три": 3,
    "трех": 3,
    "четыре": 4, "четырех": 4, "пять": 5, "пяти": 5, "шесть": 6, "шести": 6, "семь": 7, "семи": 7,
    "восемь": 8, "восьми": 8, "девять": 9, "девяти": 9, "десять": 10, "десяти": 10, "одиннадцать": 11,
    "двенадцать": 12, "двенадцати": 12, "пятнадцать": 15, "двадцать": 20, "двадцати": 20, "тридцать": 30,
    "тридцати": 30, "сорок": 40, "сорока": 40, "пятьдесят": 50, "пятидесяти": 50, "шестьдесят": 60,
    "девяносто": 90, "сто": 100, "ста": 100, "двести": 200, "двухсот": 200, "триста": 300, "трехсот": 300,
    "пятьсот": 500, "пятисот": 500, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "thirty": 30, "hundred": 100,
}  # fmt: skip

COUNT = r"\d{1,4}|" + "|".join(sorted(_WORDS, key=len, reverse=True))
"""For a regular expression over folded text: a count in digits or in a word."""


def count_of(word: str) -> int:
    """The number of a match of `COUNT`."""
    return int(word) if word.isdigit() else _WORDS[word]
