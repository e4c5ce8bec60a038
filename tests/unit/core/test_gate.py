"""A few at a time, a bounded line, and room again afterwards."""

import threading
import time

import pytest

from pipeline.errors import BusyError, CancelledError
from pipeline.gate import Gate


def passing(gate, cancelled=lambda: False, within_s=30.0):
    return gate.passing(cancelled, within_s)


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
        with passing(gate):
            inside.append(number)
            most.append(len(inside))
            assert go.wait(10)
            inside.remove(number)

    threads = [threading.Thread(target=caller, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    until(lambda: len(inside) == 2 and len(arrived) == 3 and not gate._room._value)
    with pytest.raises(BusyError) as caught, passing(gate):
        pass
    assert caught.value.values == {"waiting": 1, "retry_after_s": 1}
    go.set()
    for thread in threads:
        thread.join()
    assert max(most) == 2
    with passing(gate), passing(gate):
        pass


def test_an_error_inside_leaves_the_place_free():
    gate = Gate(1, 0)
    for _ in range(3):
        with pytest.raises(ValueError, match="x"), passing(gate):
            raise ValueError("x")
    with passing(gate), pytest.raises(BusyError), passing(gate):
        pass


def test_one_who_leaves_the_line_makes_room_in_it():
    gate, left = Gate(1, 1), threading.Event()
    with passing(gate):
        outcome = []

        def waiter():
            with pytest.raises(CancelledError), passing(gate, left.is_set):
                pass
            outcome.append("left")

        thread = threading.Thread(target=waiter)
        thread.start()
        until(lambda: not gate._room._value)
        left.set()
        thread.join()
        assert outcome == ["left"]
        with pytest.raises(BusyError), passing(gate, within_s=0.0):
            pass
    with passing(gate):
        pass


def test_no_one_waits_beyond_his_deadline():
    gate = Gate(1, 1)
    with passing(gate):
        for _ in range(2):
            with pytest.raises(BusyError), passing(gate, within_s=0.0):
                pass
    with passing(gate):
        pass
