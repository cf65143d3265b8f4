"""How many requests may be under way at once."""

from __future__ import annotations

import threading

import pytest

from rebind.agents.limiter import Limiter


def test_a_cut_halves_the_limit_and_never_below_one() -> None:
    limiter = Limiter(8)
    limits = []
    for _ in range(5):
        limiter.cut()
        limits.append(limiter.limit)
    assert limits == [4, 2, 1, 1, 1]


def test_a_full_round_of_answers_raises_the_limit_by_one_up_to_the_most() -> None:
    limiter = Limiter(4)
    limiter.cut()
    for _ in range(2):
        limiter.grow()
    assert limiter.limit == 3
    for _ in range(100):
        limiter.grow()
    assert limiter.limit == 4


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
    limiter.cut()

    def wait() -> None:
        with limiter.slot():
            entered.set()

    with limiter.slot():
        waiting = threading.Thread(target=wait)
        waiting.start()
        assert not entered.wait(0.05)
        limiter.grow()
        assert entered.wait(5)
    waiting.join()
