"""Files in a folder tree: reports, minutes, invoices, tables, and drafts in several versions."""

from __future__ import annotations

import datetime
import random
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from rebind.envs.apps.populate import chance, ids, insert
from rebind.envs.apps.populate import file_texts as texts
from rebind.envs.apps.populate.cast import MONTHS, OUTSIDE, PRIVATE, STAFF, Cast, cast, euros, stamp
from rebind.envs.apps.populate.names import CITIES, PROJECTS

_PAST_DAYS = 420
_INVOICES, _PROJECTS, _ARCHIVED = 44, 5, 14
_TAX_PERCENT = 19


@dataclass(frozen=True)
class _File:
    path: str
    content: str
    modified: datetime.datetime


def populate(db: sqlite3.Connection, rng: random.Random) -> None:
    """Writes about 250 files; every path once."""
    world = cast(db, rng)
    made = [_text(world, kind) for kind in texts.TEXTS for _ in range(kind.count)]
    made += [_table(world, kind) for kind in texts.TABLES for _ in range(kind.count)]
    made += _invoices(world)
    for project in rng.sample(PROJECTS, _PROJECTS):
        made += _project(world, project)
    files = {file.path: file for file in made}
    for path in rng.sample(sorted(files), _ARCHIVED):
        files |= {copy.path: copy for copy in [_archived(world, files[path])]}
    ordered = [files[path] for path in sorted(files)]
    keys = ids(rng, "file", len(ordered))
    insert(db, "files", [_row(world, key, file) for key, file in zip(keys, ordered, strict=True)])


