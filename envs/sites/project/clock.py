"""The sites' own time: it starts at a fixed moment with every reset and runs on from there.

Pages say "3 hours ago" and forms check dates; with the machine's clock no page would be the same tomorrow.
"""

from __future__ import annotations

import datetime as real
import time
from types import SimpleNamespace
from typing import Any

START = real.datetime(2026, 3, 16, 9, 0, tzinfo=real.UTC)
"""The moment at which every episode begins, a Monday."""

_started = time.monotonic()


def restart() -> None:
    """It is `START` again."""
    global _started  # noqa: PLW0603  (one clock a process is the point)
    _started = time.monotonic()


def now() -> real.datetime:
    return START + real.timedelta(seconds=time.monotonic() - _started)


class _Kind(type):
    """Lets plain datetimes pass as instances of the replacement."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, real.datetime)


class _Datetime(real.datetime, metaclass=_Kind):
    @classmethod
    def now(cls, tz: real.tzinfo | None = None) -> real.datetime:  # type: ignore[override]  # plain datetimes, as below
        moment = now()
        return moment.astimezone(tz) if tz else moment.replace(tzinfo=None)


def install() -> None:
    """Puts this clock in place of Django's; before any application is imported."""
    from django.contrib.humanize.templatetags import humanize
    from django.template import defaulttags
    from django.utils import timesince, timezone

    timezone.now = now
    for module in (humanize, defaulttags):
        module.datetime = _Datetime
    names = {name: getattr(real, name) for name in ("date", "time", "timedelta", "timezone")}
    timesince.datetime = SimpleNamespace(datetime=_Datetime, **names)
