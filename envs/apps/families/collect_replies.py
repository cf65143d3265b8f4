"""Compile a note from what several people wrote in their direct chats, the last word counting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rebind.envs.apps.families.answers import plain
from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.draw import Bound, choice, people, phrase, several, words
from rebind.envs.apps.families.effects import Added, Part, says
from rebind.envs.apps.families.evidence import called, saw
from rebind.envs.apps.families.oracle import Oracle, finish, login, only
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View

OCCASIONS = "barn supper | bonfire | farewell brunch | harvest lunch | lake picnic | terrace dinner | winter tea"
DISHES = (
    "apple cake | bean stew | cheese board | cucumber salad | flat bread | grilled peppers | lemon tart | mushroom pie "
    "| onion soup | plum crumble | potato salad | rice pudding | spinach rolls | tomato quiche"
)
BRINGS = "For the {occasion} I bring the {dish}."


class CollectReplies(Family):
    id = "apps/compile-note-from-chats"
    group = "11-20"
    tools = (
        "contacts_search chat_list_chats chat_show_chat chat_messages chat_send notes_search notes_create notes_update "
        "notes_add_tag"
    )
    drawn = (
        Drawn("occasion", "entity", choice(OCCASIONS), central=True),
        Drawn("guests", "user", people(5)),
        Drawn(
            "title",
            "parameter",
            phrase(
                "{what}, {which}",
                what="Buffet | Dishes | Menu | Table | Food",
                which="as promised | all in all | at a glance | complete | to print",
            ),
        ),
        Drawn("notebook", "parameter", choice("home | personal | recipes | travel")),
        Drawn("tag", "parameter", choice("cooking | guests | hosting | invited | kitchen | promises")),
        Drawn("dishes", "state", several(5, DISHES), needs=("occasion",)),
    )
    grounded = (Grounded("chats", "record", lambda v, b: [v.direct_chat(who) for who in b.guests]),)
    wordings = (
        "Each of these people told me in our direct chat what they bring to the {occasion}: {guests}. Write a note "
        '"{title}" in the notebook "{notebook}" with the tag "{tag}" that has one line for each of them, "<full '
        'name>: <dish>", and nothing else. Whoever changed their mind counts with what they said last.',
        'I need a new note titled "{title}" (notebook "{notebook}", tag "{tag}") about the {occasion}. {guests} '
        "each wrote me in our direct chat which dish they bring; take the latest word of each. The note consists "
        'of one line a person, in the form "<full name>: <dish>".',
        "Collect who brings what to the {occasion}. Look into my direct chats with {guests}, take the dish that "
        'each of them named last for this occasion, and put it all into a note called "{title}" in my notebook '
        '"{notebook}", tagged "{tag}": a line "<full name>: <dish>" for each, no other text.',
    )

    def setup(self, p: Plant, b: Bound) -> None:
        other = next(one for one in words(OCCASIONS) if one != b.occasion)
        rest = [dish for dish in words(DISHES) if dish not in b.dishes]
        for i, (who, dish) in enumerate(zip(b.guests, b.dishes, strict=True)):
            first, elsewhere = p.rng.sample(rest, 2)
            said = [(6, BRINGS.format(occasion=b.occasion, dish=first if i % 2 else dish))]
            if i % 2:
                said += [(4, f"I thought it over: {BRINGS.format(occasion=b.occasion, dish=dish)}")]
            said += [(2, BRINGS.format(occasion=other, dish=elsewhere)), (1, "See you soon, then!")]
            chat, sender = p.chat_with(who), p.person(who)["id"]
            for age, body in said:
                p.add("chat_messages", chat_id=chat, sender=sender, body=body, sent_at=p.moment(-age, "20:15"))

    def oracle(self, b: Bound) -> Oracle:
        chat = yield from login("chat")
        lines = []
        for who in b.guests:
            chats = yield from chat.every("list_chats", query=who, kind="direct")
            own = only([c for c in chats if c["title"] == who], who)["chat_id"]
            found = yield from chat("messages", chat_id=own, query=f"For the {b.occasion} I bring")  # newest first
            dish = found["items"][0]["body"].split("I bring the ")[1].rstrip(".")
            lines.append(f"{who}: {dish}")
        notes = yield from login("notes")
        yield from notes("create", title=b.title, body="\n".join(lines), notebook=b.notebook, tags=[b.tag])
        yield from finish()

    def expect(self, start: View, b: Bound) -> Expected:
        said = [f"{who}: {dish}" for who, dish in zip(b.guests, b.dishes, strict=True)]
        note = Added(
            "notes",
            title=says(b.title),
            notebook=b.notebook,
            body=lists(said),
            parts=(Part("note_tags", "note_id", tag=b.tag),),
            mark="compiled: the note says who brings what",
        )
        read = [
            called(f"read-{i}: read what {who} wrote", "chat_messages", chat_id=chat)
            for i, (who, chat) in enumerate(zip(b.guests, b.chats, strict=True), 1)
        ]
        return Expected(effects=(note,), marks=(saw("found-chats: found the direct chats", *b.chats), *read))


def lists(lines: list[str]) -> Callable[[Any], bool]:
    """A text that has exactly these lines, in any order, with bullets or without."""
    wanted = sorted(plain(line) for line in lines)
    return lambda text: sorted(plain(line.strip(" -*•")) for line in text.splitlines() if line.strip()) == wanted