def slug(text: str) -> str:
    """A text as part of a path: "Tallow & Reed" is tallow-reed."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _names(world: Cast, when: datetime.datetime, project: str | None = None) -> dict[str, str]:
    """What a file is about: the same in its path and all its lines."""
    rng = world.rng
    person, other = rng.sample(world.of(*STAFF), 2)
    names = {
        "person": person.name,
        "other": other.name,
        "first": rng.choice(world.of(*PRIVATE)).first,
        "project": project or rng.choice(PROJECTS),
        "city": rng.choice(CITIES),
        "company": rng.choice(world.of(*OUTSIDE)).company,
        "insurer": rng.choice(texts.INSURERS),
    }
    return {
        **names,
        **{f"{name}_slug": slug(value) for name, value in names.items()},
        "own_company": person.company,
        "year": str(when.year),
        "mm": f"{when.month:02}",
        "month": MONTHS[when.month - 1],
        "quarter": str((when.month + 2) // 3),
        "date": when.date().isoformat(),
    }


def _text(world: Cast, kind: texts.Kind) -> _File:
    rng = world.rng
    when = world.past(_PAST_DAYS, working=True)
    names = _names(world, when)
    chosen = sorted(rng.sample(range(len(kind.lines)), rng.randint(kind.least, kind.most)))
    lines = [kind.head, *(kind.lines[index] for index in chosen)]
    content = "\n".join(line.format_map(names | world.figures(when.date())) for line in lines)
    return _File(rng.choice(kind.paths).format(**names), content, when)


def _table(world: Cast, kind: texts.Table) -> _File:
    rng = world.rng
    when = world.past(_PAST_DAYS, working=True)
    names = _names(world, when)
    days = sorted(
        when.date() - datetime.timedelta(days=rng.randrange(28)) for _ in range(rng.randint(kind.least, kind.most))
    )
    cycle = rng.sample(kind.rows, len(kind.rows))
    people = rng.sample(world.people, len(days))
    rows = [
        cycle[number % len(cycle)].format_map(
            names
            | world.figures(when.date())
            | {"past": day.isoformat(), "any_project": rng.choice(PROJECTS), "anyone": person.name}
            | {"small": _plain(rng, 180), "planned": _plain(rng, 9_000), "spent": _plain(rng, 9_000)}
        )
        for number, (day, person) in enumerate(zip(days, people, strict=True))
    ]
    return _File(rng.choice(kind.paths).format(**names), "\n".join([kind.header, *rows]), when)


def _plain(rng: random.Random, limit: int) -> str:
    return f"{rng.randrange(4, limit)}.{rng.choice(('00', '50', '90'))}"


def _invoices(world: Cast) -> Iterator[_File]:
    """Invoices with their positions; every sixth is followed by a corrected one of the same vendor and number."""
    for _ in range(_INVOICES):
        when = world.past(_PAST_DAYS, working=True)
        vendor, number = world.rng.choice(sorted(texts.VENDORS)), world.rng.randint(10_000, 99_999)
        path = f"/work/invoices/{when.year}/{slug(vendor)}-{number}"
        yield _File(f"{path}.txt", _invoice(world, vendor, f"INV-{number}", when.date()), when)
        if chance(world.rng, 1 / 6):
            later = world.between(when)
            content = _invoice(world, vendor, f"INV-{number} (corrected)", later.date())
            yield _File(f"{path}-corrected.txt", content, later)


def _invoice(world: Cast, vendor: str, number: str, day: datetime.date) -> str:
    rng = world.rng
    items = rng.sample(texts.VENDORS[vendor], rng.randint(1, 2))
    goods = [(item, rng.randint(1, 12), rng.randrange(900, 42_000, 50)) for item in items]
    net = sum(count * price for _, count, price in goods)
    gross = net + net * _TAX_PERCENT // 100
    due = day + datetime.timedelta(days=rng.choice((14, 21, 30)))
    state = rng.choice(("open", "open", "paid", "paid", "reminded"))
    lines = [
        vendor,
        f"Invoice {number}",
        f"Date: {day.isoformat()}",
        f"Ordered by: {rng.choice(world.of(*STAFF)).name}",
        "",
        *(f"{count} x {item}: {euros(count * price)}" for item, count, price in goods),
        f"Net: {euros(net)}",
        f"Total with {_TAX_PERCENT} percent tax: {euros(gross)}",
        f"Due: {due.isoformat()}",
        f"Status: {state}",
    ]
    return "\n".join(lines)


def _project(world: Cast, project: str) -> Iterator[_File]:
    """A project's folder: four standing files, and two papers in successive versions."""
    rng = world.rng
    when = world.past(_PAST_DAYS, working=True)
    names = _names(world, when, project)
    folder = f"/work/projects/{slug(project)}"
    for name, content in texts.PROJECT_FILES.items():
        filled = [line.format_map(names | world.figures(when.date())) for line in content]
        yield _File(f"{folder}/{name}", "\n".join(filled), world.between(when))
    for paper in rng.sample(texts.DRAFTS, 2):
        lines = rng.sample(texts.DRAFT_LINES, 5)
        written = when
        for version in texts.DRAFT_VERSIONS[: rng.randint(3, 5)]:
            written = world.between(written)
            lines[rng.randrange(len(lines))] = rng.choice([line for line in texts.DRAFT_LINES if line not in lines])
            filled = [line.format_map(names | world.figures(written.date())) for line in lines]
            head = f"{project}: {paper.replace('-', ' ')}, {version}"
            yield _File(f"{folder}/drafts/{paper}-{version}.txt", "\n".join([head, "", *filled]), written)


def _archived(world: Cast, file: _File) -> _File:
    """A later copy of a file, of the same name, below /archive; its last line is missing."""
    head, _, _ = file.content.rpartition("\n")
    return _File(f"/archive{file.path}", head, world.between(file.modified))


def _row(world: Cast, key: str, file: _File) -> dict[str, object]:
    rng = world.rng
    circle = world.of(*STAFF) if file.path.startswith(("/work", "/archive/work")) else world.of(*PRIVATE)
    readers = rng.sample(circle, rng.randint(1, 3)) if chance(rng, 0.22) else []
    return {
        "id": key,
        "path": file.path,
        "content": file.content,
        "size": len(file.content.encode()),
        "modified_at": stamp(file.modified),
        "shared_with": ", ".join(reader.email for reader in readers),
    }
