"""Dates in words: deictic ones ("last year", "two weeks ago") against an anchor, and absolute ones, as ranges of days.

Libraries were tried and left out: they give a moment where words mean a span ("last year" is 2022, not 8 May 2022), and
take "may" and "sun" for dates. Ours reads English and returns nothing where it is not sure.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta

_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "a couple of": 2, "couple of": 2, "three": 3, "a few": 3, "few": 3, "four": 4,
    "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip
_SEASONS = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}
"""First month of each, northern hemisphere; a winter is named after the year it begins in."""


@dataclass(frozen=True)
class Mention:
    """Words that name a span of days, both ends included."""

    words: str
    start: date
    end: date
    deictic: bool
    """True where it depends on when it was said."""


def mentions(text: str, anchor: date | None) -> tuple[Mention, ...]:
    """The dates that a text names, in order. Deictic ones are read against `anchor` and left out without one; a month
    without a year is the latest one that began by the anchor."""
    found: list[tuple[int, int, Mention | None]] = []
    for pattern, deictic, read in _RULES:
        for match in pattern.finditer(text):
            if any(match.start() < end and begin < match.end() for begin, end, _ in found):
                continue  # an earlier rule, which is more precise, has these words
            if deictic and anchor is None:
                continue
            span = read(match, anchor or date.min)
            mention = None if span is None else Mention(match.group().strip(), *span, deictic)
            found.append((match.start(), match.end(), mention))  # 31 June is no day, and is not June either
    return tuple(mention for _, _, mention in sorted(found, key=lambda f: f[0]) if mention is not None)


def resolve(words: str, anchor: date) -> str | None:
    """What deictic words mean in absolute ones, as short as the span allows ("last year" said in May 2023: "2022");
    None where they name no date."""
    found = mentions(words, anchor)
    return written(found[0].start, found[0].end) if found else None


def written(start: date, end: date) -> str:
    """A span in words: a year, a month, a day, or two days with a dash."""
    if (start, end) == _year(start.year):
        return str(start.year)
    if (start, end) == _month(start.year, start.month):
        return f"{_MONTHS[start.month - 1].capitalize()} {start.year}"
    return _day(start) if start == end else f"{_day(start)} – {_day(end)}"


Span = tuple[date, date]
_Read = Callable[[re.Match[str], date], Span | None]


def _day(day: date) -> str:
    return f"{day.day} {_MONTHS[day.month - 1].capitalize()} {day.year}"


def _year(year: int) -> Span:
    return date(year, 1, 1), date(year, 12, 31)


def _month(year: int, month: int) -> Span:
    return date(year, month, 1), date(year, month, monthrange(year, month)[1])


def _week(day: date) -> Span:
    """The week of a day, Monday to Sunday."""
    monday = day - timedelta(days=day.weekday())
    return monday, monday + timedelta(days=6)


def _months_on(day: date, months: int) -> date:
    """The same day some months on, or the last of that month."""
    place = day.year * 12 + day.month - 1 + months
    year, month = divmod(place, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _calendar(match: re.Match[str], anchor: date) -> Span | None:
    """A day of a month, with or without a year."""
    groups = match.groupdict()
    month = _month_number(groups["month"])
    year = int(groups["year"]) if groups.get("year") else None
    if year is None:
        year = anchor.year if month <= anchor.month else anchor.year - 1
    try:
        day = date(year, month, int(groups["day"]))
    except ValueError:
        return None
    return day, day


def _iso(match: re.Match[str], _anchor: date) -> Span | None:
    try:
        day = date.fromisoformat(match.group())
    except ValueError:
        return None
    return day, day


def _month_number(name: str) -> int:
    return next(n for n, month in enumerate(_MONTHS, 1) if month.startswith(name.lower()[:3]))


def _month_year(match: re.Match[str], _anchor: date) -> Span:
    return _month(int(match["year"]), _month_number(match["month"]))


def _month_alone(match: re.Match[str], anchor: date) -> Span:
    month = _month_number(match["month"])
    relation = (match["relation"] or "").lower()
    year = anchor.year if month <= anchor.month else anchor.year - 1
    if relation == "next":
        year = anchor.year if month > anchor.month else anchor.year + 1
    elif relation == "last" and month == anchor.month:
        year = anchor.year - 1
    return _month(year, month)


def _ago(match: re.Match[str], anchor: date) -> Span:
    number = match["number"].lower()
    count = int(number) if number.isdigit() else _NUMBERS[number]
    if match.groupdict().get("way", "ago").lower() != "ago":
        count = -count
    return _moved(anchor, match["unit"].lower(), -count)


def _moved(anchor: date, unit: str, count: int) -> Span:
    """The day, week, weekend, month or year some units on from the anchor's."""
    if unit == "day":
        day = anchor + timedelta(days=count)
        return day, day
    if unit == "week":
        return _week(anchor + timedelta(weeks=count))
    if unit == "weekend":
        saturday = _week(anchor + timedelta(weeks=count))[0] + timedelta(days=5)
        return saturday, saturday + timedelta(days=1)
    if unit == "month":
        day = _months_on(anchor, count)
        return _month(day.year, day.month)
    return _year(anchor.year + count)


