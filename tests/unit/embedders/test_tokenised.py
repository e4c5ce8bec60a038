from __future__ import annotations

import numpy as np
import pytest

from pipeline.embedders.prefixes import guess_scheme, prefix
from pipeline.embedders.tokenised import text_rows, unit_rows
from pipeline.models.onnx_folder import well_formed


def test_prefixes_of_e5_and_of_others():
    assert prefix("e5", "query") == "query: "
    assert prefix("e5", "passage") == "passage: "
    assert prefix("none", "query") == ""


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("multilingual-e5-small", "e5"),
        ("intfloat/multilingual-e5-base", "e5"),
        ("/models--intfloat--e5_large", "e5"),
        ("multilingual-e5-large-instruct", "none"),
        ("bge-small-en", "none"),
        ("some5-model", "none"),
    ],
)
def test_the_scheme_follows_from_the_name(name, scheme):
    """Case 16: not added for a model that is no e5."""
    assert guess_scheme(name) == scheme


def test_specials_and_prefix_are_left_out_and_spaces_cut_off():
    """<s> ▁query : ▁склад ▁ 5 </s> over "query: " + "склад  5"; the second space is a token."""
    offsets = [(0, 0), (0, 5), (5, 6), (6, 12), (12, 14), (14, 15), (0, 0)]
    rows, spans = text_rows("склад  5", offsets, [1, 0, 0, 0, 0, 0, 1], len("query: "))
    assert rows.tolist() == [3, 4, 5]
    assert spans.tolist() == [[0, 5], [5, 7], [7, 8]]


def test_rows_get_length_one_and_zero_rows_stay():
    assert unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]], np.float32)).tolist() == [
        pytest.approx([0.6, 0.8]),
        [0.0, 0.0],
    ]


def test_what_no_tokenizer_takes_is_replaced_one_for_one():
    """Cases 6 and 11."""
    assert well_formed("a\ud83db\x00c") == "a\ufffdb\x01c"
    assert well_formed("👨‍👩‍👧") == "👨‍👩‍👧"
