"""Forward a supplier's newest invoice to one of several namesakes."""

from __future__ import annotations

import re

from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.draw import Bound, choice, namesake, phrase
from rebind.envs.apps.families.effects import Added, Part, has
from rebind.envs.apps.families.evidence import saw
from rebind.envs.apps.families.oracle import Oracle, finish, login, person
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View

SUPPLIERS = (
    "Alder Print | Brightwell Energy | Cobalt Couriers | Dovecote Catering | Elmfield Signage | Foxglove Cleaning | "
    "Granary Supplies | Hazel Freight | Ironbridge Tools | Juniper Hosting | Kestrel Security | Larkspur Travel"
)
NEWEST = "SELECT id FROM mails WHERE sender = ? AND subject LIKE 'Invoice %' ORDER BY sent_at DESC"


class ForwardInvoice(Family):
    id = "apps/forward-latest-invoice"
    group = "5-10"
    tools = "contacts_search contacts_show mail_search mail_show mail_forward mail_send mail_add_label"
    drawn = (
        Drawn("supplier", "entity", choice(SUPPLIERS), central=True),
        Drawn("recipient", "user", namesake("company")),
        Drawn("label", "parameter", choice("to-pay | accounting | approved | bookkeeping | expenses | filed")),
        Drawn(
            "comment", "parameter", phrase("Please {do} this {by}.", do="pay | book | check", by="today | by Friday")
        ),
    )
    grounded = (
        Grounded("invoice", "record", lambda v, b: v.column(NEWEST, billing(b.supplier))[0]),
        Grounded("address", "user", lambda v, b: v.person(b.recipient)["email"]),
    )
    wordings = (
        'Forward the most recent invoice from {supplier} to {recipient} with the comment "{comment}", and put the '
        'label "{label}" on the invoice you forwarded. Reminders are not invoices.',
        'The newest invoice that {supplier} sent me should go to {recipient}: forward it, commenting "{comment}". '
        'Then label that invoice "{label}". A reminder does not count as an invoice.',
        "{recipient} needs {supplier}'s latest invoice (the invoice itself, no reminder). Forward it with the "
        'comment "{comment}" and label the original mail "{label}".',
    )

    def setup(self, p: Plant, b: Bound) -> None:
        number, sender = p.rng.randrange(2000, 7000), billing(b.supplier)
        for age, invoice in ((63, number), (34, number + 41), (6, number + 87)):
            path = f"/invoices/{b.supplier.lower().replace(' ', '-')}/inv-{invoice}.txt"
            file = p.add("files", path=path, content=f"{b.supplier}\nInvoice INV-{invoice}")
            subject = f"Invoice INV-{invoice} from {b.supplier}"
            mail = p.add("mails", sender=sender, subject=subject, body="See attachment.", sent_at=p.moment(-age))
            p.add("mail_attachments", mail_id=mail, file_id=file)
        reminder = f"Reminder: invoice INV-{number + 41} from {b.supplier}"
        p.add("mails", sender=sender, subject=reminder, body="This invoice is still open.", sent_at=p.moment(-2))
        rival = f"{b.supplier} Partners"
        p.add("mails", sender=billing(rival), subject=f"Invoice 118 from {rival}", sent_at=p.moment(-1))

    def oracle(self, b: Bound) -> Oracle:
        contacts = yield from login("contacts")
        address = (yield from person(contacts, b.recipient))["email"]
        mail = yield from login("mail")
        found = yield from mail("search", query=f"invoice {b.supplier}")  # newest first
        invoice = next(m for m in found["items"] if re.fullmatch(rf"Invoice \S+ from {b.supplier}", m["subject"]))
        yield from mail("forward", mail_id=invoice["mail_id"], to=[address], comment=b.comment)
        yield from mail("add_label", mail_id=invoice["mail_id"], label=b.label)
        yield from finish()

    def expect(self, start: View, b: Bound) -> Expected:
        files = start.column("SELECT file_id FROM mail_attachments WHERE mail_id = ?", b.invoice)
        forwarded = Added(
            "mails",
            folder="sent",
            recipients=b.address,
            forwarded_from=b.invoice,
            body=has(b.comment),
            parts=tuple(Part("mail_attachments", "mail_id", file_id=file) for file in files),
            mark="forwarded: the newest invoice went to the right person, with the comment",
        )
        labelled = Added("mail_labels", mail_id=b.invoice, label=b.label, mark="labelled: the invoice has its label")
        return Expected(
            effects=(forwarded, labelled),
            marks=(
                saw("found-invoice: found the newest invoice", b.invoice),
                saw("found-address: found the recipient's address", b.address),
            ),
        )


def billing(supplier: str) -> str:
    return f"billing@{supplier.lower().replace(' ', '-')}.example"
