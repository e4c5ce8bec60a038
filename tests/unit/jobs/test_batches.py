"""The book of batches: whatever happens to the service, the batch says so and keeps what was done."""

from __future__ import annotations

import threading
import time

import pytest

from pipeline.errors import BatchNotFoundError, BusyError, GeneratorError, GeneratorMissingError
from pipeline.jobs import BatchBook, Limits
from pipeline.types import Classified, ClassifyRequest

REQUEST = ClassifyRequest(("а", "б"), ("раз", "два", "три"))


def result(n: int) -> Classified:
    return Classified(n, "label", "а", (0.9, 0.05), 0.05, "m")


class Service:
    """Gives what it was told to, then raises if so told."""

    def __init__(self, results=3, error=None):
        self.results = results
        self.error = error
        self.go = threading.Event()

    def classify(self, request, cancelled):
        return self._results(cancelled)

    def _results(self, cancelled):
        for n in range(1, self.results + 1):
            yield result(n)
        while self.error is None and self.results < 3 and not cancelled():
            self.go.wait(0.01)
        if self.error is not None:
            raise self.error


class Refusing:
    def classify(self, request, cancelled):
        raise GeneratorMissingError


def begun(service, **limits):
    book = BatchBook(service, Limits(**limits)) if limits else BatchBook(service)
    return book, book.submit(REQUEST, ())


def ended(batch):
    batch.wait_ended(20, lambda: False)
    return batch.view()


def test_a_batch_ends_with_its_last_result():
    book, batch = begun(Service())
    view = ended(batch)
    assert (view.state, [one.n for one in view.results], view.estimate_s) == ("done", [1, 2, 3], None)
    assert book.find(batch.id) is batch
    assert batch.size() > 0


@pytest.mark.parametrize(
    ("error", "code"), [(GeneratorError(reason="scripted"), "generator"), (KeyError("bug"), "internal")]
)
def test_what_fails_keeps_what_was_done(error, code):
    _, batch = begun(Service(results=1, error=error))
    view = ended(batch)
    assert (view.state, len(view.results), view.error.code) == ("failed", 1, code)


def test_a_service_that_stops_early_leaves_nobody_waiting():
    class Short(Service):
        def classify(self, request, cancelled):
            return iter([result(1)])

    _, batch = begun(Short())
    assert ended(batch).state == "cancelled"


def test_what_is_given_up_takes_no_more():
    book, batch = begun(Service(results=1))
    until(lambda: batch.view().results)
    batch.cancel()
    batch.take(result(2))
    view = batch.view()
    assert (view.state, len(view.results)) == ("cancelled", 1)
    batch.cancel()
    book.close()
    assert batch.view().state == "cancelled"


def test_what_cannot_be_done_at_all_is_said_at_once():
    with pytest.raises(GeneratorMissingError):
        BatchBook(Refusing()).submit(REQUEST, ())


def test_the_book_is_bounded():
    book, _ = begun(Service(results=0), active=1)
    with pytest.raises(BusyError):
        book.submit(REQUEST, ())
    book.close()


def test_a_finished_batch_is_forgotten_in_time():
    now = [0.0]
    book = BatchBook(Service(), Limits(lifetime_s=60), lambda: now[0])
    batch = book.submit(REQUEST, ())
    ended(batch)
    until(lambda: book._shelf.status()["kept"] == 1)
    now[0] = 61
    with pytest.raises(BatchNotFoundError):
        book.find(batch.id)


def test_closing_gives_up_what_runs():
    book, batch = begun(Service(results=1))
    book.close()
    assert ended(batch).state == "cancelled"


def until(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "did not happen"
        time.sleep(0.005)
