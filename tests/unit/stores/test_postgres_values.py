"""What goes to PostgreSQL and comes back: texts, vectors, terms, differences, filters, several sources."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.index import Calibration, Manifest
from pipeline.stores.postgres.binary import Terms, Vector, terms_from, vectors_from
from pipeline.stores.postgres.difference import BODY, difference
from pipeline.stores.postgres.filters import ALL, condition_of
from pipeline.stores.postgres.ranking_sql import MOST_TERMS, pool_statement, quoted
from pipeline.stores.postgres.texts import from_postgres, to_postgres
from pipeline.stores.postgres.union import Part, united_calibration, united_manifest
from pipeline.types import Filter, QuestionTerm, SearchMode

ANY = st.text(st.characters(exclude_categories=()) | st.sampled_from("\x00\ufdd0\ud800я"))


@given(ANY)
def test_any_text_comes_back(text: str):
    sent = to_postgres(text)
    assert "\x00" not in sent
    sent.encode("utf-8")
    assert from_postgres(sent) == text


def test_an_ordinary_text_is_sent_as_it_is():
    text = "Отпуск — 28 дней 👨\u200d👩\u200d👧"
    assert to_postgres(text) is text


def test_a_vector_in_the_form_of_pgvector():
    made = Vector(np.array([1.0, -2.5], np.float32))
    assert made.data == bytes.fromhex("0002 0000 3f800000 c0200000")
    assert vectors_from([made.data, made.data], 2).tolist() == [[1.0, -2.5]] * 2
    assert vectors_from([], 3).shape == (0, 3)


def test_numbers_that_pgvector_refuses_become_zero():
    made = Vector(np.array([np.nan, np.inf, -np.inf, 1.0], np.float32))
    assert vectors_from([made.data], 4).tolist() == [[0.0, 0.0, 0.0, 1.0]]


def test_terms_in_the_form_of_a_tsvector():
    made = Terms({"я": 2})
    assert made.data == bytes.fromhex("00000001 d18f 00 0002 0001 0002")
    assert terms_from(made.data) == ["я", "я"]
    assert len(terms_from(Terms({"a": 300, "b": 1}).data)) == 256  # PostgreSQL counts no further than 255


def test_a_term_is_quoted_for_a_tsquery():
    assert quoted("o'neil\\") == "'o''neil\\\\'"


def hashed(body: str, labels: str) -> bytes:
    return body.encode().ljust(BODY, b".") + labels.encode()


def test_what_is_sent_relabelled_removed_and_kept():
    known = {"same": hashed("a", "x"), "moved": hashed("b", "x"), "new text": hashed("c", "x"), "old": b""}
    wanted = [
        ("same", hashed("a", "x")),
        ("moved", hashed("b", "y")),
        ("new text", hashed("d", "x")),
        ("fresh", hashed("e", "x")),
    ]
    found = difference(known, wanted)
    assert set(found.sent) == {2, 3}
    assert found.relabelled == {1: hashed("b", "y")}
    assert set(found.gone) == {"new text", "old"}
    assert found.kept == 2
    assert not found.nothing
    assert difference(known, known.items()).nothing


def test_no_value_of_a_filter_is_in_the_sql():
    hostile = "'); DROP TABLE chunks; --"
    made = condition_of(
        Filter((hostile,), (hostile,), hostile, {hostile: hostile}, since="2024", until="2024-02")
    )
    assert "DROP" not in made.sql
    assert made.values["f_since"] == "2024-01-01"
    assert made.values["f_until"] == "2024-02-29"
    assert made.sql.count("%(") == len(made.values)
    assert condition_of(Filter()).everything
    assert condition_of(None).everything


@pytest.mark.parametrize("mode", ["hybrid", "dense", "keyword"])
@pytest.mark.parametrize("exact", [True, False])
def test_no_word_of_a_question_is_in_the_statement(mode: SearchMode, exact: bool):
    hostile = "'::tsquery); DROP TABLE chunks; --"
    terms = [QuestionTerm(hostile, 2.0, ((hostile, 1.0), ("other", 0.8))), QuestionTerm("lost", 3.0)]
    condition = condition_of(Filter(path_prefix=hostile))
    made = pool_statement(
        terms, condition, mode=mode, fusion="rrf", exact=exact, mean_length=7.0, all_words=True
    )
    assert "DROP" not in made.sql
    assert quoted(hostile) in made.values.values()
    assert made.values["f_path"] == hostile
    for name in made.values:
        assert f"%({name})s" in made.sql, name


def test_the_heaviest_terms_of_a_long_question_are_counted():
    terms = [QuestionTerm(f"t{number}", float(number), ((f"t{number}", 1.0),)) for number in range(200)]
    made = pool_statement(
        terms, ALL, mode="keyword", fusion="rrf", exact=True, mean_length=7.0, all_words=False
    )
    counted = {value for name, value in made.values.items() if name.startswith("t")}
    assert counted == {quoted(f"t{number}") for number in range(200 - MOST_TERMS, 200)}


MANIFEST = Manifest("a" * 16, "hash/32", 32, "none", {}, {"a.txt": "1", "both.txt": "2"})
OTHER = replace(MANIFEST, build_id="b" * 16, files={"b.txt": "3", "both.txt": "4"})
CALIBRATION = Calibration("m", 0.25, -0.5, 30, 20)


def part(name: str, manifest: Manifest, calibration: Calibration | None = CALIBRATION) -> Part:
    return Part(name, manifest, calibration, 3)


def test_one_source_is_the_base():
    assert united_manifest([part("a", MANIFEST)]) == MANIFEST
    assert united_calibration([part("a", MANIFEST)]) == CALIBRATION


def test_several_sources_have_one_version_that_each_of_them_changes():
    both = united_manifest([part("a", MANIFEST), part("b", OTHER)])
    assert both.files == {"a.txt": "1", "both.txt": "2", "b.txt": "3", "b:both.txt": "4"}
    assert len(both.build_id) == 16
    changed = united_manifest([part("a", MANIFEST), part("b", replace(OTHER, build_id="c" * 16))])
    assert len({both.build_id, changed.build_id, MANIFEST.build_id}) == 3
    swapped = united_manifest([part("a", OTHER), part("b", MANIFEST)])
    assert swapped.build_id != both.build_id


@pytest.mark.parametrize(
    ("others", "shifts"),
    [
        ([replace(CALIBRATION, shift=1.5, shift_abroad=-1.0)], (1.5, -0.5)),
        ([replace(CALIBRATION, shift=-1.5, shift_abroad=1.0)], (0.25, 1.0)),
        ([None], None),
        ([replace(CALIBRATION, method="other")], None),
    ],
)
def test_the_strictest_calibration_holds(
    others: list[Calibration | None], shifts: tuple[float, float] | None
):
    made = united_calibration([part("a", MANIFEST), *(part("b", OTHER, one) for one in others)])
    assert (made and (made.shift, made.shift_abroad)) == shifts
