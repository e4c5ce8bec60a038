"""What was worked out last is worked out once, and keeps nothing alive."""

import gc
import weakref

from pipeline.latest import Latest


class Thing:
    """Something large; equal to every other one, for it is the thing itself that counts."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Thing)

    def __hash__(self) -> int:
        return 1


def test_the_same_thing_is_looked_at_once_and_another_one_anew():
    seen: list[Thing] = []

    def make(thing: Thing) -> int:
        seen.append(thing)
        return len(seen)

    latest = Latest(make)
    one, other = Thing(), Thing()
    assert [latest.of(thing) for thing in (one, one, other, other, one)] == [1, 1, 2, 2, 3]


def test_nothing_is_kept_alive_by_being_remembered():
    latest = Latest(lambda thing: "known")
    thing = Thing()
    gone = weakref.ref(thing)
    assert latest.of(thing) == "known"
    del thing
    gc.collect()
    assert gone() is None
