"""What lies in the person's folders: kinds of files with their paths and contents.

Slots in braces: person, other, first (a first name), project, city, company, vendor, slug forms of them (project_slug
…), year, month, mm (number of the month), date, version, and those of `Cast.figures`, drawn anew for each line.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """A kind of text file: the head, then `least` to `most` of the lines, in their order."""

    paths: tuple[str, ...]
    head: str
    lines: tuple[str, ...]
    least: int
    most: int
    count: int


@dataclass(frozen=True)
class Table:
    """A kind of CSV file: a header, and rows made of one line each, `least` to `most` times."""

    paths: tuple[str, ...]
    header: str
    rows: tuple[str, ...]
    least: int
    most: int
    count: int


TEXTS = (
    Kind(
        ("/work/reports/{year}/{mm}-status-{project_slug}.txt", "/work/reports/{year}/q{quarter}-{project_slug}.txt"),
        "Status report {project}\nAuthor: {person}\nDate: {date}\n",
        (
            "Progress: {many} percent of the planned work is done.", "Spent so far: {amount}.",
            "Delayed: delivery by {company}, now expected on {day}.", "New risk: {other} leaves the team on {day}.",
            "Tests: {many} passed, {few} failed.", "Next milestone: pilot at {few} sites on {day}.",
            "Decision needed by {day}: extend licence {number}.", "No change in scope.",
            "Customer satisfaction: 4.{few} of 5.",
        ),
        4, 7, 18,
    ),
    Kind(
        ("/work/minutes/{date}-{project_slug}.txt", "/work/minutes/{date}-team.txt", "/work/minutes/{date}-board.txt"),
        "Minutes of {date}\nPresent: {person}, {other}\n",
        (
            "1. The minutes of the last meeting are approved.", "2. {person}: {project} has {many} open tickets.",
            "3. Budget: {amount} are released for training.", "4. {other} presents three offers; {company} is chosen.",
            "5. Decision: the office in {city} closes on Fridays.", "6. {person} looks for a date in {month}.",
            "7. Next meeting: {day}, {hour}.",
        ),
        4, 6, 14,
    ),
    Kind(
        ("/work/contracts/{company_slug}-{year}.txt", "/work/contracts/{company_slug}-framework.txt"),
        "Contract {number}\nbetween {own_company} and {company}\nSigned on {date} by {person}\n",
        (
            "Term: until {day}, renewed by one year unless cancelled {few} weeks before.",
            "Fee: {amount} a month, payable within {many} days.", "Contact on our side: {other}.",
            "Service hours: 8:00 to {hour}.", "Penalty for late delivery: {few} percent a week.",
            "Notices go to the office in {city}.",
        ),
        4, 6, 10,
    ),
    Kind(
        ("/travel/{city_slug}-{year}/itinerary.txt", "/travel/{city_slug}-{year}/bookings.txt"),
        "{city}, with {first}\n",
        (
            "Train {number}, {day}, {hour}, seat {many}.", "Hotel at the harbour: {amount} for {few} nights.",
            "Booking number {number}.", "Guided walk on {day} at {hour}, paid.", "Dinner with {other} on {day}.",
            "Emergency number of the landlord: 555 {code}.", "Key box code {code}.",
        ),
        4, 6, 12,
    ),
    Kind(
        ("/home/insurance/{insurer_slug}-policy-{year}.txt", "/home/insurance/{insurer_slug}-claim-{date}.txt"),
        "{insurer}\nPolicy {number}\n",
        (
            "Insured: household, up to {amount}.", "Yearly premium: {amount}, due on {day}.", "Excess: {amount}.",
            "Damage reported on {date}: water in the cellar.", "Handled by {other}, case {number}.",
            "Cancellation: {few} weeks before {day}.",
        ),
        3, 5, 9,
    ),
    Kind(
        ("/home/house/{mm}-{year}-repair.txt", "/home/house/landlord-{date}.txt"),
        "Letter of {date}\n",
        (
            "The repair was done on {day} and cost {amount}.", "Our reference: {number}.",
            "Please ask {other} for the key.", "The deposit of {amount} will be paid back.",
            "The stairwell is painted from {day}.", "The rent rises to {amount} in {month}.",
        ),
        3, 5, 8,
    ),
    Kind(
        ("/home/car/service-{date}.txt", "/home/car/inspection-{year}.txt"),
        "Workshop {city}\nVisit of {date}\n",
        (
            "Mileage: {code}{few} km.", "Next service in {month}.", "Brake pads should be changed before {day}.",
            "Winter tyres: {few} mm left.", "Total: {amount}.", "Order number {number}.",
        ),
        3, 5, 6,
    ),
    Kind(
        ("/family/school/{first_slug}-{date}.txt", "/family/letters/{first_slug}-{year}.txt"),
        "Dear {first},\n",
        (
            "the class trip to {city} starts on {day} at {hour}.", "It costs {amount}, to be paid by {day}.",
            "Please bring a packed lunch and a raincoat.", "{other} drives the second car.",
            "Thank you for the present; it arrived on {date}.", "We have {few} tickets for the concert on {day}.",
            "The teacher asks for a call on 555 {code}.",
        ),
        3, 4, 10,
    ),
    Kind(
        ("/work/hr/{first_slug}-review-{year}.txt", "/work/hr/interview-{date}.txt"),
        "Confidential\nDate: {date}\n",
        (
            "Goals for {year}: lead {project}, train {few} colleagues.", "Salary band {few}.", "Rating: {few} of 10.",
            "Available from {day}.", "References: {other} ({company}).", "Expects {amount} a day.",
            "Second talk on {day} at {hour}.",
        ),
        3, 5, 8,
    ),
)  # fmt: skip

TABLES = (
    Table(
        ("/work/timesheets/{year}-{mm}.csv", "/work/timesheets/{year}-{mm}-{first_slug}.csv"), "date,project,hours",
        ("{past},{any_project},{few}.5", "{past},{any_project},{few}.0", "{past},{project},{few}.25"), 6, 10, 12,
    ),
    Table(
        ("/work/budget/{year}-{project_slug}.csv", "/work/budget/{year}-q{quarter}.csv"), "item,planned,spent",
        (
            "licences,{planned},{spent}", "travel,{planned},{spent}", "training,{planned},{spent}",
            "hardware,{planned},{spent}", "consulting,{planned},{spent}", "rent,{planned},{spent}",
        ),
        5, 6, 10,
    ),
    Table(
        ("/travel/{city_slug}-{year}/expenses.csv",), "date,what,amount,paid_by",
        (
            "{past},train,{small},me", "{past},dinner,{small},{first}", "{past},museum,{small},me",
            "{past},hotel,{small},{first}", "{past},taxi,{small},me", "{past},breakfast,{small},{first}",
        ),
        5, 9, 8,
    ),
    Table(
        ("/home/utilities/{year}-{mm}-electricity.csv", "/home/utilities/{year}-{mm}-water.csv"), "date,reading,usage",
        ("{past},{code}{few},{many}",), 4, 6, 10,
    ),
    Table(
        ("/family/birthdays-{year}.csv", "/family/guest-list-{date}.csv", "/family/guest-list-{date}-old.csv"),
        "name,coming,brings",
        ("{anyone},yes,salad", "{anyone},yes,cake", "{anyone},no,", "{anyone},unsure,drinks", "{anyone},yes,nothing"),
        6, 11, 5,
    ),
)  # fmt: skip
"""Rows: past is an earlier day, any_project and anyone are drawn for each row, small, planned and
spent are plain amounts (12.50)."""

PROJECT_FILES = {
    "plan.txt": (
        "Plan {project}", "", "Owner: {person}", "Phase 1 ends on {day}.", "Phase 2 costs {amount}.",
        "Roll-out at {many} sites.",
    ),
    "team.txt": ("Team {project}", "", "Lead: {person}", "Deputy: {other}", "Supplier: {company}", "Room: B {code}"),
    "glossary.txt": (
        "Words used in {project}", "", "site: a branch with its own server", "pilot: the first {few} sites",
        "wave: {many} sites",
    ),
    "contacts.csv": ("role,name", "lead,{person}", "testing,{other}", "training,{first}"),
}  # fmt: skip
"""Files that each project folder has, as lines."""
DRAFTS = ("proposal", "offer", "concept", "press-release", "user-guide")
DRAFT_VERSIONS = ("v1", "v2", "v3", "final", "final-2")
DRAFT_LINES = (
    "We propose to start with {few} sites and to grow to {many}.", "The total comes to {amount}.",
    "{person} is responsible, {other} deputises.", "Delivery on {day}.", "The price holds until {day}.",
    "Support is included for {few} months.", "Training takes place in {city}.", "Payment in {few} instalments.",
)  # fmt: skip
VENDORS = {
    "Alder Office Supply": ("office chairs", "printer paper", "projector lamps", "whiteboards"),
    "Bright Cleaning": ("window cleaning", "carpet cleaning", "waste removal"),
    "Cable & Sons": ("network cables", "sockets", "cable ducts", "hours of an electrician"),
    "Delta Couriers": ("express parcels", "pallets", "moving boxes"),
    "Evergreen Catering": ("lunch for a workshop", "coffee machine rental", "fruit baskets", "buffet"),
    "Evergreen Gardens": ("plant care", "fruit baskets", "flower arrangements"),
    "Fixit Plumbing": ("pipe repair", "taps", "hours of a plumber"),
    "Hilltop Hosting": ("server hosting", "domain names", "backup storage"),
    "Inkwell Printing": ("printed brochures", "business cards", "posters"),
    "Northern Power": ("electricity", "meter rental"),
    "Northern Water": ("water", "meter rental"),
    "Parley Languages": ("translation", "proofreading", "hours of an interpreter"),
}  # fmt: skip
"""Who sends invoices, and for what; some names are nearly the same."""
INSURERS = ("Granite Insurance", "Granite Assurance", "Palisade Insurance", "Harbour Mutual")
