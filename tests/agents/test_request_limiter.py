"""How many requests may be under way at once."""

from __future__ import annotations

import threading

import pytest

from rebind.agents.limiter import Limiter


def refused(limiter: Limiter) -> int:
    """One request that the provider found too many; the limit after it."""
    with limiter.slot() as epoch:
        pass
    limiter.cut(epoch, "429")
    return limiter.limit


def test_a_cut_halves_the_limit_and_never_below_one() -> None:
    limiter = Limiter(8)
    assert [refused(limiter) for _ in range(5)] == [4, 2, 1, 1, 1]


def test_a_burst_of_refusals_cuts_once() -> None:
    limiter = Limiter(8)
    with limiter.slot() as first, limiter.slot() as second:
        pass
    limiter.cut(first, "429")
    limiter.cut(second, "429")
    assert limiter.limit == 4


def test_a_full_round_of_answers_raises_the_limit_by_one_up_to_the_most() -> None:
    limiter = Limiter(16)
    assert refused(limiter) == 8
    for _ in range(8):
        limiter.grow()
    assert limiter.limit == 9
    for _ in range(2000):
        limiter.grow()
    assert limiter.limit == 16


def test_where_it_was_last_too_many_the_limit_grows_ten_times_slower() -> None:
    limiter = Limiter(4)
    assert refused(limiter) == 2
    for _ in range(2):
        limiter.grow()
    assert limiter.limit == 3
    for _ in range(25):
        limiter.grow()
    assert limiter.limit == 3
    for _ in range(10):
        limiter.grow()
    assert limiter.limit == 4


def test_each_change_of_the_limit_is_told_with_its_reason() -> None:
    told: list[tuple[int, str]] = []
    limiter = Limiter(4, lambda limit, why: told.append((limit, why)))
    refused(limiter)
    limiter.grow()
    limiter.grow()
    assert told == [(2, "429"), (3, "answers")]


def test_during_a_pause_nobody_gets_a_slot_however_many_are_free() -> None:
    limiter, entered = Limiter(4), threading.Event()

    def wait() -> None:
        with limiter.slot():
            entered.set()

    limiter.pause(0.3)
    waiting = threading.Thread(target=wait)
    waiting.start()
    assert not entered.wait(0.1)
    assert entered.wait(5)
    waiting.join()


def test_a_waiting_request_goes_on_when_a_slot_is_free_also_after_an_error() -> None:
    limiter, entered = Limiter(1), threading.Event()

    def wait() -> None:
        with limiter.slot():
            entered.set()

    def fail() -> None:
        with limiter.slot():
            waiting.start()
            assert not entered.wait(0.05)
            raise ZeroDivisionError

    waiting = threading.Thread(target=wait)
    with pytest.raises(ZeroDivisionError):
        fail()
    assert entered.wait(5)
    waiting.join()


def test_growing_wakes_those_who_wait() -> None:
    limiter, entered = Limiter(2), threading.Event()
    refused(limiter)

    def wait() -> None:
        with limiter.slot():
            entered.set()

    with limiter.slot():
        waiting = threading.Thread(target=wait)
        waiting.start()
        assert not entered.wait(0.05)
        for _ in range(10):  # from a limit that was too many it grows slowly
            limiter.grow()
        assert entered.wait(5)
    waiting.join()
