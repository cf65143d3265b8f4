"""One ticket at a time: open, answer, assign, edit, close."""

from __future__ import annotations

from typing import ClassVar

from rebind.envs.apps.families.answers import Answer
from rebind.envs.apps.families.draw import choice, day, phrase
from rebind.envs.apps.families.effects import Added, Changed, Part, says
from rebind.envs.sites.families.answers import Choice, Number, PageDay
from rebind.envs.sites.families.base import Bound, Drawn, Expected, Family, Grounded, SiteView, saw, visited
from rebind.envs.sites.families.draws import AGENT, NO_TICKET, TICKET, TICKET_ID, differs, lookup, query
from rebind.envs.sites.families.flows import (
    Oracle,
    choose,
    click,
    done,
    fill,
    form,
    open_ticket,
    reads,
)

COMMENT = phrase(
    "{a} {b}",
    a="Had a look. | Called back. | Checked on site. | Talked to the supplier.",
    b="A part is on order. | It should work by noon. | Please send a photo. | A second visit is needed.",
)
STATUS = {"Open": 1, "Reopened": 2, "Resolved": 3, "Closed": 4}
PRIORITIES = ("1. Critical", "2. High", "3. Normal", "4. Low", "5. Very Low")
QUEUE = query("SELECT title FROM helpdesk_queue ORDER BY id")
CHANGES = Part("helpdesk_ticketchange", "followup_id")


def agent_id(view: SiteView, name: str) -> int:
    return int(view.value("SELECT id FROM auth_user WHERE first_name || ' ' || last_name = ?", name))


class AssignTicket(Family):
    id = "desk/assign-with-comment"
    group = "5-10"
    account, start = "carl.weiss", "/desk/dashboard/"
    drawn = (
        Drawn("ticket", "record", TICKET, central=True),
        Drawn("agent", "user", AGENT),
        Drawn("comment", "parameter", COMMENT),
    )
    grounded = (Grounded("ticket_id", "record", TICKET_ID),)
    absent: ClassVar = {"ticket": NO_TICKET}
    wordings = (
        'Assign the ticket "{ticket}" to {agent}, and add the comment "{comment}" to it.',
        'The ticket "{ticket}" goes to {agent}. Also comment on it: "{comment}"',
        '{agent} takes over the ticket "{ticket}": assign it, and write "{comment}" as a comment.',
    )

    def oracle(self, b: Bound) -> Oracle:
        yield from open_ticket(b.ticket)
        yield from choose('combobox "owner"', b.agent)
        yield from click('button "Save ticket assignment"', 'tab "Respond"')
        yield from fill('textbox "Comment / Resolution"', b.comment)
        yield from click('button "Save" #1')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        owner = agent_id(start, b.agent)
        differs(start, "helpdesk_ticket", b.ticket_id, assigned_to_id=owner)
        return Expected(
            effects=(
                Changed("helpdesk_ticket", b.ticket_id, assigned_to_id=owner, mark="assigned: it has its owner"),
                Added(
                    "helpdesk_followup", ticket_id=b.ticket_id, comment=says(b.comment), mark="commented: so it says"
                ),
                Added("helpdesk_followup", ticket_id=b.ticket_id, comment="", parts=(CHANGES,)),
            ),
            marks=(saw("found: opened the ticket", f"# {b.ticket}"),),
        )


class AnswerTicket(Family):
    id = "desk/comment-on-ticket"
    group = "5-10"
    account, start = "dina.popov", "/desk/dashboard/"
    drawn = (
        Drawn("ticket", "record", TICKET, central=True),
        Drawn("comment", "parameter", COMMENT),
        Drawn("kind", "parameter", choice("public | private")),
    )
    grounded = (Grounded("ticket_id", "record", TICKET_ID),)
    absent: ClassVar = {"ticket": NO_TICKET}
    wordings = (
        'Write a {kind} comment on the ticket "{ticket}": "{comment}"',
        'The ticket "{ticket}" needs the {kind} comment "{comment}"',
        'Add "{comment}" to the ticket "{ticket}", as a {kind} comment.',
    )

    def oracle(self, b: Bound) -> Oracle:
        yield from open_ticket(b.ticket)
        yield from click('tab "Respond"')
        yield from fill('textbox "Comment / Resolution"', b.comment)
        if b.kind == "private":
            yield from click('checkbox "Is this update public? (Optional)"')
        yield from click('button "Save" #1')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        comment = Added(
            "helpdesk_followup",
            ticket_id=b.ticket_id,
            comment=says(b.comment),
            public=int(b.kind == "public"),
            mark="commented: the comment is there",
        )
        return Expected(effects=(comment,), marks=(saw("found: opened the ticket", f"# {b.ticket}"),))


