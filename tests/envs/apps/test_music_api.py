"""The APIs of the music app."""

from __future__ import annotations

import pytest


@pytest.fixture
def playlist(agent) -> str:
    return agent.ok("music_create_playlist", name="Boat songs")["playlist_id"]


@pytest.fixture
def songs(agent) -> list[str]:
    return [row[0] for row in agent.rows("SELECT id FROM songs ORDER BY id LIMIT 4")]


def test_search_finds_words_of_title_artist_and_album(agent) -> None:
    key, title, artist, album = agent.rows("SELECT id, title, artist, album FROM songs LIMIT 1")[0]
    found = agent.every("music_search_songs", query=f"{artist} {title} {album}".upper())
    assert key in [one["song_id"] for one in found]
    assert all("album" not in one for one in found)


def test_search_filters_by_artist_genre_and_year(agent) -> None:
    artist, genre, year = agent.rows("SELECT artist, genre, year FROM songs LIMIT 1")[0]
    for name, value in (("artist", artist), ("genre", genre), ("year", year)):
        found = {one["song_id"] for one in agent.every("music_search_songs", **{name: value})}
        expected = {row[0] for row in agent.rows(f"SELECT id FROM songs WHERE {name} = ?", value)}
        assert expected <= found
        assert name == "artist" or expected == found


def test_an_unknown_genre_is_a_422_with_the_nearest_one(agent) -> None:
    status, reason = agent.refused("music_search_songs", genre="jaz")
    assert status == 422
    assert "did you mean 'jazz'?" in reason


def test_search_sorts_by_title_plays_or_year(agent) -> None:
    for sort, backwards in (("title", False), ("plays", True), ("year", True)):
        values = [one[sort] for one in agent.every("music_search_songs", sort=sort)]
        assert values == sorted(values, reverse=backwards), sort
    assert agent.refused("music_search_songs", sort="length")[0] == 422


def test_like_can_be_taken_back(agent, songs: list[str]) -> None:
    agent.ok("music_like", song_id=songs[0])
    assert agent.ok("music_show_song", song_id=songs[0])["liked"] is True
    agent.ok("music_like", song_id=songs[0], liked=False)
    assert agent.ok("music_show_song", song_id=songs[0])["liked"] is False


def test_songs_are_added_at_the_end_once_and_removed_without_a_gap(agent, playlist: str, songs: list[str]) -> None:
    for number, song in enumerate(songs, start=1):
        assert agent.ok("music_add_to_playlist", playlist_id=playlist, song_id=song)["songs"] == number
    status, reason = agent.refused("music_add_to_playlist", playlist_id=playlist, song_id=songs[0])
    assert (status, "already in playlist" in reason) == (422, True)
    agent.ok("music_remove_from_playlist", playlist_id=playlist, song_id=songs[1])
    assert agent.refused("music_remove_from_playlist", playlist_id=playlist, song_id=songs[1])[0] == 404
    agent.ok("music_add_to_playlist", playlist_id=playlist, song_id=songs[1])
    shown = agent.ok("music_show_playlist", playlist_id=playlist)["songs"]
    assert [one["song_id"] for one in shown] == [songs[0], songs[2], songs[3], songs[1]]
    assert [one["position"] for one in shown] == [1, 2, 3, 4]


def test_removing_a_song_changes_no_other_record(agent) -> None:
    playlist, song = agent.rows("SELECT playlist_id, song_id FROM playlist_songs WHERE position = 2 LIMIT 1")[0]
    before = set(agent.rows("SELECT * FROM playlist_songs"))
    agent.ok("music_remove_from_playlist", playlist_id=playlist, song_id=song)
    assert before - set(agent.rows("SELECT * FROM playlist_songs")) == {(playlist, song, 2)}


def test_list_playlists_counts_songs(agent, playlist: str) -> None:
    found = agent.ok("music_list_playlists")
    assert {"playlist_id": playlist, "name": "Boat songs", "public": False, "songs": 0} in found
    assert sum(one["songs"] for one in found) == agent.value("SELECT count(*) FROM playlist_songs")


def test_playlist_names_are_unique_for_create_and_rename(agent, playlist: str) -> None:
    taken, key = agent.rows("SELECT name, id FROM playlists LIMIT 1")[0]
    for verb, args in (("create_playlist", {}), ("rename_playlist", {"playlist_id": playlist})):
        assert agent.refused(f"music_{verb}", name=taken, **args) == (
            422,
            f"a playlist named {taken!r} exists already: {key}",
        )
        assert agent.refused(f"music_{verb}", name=" ", **args)[0] == 422
    agent.ok("music_rename_playlist", playlist_id=playlist, name="Harbour songs")
    assert agent.ok("music_show_playlist", playlist_id=playlist)["name"] == "Harbour songs"


def test_deleting_a_playlist_keeps_its_songs(agent) -> None:
    key = agent.value("SELECT id FROM playlists LIMIT 1")
    before = agent.value("SELECT count(*) FROM songs")
    assert agent.ok("music_delete_playlist", playlist_id=key) == {"playlist_id": key, "deleted": True}
    assert agent.value("SELECT count(*) FROM playlist_songs WHERE playlist_id = ?", key) == 0
    assert agent.value("SELECT count(*) FROM songs") == before


def test_unknown_songs_and_playlists_are_404s(agent, playlist: str, songs: list[str]) -> None:
    for verb, args in (
        ("show_song", {"song_id": "song_1"}), ("like", {"song_id": "song_1"}),
        ("show_playlist", {"playlist_id": "pl_1"}), ("delete_playlist", {"playlist_id": "pl_1"}),
        ("rename_playlist", {"playlist_id": "pl_1", "name": "x"}),
        ("add_to_playlist", {"playlist_id": playlist, "song_id": "song_1"}),
        ("add_to_playlist", {"playlist_id": "pl_1", "song_id": songs[0]}),
        ("remove_from_playlist", {"playlist_id": playlist, "song_id": "song_1"}),
        ("remove_from_playlist", {"playlist_id": "pl_1", "song_id": songs[0]}),
    ):  # fmt: skip
        assert agent.refused(f"music_{verb}", **args)[0] == 404
