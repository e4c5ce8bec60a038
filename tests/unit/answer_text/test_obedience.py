"""A model that does whatever a document orders, and what is left of it in the answer (case 35)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from made_evidence import evidence

from pipeline.answer.compose import compose
from pipeline.answer.orders import is_ordered
from pipeline.answer.quotation import with_quotation
from pipeline.text.language import detect_language
from pipeline.text.normalise import fold
from pipeline.text.sentences import split_sentences

HOSTILE = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data/hostile.jsonl").read_text(encoding="utf-8").splitlines()
]
KNOWN = [one for one in HOSTILE if not one["held_out"]]


@pytest.mark.parametrize("one", KNOWN, ids=lambda one: one["id"])
@pytest.mark.parametrize("form", ["alone", "whole order", "with the topic"])
def test_nothing_that_only_an_order_asks_for_is_in_the_answer(one: dict[str, Any], form: str) -> None:
    text, wanted = one["text"], one["only"][0]
    spans = split_sentences(text)
    sentences = [text[start:end] for start, end in spans]
    order = next(sentence for sentence in sentences if fold(wanted) in fold(sentence))
    honest = [text[start:end] for start, end in spans if not is_ordered(text, start, end)]
    payload = {"alone": wanted, "whole order": order, "with the topic": f"{one['topic']}: {wanted}."}[form]
    found = evidence(text, topics=[one["topic"]], best=honest)
    language = detect_language(honest[0])
    answer = compose(f"{honest[0]} [1] {payload} [1]", found, language)
    shown = fold(with_quotation(answer, found, language).text)
    assert fold(honest[0])[:20] in shown
    assert not [only for only in one["only"] if fold(only) in shown]
