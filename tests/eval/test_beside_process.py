"""Work that is done in a second process."""

from __future__ import annotations

import os
import time

import pytest

from rebind.eval.beside import FORKS, beside


def test_what_a_second_process_made_is_what_the_work_gives() -> None:
    """The result comes back whole, from another process where one can be forked."""
    with beside(lambda: ("x" * 300_000, os.getpid()), apart=True) as made:
        text, worker = made()
    assert text == "x" * 300_000
    assert (worker != os.getpid()) == (FORKS and (os.cpu_count() or 1) > 1)


def test_work_that_is_not_worth_a_process_is_done_here() -> None:
    """Without `apart` nothing is forked, and nothing is done before it is asked for."""
    done: list[int] = []
    with beside(lambda: done.append(os.getpid()), apart=False) as made:
        assert not done
        made()
    assert done == [os.getpid()]


def test_what_the_second_process_cannot_do_is_done_here() -> None:
    """A process that dies leaves the work to this one."""
    home = os.getpid()

    def work() -> int:
        if os.getpid() != home:
            os.kill(os.getpid(), 9)
        return os.getpid()

    with beside(work, apart=True) as made:
        assert made() == home


def test_an_error_of_the_work_is_raised_where_its_result_is_asked_for() -> None:
    """What fails there fails here too, with its own words."""

    def work() -> int:
        raise ValueError("no such thing")

    with beside(work, apart=True) as made, pytest.raises(ValueError, match="no such thing"):
        made()


@pytest.mark.skipif(not FORKS or os.cpu_count() == 1, reason="no second process is forked here")
def test_a_caller_that_does_not_wait_leaves_no_process_behind() -> None:
    """The second process ends with the block that began it."""
    said, say = os.pipe()

    def work() -> None:
        os.write(say, str(os.getpid()).encode())
        time.sleep(600)

    with beside(work, apart=True):
        worker = int(os.read(said, 20))
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)
