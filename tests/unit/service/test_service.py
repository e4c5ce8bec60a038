"""The service with fakes for every model: what comes out in every turn a request can take."""

import json
import threading
import time
from dataclasses import replace

import pytest

from pipeline.embedders.hash import HashEmbedder
from pipeline.errors import (
    BusyError,
    CancelledError,
    EmptyQuestionError,
    IndexMissingError,
    NotFoundError,
    NotReadyError,
    OtvetError,
)
from pipeline.generators.scripted import ScriptedGenerator
from pipeline.generators.worker import GeneratorWorker
from pipeline.ingest.build import build_index
from pipeline.lazy import Lazy
from pipeline.service import EXTRACTIVE, Parts, QAService
from pipeline.settings import ServerSettings, Settings
from pipeline.types import AskRequest, Failed, Finished, Retrieved, Token, Waiting
from pipeline.web.jsontext import dumps

TEXT = "[Тема] Отпуск\nОтпуск длится 28 дней.\n\n[Тема] Пароль\nПароль от склада — Берёза-17.\n"
QUESTION = "Сколько дней длится отпуск?"
GOOD = "Отпуск длится 28 дней [1]."


@pytest.fixture
def index(tmp_path):
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    return build_index(tmp_path, HashEmbedder(), Settings().index).index


@pytest.fixture
def make(index):
    made = []

    def service(generator=None, *, places=8, load_index=lambda: index) -> QAService:
        worker = Lazy(lambda: GeneratorWorker(lambda: generator, places)) if generator else None
        settings = Settings(server=ServerSettings(queue_size=places))
        parts = Parts(load_index, Lazy(HashEmbedder), Lazy(lambda: None), worker)
        made.append(QAService(parts, settings))
        return made[-1]

    yield service
    for one in made:
        one.close()


def started(service: QAService) -> QAService:
    service.start(wait=True)
    return service


def go_on() -> bool:
    return False


def until(condition) -> None:
    """A minute is for a busy machine; what never comes fails the test instead of hanging it."""
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.02)
    pytest.fail("it never came")


def test_sources_only_never_asks_the_generator(make):
    generator = ScriptedGenerator([GOOD])
    reply = started(make(generator)).ask(AskRequest(question=QUESTION, request_id="r1"), go_on)
    assert reply.answer.outcome == "sources"
    assert reply.sources[0].quote == "Отпуск длится 28 дней."
    assert reply.sources[0].title == "Отпуск"
    assert reply.model == EXTRACTIVE
    assert reply.request_id == "r1"
    assert generator.calls == []


def test_events_come_in_order_and_the_reply_is_checked(make):
    service = started(make(ScriptedGenerator([GOOD + " [7]"])))
    events = list(service.stream(AskRequest(question=QUESTION + " -t", use_rag=True), go_on))
    assert isinstance(events[0], Retrieved)
    assert events[0].reply.sources
    assert {type(event) for event in events[1:-1]} <= {Token, Waiting}
    assert isinstance(events[-1], Finished)
    reply = events[-1].reply
    assert reply.answer.text == GOOD
    assert reply.answer.outcome == "answered"
    assert [citation.n for citation in reply.answer.citations] == [1]
    assert reply.flags == ("-t",)
    assert reply.model == "scripted"
    assert {"encode", "evidence", "first_token", "generation", "total"} <= set(reply.timings_ms)


def test_an_answer_foreign_to_the_sources_gives_way_to_the_evidence(make):
    service = started(make(ScriptedGenerator(["Отпуск длится 45 дней [1]."])))
    reply = service.ask(AskRequest(question=QUESTION, use_rag=True), go_on)
    assert "45" not in reply.answer.text
    assert "28" in reply.answer.text


def test_a_failing_generator_costs_the_prose_not_the_answer(make):
    service = started(make(ScriptedGenerator([GOOD], failures=1)))
    reply = service.ask(AskRequest(question=QUESTION, use_rag=True), go_on)
    assert reply.model == EXTRACTIVE
    assert "28" in reply.answer.text
    assert reply.notes == (
        "Языковая модель не смогла ответить: ответ составлен из предложений источников. "
        "Причину показывает /status.",
    )
    assert service.ask(AskRequest(question=QUESTION, use_rag=True), go_on).model == "scripted"


def test_the_deadline_brings_the_extract(make):
    service = started(make(ScriptedGenerator([GOOD], gate=threading.Event())))
    reply = service.ask(AskRequest(question=QUESTION, use_rag=True, deadline_s=0.3), go_on)
    assert reply.model == EXTRACTIVE
    assert reply.answer.outcome == "answered"
    assert "deadline_s" in reply.notes[0]


