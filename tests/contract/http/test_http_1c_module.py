"""The common module of docs/1c carried out against both servers.

Not by 1C, which is not to be had here: by a small interpreter of our own, as strict as the platform where
that is known (a missing field of a structure, the type of a condition, the number of arguments).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from bsl_machine import Array, Module, Structure
from bsl_platform import HttpConnection
from scripted_service import ScriptedService
from speaking_service import SPOKEN, SteppedGenerator, speaking

from pipeline.errors import BusyError, GeneratorMissingError, NotReadyError
from pipeline.ports import GeneratorSpec
from pipeline.settings import ServerSettings, Settings

MODULE = Module(Path(__file__).parents[3] / "docs" / "1c" / "OtvetClient.bsl")
LABELS = ("Счёт", "Жалоба")


@pytest.fixture(autouse=True)
def wire(monkeypatch):
    """What the module has sent, and its line untouched."""
    sent = []
    monkeypatch.setattr(HttpConnection, "sent", sent)
    monkeypatch.setattr(HttpConnection, "tamper", staticmethod(lambda body: body))
    return sent


def to(client):
    return MODULE.call("НовоеПодключение", "127.0.0.1", client.port)


def refused_port(client):
    place = to(client)
    place.set("Порт", 1)
    return place


def parameters(**fields):
    found = Structure()
    for name, value in fields.items():
        found.Вставить(name, value)
    return found


def good(result):
    assert result.get("Успешно") is True, result.fields
    return result.get("Данные")


def bad(result):
    assert result.get("Успешно") is False
    assert result.get("Данные") is None
    return result.get("КодОшибки")


def test_a_question_and_its_answer(start, wire):
    service = ScriptedService()
    client = start(service)
    reply = good(MODULE.call("Спросить", "Сколько\tдней?", parameters(top_k=5), to(client)))
    assert reply.get("answer") == "Отпуск длится 28 дней [1]."
    assert reply.get("sources").at(0).get("title") == "Отпуск"
    asked = service.requests[0]
    assert (asked.question, asked.use_rag, asked.top_k, asked.deadline_s) == ("Сколько\tдней?", True, 5, 25)
    assert asked.client == "127.0.0.1 17"
    method, path, headers, body = wire[0]
    assert (method, path) == ("POST", "/ask")
    assert len(headers["Idempotency-Key"]) == 36
    assert b"\\u0009" in body
    assert b"\r\n" in body


@pytest.mark.parametrize("statement", ["", "SELECT 2"])
def test_a_statement_that_waits_is_confirmed(start, wire, statement):
    service = ScriptedService()
    client, waiting = start(service), "fedcba9876543210" * 2
    good(MODULE.call("ПодтвердитьЗапрос", waiting, statement, Ellipsis, to(client)))
    asked = service.requests[0]
    assert (asked.confirmed, asked.statement, asked.deadline_s) == (waiting, statement, 25)
    assert wire[0][:2] == ("POST", f"/ask/{waiting}/confirm")


@pytest.mark.parametrize(
    ("format_", "beginning"), [("html", "<!DOCTYPE html>"), (True, "<p>"), (False, "Отпуск"), ("Да", "<p>")]
)
def test_the_three_ways_to_show_an_answer(start, format_, beginning):
    reply = good(MODULE.call("Спросить", "отпуск", parameters(format=format_), to(start(ScriptedService()))))
    assert reply.get("answer").startswith(beginning)
    document = MODULE.call("ДокументИзФрагмента", reply.get("answer"))
    assert document.startswith("<html>")
    assert document.endswith("</body></html>")


def test_sources_only(start):
    service = ScriptedService()
    good(MODULE.call("Найти", "отпуск", Ellipsis, to(start(service))))
    assert service.requests[0].use_rag is False


@pytest.mark.parametrize(
    ("error", "code", "pause"),
    [
        (BusyError(waiting=8, retry_after_s=7), "busy", 7),
        (NotReadyError(what="модели"), "not_ready", 2),
    ],
)
def test_an_error_is_told_in_words_with_the_pause_before_another_try(start, wire, error, code, pause):
    result = MODULE.call("Спросить", "отпуск", Ellipsis, to(start(ScriptedService(error=error))))
    assert bad(result) == code
    assert result.get("ТекстОшибки")
    assert result.get("Подсказка")
    assert result.get("ПовторитьЧерез") == pause
    assert len(wire) == 1


def test_a_missing_service_is_tried_three_times_with_one_key(start, wire):
    result = MODULE.call("Спросить", "отпуск", Ellipsis, refused_port(start(ScriptedService())))
    assert bad(result) == "connection"
    assert len(wire) == 3
    assert len({headers["Idempotency-Key"] for _, _, headers, _ in wire}) == 1


def test_a_timeout_is_repeated_and_joins_the_first_try(start, tmp_path, monkeypatch):
    generator = SteppedGenerator()
    breaks = iter([True, False])

    def tamper(body):
        if next(breaks):
            raise TimeoutError("Превышено время ожидания")
        return body

    monkeypatch.setattr(HttpConnection, "tamper", staticmethod(tamper))
    generator.go_on()
    with speaking(tmp_path, generator) as service:
        client = start(service)
        reply = good(MODULE.call("Спросить", "Сколько дней длится отпуск?", Ellipsis, to(client)))
    assert reply.get("answer").startswith(SPOKEN)
    assert len(generator.calls) == 1


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.97])
def test_a_cut_reply_is_never_taken_for_a_whole_one(start, monkeypatch, wire, share):
    """The platform reads an open object without complaint; the last field is missing."""
    cut = staticmethod(lambda body: body.decode()[: int(len(body.decode()) * share)].encode())
    monkeypatch.setattr(HttpConnection, "tamper", cut)
    assert bad(MODULE.call("Спросить", "отпуск", Ellipsis, to(start(ScriptedService())))) == "cut"
    assert len(wire) == 3


@pytest.mark.parametrize("body", [b"", b"<html>502 Bad Gateway</html>", b"null", b"[]", b'{"a": 1}'])
def test_an_answer_of_somebody_else_is_no_answer(start, monkeypatch, body):
    monkeypatch.setattr(HttpConnection, "tamper", staticmethod(lambda _: body))
    assert bad(MODULE.call("Спросить", "отпуск", Ellipsis, to(start(ScriptedService())))) == "cut"


def test_a_byte_order_mark_of_a_proxy_does_no_harm(start, monkeypatch):
    monkeypatch.setattr(HttpConnection, "tamper", staticmethod(lambda body: b"\xef\xbb\xbf" + body))
    good(MODULE.call("Спросить", "отпуск", Ellipsis, to(start(ScriptedService()))))


def test_the_background_way(start, tmp_path):
    generator = SteppedGenerator()
    with speaking(tmp_path, generator) as service:
        place = to(start(service))
        begun = good(
            MODULE.call("НачатьВопрос", "Сколько дней длится отпуск?", parameters(format="html"), place)
        )
        state = good(MODULE.call("СостояниеВопроса", begun.get("id"), place))
        assert state.get("state") in ("queued", "running")
        generator.go_on()
        while state.get("poll_after_s") is not None:
            state = good(MODULE.call("СостояниеВопроса", begun.get("id"), place))
        assert state.get("reply").get("answer").startswith("<!DOCTYPE html>")
        assert good(MODULE.call("ОтменитьВопрос", begun.get("id"), place)).get("state") == "done"
    assert bad(MODULE.call("СостояниеВопроса", "0" * 32, place)) in ("job_not_found", "connection")


class Labeller(SteppedGenerator):
    def __init__(self):
        super().__init__(lambda messages: self.said(messages[-1].content))
        self.go_on()

    def said(self, text):
        if "confidence" in text or "Вопрос" in text:
            return self.reply
        return next((label for label in LABELS if label.lower()[:4] in text.lower()), "Другое")


@pytest.fixture
def labelling(start, tmp_path):
    generator = Labeller()
    with speaking(tmp_path, generator) as service:
        yield to(start(service, Settings(server=ServerSettings(queue_size=8)))), generator


def test_any_number_of_texts_is_classified(labelling, wire):
    place, generator = labelling
    texts = Array(f"{'Счёт' if n % 2 else 'Добрый день'} {n}" for n in range(405))
    rows = good(MODULE.call("Классифицировать", texts, Array(LABELS), parameters(prompt="Склад."), place))
    assert [row.get("Текст") for row in rows] == texts.items
    assert [row.get("Рубрика") for row in rows] == ["Счёт" if n % 2 else "" for n in range(405)]
    assert {row.get("Причина") for row in rows} == {"label", "none"}
    assert all(0 < row.get("Вероятность") <= 1 for row in rows)
    assert [path for method, path, _, _ in wire if method == "POST"] == ["/classify"] * 3
    assert all(path.endswith("?wait=25") for method, path, _, _ in wire if method == "GET")
    assert "Склад." in generator.calls[0][0].content


def test_no_text_at_all(labelling, wire):
    assert good(MODULE.call("Классифицировать", Array(), Array(LABELS), Ellipsis, labelling[0])).items == []
    assert wire == []


def test_the_form_takes_what_is_ready(labelling):
    place, _ = labelling
    begun = good(MODULE.call("НачатьКлассификацию", Array(["Жалоба"]), Array(LABELS), Ellipsis, place))
    state = good(MODULE.call("СостояниеКлассификации", begun.get("id"), 20, place))
    assert (state.get("state"), state.get("results").at(0).get("label")) == ("done", "Жалоба")
    assert good(MODULE.call("ОтменитьКлассификацию", begun.get("id"), place)).get("state") == "done"


def test_a_failed_batch_is_an_error(labelling):
    place, generator = labelling
    generator._spec = GeneratorSpec("scripted", 100)
    result = MODULE.call(
        "Классифицировать", Array(["а"]), Array(LABELS), parameters(prompt="слово " * 100), place
    )
    assert bad(result) == "prompt_too_long"
    assert result.get("Подсказка")


def test_a_profile_without_a_model(start):
    class Without(ScriptedService):
        def classify(self, request, cancelled):
            raise GeneratorMissingError

    result = MODULE.call("Классифицировать", Array(["а"]), Array(LABELS), Ellipsis, to(start(Without())))
    assert bad(result) == "generator_missing"


@pytest.mark.parametrize(
    ("reply", "label", "confidence"),
    [
        ('{"label": "Счёт", "confidence": 0.9}', "Счёт", 0.9),
        ('{"label": "Счёт", "confidence": 0.2}', "", 0.2),
        ('{"label": "Кража", "confidence": 0.9}', "", 0.9),
        ('{"label": "Счёт", "confidence": 7}', "Счёт", 1),
        ('{"label": "Счёт", "confidence": "да"}', "", 0),
        ('{"label": "Счёт"}', "", 0),
        ("Это счёт.", "", 0),
    ],
)
def test_a_label_through_prompt_and_data(labelling, reply, label, confidence):
    place, generator = labelling
    generator.reply = reply
    found = good(MODULE.call("РубрикаЧерезПромпт", "Выставьте счёт", Array(LABELS), 0.5, place))
    assert (found.get("Рубрика"), found.get("Уверенность")) == (label, confidence)
    assert "- Счёт\n- Жалоба" in generator.calls[0][0].content


def test_a_token_goes_into_the_header(start, wire):
    place = to(start(ScriptedService()))
    place.set("Токен", "тайна")
    place.set("Клиент", "")
    with pytest.raises(UnicodeEncodeError):
        MODULE.call("Готовность", place)
    place.set("Токен", "secret")
    good(MODULE.call("Готовность", place))
    assert wire[-1][2]["Authorization"] == "Bearer secret"
    assert "X-Client" not in wire[-1][2]
