"""Bodies byte for byte as programs send them (B1-B3, B7, B12-B14; cases 6, 11, 28, 29, 30, 31)."""

import json

import pytest
from scripted_service import ScriptedService

QUESTION = "Сколько дней длится отпуск?"
JSON_TEXT = json.dumps({"question": QUESTION, "use_RAG": False}, ensure_ascii=False)


def raw_post(body: bytes, *headers: str, path: str = "/ask", length: int | None = None) -> bytes:
    """A request as 1C:Enterprise 8.3 writes it: few headers, and only those that code has added."""
    lines = [
        f"POST {path} HTTP/1.1",
        "Host: localhost:8000",
        "User-Agent: 1C+Enterprise/8.3",
        "Accept: */*",
        f"Content-Length: {len(body) if length is None else length}",
        *headers,
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def assert_understood(answered, question=QUESTION):
    assert answered.status == 200, answered.body.decode()
    assert answered.json["question"] == question


def assert_refused(answered, status=400, code="malformed_body"):
    assert (answered.status, answered.json["error"]) == (status, code)
    assert answered.header("Content-Type") == "application/json; charset=utf-8"


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize(
    "headers",
    [
        (),
        ("Content-Type: application/json",),
        ("Content-Type: application/json;charset=UTF-8",),
        ("Content-Type: application/json; charset=utf-8",),
        ('content-type: APPLICATION/JSON; charset="utf-8"',),
        ("Content-Type: text/plain",),
        ("Content-Type: text/plain; charset=utf-8",),
        ("Content-Type: text/json",),
        ("Content-Type: application/vnd.api+json",),
    ],
)
def test_a_1c_body_with_and_without_mark_and_type(standing, mark, headers):
    """B1, B3, cases 28 and 29."""
    assert_understood(standing.raw(raw_post(mark + JSON_TEXT.encode(), *headers)))


@pytest.mark.parametrize(
    ("encoding", "headers"),
    [
        ("utf-16", ()),
        ("utf-16-le", ()),
        ("utf-16-be", ()),
        ("utf-32", ()),
        ("utf-16", ("Content-Type: application/json; charset=utf-16",)),
        ("utf-16-le", ("Content-Type: application/json; charset=UTF-16",)),
        ("utf-16-be", ("Content-Type: application/json; charset=UTF-16BE",)),
        ("cp1251", ("Content-Type: text/plain; charset=Windows-1251",)),
        ("cp1251", ("Content-Type: application/json; charset=windows-1251",)),
        ("cp866", ("Content-Type: application/json; charset=cp866",)),
        ("koi8-r", ("Content-Type: application/json; charset=KOI8-R",)),
    ],
)
def test_a_body_in_another_encoding(standing, encoding, headers):
    """B2, case 29."""
    assert_understood(standing.raw(raw_post(JSON_TEXT.encode(encoding), *headers)))


def test_a_mark_wins_over_the_header(standing):
    """1C code that names one encoding in the header and writes another."""
    body = JSON_TEXT.encode("utf-16")
    assert_understood(standing.raw(raw_post(body, "Content-Type: application/json; charset=utf-8")))


def test_cp1251_without_charset_is_refused_and_the_encodings_named(standing):
    """Case 29."""
    answered = standing.raw(raw_post(JSON_TEXT.encode("cp1251"), "Content-Type: application/json"))
    assert_refused(answered)
    assert "UTF-8" in answered.json["message"]
    assert "windows-1251" in answered.json["message"]


@pytest.mark.parametrize(
    "charset", ["rot13", "zlib", "idna", "utf-7", "unicode_escape", "нет", "x" * 300, "\x00"]
)
def test_only_character_sets_may_be_named(standing, charset):
    header = f"Content-Type: application/json; charset={charset}"
    answered = standing.raw(raw_post(JSON_TEXT.encode(), header))
    if charset == "\x00":  # the header itself is malformed; a server may refuse it before us
        assert answered.status == 400
    elif charset == "нет":  # not ASCII: no parameter at all, or an unknown charset
        assert answered.status in (200, 400)
    else:
        assert_refused(answered)


@pytest.mark.parametrize(
    "body",
    [
        '{"question": "Сколько дней длится отпуск?"}',
        '{\r\n"question": "Сколько дней длится отпуск?",\r\n"use_RAG": false\r\n}',
        json.dumps({"question": QUESTION}),
        '{"question": "Сколько\\u0009дней\\u0009длится отпуск?"}',
        '{"question": "Сколько дней длится отпуск?", "top_k": 3.000000000000000000000000000}',
        '{"question": "Сколько дней длится отпуск?", "deadline_s": 33.333333333333333333333333333}',
        '{"question": "Сколько дней длится отпуск?", "filter": null, "format": null}',
        '{"question": "Сколько дней длится отпуск?\\r\\n"}',
        '{"question": "Сколько дней\\u2028 длится отпуск?"}',
        '  \n{"question": "Сколько дней длится отпуск?"}\n  ',
    ],
)
def test_json_as_1c_writes_it(standing, body):
    """B12-B14, case 30: line breaks, escaped Cyrillic and controls, decimals of 27 digits."""
    answered = standing.raw(raw_post(body.encode()))
    assert answered.status == 200, answered.body.decode()
    assert answered.json["question"].split() == QUESTION.split()


def test_a_nul_in_the_question_is_taken_out(start):
    """Case 6."""
    service = ScriptedService()
    assert start(service).raw(
        raw_post(b'{"question":"\\u0432\\u043e\\u0437\\u0000\\u0432\\u0440\\u0430\\u0442"}')
    )
    assert service.requests[0].question == "возврат"


@pytest.mark.parametrize(
    ("escaped", "question"),
    [
        ("\\ud83d", "\ufffd"),
        ("a\\udc00b", "a\ufffdb"),
        ("\\ud83d\\udc68", "👨"),
        ("\\udc68\\ud83d", "\ufffd\ufffd"),
    ],
)
def test_half_an_emoji_breaks_nothing(start, escaped, question):
    """Case 11: no lone surrogate reaches the service, and none an answer."""
    service = ScriptedService(answer="{question} [1]")
    client = start(service)
    answered = client.raw(raw_post(f'{{"question":"{escaped}", "format": false}}'.encode()))
    assert answered.status == 200
    assert service.requests[0].question == question
    assert answered.json["answer"] == f"{question} [1]"
    assert client.ask({"question": "отпуск"}).status == 200


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"   ",
        b"\xef\xbb\xbf",
        b"null",
        b"[]",
        b'"\xd0\xb0"',
        b"{",
        b'{"question": "a",}',
        b'{"question": undefined}',
        b'{"question": "a", "top_k": NaN}',
        b'{"question": "a", "top_k": -Infinity}',
        b'{"question": "a", "top_k": 1e999}',
        b'{"question": "a", "top_k": ' + b"9" * 5000 + b"}",
        b'{"question": "a", "question": "b"}',
        b'{"question": "a", "filter": {"tags": [], "tags": []}}',
        b"[" * 200_000,
        b'{"a":' * 100_000,
        b'{"question": "a", "x": ' + b"[" * 900 + b"]" * 900 + b"}" + b"}",
        b'{"question": "\n"}',
        b"question=a",
        b"\x00\x01\x02\xff\xfe",
    ],
    ids=range(21),
)
def test_what_is_not_one_json_object_is_refused(standing, body):
    assert_refused(standing.raw(raw_post(body)))
    assert standing.ask({"question": "отпуск"}).status == 200