class FinishTicket(Family):
    id = "desk/finish-ticket"
    group = "5-10"
    account, start = "erik.sand", "/desk/dashboard/"
    drawn = (
        Drawn("ticket", "record", TICKET, central=True),
        Drawn("status", "state", choice("Resolved | Closed")),
        Drawn(
            "text",
            "parameter",
            phrase(
                "{a} {b}",
                a="Fixed on Friday. | New part built in. | Solved by phone.",
                b="Tested twice. | The sender agrees. | No further steps.",
            ),
        ),
    )
    grounded = (Grounded("ticket_id", "record", TICKET_ID),)
    absent: ClassVar = {"ticket": NO_TICKET}
    wordings = (
        'Set the ticket "{ticket}" to {status}, with the comment "{text}".',
        'The ticket "{ticket}" is {status} now; the resolution is "{text}"',
        'Finish the ticket "{ticket}": status {status}, comment "{text}"',
    )

    def oracle(self, b: Bound) -> Oracle:
        yield from open_ticket(b.ticket)
        yield from click('tab "Respond"')
        yield from fill('textbox "Comment / Resolution"', b.text)
        yield from click(f'radio "{b.status}"', 'button "Save" #1')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        return Expected(
            effects=finished(b.ticket_id, b.status, b.text), marks=(saw("found: opened the ticket", f"# {b.ticket}"),)
        )


def finished(
    ticket: int, status: str, text: str, mark: str = "finished: the ticket has its status"
) -> tuple[Changed, Added]:
    """The effects of closing a ticket with a comment."""
    return (
        Changed("helpdesk_ticket", ticket, status=STATUS[status], resolution=says(text), mark=mark),
        Added("helpdesk_followup", ticket_id=ticket, comment=says(text), new_status=STATUS[status], parts=(CHANGES,)),
    )


class EditTicket(Family):
    id = "desk/edit-ticket"
    group = "5-10"
    account, start = "faye.morton", "/desk/dashboard/"
    drawn = (
        Drawn("ticket", "record", TICKET, central=True),
        Drawn("priority", "parameter", choice(PRIORITIES)),
        Drawn("due", "date", day(50, 120)),
    )
    grounded = (Grounded("ticket_id", "record", TICKET_ID),)
    absent: ClassVar = {"ticket": NO_TICKET}
    wordings = (
        'Edit the ticket "{ticket}": its priority is "{priority}" and it is due on {due} (00:00:00).',
        'Change the priority of the ticket "{ticket}" to "{priority}" and its due date to {due} 00:00:00.',
        'The ticket "{ticket}" has wrong details. Priority should be "{priority}", due {due} at midnight (00:00:00).',
    )

    def oracle(self, b: Bound) -> Oracle:
        yield from open_ticket(b.ticket)
        yield from click('button "Actions"', 'link "Edit"')
        yield from choose('combobox "Priority"', b.priority)
        yield from fill('textbox "Due on"', f"{b.due} 00:00:00")
        yield from click('button "Save Changes"')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        priority = int(b.priority[0])
        differs(start, "helpdesk_ticket", b.ticket_id, priority=priority)
        edited = Changed(
            "helpdesk_ticket",
            b.ticket_id,
            priority=priority,
            due_date=f"{b.due} 00:00:00",
            mark="edited: both are right",
        )
        return Expected(effects=(edited,), marks=(saw("form: opened the form", "Edit a Ticket"),))