def _near(match: re.Match[str], anchor: date) -> Span | None:
    """ "last week", "this summer", "next Friday": one on from the anchor's, or the anchor's own."""
    step = {"last": -1, "this past": -1, "past": -1, "previous": -1, "this": 0, "next": 1}[match["relation"].lower()]
    unit = match["unit"].lower()
    if unit in _DAYS:
        return _weekday(anchor, _DAYS.index(unit), step)
    if unit in _SEASONS:
        return _season(anchor, unit, step)
    if unit == "night":
        day = anchor + timedelta(days=step)
        return day, day
    if unit == "weekend" and step == -1 and anchor.weekday() >= 5:
        return _moved(anchor, unit, -1)
    return _moved(anchor, unit, step)


def _weekday(anchor: date, weekday: int, step: int) -> Span:
    """The latest such day before the anchor, the first after it, or (this) the one of its week."""
    if step == 0:
        day = _week(anchor)[0] + timedelta(days=weekday)
    elif step < 0:
        day = anchor - timedelta(days=(anchor.weekday() - weekday - 1) % 7 + 1)
    else:
        day = anchor + timedelta(days=(weekday - anchor.weekday() - 1) % 7 + 1)
    return day, day


def _season(anchor: date, name: str, step: int) -> Span:
    first = _SEASONS[name]
    begun = anchor.month >= first
    year = anchor.year + step if step >= 0 else anchor.year - (1 if anchor.month < first + 3 or not begun else 0)
    start = date(year, first, 1)
    end = _months_on(start, 2)
    return start, _month(end.year, end.month)[1]


def _word(match: re.Match[str], anchor: date) -> Span:
    days = {"day before yesterday": -2, "yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1}
    word = match.group().lower()
    day = anchor + timedelta(days=days.get(word.removeprefix("the "), 0))
    return day, day


def _beside(match: re.Match[str], anchor: date) -> Span | None:
    """ "the week before 9 June 2023", "the Friday after ...": beside a date that follows."""
    rest = tuple(mentions(match["rest"], anchor))
    if not rest:
        return None
    pivot, step = (rest[0].start, -1) if match["way"].lower() == "before" else (rest[0].end, 1)
    unit = match["unit"].lower()
    return _weekday(pivot, _DAYS.index(unit), step) if unit in _DAYS else _moved(pivot, unit, step)


_MONTH = r"(?P<month>january|february|march|april|may|june|july|august|september|october|november|december" \
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"  # fmt: skip
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_UNIT = r"(?P<unit>day|week|weekend|month|year)s?"
_NUMBER = r"(?P<number>\d{1,3}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True)) + ")"
_NAMED = "|".join([*_DAYS, *_SEASONS])


def _rules() -> Iterator[tuple[re.Pattern[str], bool, _Read]]:
    """Pattern, whether it is deictic, and how it is read; the more precise first."""

    def rule(pattern: str, deictic: bool, read: _Read) -> tuple[re.Pattern[str], bool, _Read]:
        return re.compile(rf"\b{pattern}\b", re.IGNORECASE), deictic, read

    absolute = rf"(?P<rest>\d{{1,2}}(?:st|nd|rd|th)? \w+,? {_YEAR}|\w+ \d{{1,2}}(?:st|nd|rd|th)?,? (?:19|20)\d\d)"
    yield rule(rf"(?:the )?(?P<unit>day|week|weekend|month|year|{'|'.join(_DAYS)}) (?P<way>before|after) {absolute}",
               False, _beside)  # fmt: skip
    yield rule(r"\d{4}-\d\d-\d\d", False, _iso)
    yield rule(rf"{_DAY} (?:of )?{_MONTH},? {_YEAR}", False, _calendar)
    yield rule(rf"{_MONTH}\.? {_DAY},? {_YEAR}", False, _calendar)
    yield rule(rf"{_MONTH}\.?,? (?:of )?{_YEAR}", False, _month_year)
    yield rule(rf"{_DAY} (?:of )?{_MONTH}", True, _calendar)
    yield rule(rf"{_MONTH}\.? {_DAY}", True, _calendar)
    yield rule(rf"{_NUMBER} {_UNIT} (?P<way>ago)", True, _ago)
    yield rule(rf"(?P<way>in) {_NUMBER} {_UNIT}", True, _ago)
    relation = "(?P<relation>last|this past|past|previous|this|next)"
    yield rule(rf"{relation} (?P<unit>day|week|weekend|month|year|night|{_NAMED})", True, _near)
    yield rule(r"(?:the )?day before yesterday|yesterday|today|tonight|tomorrow|this (?:morning|afternoon|evening)",
               True, _word)  # fmt: skip
    yield rule(
        r"(?:(?P<relation>last|this|next) |(?:in|during|since|of|by|until|early|late|mid) )(?P<month>"
        + "|".join(_MONTHS) + ")", True, _month_alone)  # fmt: skip
    yield rule(rf"{_YEAR}", False, lambda match, _: _year(int(match["year"])))


_RULES = tuple(_rules())
