"""A test that skips says what it lacks. Where that was provided, as CI does, a skip would hide that it is not found:
`REBIND_MUST_RUN` is a pattern of reasons that make it a failure."""

from __future__ import annotations

import os
import re
from collections.abc import Generator
from typing import TypeVar

import pytest

MUST_RUN = "REBIND_MUST_RUN"
R = TypeVar("R", pytest.TestReport, pytest.CollectReport)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return _held((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return _held((yield))


def _held(report: R) -> R:
    """The report; a failure where it skips for want of what is there."""
    pattern = os.environ.get(MUST_RUN)
    if pattern and report.skipped and isinstance(report.longrepr, tuple) and re.search(pattern, report.longrepr[2]):
        where, line, reason = report.longrepr
        report.outcome, report.longrepr = "failed", f"{where}:{line}: {MUST_RUN} has this run: {reason}"
    return report
