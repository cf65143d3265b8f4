"""Sort a sender's mails by the rules of a note: label, archive, star, mark as read, throw away."""

from __future__ import annotations

import random

from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.draw import Bound, choice, day, several, words
from rebind.envs.apps.families.effects import Added, Changed, Effect
from rebind.envs.apps.families.evidence import called, saw
from rebind.envs.apps.families.oracle import Oracle, finish, login, only
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View

SENDERS = (
    "Allotment Society | Bridge Club | Canoe Federation | Drama League | Elm Street Residents | Fell Runners | "
    "Glee Choir"
)
TOPICS = words("Accounts | Agenda | Appeal | Ballot | Circular | Minutes | Notice | Programme | Raffle | Roster")
LABELS = "board | chores | club-life | dates | ideas | money | members | records | votes"
RULES: tuple[tuple[str, dict[str, str | int], int | None], ...] = (
    ("label it {0}, then archive it", {"folder": "archive"}, 0),
    ("label it {1} and star it, it stays in the inbox", {"starred": 1}, 1),
    ("throw it away (into the trash)", {"folder": "trash"}, None),
    ("mark it as read, label it {2} and archive it", {"folder": "archive", "read": 1}, 2),
    ("it stays in the inbox", {}, None),
)
"""What a note says of a topic, what changes in its mails, and which of the three labels they get."""
MAILS = 25
SINCE = (-20, -22, -24)
"""Days from today that sorting may begin with."""
SCOPE = "SELECT * FROM mails WHERE sender = ? AND folder = 'inbox' AND sent_at >= ? ORDER BY sent_at, id"


class SortMails(Family):
    id = "apps/sort-mails-by-rules"
    group = ">35"
    tools = (
        "notes_search notes_show mail_search mail_show mail_move mail_delete mail_add_label mail_remove_label "
        "mail_star mail_mark_read"
    )
    drawn = (
        Drawn("sender", "entity", choice(SENDERS), central=True),
        Drawn("since", "date", lambda v, rng, b: day(*[rng.choice(SINCE)] * 2)(v, rng, b)),
        Drawn("extra", "parameter", choice("current | in-work | open | pending | tidy | to-keep")),
        Drawn("topics", "state", lambda _v, rng, _b: sorted_out(rng)),
        Drawn("labels", "state", several(3, LABELS)),
    )
    grounded = (
        Grounded("note", "record", lambda v, b: v.value("SELECT id FROM notes WHERE title = ?", valid(b.sender))),
        Grounded("mails", "record", lambda v, b: [m["id"] for m in v.rows(SCOPE, office(b.sender), b.since)]),
    )
    wordings = (
        "Sort the mails in my inbox that the {sender} sent me on or after {since}, by my note with the rules that "
        "are valid for their mails: each subject begins with the topic that the rules speak of. Besides, every one "
        'of these mails that stays in the inbox gets the label "{extra}". Touch no other mail.',
        "My notes have the rules now valid for mails from the {sender}. Apply them to all their mails in the inbox "
        'from {since} on (that day included); the first word of the subject is the topic. Put the label "{extra}" '
        "as well on those of them which remain in the inbox. Older mails and those of other senders stay as they "
        "are.",
        "Please go through what the {sender} mailed me since {since}, that day included, as far as it is in the "
        "inbox. What happens to a mail follows from the topic at the start of its subject and from my note with "
        'the valid rules for this sender. Those that stay in the inbox are to be labelled "{extra}", too.',
    )

    def setup(self, p: Plant, b: Bound) -> None:
        topics = sorted(b.topics)
        for i in range(MAILS):
            topic = topics[i % len(topics)]
            decoys = ((f"{b.sender} Youth", "inbox"), (b.sender, "archive")) if i % 6 == 0 else ()
            for sender, folder in ((b.sender, "inbox"), *decoys):
                subject = f"{topic}: number {p.rng.randrange(100, 999)}"
                mail = {"subject": subject, "body": "Please see the website.", "read": 0}
                p.add("mails", sender=office(sender), folder=folder, sent_at=p.moment(i - MAILS), **mail)
        proposal, turned = valid(b.sender).replace("valid", "proposal"), [*b.topics[2:], *b.topics[:2]]
        for title, order, age in ((valid(b.sender), b.topics, -30), (proposal, turned, -2)):
            lines = [f"{topic}: {text.format(*b.labels)}" for topic, (text, _, _) in zip(order, RULES, strict=True)]
            p.add("notes", title=title, body="\n".join(sorted(lines)), updated_at=p.moment(age))

    def oracle(self, b: Bound) -> Oracle:
        notes = yield from login("notes")
        found = yield from notes.every("search", query=f"valid rules {b.sender}")
        note = only([n for n in found if n["title"] == valid(b.sender)], b.sender)["note_id"]
        body = (yield from notes("show", note_id=note))["body"]
        rules = dict(line.split(": ", 1) for line in body.splitlines())
        mail = yield from login("mail")
        for one in (yield from mail.every("search", sender=office(b.sender), folder="inbox", since=b.since)):
            rule, this = rules[one["subject"].partition(":")[0]], {"mail_id": one["mail_id"]}
            if "label it " in rule:
                yield from mail("add_label", label=rule.split("label it ")[1].split()[0].rstrip(","), **this)
            if "star it" in rule:
                yield from mail("star", **this)
            if "as read" in rule:
                yield from mail("mark_read", **this)
            if "inbox" in rule:
                yield from mail("add_label", label=b.extra, **this)
            else:
                yield from mail("move", folder="trash" if "trash" in rule else "archive", **this)
        yield from finish()

    def expect(self, start: View, b: Bound) -> Expected:
        effects = list[Effect]()
        for i, mail in enumerate(start.rows(SCOPE, office(b.sender), b.since), 1):
            topic, key = mail["subject"].partition(":")[0], mail["id"]
            _, columns, label = RULES[b.topics.index(topic)]
            for name, value in columns.items():
                mark = f"{name}-{i}: {mail['subject']} has {name} {value}"
                effects.append(Changed("mails", key, **{name: value}, mark=mark))
            labels = [] if label is None else [b.labels[label]]
            for one in labels if "folder" in columns else [*labels, b.extra]:
                mark = f"label-{i}-{one}: {mail['subject']} has the label {one}"
                effects.append(Added("mail_labels", mail_id=key, label=one, mark=mark))
        return Expected(
            effects=effects,
            marks=(
                saw("found-note: found the valid rules", b.note),
                called("read-note: read the valid rules", "notes_show", note_id=b.note),
                saw("found-mails: found the mails to sort", *b.mails),
            ),
        )


def sorted_out(rng: random.Random) -> list[str]:
    """Topics in the order of the rules."""
    return rng.sample(TOPICS, len(RULES))


def valid(sender: str) -> str:
    return f"Rules for mails: {sender} (valid)"


def office(sender: str) -> str:
    return f"office@{sender.lower().replace(' ', '-')}.example"
