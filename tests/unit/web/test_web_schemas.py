"""Fields of a question, from JSON and from an address (case 18)."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import InvalidRequestError, MalformedBodyError, QuestionTooLongError, RequestError
from pipeline.types import AskRequest
from pipeline.web.openapi import document
from pipeline.web.schemas import FIELDS, Parsed, from_query, parse


def parsed(**fields):
    return parse({"question": "отпуск"} | fields, language="ru")


def test_defaults_are_those_of_the_request():
    assert parsed() == Parsed(AskRequest(question="отпуск"), "fragment")


@given(
    st.dictionaries(
        st.sampled_from(list(FIELDS)),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text()
        | st.lists(st.text())
        | st.just({}),
    )
)
def test_any_values_give_a_request_or_an_error_that_names_a_field(fields):
    request = None
    named = "question"
    try:
        request = parse(fields, language="ru").request
    except InvalidRequestError as error:
        named = str(error.values["field"]).split(".")[0]
    except QuestionTooLongError:
        pass
    assert named in FIELDS
    if request is None:
        return
    assert 1 <= request.top_k <= 20
    assert 1 <= request.sources_limit <= 9
    assert 1 <= request.deadline_s <= 600
    assert isinstance(request.use_rag, bool)


def test_whole_numbers_may_be_written_as_decimals():
    request = parsed(top_k=5.0, deadline_s=2.5).request
    assert (request.top_k, type(request.top_k), request.deadline_s) == (5, int, 2.5)


def test_an_empty_prompt_and_data_are_none():
    request = parsed(prompt="", data="").request
    assert (request.prompt, request.data) == (None, ())
    assert parsed(data="раз").request.data == ("раз",)


@pytest.mark.parametrize(("given", "style"), [(True, "fragment"), (False, "text"), ("html", "page")])
def test_format(given, style):
    assert parsed(format=given).format == style


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        (b"q=%D0%B0+%D0%B1", {"question": "а б"}),
        (b"q=a%2Bb&top_k=5&scores=true", {"question": "a+b", "top_k": 5.0, "scores": True}),
        (
            b"question=a&format=html&cross_encoder=0",
            {"question": "a", "format": "html", "cross_encoder": False},
        ),
        (b"q=5&top_k=five&format=FALSE", {"question": "5", "top_k": "five", "format": False}),
        (b"q=a;b=c&&x", {"question": "a;b=c", "x": ""}),
        (b"", {}),
        (b"q=a%00b", {"question": "ab"}),
    ],
)
def test_an_address(query, fields):
    assert from_query(query) == fields


@pytest.mark.parametrize("query", [b"q=%FF", b"q=\xff", b"&".join([b"a=b"] * 200)])
def test_an_address_that_cannot_be_read(query):
    with pytest.raises(MalformedBodyError):
        from_query(query)


@given(st.binary(max_size=100))
def test_any_address_gives_a_request_or_an_error_of_ours(query):
    with contextlib.suppress(RequestError):
        parse(from_query(query), language="en")


def test_at_most_ten_unknown_fields_are_named():
    notes = parsed(**{f"поле{number}": 1 for number in range(50)}).notes
    assert len(notes) == 10
    assert len(parsed(**{"я" * 5000: 1}).notes[0]) < 150


@pytest.mark.parametrize(
    ("name", "meant"), [("use_rag", "use_RAG"), ("top-k", "top_k"), ("TOP_K", "top_k"), ("promt", "prompt")]
)
def test_a_misspelt_field_is_recognised(name, meant):
    note = parse({"question": "a", name: 1}, language="en").notes[0]
    assert note.endswith(f'perhaps "{meant}" was meant.')


def test_the_contract_for_programs_has_the_limits_that_are_checked():
    properties = document()["components"]["schemas"]["Question"]["properties"]
    assert list(properties) == list(FIELDS)
    for name, schema in properties.items():
        if "minimum" not in schema:
            continue
        for value, fits in (
            (schema["minimum"], True),
            (schema["maximum"], True),
            (schema["maximum"] + 1, False),
        ):
            if fits:
                parsed(**{name: value})
            else:
                with pytest.raises(InvalidRequestError):
                    parsed(**{name: value})