class OpenTicket(Family):
    id = "desk/open-ticket"
    group = "5-10"
    account, start = "bea.olsen", "/desk/dashboard/"
    drawn = (
        Drawn("queue", "location", QUEUE, central=True),
        Drawn(
            "title",
            "parameter",
            phrase(
                "{a} in {b}",
                a="Clock stopped | No hot water | Noise | Dead plug | Smell",
                b="hall 1 | room 207 | the garage | the kitchen",
            ),
        ),
        Drawn("text", "parameter", COMMENT),
        Drawn("priority", "parameter", choice(PRIORITIES)),
        Drawn("owner", "user", query("SELECT username FROM auth_user WHERE is_staff = 1 ORDER BY id")),
    )
    grounded = (Grounded("queue_id", "record", lookup("SELECT id FROM helpdesk_queue WHERE title = ?", "queue")),)
    wordings = (
        'Open a ticket in the queue "{queue}": summary "{title}", description "{text}", priority '
        '"{priority}", case owner '
        "{owner}.",
        'A new ticket is needed. Queue: {queue}. Summary of the problem: "{title}". Description: "{text}". Priority: '
        '"{priority}". Case owner: {owner}.',
        'Report "{title}" to "{queue}" with the description "{text}" and the priority "{priority}"; the '
        "owner is {owner}.",
    )

    def oracle(self, b: Bound) -> Oracle:
        yield from click('link "New Ticket"')
        yield from choose('combobox "Queue"', b.queue)
        yield from form(Summary_of_the_problem=b.title, Description_of_your_issue=b.text)
        yield from choose('combobox "Priority"', b.priority)
        yield from choose('combobox "Case owner (Optional)"', b.owner)
        yield from click('button "Submit Ticket"')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        owner = start.value("SELECT id FROM auth_user WHERE username = ?", b.owner)
        ticket = Added(
            "helpdesk_ticket",
            queue_id=b.queue_id,
            title=says(b.title),
            description=says(b.text),
            priority=int(b.priority[0]),
            assigned_to_id=owner,
            parts=(Part("helpdesk_followup", "ticket_id"),),
            mark="opened: the ticket is there",
        )
        return Expected(effects=(ticket,), marks=(visited("form: opened the form", "/desk/tickets/submit/"),))


class TicketQuestion(Family):
    id = "desk/ticket-question"
    group = "<5"
    account, start = "amir.haddad", "/desk/dashboard/"
    drawn = (
        Drawn("ticket", "record", TICKET, central=True),
        Drawn("what", "parameter", choice("the queue | the priority (its number) | the due date")),
    )
    grounded = (
        Grounded("ticket_id", "record", TICKET_ID),
        Grounded("submitter", "user", lookup("SELECT submitter_email FROM helpdesk_ticket WHERE title = ?", "ticket")),
    )
    absent: ClassVar = {"ticket": NO_TICKET}
    wordings = (
        'For the ticket "{ticket}", tell me {what}.',
        'Look up {what} of the ticket "{ticket}".',
        'I need to know {what} of "{ticket}" in the service desk.',
    )

    def oracle(self, b: Bound) -> Oracle:
        page = yield from open_ticket(b.ticket)
        if b.what == "the queue":
            answer = reads(r"^Queue\n([^\n]+)", page)
        elif b.what == "the due date":
            answer = reads(r"^Due Date\n(\w+ \d+, \d+)", page)
        else:
            answer = reads(r"^Priority\n(\d)", page)
        yield from done(answer)

    def expect(self, start: SiteView, b: Bound) -> Expected:
        ticket = start.row(
            "SELECT t.*, q.title AS queue FROM helpdesk_ticket t JOIN helpdesk_queue q ON q.id = t.queue_id "
            "WHERE t.id = ?",
            b.ticket_id,
        )
        queues = tuple(start.column("SELECT title FROM helpdesk_queue"))
        answers: dict[str, Answer] = {
            "the queue": Choice(ticket["queue"], queues),
            "the due date": PageDay(str(ticket["due_date"])[:10]),
        }
        answer = answers.get(b.what, Number(ticket["priority"]))
        return Expected(answer=answer, marks=(saw("found: opened the ticket", f"# {b.ticket}"),))
