"""The calendar's APIs."""

from __future__ import annotations

import pytest

EVENT = {"title": "Review", "start_at": "2031-05-05T09:00", "end_at": "2031-05-05T10:00"}


def test_search_is_by_start_and_leaves_cancelled_events_out_unless_asked(agent) -> None:
    live, everything = agent.every("calendar_search"), agent.every("calendar_search", include_cancelled=True)
    starts = [one["start_at"] for one in everything]
    assert starts == sorted(starts)
    assert not any(one["cancelled"] for one in live)
    assert len(everything) - len(live) == agent.value("SELECT count(*) FROM events WHERE cancelled") > 0


def test_search_filters_by_date_calendar_attendee_and_words(agent) -> None:
    email = agent.value("SELECT email FROM event_attendees GROUP BY email ORDER BY count(*) DESC LIMIT 1")
    attended = agent.every("calendar_search", attendee=email.upper(), include_cancelled=True)
    assert len(attended) == agent.value("SELECT count(*) FROM event_attendees WHERE email = ?", email)
    one = attended[0]
    day = one["start_at"][:10]
    found = agent.every(
        "calendar_search", query=one["title"], since=day, until=day, calendar=one["calendar"], include_cancelled=True
    )
    assert one in found
    assert {event["start_at"][:10] for event in found} == {day}
    assert agent.every("calendar_search", attendee="nobody@nowhere.example") == []


def test_an_event_is_created_changed_moved_and_cancelled(agent) -> None:
    key = agent.ok("calendar_create", **EVENT, attendees=["a@b.example"])["event_id"]
    agent.ok("calendar_update", event_id=key, location="Room Amber", reminder_minutes=30)
    agent.ok("calendar_reschedule", event_id=key, start_at="2031-05-06T09:00", end_at="2031-05-06T09:30")
    agent.ok("calendar_invite", event_id=key, email="c@d.example")
    agent.ok("calendar_uninvite", event_id=key, email="a@b.example")
    shown = agent.ok("calendar_show", event_id=key)
    assert (shown["location"], shown["reminder_minutes"], shown["start_at"]) == ("Room Amber", 30, "2031-05-06T09:00")
    assert shown["attendees"] == [{"email": "c@d.example", "status": "invited"}]
    assert agent.ok("calendar_cancel", event_id=key)["cancelled"] is True
    for tool, more in (
        ("calendar_cancel", {}),
        ("calendar_update", {"title": "x"}),
        ("calendar_invite", {"email": "e@f.example"}),
        ("calendar_reschedule", {"start_at": "2031-05-07T09:00", "end_at": "2031-05-07T09:30"}),
    ):
        assert agent.refused(tool, event_id=key, **more) == (422, f"{key} is cancelled")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"title": ""}, "title must not be empty"),
        ({"start_at": "2031-05-05 09:00"}, "start_at must be a date and time like"),
        ({"end_at": "2031-05-05T09:00:00"}, "end_at must be a date and time like"),
        ({"end_at": "2031-05-05T09:00"}, "must be later than start_at"),
        ({"attendees": ["anna"]}, "attendees must be an e-mail address"),
        ({"calendar": "office"}, "must be one of work, home, family"),
    ],
)
def test_a_bad_detail_of_a_new_event_is_refused(agent, change: dict, reason: str) -> None:
    status, said = agent.refused("calendar_create", **EVENT | change)
    assert status == 422
    assert reason in said


def test_inviting_twice_is_a_422_and_uninviting_a_stranger_a_404(agent) -> None:
    key = agent.ok("calendar_create", **EVENT, attendees=["a@b.example", "a@b.example"])["event_id"]
    assert agent.refused("calendar_invite", event_id=key, email="a@b.example")[0] == 422
    assert agent.refused("calendar_uninvite", event_id=key, email="z@b.example")[0] == 404
    assert agent.refused("calendar_update", event_id=key)[0] == 422
    assert agent.refused("calendar_update", event_id=key, reminder_minutes=-1)[0] == 422
    assert agent.refused("calendar_show", event_id="evt_1")[0] == 404


def test_free_and_busy_times_cover_the_working_day_without_overlap(agent) -> None:
    spans = (("07:00", "08:30"), ("10:00", "11:00"), ("10:30", "12:00"), ("17:00", "19:00"))
    for start, end in spans:
        agent.ok("calendar_create", title="x", start_at=f"2031-05-05T{start}", end_at=f"2031-05-05T{end}")
    day = agent.ok("calendar_free_busy", date="2031-05-05")
    assert [(one["start"], one["end"]) for one in day["busy"]] == [
        ("08:00", "08:30"), ("10:00", "11:00"), ("10:30", "12:00"), ("17:00", "18:00"),
    ]  # fmt: skip
    assert day["free"] == [{"start": "08:30", "end": "10:00"}, {"start": "12:00", "end": "17:00"}]
    assert agent.ok("calendar_free_busy", date="2031-05-06")["free"] == [{"start": "08:00", "end": "18:00"}]
    assert agent.refused("calendar_free_busy", date="05/05/2031")[0] == 422