def test_the_place_of_a_mistake_is_named(standing):
    answered = standing.raw(raw_post('{\n"question": "а",\n"top_k": ,\n}'.encode()))
    assert "в строке 3, знак 10" in answered.json["message"]


@pytest.mark.parametrize(
    "media_type",
    [
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml",
        "image/png",
        "json",
    ],
)
def test_other_types_are_refused_as_json(standing, media_type):
    """Case 28."""
    answered = standing.raw(raw_post(JSON_TEXT.encode(), f"Content-Type: {media_type}"))
    assert_refused(answered, 415, "unsupported_media_type")


@pytest.mark.parametrize("given", [(), ("Content-Type: text/plain",), ("Content-Type: application/ld+json",)])
def test_a_browser_page_must_say_json(standing, given):
    """Case 28: a form of another site can send text/plain, but not application/json."""
    own = "Origin: http://localhost:8000"
    refused = standing.raw(raw_post(JSON_TEXT.encode(), own, *given))
    assert_refused(refused, 415, "unsupported_media_type")
    assert_understood(standing.raw(raw_post(JSON_TEXT.encode(), own, "Content-Type: application/json")))


def test_a_compressed_body_is_refused(standing):
    answered = standing.raw(raw_post(JSON_TEXT.encode(), "Content-Encoding: gzip"))
    assert_refused(answered, 415, "unsupported_media_type")


