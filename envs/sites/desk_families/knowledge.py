"""The knowledge base and the reports."""

from __future__ import annotations

import re

from rebind.envs.apps.families.draw import choice
from rebind.envs.apps.families.effects import Added, Part, anything, says
from rebind.envs.sites.desk_families.tickets import QUEUE, agent_id
from rebind.envs.sites.families.answers import Number
from rebind.envs.sites.families.base import Bound, Drawn, Expected, Family, Grounded, SiteView, visited
from rebind.envs.sites.families.draws import AGENT, lookup, query
from rebind.envs.sites.families.flows import (
    Flow,
    Oracle,
    act,
    choose,
    click,
    done,
    form,
    must,
    reads,
)

_KB = "SELECT i.{what} FROM helpdesk_kbitem i JOIN helpdesk_kbcategory c ON c.id = i.category_id WHERE c.title = ?"
KB_CATEGORY = query("SELECT title FROM helpdesk_kbcategory ORDER BY id")
KB_ITEM = query(_KB.format(what="title") + " ORDER BY i.id", "category")
KB_ID = lookup("SELECT id FROM helpdesk_kbitem WHERE title = ?", "item")


def kb_number(text: str, what: str) -> str:
    """The minutes or the phone number that an article states."""
    return reads(r"It takes (\d+) minutes" if "minutes" in what else r"In case of trouble call (\d+)", text)


def open_article(category: str, item: str) -> Flow[str]:
    """From the knowledge base's front page to an article; its categories' links all have one name."""
    page = yield from act("noop", ms=0)
    titles = re.findall(r"^\s*##### (.+)$", page, re.MULTILINE)
    must(category in titles, f"no category {category}")
    yield from click(f'link "View articles" #{titles.index(category) + 1}')
    return (yield from click(f'button "{item}"'))


class KnowledgeQuestion(Family):
    id = "desk/knowledge-question"
    group = "<5"
    account, start = "bea.olsen", "/desk/kb/"
    drawn = (
        Drawn("category", "location", KB_CATEGORY, central=True),
        Drawn("item", "record", KB_ITEM, central=True, needs=("category",)),
        Drawn("what", "parameter", choice("how many minutes it takes | which phone number helps in case of trouble")),
    )
    grounded = (Grounded("item_id", "record", KB_ID),)
    wordings = (
        'The knowledge base has an article "{item}" under "{category}". What does it say about {what}?',
        'In the knowledge base ("{category}"), read "{item}" and tell me {what}.',
        'According to the article "{item}" in the category "{category}": {what}?',
    )

    def oracle(self, b: Bound) -> Oracle:
        page = yield from open_article(b.category, b.item)
        yield from done(kb_number(page, b.what))

    def expect(self, start: SiteView, b: Bound) -> Expected:
        text = start.value("SELECT answer FROM helpdesk_kbitem WHERE id = ?", b.item_id)
        category = visited("category: opened the category", r"/desk/kb/\w+/")
        return Expected(answer=Number(int(kb_number(text, b.what))), marks=(category,))


class KnowledgeToTicket(Family):
    id = "desk/knowledge-to-ticket"
    group = "5-10"
    account, start = "carl.weiss", "/desk/kb/"
    drawn = (
        Drawn("category", "location", KB_CATEGORY, central=True),
        Drawn("item", "record", KB_ITEM, central=True, needs=("category",)),
        Drawn("what", "parameter", choice("the minutes it takes | the phone number for trouble")),
        Drawn("queue", "location", QUEUE),
    )
    grounded = (Grounded("item_id", "record", KB_ID),)
    wordings = (
        'Open a ticket in the queue "{queue}" whose summary is "{item}" and whose description is {what}, as '
        "a bare number, "
        'from the knowledge base article of that title (category "{category}").',
        'Read "{item}" in the knowledge base under "{category}" and submit a ticket to "{queue}" with the '
        "article's title as "
        "its summary and, as its description, nothing but {what} (the number).",
        'From the article "{item}" ("{category}") I need {what}: put that number alone into the description '
        "of a new ticket "
        'in "{queue}", with the article\'s title as the summary.',
    )

    def oracle(self, b: Bound) -> Oracle:
        page = yield from open_article(b.category, b.item)
        number = kb_number(page, b.what)
        yield from click('link "New Ticket"')
        yield from choose('combobox "Queue"', b.queue)
        yield from form(Summary_of_the_problem=b.item, Description_of_your_issue=number)
        yield from click('button "Submit Ticket"')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        text = start.value("SELECT answer FROM helpdesk_kbitem WHERE id = ?", b.item_id)
        queue = start.value("SELECT id FROM helpdesk_queue WHERE title = ?", b.queue)
        ticket = Added(
            "helpdesk_ticket",
            queue_id=queue,
            title=says(b.item),
            description=says(kb_number(text, b.what)),
            priority=anything,
            parts=(Part("helpdesk_followup", "ticket_id"),),
            mark="opened: the ticket is there",
        )
        return Expected(effects=(ticket,), marks=(visited("category: opened the category", r"/desk/kb/\w+/"),))


class ReportQuestion(Family):
    id = "desk/report-question"
    group = "<5"
    account, start = "dina.popov", "/desk/reports/"
    drawn = (
        Drawn("agent", "user", AGENT, central=True),
        Drawn("queue", "location", QUEUE),
        Drawn("what", "parameter", choice("how many there are | how many of that queue's tickets are not theirs")),
    )
    grounded = (Grounded("agent_id", "record", lambda v, b: agent_id(v, b.agent)),)
    wordings = (
        'See the report "User by Queue" for the tickets of {agent} in the queue "{queue}" and tell me {what}.',
        'In the reports ("User by Queue"), look at {agent} and "{queue}": {what}?',
        'About the tickets that {agent} has in "{queue}", according to the report "User by Queue": {what}?',
    )

    def oracle(self, b: Bound) -> Oracle:
        page = yield from click('button "Create new report"', 'link "by Queue"')
        head = reads(r"row: User \| (.*)$", page).split(" | ")
        column = head.index(b.queue)
        own, total = (
            int(reads(rf"row: {name} \| (.*)$", page, name).split(" | ")[column]) for name in (b.agent, "Total")
        )
        yield from done(str(own if b.what == "how many there are" else total - own))

    def expect(self, start: SiteView, b: Bound) -> Expected:
        count = "SELECT count(*) FROM helpdesk_ticket t JOIN helpdesk_queue q ON q.id = t.queue_id WHERE q.title = ?"
        own = start.value(f"{count} AND assigned_to_id = ?", b.queue, b.agent_id)
        answer = own if b.what == "how many there are" else start.value(count, b.queue) - own
        return Expected(
            answer=Number(answer), marks=(visited("report: opened the report", "/desk/reports/userqueue/"),)
        )
