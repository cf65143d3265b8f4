"""Several tickets in one go."""

from __future__ import annotations

from typing import Any

from rebind.envs.apps.families.draw import choice
from rebind.envs.apps.families.effects import Added, Changed, says
from rebind.envs.sites.desk_families.tickets import CHANGES, COMMENT, finished
from rebind.envs.sites.families.answers import Choice
from rebind.envs.sites.families.base import Bound, CannotBuild, Drawn, Expected, Family, Grounded, SiteView, saw
from rebind.envs.sites.families.draws import listed, tickets
from rebind.envs.sites.families.flows import Oracle, click, done, fill, open_ticket, reads

IDS = Grounded(
    "ticket_ids",
    "record",
    lambda v, b: [v.value("SELECT id FROM helpdesk_ticket WHERE title = ?", title) for title in b.tickets],
)


class CommentOnMany(Family):
    id = "desk/comment-on-many-tickets"
    group = ">35"
    account, start = "amir.haddad", "/desk/dashboard/"
    drawn = (
        Drawn("tickets", "record", tickets(6), central=True, show=listed),
        Drawn("comment", "parameter", COMMENT),
        Drawn("kind", "parameter", choice("public | private")),
    )
    grounded = (IDS,)
    wordings = (
        'Write the same {kind} comment, "{comment}", on the tickets {tickets}.',
        'The tickets {tickets} need the {kind} comment "{comment}" each.',
        'Add "{comment}" as a {kind} comment to each of these tickets: {tickets}.',
    )

    def oracle(self, b: Bound) -> Oracle:
        for title in b.tickets:
            yield from open_ticket(title)
            yield from click('tab "Respond"')
            yield from fill('textbox "Comment / Resolution"', b.comment)
            if b.kind == "private":
                yield from click('checkbox "Is this update public? (Optional)"')
            yield from click('button "Save" #1')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        public = int(b.kind == "public")
        return Expected(
            effects=[
                Added(
                    "helpdesk_followup",
                    ticket_id=one,
                    comment=says(b.comment),
                    public=public,
                    mark=f"said-{n}: {title}",
                )
                for n, (one, title) in enumerate(zip(b.ticket_ids, b.tickets, strict=True), 1)
            ]
        )


class FinishMany(Family):
    id = "desk/finish-many-tickets"
    group = "21-35"
    account, start = "bea.olsen", "/desk/dashboard/"
    drawn = (
        Drawn("tickets", "record", tickets(4), central=True, show=listed),
        Drawn("status", "state", choice("Resolved | Closed")),
        Drawn("text", "parameter", COMMENT),
    )
    grounded = (IDS,)
    wordings = (
        'Set the tickets {tickets} to {status}, each with the comment "{text}".',
        'The tickets {tickets} are all {status} now; the comment on each is "{text}"',
        'Finish these tickets: {tickets}. Status: {status}. Comment: "{text}"',
    )

    def oracle(self, b: Bound) -> Oracle:
        for title in b.tickets:
            yield from open_ticket(title)
            yield from click('tab "Respond"')
            yield from fill('textbox "Comment / Resolution"', b.text)
            yield from click(f'radio "{b.status}"', 'button "Save" #1')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        effects: list[Any] = []
        for n, (one, title) in enumerate(zip(b.ticket_ids, b.tickets, strict=True), 1):
            effects += finished(one, b.status, b.text, mark=f"finished-{n}: {title}")
        return Expected(effects=effects)


class HoldMany(Family):
    id = "desk/hold-tickets"
    group = "11-20"
    account, start = "faye.morton", "/desk/dashboard/"
    drawn = (
        Drawn("tickets", "record", tickets(2), central=True, show=listed),
        Drawn("comment", "parameter", COMMENT),
        Drawn("kind", "parameter", choice("public | private")),
    )
    grounded = (IDS,)
    wordings = (
        'Put the tickets {tickets} on hold, and write the {kind} comment "{comment}" on the first of them.',
        '{tickets} must be put on hold. On the first one, also leave a {kind} comment: "{comment}"',
        'Hold both tickets, {tickets}; the first one named gets the {kind} comment "{comment}"',
    )

    def oracle(self, b: Bound) -> Oracle:
        for title in b.tickets:
            yield from open_ticket(title)
            yield from click('button "Actions"', 'button "Hold"')
            if title == b.tickets[0]:
                yield from click('tab "Respond"')
                yield from fill('textbox "Comment / Resolution"', b.comment)
                if b.kind == "private":
                    yield from click('checkbox "Is this update public? (Optional)"')
                yield from click('button "Save" #1')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        effects: list[Any] = [
            Added(
                "helpdesk_followup",
                ticket_id=b.ticket_ids[0],
                comment=says(b.comment),
                public=int(b.kind == "public"),
                mark="commented: the comment is there",
            )
        ]
        for n, one in enumerate(b.ticket_ids, 1):
            effects.append(Changed("helpdesk_ticket", one, on_hold=1, mark=f"held-{n}: ticket {n} is on hold"))
            effects.append(Added("helpdesk_followup", ticket_id=one, title="Ticket placed on hold", parts=(CHANGES,)))
        return Expected(effects=effects)


class DueFirst(Family):
    id = "desk/due-first-question"
    group = "11-20"
    account, start = "erik.sand", "/desk/dashboard/"
    drawn = (
        Drawn("tickets", "record", tickets(4), central=True, show=listed),
        Drawn(
            "what",
            "parameter",
            choice(
                "has the most urgent priority (the lowest number) | has the least urgent priority (the highest number)"
            ),
        ),
    )
    grounded = (
        IDS,
        Grounded(
            "queues",
            "location",
            lambda v, b: [
                v.value("SELECT queue_id FROM helpdesk_ticket WHERE title = ?", title) for title in b.tickets
            ],
        ),
    )
    wordings = (
        "Which of the tickets {tickets} {what}? Give me its title.",
        "Compare the tickets {tickets}: which one {what}? I need the title.",
        "Tell me the title of the ticket that {what} among {tickets}.",
    )

    def oracle(self, b: Bound) -> Oracle:
        values: dict[str, int] = {}
        for title in b.tickets:
            page = yield from open_ticket(title)
            values[title] = int(reads(r"^Priority\n(\d)", page))
        yield from done(_best(values, b.what))

    def expect(self, start: SiteView, b: Bound) -> Expected:
        values = {
            title: start.value("SELECT priority FROM helpdesk_ticket WHERE title = ?", title) for title in b.tickets
        }
        best = _best(values, b.what)
        if list(values.values()).count(values[best]) > 1:
            raise CannotBuild("a tie")
        marks = [saw(f"read-{n}: opened {title}", f"# {title}") for n, title in enumerate(b.tickets, 1)]
        return Expected(answer=Choice(best, tuple(b.tickets)), marks=marks)


def _best(values: dict[str, int], what: str) -> str:
    return (min if "lowest" in what else max)(values, key=lambda title: values[title])
