"""Move one meeting of a series and tell those who had accepted it, each in their own chat."""

from __future__ import annotations

from datetime import datetime, timedelta

from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.draw import Bound, choice, day, people, phrase
from rebind.envs.apps.families.effects import Added, Changed, has
from rebind.envs.apps.families.evidence import called, saw
from rebind.envs.apps.families.oracle import Oracle, finish, login, only
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View

MEETINGS = (
    "Budget round | Design critique | Hiring panel | Incident review | Launch rehearsal | Pricing council | Risk "
    "forum | Roadmap check | Supplier call | Vendor scorecard"
)
ASK = "bring the figures | excuse the short notice | read the agenda again | tell me if you cannot come | dial in early"
SERIES = (5, 12, 19, 26)
"""Days from today on which the series meets."""
ON_DAY = "SELECT id FROM events WHERE title = ? AND substr(start_at, 1, 10) = ?"


class PostponeMeeting(Family):
    id = "apps/postpone-meeting-tell-accepted"
    group = "11-20"
    tools = (
        "calendar_search calendar_show calendar_reschedule calendar_update contacts_search chat_list_chats chat_send "
        "chat_start"
    )
    drawn = (
        Drawn("meeting", "entity", choice(MEETINGS), central=True),
        Drawn("on_day", "date", lambda v, rng, b: day(*[rng.choice(SERIES)] * 2)(v, rng, b)),
        Drawn("new_day", "date", day(30, 44)),
        Drawn("new_time", "parameter", choice("08:30 | 09:15 | 10:45 | 13:00 | 14:30 | 15:45 | 16:20")),
        Drawn("message", "parameter", phrase("We had to move our meeting, please {ask}.", ask=ASK)),
        Drawn("accepted", "user", people(3)),
        Drawn("others", "user", people(3, apart=("accepted",)), needs=("accepted",)),
        Drawn("minutes", "state", choice((30, 45, 60, 90))),
    )
    grounded = (Grounded("event", "record", lambda v, b: v.value(ON_DAY, b.meeting, b.on_day)),)
    wordings = (
        'Move the "{meeting}" of {on_day} to {new_day} at {new_time}, keeping its length. Then write to each '
        'person who had accepted it, in their direct chat: "{message}" Nobody else gets the message.',
        'My "{meeting}" on {on_day} has to move to {new_day}, {new_time}; it stays as long as it was. Everybody '
        'who had accepted that meeting, and nobody else, gets a direct chat message: "{message}"',
        'Please reschedule the {on_day} "{meeting}" to start at {new_time} on {new_day} with the same length, and '
        'send "{message}" in a direct chat to every attendee whose status is accepted, and only to them.',
    )

    def setup(self, p: Plant, b: Bound) -> None:
        emails = {name: p.person(name)["email"] for name in (*b.accepted, *b.others)}
        for offset in SERIES:
            chosen, start = p.day(offset) == b.on_day, p.moment(offset, "11:00")
            event = p.add("events", title=b.meeting, start_at=start, end_at=later(start, b.minutes if chosen else 75))
            coming = b.accepted if chosen else [b.accepted[0], *b.others[:2]]
            for name, email in emails.items():
                status = "accepted" if name in coming else p.rng.choice(("declined", "invited"))
                p.add("event_attendees", event_id=event, email=email, status=status)
        for name in emails:
            p.chat_with(name)

    def oracle(self, b: Bound) -> Oracle:
        calendar = yield from login("calendar")
        found = yield from calendar("search", query=b.meeting, since=b.on_day, until=b.on_day)
        event = yield from calendar("show", event_id=only(found["items"], b.meeting)["event_id"])
        length = datetime.fromisoformat(event["end_at"]) - datetime.fromisoformat(event["start_at"])
        start = f"{b.new_day}T{b.new_time}"
        end = later(start, length.seconds // 60)
        yield from calendar("reschedule", event_id=event["event_id"], start_at=start, end_at=end)
        contacts, chat = (yield from login("contacts")), (yield from login("chat"))
        for email in [a["email"] for a in event["attendees"] if a["status"] == "accepted"]:
            found = yield from contacts("search", query=email)
            who = only([c for c in found["items"] if c["email"] == email], email)
            name = f"{who['first_name']} {who['last_name']}"
            chats = yield from chat.every("list_chats", query=name, kind="direct")
            own = only([c for c in chats if c["title"] == name], name)
            yield from chat("send", chat_id=own["chat_id"], body=b.message)
        yield from finish()

    def expect(self, start: View, b: Bound) -> Expected:
        begins = f"{b.new_day}T{b.new_time}"
        moved = Changed(
            "events",
            b.event,
            start_at=begins,
            end_at=later(begins, b.minutes),
            mark="moved: the meeting has its new time",
        )
        told = [
            Added("chat_messages", chat_id=start.direct_chat(name), body=has(b.message), mark=f"told-{i}: told {name}")
            for i, name in enumerate(b.accepted, 1)
        ]
        return Expected(
            effects=(moved, *told),
            marks=(
                saw("found-event: found the meeting of that day", b.event),
                called("read-attendees: read who had accepted", "calendar_show", event_id=b.event),
            ),
        )


def later(moment: str, minutes: int) -> str:
    return (datetime.fromisoformat(moment) + timedelta(minutes=minutes)).isoformat(timespec="minutes")