def test_without_a_generator_the_answer_is_the_extract(make):
    reply = started(make()).ask(AskRequest(question=QUESTION, use_rag=True, language="en"), go_on)
    assert reply.answer.outcome == "answered"
    assert reply.notes == (
        "This profile has no language model: the answer is made of the sources' own sentences.",
    )


def test_a_full_queue_is_said(make):
    gate = threading.Event()
    service = started(make(ScriptedGenerator([GOOD], gate=gate), places=1))
    request = AskRequest(question=QUESTION, use_rag=True)
    running = [iter(service.stream(request, go_on)) for _ in range(2)]
    threads = [threading.Thread(target=lambda events=events: list(events)) for events in running]
    threads[0].start()
    until(lambda: service.status()["generator"]["running"])
    threads[1].start()
    until(lambda: service.status()["generator"]["waiting"])
    events = list(service.stream(request, go_on))
    assert isinstance(events[0], Retrieved)
    assert isinstance(events[-1], Failed)
    assert isinstance(events[-1].error, BusyError)
    gate.set()
    for thread in threads:
        thread.join()


def test_a_cancelled_request_ends_with_its_error(make):
    service = started(make(ScriptedGenerator([GOOD], gate=threading.Event())))
    with pytest.raises(CancelledError):
        service.ask(AskRequest(question=QUESTION, use_rag=True), lambda: True)


def test_prompt_and_data_need_no_knowledge_base(make):
    generator = ScriptedGenerator(["Продажи"])
    service = started(make(generator))
    request = AskRequest(question="Чьё письмо?", prompt="Назови отдел.", data=("Отдел продаж.",))
    reply = service.ask(request, go_on)
    assert (reply.answer.text, reply.answer.outcome, reply.sources) == ("Продажи", "generated", ())
    system, user = generator.calls[0]
    assert system.content == "Назови отдел."
    assert "Отдел продаж." in user.content
    assert "Чьё письмо?" in user.content


def test_prompt_without_a_generator_says_what_is_missing(make):
    with pytest.raises(NotReadyError, match="language model"):
        started(make()).ask(AskRequest(question="?", prompt="x"), go_on)


def test_wrong_requests_are_told_before_the_first_event(make):
    with pytest.raises(EmptyQuestionError):
        started(make()).stream(AskRequest(question="-s"), go_on)


def test_a_missing_cross_encoder_is_said_and_late_interaction_decides(make):
    reply = started(make()).ask(AskRequest(question=QUESTION + " -ce -s", language="en"), go_on)
    assert reply.sources[0].title == "Отпуск"
    assert len(reply.notes) == 1
    assert "otvet models install" in reply.notes[0]
    assert "late_interaction" in [stage.name for stage in reply.sources[0].stages]


def test_a_passage_in_its_document(make, index):
    service = started(make())
    view = service.source(index.chunks[0].id)
    assert view.document.text[view.chunk.start : view.chunk.end] == view.chunk.text
    with pytest.raises(NotFoundError):
        service.source("no-such-chunk")


def test_a_missing_index_is_told_by_everything_that_needs_it(make, tmp_path):
    def missing():
        raise IndexMissingError(path=tmp_path)

    service = make(load_index=missing)
    with pytest.raises(IndexMissingError):
        service.start(wait=True)
    with pytest.raises(IndexMissingError):
        service.ready()
    with pytest.raises(IndexMissingError):
        service.ask(AskRequest(question=QUESTION), go_on)
    assert service.status()["error"] == "index_missing"
    assert service.status()["index"] is None


def test_whatever_stops_the_load_is_no_readiness(make):
    def forbidden():
        raise PermissionError(13, "denied")

    service = make(load_index=forbidden)
    with pytest.raises(OtvetError):
        service.start(wait=True)
    with pytest.raises(OtvetError):
        service.ready()
    assert service.status()["error"] == "internal"


def test_the_status_names_skipped_files_as_they_are(make, index):
    manifest = replace(index.manifest, skipped={"a/b-c.png": "unsupported: .png", "a/b_c.png": "no_text"})
    status = started(make(load_index=lambda: replace(index, manifest=manifest))).status()
    assert json.loads(dumps(status))["index"]["skipped"] == [
        {"file": "a/b-c.png", "reason": "unsupported: .png"},
        {"file": "a/b_c.png", "reason": "no_text"},
    ]


def test_before_the_start_nothing_is_ready(make):
    assert make().ready() is False


def test_same_input_same_reply(make):
    service = started(make())
    replies = [service.ask(AskRequest(question=QUESTION + " -s"), go_on) for _ in range(3)]
    assert len({(reply.answer, reply.sources) for reply in replies}) == 1
