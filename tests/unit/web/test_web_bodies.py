"""Bodies: whatever bytes come, a clean object or an error of ours (cases 6, 11, 28, 29)."""

import contextlib
import io
import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pipeline.errors import BodyTooLargeError, MalformedBodyError, RequestError
from pipeline.web.bodies import BODY_LIMIT, check_media_type, decode, parse_object, read_body, read_object

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda items: st.lists(items, max_size=3) | st.dictionaries(st.text(max_size=5), items, max_size=3),
    max_leaves=10,
)
encodings = st.sampled_from(
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]
)


@given(st.dictionaries(st.text(min_size=1, max_size=5), json_values, min_size=1, max_size=3), encodings)
def test_every_unicode_encoding_is_read_without_being_named(value, encoding):
    text = json.dumps(value, ensure_ascii=False)
    # A NUL would be taken out, which is another test; two keys that differ by one would become the same.
    assume("\\u0000" not in text)
    assert parse_object(decode(text.encode(encoding, "surrogatepass"))) == parse_object(text)


@given(
    st.binary(max_size=200), st.sampled_from(["", "utf-8", "utf-16", "windows-1251", "ascii", "utf-32-be"])
)
def test_any_bytes_give_an_object_or_an_error_of_ours(body, charset):
    with contextlib.suppress(RequestError):
        assert isinstance(parse_object(decode(body, charset)), dict)


@given(st.text(alphabet=st.characters(categories=("L", "N", "Cs", "Cc")), max_size=30))
def test_no_text_that_cannot_be_written_comes_out(text):
    found = parse_object(json.dumps({"a": text, text: [text, {text: text}]}))
    rendered = json.dumps(found, ensure_ascii=False)
    rendered.encode("utf-8")
    assert "\x00" not in rendered


def test_a_body_is_read_to_one_byte_over_the_limit():
    endless = io.BytesIO(b"x" * (BODY_LIMIT * 3))
    body = read_body(endless.read)
    assert len(body) == BODY_LIMIT + 1
    with pytest.raises(BodyTooLargeError):
        read_object(body, {})


def test_a_body_that_comes_in_pieces_is_put_together():
    pieces = iter([b"{", b'"a"', b":1}", b""])
    assert read_object(read_body(lambda _: next(pieces)), {}) == {"a": 1}


def test_charset_is_read_with_quotes_and_in_any_case():
    headers = {"content-type": 'Application/JSON; boundary=x; Charset="Windows-1251"'}
    assert check_media_type(headers) == "windows-1251"


@pytest.mark.parametrize(
    ("text", "place"), [("{", (1, 2)), ('{"a": 1,\n "b" 2}', (2, 6)), ("", (1, 1)), ("{'a': 1}", (1, 2))]
)
def test_the_place_of_a_mistake(text, place):
    with pytest.raises(MalformedBodyError) as caught:
        parse_object(text)
    assert caught.value.message("en").endswith(f"a mistake in line {place[0]}, character {place[1]}.")
