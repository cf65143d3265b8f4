"""What the inventory and its charts tell."""

from __future__ import annotations

import random
import re
from typing import Any, ClassVar

from rebind.envs.apps.families.draw import choice
from rebind.envs.apps.families.effects import Added, says
from rebind.envs.sites.desk_families.assets import ASSETS, NO_ASSET, SITES, STATES
from rebind.envs.sites.families.answers import Cents, Number
from rebind.envs.sites.families.base import (
    Bound,
    CannotBuild,
    Drawn,
    Expected,
    Family,
    Grounded,
    SiteView,
    saw,
    visited,
)
from rebind.envs.sites.families.draws import ASSET, TICKET, TICKET_ID, lookup
from rebind.envs.sites.families.flows import (
    Oracle,
    choose,
    click,
    done,
    fill,
    must,
    open_asset,
    open_ticket,
    reads,
)


class CountAssets(Family):
    id = "desk/count-assets-question"
    group = "<5"
    account, start = "faye.morton", ASSETS
    drawn = (
        Drawn(
            "kind",
            "parameter",
            choice("Laptop | Monitor | Phone | Printer | Server | Switch | Tablet | Projector"),
            central=True,
        ),
        Drawn("site", "location", choice(SITES)),
        Drawn("state", "state", choice(STATES)),
        Drawn("what", "parameter", choice("how many there are | what the most expensive of them cost")),
    )
    wordings = (
        'In the inventory, look at the assets of the kind {kind} at {site} in the state "{state}": {what}?',
        'Consider all assets with kind {kind}, site {site} and state "{state}". I need to know {what}.',
        "Filter the inventory by kind ({kind}), site ({site}) and state ({state}), and tell me {what}.",
    )

    def oracle(self, b: Bound) -> Oracle:
        page = yield from click(f'link "{b.kind}"', f'link "{b.site}"', f'link "{b.state}"')
        prices = [float(p) for p in re.findall(r"row: \[\d+\] checkbox .* \| ([\d.]+)$", page, re.MULTILINE)]
        must(prices, "such assets")
        yield from done(str(len(prices)) if b.what == "how many there are" else f"{max(prices):.2f}")

    def expect(self, start: SiteView, b: Bound) -> Expected:
        prices = start.column(
            "SELECT price FROM inventory_asset WHERE kind = ? AND site = ? AND state = ?", b.kind, b.site, b.state
        )
        if len(prices) < 2:
            raise CannotBuild("fewer than two")
        answer = Number(len(prices)) if b.what == "how many there are" else Cents(round(max(prices) * 100))
        return Expected(
            answer=answer, marks=(visited("filtered: set all filters", r"[^\n]*kind__exact=.*state__exact="),)
        )


_AXES = {"kind": "Assets by kind", "site": "Assets by site", "state": "Assets by state"}


def _bar(which: str) -> Any:
    def drawn(view: SiteView, rng: random.Random, b: Bound) -> str:
        labels = view.column(f"SELECT DISTINCT {b.axis} FROM inventory_asset ORDER BY 1")
        return str(rng.choice([one for one in labels if which == "first" or one != b.first]))

    return drawn


class ChartQuestion(Family):
    id = "desk/chart-question"
    group = "<5"
    account, start = "amir.haddad", "/office/charts/"
    drawn = (
        Drawn("axis", "parameter", choice(tuple(_AXES)), central=True),
        Drawn("first", "parameter", _bar("first"), needs=("axis",)),
        Drawn("second", "parameter", _bar("second"), needs=("axis", "first")),
        Drawn("measure", "parameter", choice("Number of assets | Total cost")),
    )
    wordings = (
        'In the chart of assets by {axis}, with the measure "{measure}": what do "{first}" and "{second}" '
        "come to together?",
        'Charts: take assets by {axis} ("{measure}") and add up the bars "{first}" and "{second}".',
        'What is the sum of the bars "{first}" and "{second}" in the chart by {axis} when it shows "{measure}"?',
    )

    def oracle(self, b: Bound) -> Oracle:
        yield from choose('combobox "Measure"', b.measure)
        page = yield from click('button "Show"')
        chart = page.split(f'region "{_AXES[b.axis]}"', 1)[1]
        yield from done(str(sum(float(reads(rf"^\s*{bar}:\s+([\d.]+)", chart, bar)) for bar in (b.first, b.second))))

    def expect(self, start: SiteView, b: Bound) -> Expected:
        value = "sum(price)" if b.measure == "Total cost" else "count(*)"
        total = sum(
            start.value(f"SELECT {value} FROM inventory_asset WHERE {b.axis} = ?", bar) for bar in (b.first, b.second)
        )
        return Expected(
            answer=Number(total), marks=(visited("shown: chose the measure", r"/office/charts/\?measure="),)
        )


class SerialToTicket(Family):
    id = "desk/serial-to-ticket"
    group = "11-20"
    account, start = "bea.olsen", ASSETS
    drawn = (
        Drawn("tag", "record", ASSET, central=True),
        Drawn("ticket", "record", TICKET, central=True),
        Drawn("kind", "parameter", choice("public | private")),
    )
    grounded = (
        Grounded("serial", "state", lookup("SELECT serial FROM inventory_asset WHERE tag = ?", "tag")),
        Grounded("ticket_id", "record", TICKET_ID),
    )
    absent: ClassVar = {"tag": NO_ASSET}
    wordings = (
        'Write the serial number of the asset {tag} as a {kind} comment (nothing else in it) on the ticket "{ticket}".',
        'The ticket "{ticket}" asks for the serial number of {tag}: add it as a {kind} comment, the number alone.',
        "Look up the serial number of asset {tag} in the inventory; put it, alone, into a {kind} comment on "
        '"{ticket}".',
    )

    def oracle(self, b: Bound) -> Oracle:
        page = yield from open_asset(b.tag)
        serial = reads(r'textbox "Serial number:" value="([^"]+)"', page)
        yield from click('link "View site"', 'link "Service desk"')
        yield from open_ticket(b.ticket)
        yield from click('tab "Respond"')
        yield from fill('textbox "Comment / Resolution"', serial)
        if b.kind == "private":
            yield from click('checkbox "Is this update public? (Optional)"')
        yield from click('button "Save" #1')
        yield from done()

    def expect(self, start: SiteView, b: Bound) -> Expected:
        comment = Added(
            "helpdesk_followup",
            ticket_id=b.ticket_id,
            comment=says(b.serial),
            public=int(b.kind == "public"),
            mark="commented: the serial number is there",
        )
        marks = (saw("asset: saw the serial number", b.serial), saw("ticket: opened the ticket", f"# {b.ticket}"))
        return Expected(effects=(comment,), marks=marks)
