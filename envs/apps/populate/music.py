"""Songs of 39 artists, with covers and other versions of the same title, and playlists with similar names."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace

from rebind.envs.apps.populate import chance, ids, insert
from rebind.envs.apps.populate import music_words as words
from rebind.envs.apps.populate.cast import cast
from rebind.envs.apps.populate.names import FIRST_NAMES

_BANDS, _SOLOISTS, _COVERS, _VERSIONS, _PLAYLISTS = 23, 16, 16, 14, 13


@dataclass(frozen=True)
class _Song:
    title: str
    artist: str
    album: str
    genre: str
    year: int


def populate(db: sqlite3.Connection, rng: random.Random) -> None:
    """Writes about 330 songs and 13 playlists."""
    latest = cast(db, rng).today.year
    songs = [song for artist in _artists(rng) for song in _discography(rng, artist, latest)]
    songs += _covers(rng, songs, latest)
    songs += _versions(rng, songs, latest)
    rng.shuffle(songs)
    keys = ids(rng, "song", len(songs))
    plays = rng.sample(range(1, 3_000), len(songs))
    insert(db, "songs", (_row(rng, *parts) for parts in zip(keys, songs, plays, strict=True)))
    _playlists(db, rng, keys)


def _artists(rng: random.Random) -> list[str]:
    """Bands and soloists; some soloists share their first name."""
    firsts = rng.sample(FIRST_NAMES, _SOLOISTS - 4)
    lasts = rng.sample(words.SOLO_LAST_NAMES, _SOLOISTS)
    soloists = [f"{first} {last}" for first, last in zip([*firsts, *firsts[:4]], lasts, strict=True)]
    return [*rng.sample(words.BANDS, _BANDS), *soloists]


def _discography(rng: random.Random, artist: str, latest: int) -> Iterator[_Song]:
    """One to three albums of three to five songs, mostly in the artist's own genre."""
    genre = rng.choice(words.GENRES)
    year = rng.randint(1974, latest - 6)
    titles: set[str] = set()
    for _ in range(rng.choice((1, 2, 2, 3))):
        album = _filled(rng, rng.choice(words.ALBUM_PATTERNS))
        for _ in range(rng.randint(3, 5)):
            title = _title(rng)
            if title not in titles:
                titles.add(title)
                yield _Song(title, artist, album, genre if chance(rng, 0.85) else rng.choice(words.GENRES), year)
        year = min(year + rng.randint(1, 7), latest)


def _title(rng: random.Random) -> str:
    return rng.choice(words.PHRASES) if chance(rng, 0.3) else _filled(rng, rng.choice(words.PATTERNS))


def _filled(rng: random.Random, pattern: str) -> str:
    noun, other = rng.sample(words.NOUNS, 2)
    return pattern.format(adjective=rng.choice(words.ADJECTIVES), noun=noun, other=other)


def _covers(rng: random.Random, songs: list[_Song], latest: int) -> list[_Song]:
    """Titles that another artist has recorded too."""
    artists = sorted({song.artist for song in songs})
    covers = []
    for song in rng.sample(songs, _COVERS):
        artist = rng.choice([artist for artist in artists if artist != song.artist])
        host = rng.choice([other for other in songs if other.artist == artist])
        covers.append(replace(host, title=song.title, year=rng.randint(song.year, latest)))
    return covers


def _versions(rng: random.Random, songs: list[_Song], latest: int) -> list[_Song]:
    return [
        replace(song, title=f"{song.title} {rng.choice(words.VERSIONS)}", year=rng.randint(song.year, latest))
        for song in rng.sample(songs, _VERSIONS)
    ]


def _row(rng: random.Random, key: str, song: _Song, plays: int) -> dict[str, object]:
    return {
        "id": key,
        "title": song.title,
        "artist": song.artist,
        "album": song.album,
        "genre": song.genre,
        "year": song.year,
        "seconds": rng.randint(118, 431),
        "plays": plays,
        "liked": int(chance(rng, 0.2)),
    }


def _playlists(db: sqlite3.Connection, rng: random.Random, songs: list[str]) -> None:
    names = rng.sample(words.PLAYLISTS, _PLAYLISTS)
    keys = ids(rng, "pl", len(names))
    insert(
        db,
        "playlists",
        [{"id": key, "name": name, "public": int(chance(rng, 0.3))} for key, name in zip(keys, names, strict=True)],
    )
    entries = [
        {"playlist_id": key, "song_id": song, "position": position}
        for key in keys
        for position, song in enumerate(rng.sample(songs, rng.randint(6, 18)), start=1)
    ]
    insert(db, "playlist_songs", entries)