def chunked(body: bytes, size: int = 7) -> bytes:
    parts = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


CHUNKED = b"POST /ask HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"


def test_a_chunked_body(standing):
    assert_understood(standing.raw(CHUNKED + chunked(JSON_TEXT.encode())))


def padded(size: int) -> bytes:
    body = b'{"question": "a", "data": "%s"}'
    return body % (b"x" * (size - len(body) + 2))


def test_a_body_up_to_the_limit_is_taken_and_one_byte_more_is_not(standing):
    assert standing.raw(raw_post(padded(1 << 20))).status == 200
    answered = standing.raw(raw_post(padded((1 << 20) + 1)))
    assert_refused(answered, 413, "body_too_large")
    assert "1048576" in answered.json["message"]


def test_a_chunked_body_cannot_get_round_the_limit(standing):
    answered = standing.raw(CHUNKED + chunked(padded(3 << 20), 1 << 16))
    assert_refused(answered, 413, "body_too_large")
    assert standing.ask({"question": "отпуск"}).status == 200


def test_a_sender_of_five_megabytes_reads_the_refusal(standing):
    """It reads only once it has written everything, so the connection must live until then."""
    assert_refused(standing.raw(raw_post(padded(5 << 20))), 413, "body_too_large")


def test_a_body_longer_than_announced_is_cut_there(standing):
    body = JSON_TEXT.encode()
    assert_understood(standing.raw(raw_post(body + b"garbage", "Connection: close", length=len(body))))


def test_a_body_shorter_than_announced_stops_nobody_else(standing):
    connection = standing.connect()
    connection.sendall(raw_post(JSON_TEXT.encode(), length=100_000))
    assert standing.ask({"question": "отпуск"}).status == 200
    connection.close()
    assert standing.ask({"question": "отпуск"}).status == 200


def test_a_request_without_length_and_body(standing):
    answered = standing.raw(b"POST /ask HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert_refused(answered)


def test_expect_continue(standing):
    connection = standing.connect()
    body = JSON_TEXT.encode()
    head = raw_post(b"", "Expect: 100-continue", length=len(body))
    connection.sendall(head)
    assert connection.recv(100).startswith(b"HTTP/1.1 100")
    connection.sendall(body)
    assert_understood(standing.receive(connection))


def test_one_connection_carries_many_requests(standing):
    """B7."""
    connection = standing.connect()
    for number in range(5):
        connection.sendall(raw_post(json.dumps({"question": f"вопрос {number}"}).encode()))
        assert_understood(standing.receive(connection), f"вопрос {number}")


def test_http_1_0(standing):
    body = JSON_TEXT.encode()
    head = f"POST /ask HTTP/1.0\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    assert_understood(standing.raw(head.encode() + body))
