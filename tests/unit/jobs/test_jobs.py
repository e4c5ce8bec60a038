"""The book of background questions: joined, bounded, forgotten in time."""

from __future__ import annotations

import threading
import time

import pytest

from pipeline.errors import (
    BusyError,
    CancelledError,
    EmptyQuestionError,
    GeneratorError,
    JobNotFoundError,
    KeyConflictError,
    OtvetError,
)
from pipeline.jobs import JobBook, Key, Limits, View
from pipeline.jobs import book as book_module
from pipeline.types import Answer, AskRequest, Failed, Finished, Reply, Retrieved, Source, Token, Waiting


def reply(text="Готово.", question="?"):
    source = Source(1, "Тема", None, "f.txt", "Цитата.", 0, 7, 1.0, None, "c1")
    return Reply(question, (), Answer(text, "answered"), (source,), {}, "scripted", "kb", "r1")


class Told:
    """A service whose events a test sends one by one."""

    def __init__(self):
        self.begun = 0
        self.ended = 0
        self.questions = []
        self.inboxes = []
        self.may_end = threading.Event()

    def stream(self, request, cancelled):
        events, ready = [], threading.Condition()
        self.inboxes.append((events, ready))
        self.questions.append(request.question)
        self.begun += 1
        try:
            while True:
                with ready:
                    if not ready.wait_for(lambda: events, 0.01):
                        if cancelled():
                            return
                        continue
                    event = events.pop(0)
                if isinstance(event, Exception):
                    raise event
                if event is None:
                    return
                yield event
        finally:
            self.ended += 1

    def say(self, *said, to=-1):
        events, ready = self.inboxes[to]
        with ready:
            events.extend(said)
            ready.notify_all()


def until(condition):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, "did not happen"
        time.sleep(0.002)


@pytest.fixture
def service():
    return Told()


@pytest.fixture
def book(service):
    made = JobBook(service)
    yield made
    made.close()
    until(lambda: service.ended == service.begun)


def begun(book, service, *said, key=None, question="?"):
    """Submit in a thread of its own, because submitting waits for the service's first word."""
    found = []

    def submit():
        try:
            found.append(book.submit(AskRequest(question), "tag", key))
        except OtvetError as error:
            found.append(error)

    count = service.begun
    thread = threading.Thread(target=submit)
    thread.start()
    until(lambda: service.begun > count or found)
    if service.begun > count:
        service.say(*said)
    thread.join(10)
    assert found
    return found[0]


def test_a_job_tells_how_it_stands_from_the_line_to_the_reply(book, service):
    job = begun(book, service, Retrieved(reply("Черновик.")), Waiting(2, 30.0))
    view = job.view()
    assert (view.state, view.place, view.text, view.reply) == ("queued", 2, "", None)
    assert 0 < view.estimate_s <= 30
    assert view.found.answer.text == "Черновик."
    service.say(Waiting(0, 5.0), Token("Гот"), Token("ово"))
    until(lambda: job.view().text == "Готово")
    assert (job.view().state, job.view().place) == ("running", 0)
    service.say(Finished(reply()))
    until(lambda: job.ended)
    assert job.view() == View("done", text="Готово.", reply=reply())
    assert book.find(job.id) is job
    assert (job.tag, len(job.id)) == ("tag", 32)


def test_an_estimate_runs_down_but_not_below_zero(book, service):
    job = begun(book, service, Waiting(1, 0.02))
    until(lambda: job.view().estimate_s == 0)
    assert job.view().state == "queued"


def test_a_search_is_done_when_it_is_submitted(book, service):
    assert begun(book, service, Retrieved(reply()), Finished(reply())).view().state == "done"


@pytest.mark.parametrize("said", [EmptyQuestionError(), BusyError(waiting=8, retry_after_s=3)])
@pytest.mark.parametrize("how", ["raised", "told"])
def test_a_refusal_is_raised_and_leaves_nothing_behind(book, service, said, how):
    first = [] if how == "raised" else [Retrieved(reply())]
    found = begun(book, service, *first, said if how == "raised" else Failed(said))
    assert type(found) is type(said)
    assert found is not said
    assert found.values == said.values
    until(lambda: book.status() == {"active": 0, "kept": 0, "kept_bytes": 0})


