"""How numbers are written: one place for rounding, signs, dashes and the names of things."""

from __future__ import annotations

from rebind.eval.metrics import SHARES, Mean, Share
from rebind.eval.passes import Passed
from rebind.eval.ratios import Ratio
from rebind.eval.report.model import Entry
from rebind.eval.stats import Effect, Interval

DASH = "–"
MINUS = "−"
_CONDITIONS = {
    "none": "No Memory",
    "full": "Full Trajectory",
    "summary": "Generic Summary",
    "qcr": "QCR",
    "skill": "Skill",
}
_METRICS = {
    "success": "Success",
    "milestone": "Milestone",
    "api_calls": "API calls",
    "online": "Online tokens",
    "stale_binding": "Stale bindings",
}
_LENGTHS = {
    "<5": "Very short (<5)",
    "5-10": "Short (5–10)",
    "11-20": "Medium (11–20)",
    "21-35": "Long (21–35)",
    ">35": "Very long (>35)",
}


def condition_label(name: str) -> str:
    return _CONDITIONS.get(name, name)


def metric_label(name: str) -> str:
    return _METRICS.get(name, name)


def group_label(dimension: str, group: str) -> str:
    if dimension == "length_group":
        return _LENGTHS.get(group, group)
    return group.capitalize() if dimension == "level" else environment_label(group)


def environment_label(env_id: str) -> str:
    """`rebind/Apps-v0` → `Apps-v0`."""
    return env_id.rpartition("/")[2]


def heading(text: str) -> Entry:
    return Entry(text=text, value=text)


def word(text: str | None) -> Entry:
    return Entry(text=text or DASH, value=text)


def treatment(name: str) -> Entry:
    return word("excluded" if name == "excluded" else "as failures")


def contrast(condition: str, reference: str) -> Entry:
    return heading(f"{condition_label(condition)} {MINUS} {condition_label(reference)}")


def count(number: int | None) -> Entry:
    return Entry(text=DASH if number is None else f"{number:,}", value=number)


def percent(mean: Mean | Share | Passed, digits: int = 1) -> Entry:
    """A share as a percentage, with its denominator."""
    n = mean.n if isinstance(mean, Share) else mean.targets
    if mean.value is None:
        return Entry(text=DASH, n=n)
    return Entry(text=f"{100 * mean.value:.{digits}f}", value=mean.value, n=n)


def amount(mean: Mean, digits: int = 1) -> Entry:
    if mean.value is None:
        return Entry(text=DASH, n=mean.targets)
    return Entry(text=f"{mean.value:,.{digits}f}", value=mean.value, n=mean.targets)


def tokens(mean: Mean) -> Entry:
    if mean.value is None:
        return Entry(text=DASH, n=mean.targets)
    return Entry(text=token_text(mean.value), value=mean.value, n=mean.targets)


def whole(mean: Mean) -> Entry:
    """A mean to the nearest whole number."""
    if mean.value is None:
        return Entry(text=DASH, n=mean.targets)
    return Entry(text=f"{mean.value:,.0f}".replace("-", MINUS), value=mean.value, n=mean.targets)


def token_text(value: float) -> str:
    """`815`, `15.2k`, `1.3M`."""
    for bound, unit, digits in ((1e6, "M", 1), (1e3, "k", 1)):
        if abs(value) >= bound:
            return f"{value / bound:.{digits}f}{unit}".replace("-", MINUS)
    return f"{value:.0f}".replace("-", MINUS)


def dollars(mean: Mean) -> Entry:
    if mean.value is None:
        return Entry(text=DASH, n=mean.targets)
    return Entry(text=f"${mean.value:.4f}", value=mean.value, n=mean.targets)


def signed(value: float | None, metric: str = "success") -> str:
    """A difference with its sign: in points for shares, in units otherwise; no sign where it rounds to 0."""
    if value is None:
        return DASH
    if metric == "online" and abs(value) >= 1_000:
        return ("+" if value > 0 else "") + token_text(value)
    text = f"{100 * value if metric in SHARES else value:+.{0 if metric == 'online' else 1}f}"
    return text[1:] if not text.strip("+-0.") else text.replace("-", MINUS)


def difference(effect: Effect, metric: str = "success") -> Entry:
    return Entry(text=signed(effect.mean, metric), value=effect.mean, n=effect.targets)


def interval(found: Interval, metric: str = "success") -> Entry:
    """`[+1.2, +20.3]`, or a dash; the reason for a dash goes to the table's caption or notes."""
    if found.low is None or found.high is None:
        return Entry(text=DASH, value=found.reason)
    text = f"[{signed(found.low, metric)}, {signed(found.high, metric)}]"
    return Entry(text=text, value=text)


def percent_interval(found: Interval | None) -> Entry:
    """`[27.0, 48.8]`, of a share."""
    if found is None or found.low is None or found.high is None:
        return Entry(text=DASH, value=found.reason if found else None)
    text = f"[{100 * found.low:.1f}, {100 * found.high:.1f}]".replace("-", MINUS)
    return Entry(text=text, value=text)


def p_value(p: float | None, reason: str | None = None) -> Entry:
    if p is None:
        return Entry(text=DASH, value=reason)
    if p < 0.001:
        return Entry(text="< .001", value=p)
    return Entry(text=f"{p:.3f}".removeprefix("0"), value=p)


def ratio(found: Ratio) -> Entry:
    if found.value is None:
        return Entry(text=DASH, value=found.interval.reason, n=found.targets)
    return Entry(text=f"{100 * found.value:.1f} %".replace("-", MINUS), value=found.value, n=found.targets)


def ratio_interval(found: Ratio) -> Entry:
    low, high = found.interval.low, found.interval.high
    if low is None or high is None:
        return Entry(text=DASH, value=found.interval.reason)
    text = f"[{100 * low:.0f} %, {100 * high:.0f} %]".replace("-", MINUS)
    return Entry(text=text, value=text)
