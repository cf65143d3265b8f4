"""Notes in six notebooks: minutes, lists, codes, recipes, and near-duplicates of them."""

from __future__ import annotations

import datetime
import random
import re
import sqlite3
from dataclasses import dataclass, replace

from rebind.envs.apps.populate import chance, ids, insert
from rebind.envs.apps.populate import note_texts as texts
from rebind.envs.apps.populate.cast import MONTHS, OUTSIDE, PRIVATE, Cast, cast, stamp
from rebind.envs.apps.populate.names import CITIES, PROJECTS, THINGS

_PAST_DAYS = 400
_RECIPES, _COPIES = 14, 22
_FIGURE = re.compile(r"(?<![\d-])\d{2,5}(?![\d-])")
"""A number that is no part of a date."""


@dataclass(frozen=True)
class _Note:
    title: str
    lines: tuple[str, ...]
    notebook: str
    tags: tuple[str, ...]
    written: datetime.datetime


def populate(db: sqlite3.Connection, rng: random.Random) -> None:
    """Writes about 190 notes with their tags."""
    world = cast(db, rng)
    notes = [_note(world, kind) for kind in texts.KINDS for _ in range(kind.count)]
    notes += [_recipe(world) for _ in range(_RECIPES)]
    notes += [_copy(world, note) for note in rng.sample(notes, _COPIES)]
    notes.sort(key=lambda note: (note.written, note.title))
    keys = ids(rng, "note", len(notes))
    insert(db, "notes", [_row(world, key, note) for key, note in zip(keys, notes, strict=True)])
    tags = {
        (key, tag)
        for key, note in zip(keys, notes, strict=True)
        for tag in [*note.tags, *([rng.choice(texts.OWN_TAGS)] if chance(rng, 0.2) else [])]
    }
    insert(db, "note_tags", [{"note_id": key, "tag": tag} for key, tag in sorted(tags)])


def _names(world: Cast, relations: tuple[str, ...], written: datetime.datetime) -> dict[str, str]:
    """What a note is about: the same in its title and all its lines."""
    rng = world.rng
    person, other, third = rng.sample(world.of(*relations), 3)
    return {
        "person": person.name,
        "other": other.name,
        "first": third.first,
        "company": person.company if person.relation in OUTSIDE else rng.choice(world.of(*OUTSIDE)).company,
        "project": rng.choice(PROJECTS),
        "city": rng.choice(CITIES),
        "thing": rng.choice(THINGS),
        "month": MONTHS[written.month - 1],
        "date": written.date().isoformat(),
    }


def _note(world: Cast, kind: texts.Kind) -> _Note:
    rng = world.rng
    written = world.past(_PAST_DAYS, working=kind.notebook == "work")
    names = _names(world, kind.people, written)
    chosen = sorted(rng.sample(range(len(kind.lines)), rng.randint(kind.least, kind.most)))
    lines = [kind.head, *(kind.lines[index] for index in chosen)]
    filled = tuple(line.format_map(names | world.figures(written.date())) for line in lines)
    return _Note(rng.choice(kind.titles).format(**names), filled, kind.notebook, kind.tags, written)


def _recipe(world: Cast) -> _Note:
    rng = world.rng
    written = world.past(_PAST_DAYS)
    names = _names(world, PRIVATE, written)
    dish = rng.choice(sorted(texts.RECIPES))
    lines = [f"- {ingredient}" for ingredient in texts.RECIPES[dish]] + rng.sample(texts.METHODS, 3)
    filled = tuple(
        line.format_map(names | world.figures(written.date()) | {"grams": str(rng.randrange(50, 750, 25))})
        for line in lines
    )
    title = dish + rng.choice(texts.RECIPE_ENDINGS).format(**names)
    return _Note(title, filled, "recipes", ("recipe",), written)


def _copy(world: Cast, note: _Note) -> _Note:
    """A later note of nearly the same title and text: a line fewer, a number changed, a remark added."""
    rng = world.rng
    written = world.between(note.written)
    lines = list(note.lines)
    del lines[rng.randrange(1, len(lines))]
    figures = [index for index, line in enumerate(lines) if _FIGURE.search(line)]
    if figures:
        place = rng.choice(figures)
        lines[place] = _FIGURE.sub(lambda found: str(rng.randint(10, 10 ** len(found[0]) - 1)), lines[place], count=1)
    names = _names(world, PRIVATE, written) | world.figures(written.date())
    lines.append(rng.choice(texts.EXTRA_LINES).format(**names))
    return replace(note, title=note.title + rng.choice(texts.COPY_ENDINGS), lines=tuple(lines), written=written)


def _row(world: Cast, key: str, note: _Note) -> dict[str, object]:
    rng = world.rng
    updated = world.between(note.written) if chance(rng, 0.4) else note.written
    return {
        "id": key,
        "title": note.title,
        "body": "\n".join(note.lines),
        "notebook": note.notebook,
        "created_at": stamp(note.written),
        "updated_at": stamp(updated),
        "pinned": int(chance(rng, 0.07)),
        "archived": int(chance(rng, 0.12)),
    }
