"""A few at a time, a bounded line, and room again afterwards."""

import threading
import time

import pytest

from pipeline.errors import BusyError
from pipeline.gate import Gate


def until(condition):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, "did not happen"
        time.sleep(0.002)


def test_so_many_inside_the_others_wait_the_next_is_refused():
    gate, go = Gate(2, 1), threading.Event()
    arrived, inside, most = [], [], []

    def caller(number):
        arrived.append(number)
        with gate:
            inside.append(number)
            most.append(len(inside))
            assert go.wait(10)
            inside.remove(number)

    threads = [threading.Thread(target=caller, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    until(lambda: len(inside) == 2 and len(arrived) == 3 and not gate._room._value)
    with pytest.raises(BusyError) as caught, gate:
        pass
    assert caught.value.values == {"waiting": 1, "retry_after_s": 1}
    go.set()
    for thread in threads:
        thread.join()
    assert max(most) == 2
    with gate, gate:
        pass


def test_an_error_inside_leaves_the_place_free():
    gate = Gate(1, 0)
    for _ in range(3):
        with pytest.raises(ValueError, match="x"), gate:
            raise ValueError("x")
    with gate, pytest.raises(BusyError), gate:
        pass
