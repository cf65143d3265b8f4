"""File scanned receipts by the quarter of their date of issue, and share one quarter with somebody."""

from __future__ import annotations

import random
from datetime import date, timedelta

from rebind.envs.apps.families.base import Drawn, Expected, Family, Grounded
from rebind.envs.apps.families.draw import Bound, choice, person
from rebind.envs.apps.families.effects import Changed, Effect
from rebind.envs.apps.families.evidence import saw
from rebind.envs.apps.families.oracle import Oracle, finish, login
from rebind.envs.apps.families.oracle import person as find_person
from rebind.envs.apps.families.plant import Plant
from rebind.envs.apps.families.view import View

QUARTERS = (1, 1, 1, 2, 2, 2, 3, 3, 4, 4)
"""The quarters of the receipts, in an order that is drawn."""
ESTIMATES = (3, 8)
"""Which of the scans are no receipts."""


class FileByQuarter(Family):
    id = "apps/file-receipts-by-quarter"
    group = "21-35"
    tools = "files_list files_search files_read files_move files_copy files_share files_delete contacts_search"
    drawn = (
        Drawn("place", "entity", choice("attic | bakery | cellar | garage | nursery | studio"), central=True),
        Drawn("root", "location", choice("/bookkeeping | /ledger | /receipts | /tax-papers | /vouchers")),
        Drawn("quarter", "parameter", choice("first | second | third | fourth")),
        Drawn("partner", "user", person("relation IN ('colleague', 'vendor', 'friend')")),
        Drawn("dates", "state", lambda v, rng, _: last_year(v, rng)),
    )
    grounded = (
        Grounded("files", "record", lambda v, b: list(receipts(v, b))),
        Grounded("address", "user", lambda v, b: v.person(b.partner)["email"]),
    )
    wordings = (
        "The folder /scans/{place} holds receipts and estimates. Move every receipt, under its file name, to "
        "{root}/{place}/<year>-q<number of the quarter>/ by the date of issue that stands in it; estimates stay "
        "where they are. Share the receipts of the {quarter} quarter with {partner}.",
        "Please file the receipts in /scans/{place} by quarter. Only the date of issue in a receipt counts: it "
        "goes to {root}/{place}/<year>-q<quarter as a number>/ and keeps its name. Leave estimates alone. "
        "{partner} gets access to the receipts that were issued in the {quarter} quarter, and to no others.",
        "Sort /scans/{place}: a receipt belongs in {root}/{place}/<year>-q<1 to 4>/, same file name, year and "
        "quarter taken from its date of issue. What is only an estimate is not moved. Then share with {partner} "
        "all receipts issued in the {quarter} quarter.",
    )

    def setup(self, p: Plant, b: Bound) -> None:
        issued = list(b.dates)
        for i in range(len(QUARTERS) + len(ESTIMATES)):
            kind, on_day = ("Estimate", b.dates[i - 1]) if i in ESTIMATES else ("Receipt", issued.pop(0))
            due = date.fromisoformat(on_day) + timedelta(days=92)
            lines = [f"{kind} {p.rng.randrange(1_000, 9_999)}", f"Payable until: {due}", f"Date of issue: {on_day}"]
            lines += [f"Total: {p.rng.randrange(12, 480)}.{p.rng.randrange(10, 99)} EUR"]
            p.add("files", path=f"/scans/{b.place}/scan-{i + 1:02}.txt", content="\n".join(lines))

    def oracle(self, b: Bound) -> Oracle:
        contacts = yield from login("contacts")
        email = (yield from find_person(contacts, b.partner))["email"]
        files = yield from login("files")
        for file in (yield from files.every("list", folder=f"/scans/{b.place}")):
            content = (yield from files("read", file_id=file["file_id"]))["content"]
            if content.startswith("Receipt"):
                on_day = content.split("Date of issue: ")[1][:10]
                yield from files("move", file_id=file["file_id"], path=filed(b, file["path"], on_day))
                if quarter(on_day) == b.quarter:
                    yield from files("share", file_id=file["file_id"], email=email)
        yield from finish()

    def expect(self, start: View, b: Bound) -> Expected:
        effects = list[Effect]()
        for (file, path), on_day in zip(receipts(start, b).items(), b.dates, strict=True):
            name = path.rpartition("/")[2]
            mark = f"filed-{name}: {name} is where it belongs"
            effects.append(Changed("files", file, path=filed(b, path, on_day), mark=mark))
            if quarter(on_day) == b.quarter:
                mark = f"shared-{name}: {name} is shared"
                effects.append(Changed("files", file, shared_with=b.address, mark=mark))
        return Expected(
            effects=effects,
            marks=(
                saw("found-files: found the receipts", *b.files),
                saw("read-dates: read when they were issued", *b.dates),
                saw("found-address: found the address to share with", b.address),
            ),
        )


def last_year(view: View, rng: random.Random) -> list[str]:
    """Dates of issue in the year before today's."""
    year = int(view.today[:4]) - 1
    quarters = rng.sample(QUARTERS, len(QUARTERS))
    return [date(year, 3 * q - rng.randrange(3), rng.randrange(1, 29)).isoformat() for q in quarters]


def quarter(on_day: str) -> str:
    """In words, as the goal names it."""
    return ("first", "second", "third", "fourth")[(int(on_day[5:7]) - 1) // 3]


def filed(b: Bound, path: str, on_day: str) -> str:
    number = (int(on_day[5:7]) - 1) // 3 + 1
    return f"{b.root}/{b.place}/{on_day[:4]}-q{number}/{path.rpartition('/')[2]}"


def receipts(view: View, b: Bound) -> dict[str, str]:
    """Paths of the receipts by id, in order of path, which is that of the drawn dates."""
    found = "SELECT id, path FROM files WHERE path GLOB ? AND content LIKE 'Receipt %' ORDER BY path"
    return {row["id"]: row["path"] for row in view.rows(found, f"/scans/{b.place}/*")}
