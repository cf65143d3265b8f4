"""Make a playlist of the most played songs of a genre, leaving out those that another playlist has."""

from __future__ import annotations

from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.draw import Bound, choice, column, integer, phrase, several
from rebind.envs.apps.families.effects import Added, Part, says
from rebind.envs.apps.families.evidence import called, saw
from rebind.envs.apps.families.oracle import Oracle, finish, login, only
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View

ADD = "music_add_to_playlist"
GENRES = "SELECT genre FROM songs GROUP BY genre HAVING count(*) >= 22 ORDER BY genre"
RANKED = "SELECT id FROM songs WHERE genre = ? ORDER BY plays DESC, id"
FRESH = (
    "SELECT id FROM songs WHERE genre = ? AND id NOT IN (SELECT song_id FROM playlist_songs JOIN playlists p ON "
    "p.id = playlist_id WHERE p.name = ?) ORDER BY plays DESC, id"
)


class TopSongs(Family):
    id = "apps/playlist-of-most-played"
    group = "11-20"
    tools = (
        "music_search_songs music_show_song music_list_playlists music_show_playlist music_create_playlist "
        "music_add_to_playlist music_remove_from_playlist"
    )
    drawn = (
        Drawn("genre", "entity", column(GENRES), central=True),
        Drawn("count", "parameter", integer(6, 11)),
        Drawn("known", "entity", column("SELECT name FROM playlists ORDER BY name")),
        Drawn(
            "name",
            "parameter",
            phrase(
                "{what} for {whom}",
                what="Best of | Evening mix | Favourites | Loud and clear | Slow start",
                whom="the kitchen | the long drive | the reunion | the workshop | Sunday guests",
            ),
        ),
        Drawn("access", "parameter", choice("public | private")),
        Drawn("ranks", "state", several(3, "0 | 1 | 2 | 3 | 4 | 5 | 6")),
    )
    grounded = (
        Grounded("known_id", "record", lambda v, b: v.value("SELECT id FROM playlists WHERE name = ?", b.known)),
        Grounded("songs", "record", lambda v, b: v.column(FRESH, b.genre, b.known)[: b.count]),
    )
    wordings = (
        'Create a {access} playlist "{name}" with the {count} {genre} songs that were played most, the most played '
        'one first. Songs that are on my playlist "{known}" do not count: leave them out and take the next ones.',
        'I want a new playlist called "{name}" ({access}): the {count} most played songs of the genre {genre} that '
        'are not on "{known}" already, in order of plays, highest number of plays first.',
        'Make "{name}", a {access} playlist. On it go my {count} most played {genre} songs, beginning with the '
        'most played, but none that is in the playlist "{known}".',
    )

    def setup(self, p: Plant, b: Bound) -> None:
        known = p.value("SELECT id FROM playlists WHERE name = ?", b.known)
        there = p.column("SELECT song_id FROM playlist_songs WHERE playlist_id = ? ORDER BY position", known)
        ranked = p.column(RANKED, b.genre)
        for song in [ranked[int(rank)] for rank in b.ranks if ranked[int(rank)] not in there]:
            there.append(song)
            p.add("playlist_songs", playlist_id=known, song_id=song, position=len(there))

    def oracle(self, b: Bound) -> Oracle:
        music = yield from login("music")
        playlists = yield from music("list_playlists")
        known = only([one for one in playlists if one["name"] == b.known], b.known)["playlist_id"]
        heard = {song["song_id"] for song in (yield from music("show_playlist", playlist_id=known))["songs"]}
        chosen: list[str] = []
        page = 1
        while len(chosen) < b.count:
            found = yield from music("search_songs", genre=b.genre, sort="plays", page=page, page_size=20)
            chosen += [song["song_id"] for song in found["items"] if song["song_id"] not in heard]
            page += 1
        created = yield from music("create_playlist", name=b.name, public=b.access == "public")
        for song in chosen[: b.count]:
            yield from music("add_to_playlist", playlist_id=created["playlist_id"], song_id=song)
        yield from finish()

    def expect(self, start: View, b: Bound) -> Expected:
        parts = tuple(
            Part("playlist_songs", "playlist_id", song_id=song, position=place)
            for place, song in enumerate(b.songs, start=1)
        )
        public = int(b.access == "public")
        whole = Added("playlists", name=says(b.name), public=public, parts=parts, mark="whole: all songs in order")
        return Expected(
            effects=(whole,),
            marks=(
                saw("found-known: found the playlist whose songs are left out", b.known_id),
                called("read-known: read what is on it", "music_show_playlist", playlist_id=b.known_id),
                called("created: there is a playlist of that name", "music_create_playlist", name=says(b.name)),
                *(
                    called(f"song-{place}: put the song in place {place} on a playlist", ADD, song_id=song)
                    for place, song in enumerate(b.songs, start=1)
                ),
            ),
        )