def test_a_failure_after_that_is_told_by_the_job(book, service, caplog):
    job = begun(book, service, Waiting(0, 5.0))
    service.say(Token("Нача"), Failed(GeneratorError(reason="x")))
    until(lambda: job.ended)
    assert (job.view().state, job.view().error.code, job.view().text) == ("failed", "generator", "Нача")
    until(lambda: book.status()["kept"] == 1)
    assert book.find(job.id) is job


@pytest.mark.parametrize("how", ["raised", "told"])
def test_a_bug_is_logged_with_its_stack_and_shown_as_internal(book, service, caplog, how):
    job = begun(book, service, Waiting(0, 5.0))
    service.say(ValueError("тайна") if how == "raised" else Failed(ValueError("тайна")))
    until(lambda: job.ended)
    assert job.view().error.code == "internal"
    assert "тайна" not in str(job.view().error)
    assert any(record.exc_info for record in caplog.records)


def test_a_stream_without_an_end_is_not_waited_for(book, service):
    job = begun(book, service, Waiting(0, 5.0))
    service.say(None)
    until(lambda: job.ended)
    assert job.view().state == "cancelled"


def test_a_job_given_up_is_cancelled_at_once_and_its_stream_ends(book, service):
    job = begun(book, service, Waiting(1, 5.0))
    job.cancel()
    assert (job.view().state, job.view().place) == ("cancelled", None)
    until(lambda: service.ended == 1)
    assert book.find(job.id).view().state == "cancelled"
    job.cancel()
    assert job.view().error.code == "cancelled"


def test_what_has_ended_cannot_be_given_up(book, service):
    job = begun(book, service, Finished(reply()))
    job.cancel()
    assert job.view().state == "done"


def test_an_unknown_id_is_not_found(book):
    with pytest.raises(JobNotFoundError) as caught:
        book.find("0" * 32)
    assert caught.value.values["minutes"] == 10


KEY = Key("127.0.0.1", "k", "digest")


def test_fifty_retries_are_one_question(book, service):
    first = begun(book, service, Waiting(0, 5.0), key=KEY)
    assert {book.submit(AskRequest("?"), "tag", KEY).id for _ in range(49)} == {first.id}
    service.say(Finished(reply()))
    until(lambda: first.ended)
    assert book.submit(AskRequest("?"), "tag", KEY) is first
    assert book.result(first, lambda: False) == reply()
    assert service.begun == 1


def test_the_same_key_for_something_else_is_refused(book, service):
    begun(book, service, Waiting(0, 5.0), key=KEY)
    with pytest.raises(KeyConflictError):
        book.submit(AskRequest("!"), "tag", Key("127.0.0.1", "k", "other"))
    assert isinstance(begun(book, service, Waiting(1, 5.0), key=Key("10.0.0.5", "k", "other")).id, str)
    assert service.begun == 2


@pytest.mark.parametrize("how", ["failed", "cancelled", "refused"])
def test_what_went_wrong_may_be_tried_again_under_its_key(book, service, how):
    if how == "refused":
        assert isinstance(begun(book, service, BusyError(waiting=1, retry_after_s=1), key=KEY), BusyError)
    else:
        job = begun(book, service, Waiting(0, 5.0), key=KEY)
        if how == "failed":
            service.say(Failed(GeneratorError(reason="x")))
            until(lambda: job.ended)
        else:
            job.cancel()
    again = begun(book, service, Finished(reply()), key=KEY)
    assert again.view().state == "done"
    assert service.begun == 2


def test_followers_get_the_events_however_late_they_come(book, service):
    job = begun(book, service, Retrieved(reply("Черновик.")), Waiting(1, 5.0), key=KEY)
    events = book.follow(job, lambda: False)
    assert next(events) == Retrieved(reply("Черновик."))
    waiting = next(events)
    assert (type(waiting), waiting.place) == (Waiting, 1)
    service.say(Waiting(0, 5.0), Token("Гот"))
    assert next(events).place == 0
    assert next(events) == Token("Гот")
    late = book.follow(job, lambda: False)
    assert [type(next(late)) for _ in range(3)] == [Retrieved, Waiting, Token]
    service.say(Finished(reply()))
    assert list(events) == list(late) == list(book.follow(job, lambda: False)) == [Finished(reply())]


