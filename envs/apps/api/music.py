"""Songs and playlists."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from rebind.envs.apps.api.common import (
    booleans,
    choice_or_422,
    matches,
    new_id,
    one_or_404,
    select,
    text_or_422,
)
from rebind.envs.apps.api.common import (
    page as page_of,
)
from rebind.envs.apps.api.registry import ApiError, Db, api

_SHORT = ("title", "artist", "year", "plays")
_ORDER = {"title": "title, artist, id", "plays": "plays DESC, id", "year": "year DESC, title, id"}


@api("music")
def search_songs(
    db: Db,
    query: str = "",
    artist: str | None = None,
    genre: str | None = None,
    year: int | None = None,
    sort: Literal["title", "plays", "year"] = "title",
    page: int = 1,
    page_size: int = 10,
) -> JsonValue:
    """Finds songs by words of title, artist and album, by artist, genre or year.

    Sorted by title, by plays (most first) or by year (newest first).
    Returns a page of {song_id, title, artist, year, plays}; the rest is in music_show_song.
    """
    if genre is not None:
        choice_or_422(genre, "genre", (row["genre"] for row in select(db, "SELECT DISTINCT genre FROM songs")))
    found = [
        {"song_id": row["id"], **{key: row[key] for key in _SHORT}}
        for row in select(db, f"SELECT * FROM songs ORDER BY {_ORDER[sort]}")
        if matches(query, row["title"], row["artist"], row["album"])
        and (artist is None or matches(artist, row["artist"]))
        and genre in (None, row["genre"])
        and year in (None, row["year"])
    ]
    return page_of(found, page, page_size)


@api("music")
def show_song(db: Db, song_id: str) -> JsonValue:
    """One song.

    Returns {song_id, title, artist, album, genre, year, seconds, plays, liked}.
    """
    row = booleans(one_or_404(db, "songs", song_id, "song"), "liked")
    return {"song_id": row.pop("id"), **row}


@api("music", writes=True)
def like(db: Db, song_id: str, liked: bool = True) -> JsonValue:
    """Likes a song, or takes the like back with liked false.

    Returns {song_id, liked}.
    """
    one_or_404(db, "songs", song_id, "song")
    db.execute("UPDATE songs SET liked = ? WHERE id = ?", (liked, song_id))
    return {"song_id": song_id, "liked": liked}


@api("music")
def list_playlists(db: Db) -> JsonValue:
    """All playlists, by name.

    Returns a list of {playlist_id, name, public, songs}; songs is their number.
    """
    rows = select(
        db,
        "SELECT p.id AS playlist_id, name, public, COUNT(song_id) AS songs FROM playlists p"
        " LEFT JOIN playlist_songs s ON s.playlist_id = p.id GROUP BY p.id ORDER BY name, p.id",
    )
    return [booleans(row, "public") for row in rows]


@api("music")
def show_playlist(db: Db, playlist_id: str) -> JsonValue:
    """One playlist with its songs in order.

    Returns {playlist_id, name, public, songs: [{position, song_id, title, artist, seconds}]}.
    """
    row = booleans(one_or_404(db, "playlists", playlist_id, "playlist"), "public")
    rows = select(
        db,
        "SELECT song_id, title, artist, seconds FROM playlist_songs JOIN songs ON songs.id = song_id"
        " WHERE playlist_id = ? ORDER BY position",
        (playlist_id,),
    )
    songs: list[JsonValue] = [{"position": place, **song} for place, song in enumerate(rows, start=1)]
    return {"playlist_id": row.pop("id"), **row, "songs": songs}


@api("music", writes=True)
def create_playlist(db: Db, name: str, public: bool = False) -> JsonValue:
    """Creates an empty playlist.

    Returns {playlist_id}.
    """
    _free_name_or_422(db, name)
    playlist_id = new_id(db, "playlists", "pl")
    db.execute("INSERT INTO playlists VALUES (?, ?, ?)", (playlist_id, name, public))
    return {"playlist_id": playlist_id}


@api("music", writes=True)
def add_to_playlist(db: Db, playlist_id: str, song_id: str) -> JsonValue:
    """Adds a song at the end of a playlist.

    Returns {playlist_id, song_id, songs}; songs is their new number.
    """
    one_or_404(db, "playlists", playlist_id, "playlist")
    title = one_or_404(db, "songs", song_id, "song")["title"]
    there = select(db, "SELECT song_id, position FROM playlist_songs WHERE playlist_id = ?", (playlist_id,))
    if any(row["song_id"] == song_id for row in there):
        raise ApiError(422, f"{title!r} ({song_id}) is already in playlist {playlist_id}")
    last = max((row["position"] for row in there), default=0)
    db.execute("INSERT INTO playlist_songs VALUES (?, ?, ?)", (playlist_id, song_id, last + 1))
    return {"playlist_id": playlist_id, "song_id": song_id, "songs": len(there) + 1}


@api("music", writes=True)
def remove_from_playlist(db: Db, playlist_id: str, song_id: str) -> JsonValue:
    """Takes a song out of a playlist; the order of the others stays.

    Returns {playlist_id, song_id}.
    """
    one_or_404(db, "playlists", playlist_id, "playlist")
    title = one_or_404(db, "songs", song_id, "song")["title"]
    gone = db.execute("DELETE FROM playlist_songs WHERE playlist_id = ? AND song_id = ?", (playlist_id, song_id))
    if not gone.rowcount:
        raise ApiError(404, f"{title!r} ({song_id}) is not in playlist {playlist_id}")
    return {"playlist_id": playlist_id, "song_id": song_id}


@api("music", writes=True)
def rename_playlist(db: Db, playlist_id: str, name: str) -> JsonValue:
    """Gives a playlist another name.

    Returns {playlist_id, name}.
    """
    one_or_404(db, "playlists", playlist_id, "playlist")
    _free_name_or_422(db, name)
    db.execute("UPDATE playlists SET name = ? WHERE id = ?", (name, playlist_id))
    return {"playlist_id": playlist_id, "name": name}


@api("music", writes=True)
def delete_playlist(db: Db, playlist_id: str) -> JsonValue:
    """Deletes a playlist; its songs stay in the library.

    Returns {playlist_id, deleted}.
    """
    one_or_404(db, "playlists", playlist_id, "playlist")
    db.execute("DELETE FROM playlist_songs WHERE playlist_id = ?", (playlist_id,))
    db.execute("DELETE FROM playlists WHERE id = ?", (playlist_id,))
    return {"playlist_id": playlist_id, "deleted": True}


def _free_name_or_422(db: Db, name: str) -> None:
    text_or_422(name, "name")
    for row in select(db, "SELECT id FROM playlists WHERE name = ?", (name,)):
        raise ApiError(422, f"a playlist named {name!r} exists already: {row['id']}")
