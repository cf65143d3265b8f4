"""Write to one of several people of the same first name."""

from __future__ import annotations

from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.draw import Bound, namesake, phrase
from rebind.envs.apps.families.effects import Added, has
from rebind.envs.apps.families.evidence import called, saw
from rebind.envs.apps.families.oracle import Oracle, finish, login, only, person
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View

UNIQUE = (
    "SELECT first_name || ' ' || last_name AS name FROM contacts WHERE first_name = ? GROUP BY name "
    "HAVING count(*) = 1 ORDER BY min(id)"
)
ALONE = (
    "(SELECT count(*) FROM contacts other WHERE other.first_name = contacts.first_name"
    " AND other.last_name = contacts.last_name) = 1"
)
"""A chat is titled with the full name: of two people who share it none could tell whose it is."""


class MessageNamesake(Family):
    id = "apps/message-the-right-namesake"
    group = "5-10"
    tools = "contacts_search contacts_show chat_list_chats chat_messages chat_send chat_start"
    drawn = (
        Drawn("recipient", "user", namesake("company", ALONE), central=True),
        Drawn(
            "message",
            "parameter",
            phrase(
                "{what} {when}, {ask}?",
                what="I am near the station | The van is free | I have a spare ticket | We meet at the lake",
                when="on Tuesday | on Friday | at five | tomorrow | tonight",
                ask="will you come | does that suit you | are you in | can you join",
            ),
        ),
    )
    grounded = (
        Grounded("contact", "user", lambda v, b: v.person(b.recipient)["id"]),
        Grounded("chat", "record", lambda v, b: v.direct_chat(b.recipient)),
    )
    wordings = (
        'Send {recipient} this message in our direct chat: "{message}"',
        'Write to {recipient} in the chat we two have: "{message}"',
        'Please tell {recipient} by direct chat message: "{message}" I know several people of that first name, so '
        "make sure it is the right one.",
        'A chat message for {recipient}, just between the two of us: "{message}"',
    )

    def setup(self, p: Plant, b: Bound) -> None:
        p.chat_with(b.recipient)
        who = p.person(b.recipient)
        for name in [one for one in p.column(UNIQUE, who["first_name"]) if one != full(who)][:2]:
            p.add("chat_messages", chat_id=p.chat_with(name), sender=p.person(name)["id"], body="Write me, please.")

    def oracle(self, b: Bound) -> Oracle:
        contacts = yield from login("contacts")
        who = yield from person(contacts, b.recipient)
        chat = yield from login("chat")
        chats = yield from chat.every("list_chats", query=full(who), kind="direct")
        own = only([c for c in chats if c["title"] == full(who)], b.recipient)
        yield from chat("send", chat_id=own["chat_id"], body=b.message)
        yield from finish()

    def expect(self, start: View, b: Bound) -> Expected:
        mark = "sent: the message is in the right person's chat"
        return Expected(
            effects=(Added("chat_messages", chat_id=b.chat, sender="me", body=has(b.message), mark=mark),),
            marks=(
                saw("found-contact: found the right person", b.contact),
                saw("found-chat: found the direct chat", b.chat),
                called("right-chat: wrote to that chat", "chat_send", chat_id=b.chat),
            ),
        )


def full(contact: dict[str, str]) -> str:
    return f"{contact['first_name']} {contact['last_name']}"