def test_a_follower_that_leaves_does_not_end_the_job(book, service):
    job = begun(book, service, Waiting(0, 5.0), key=KEY)
    with pytest.raises(CancelledError):
        book.result(job, lambda: True)
    service.say(Finished(reply()))
    assert book.result(job, lambda: False) == reply()


def test_the_result_of_a_job_that_failed_is_its_error(book, service):
    job = begun(book, service, Waiting(0, 5.0))
    service.say(Failed(GeneratorError(reason="x")))
    for _ in range(2):
        with pytest.raises(GeneratorError):
            book.result(job, lambda: False)


def test_the_number_of_followers_is_bounded(service):
    book = JobBook(service, Limits(followers=1))
    job = begun(book, service, Waiting(0, 5.0))
    events = book.follow(job, lambda: False)
    next(events)
    with pytest.raises(BusyError):
        book.result(job, lambda: False)
    events.close()
    service.say(Finished(reply()))
    assert book.result(job, lambda: False) == reply()


def test_the_number_of_active_jobs_is_bounded(service):
    book = JobBook(service, Limits(active=1))
    job = begun(book, service, Waiting(0, 5.0))
    with pytest.raises(BusyError):
        book.submit(AskRequest("?"), "tag")
    job.cancel()
    until(lambda: book.status()["active"] == 0)
    begun(book, service, Finished(reply()))
    assert service.begun == 2


def test_the_oldest_are_forgotten_by_number_with_their_keys(service):
    book = JobBook(service, Limits(kept=2))
    jobs = []
    for n in range(3):
        jobs.append(begun(book, service, Finished(reply()), key=Key("a", str(n), "d")))
        until(lambda: book.status()["active"] == 0)
    assert book.status()["kept"] == 2
    with pytest.raises(JobNotFoundError):
        book.find(jobs[0].id)
    assert [book.find(job.id) for job in jobs[1:]] == jobs[1:]
    assert begun(book, service, Finished(reply()), key=Key("a", "0", "d")) is not jobs[0]


def test_the_oldest_are_forgotten_by_size(service):
    book = JobBook(service, Limits(kept_bytes=50_000))
    for _ in range(3):
        begun(book, service, Finished(reply("я" * 10_000)))
        until(lambda: book.status()["active"] == 0)
    status = book.status()
    assert status["kept"] == 2
    # Python keeps a Cyrillic letter in two bytes.
    assert 2 * 20_000 <= status["kept_bytes"] <= 50_000


def test_the_old_are_forgotten_by_age():
    now = [100.0]
    service = Told()
    book = JobBook(service, Limits(lifetime_s=60), lambda: now[0])
    job = begun(book, service, Finished(reply()), key=KEY)
    until(lambda: book.status()["active"] == 0)
    now[0] += 59
    assert book.find(job.id) is job
    now[0] += 1
    with pytest.raises(JobNotFoundError):
        book.find(job.id)
    assert book.status() == {"active": 0, "kept": 0, "kept_bytes": 0}
    assert begun(book, service, Finished(reply()), key=KEY) is not job


def test_a_decision_that_takes_long_is_told_later(service, monkeypatch):
    """While the model loads, the id comes all the same; how it went is then a matter of the job."""
    monkeypatch.setattr(book_module, "SEARCH_S", 0.01)
    monkeypatch.setattr(book_module, "LINE_S", 0.01)
    book = JobBook(service)
    job = book.submit(AskRequest("?"), "tag")
    assert (job.view().state, job.view().place) == ("queued", None)
    service.say(BusyError(waiting=8, retry_after_s=3))
    until(lambda: book.status()["active"] == 0)
    assert (book.find(job.id).view().state, job.view().error.code) == ("failed", "busy")


def test_a_closed_book_gives_up_what_runs_and_takes_nothing(service):
    book = JobBook(service)
    job = begun(book, service, Waiting(0, 5.0))
    book.close()
    assert job.view().state == "cancelled"
    until(lambda: service.ended == 1)
    with pytest.raises(CancelledError):
        book.submit(AskRequest("?"), "tag")
