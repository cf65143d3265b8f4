"""What the person has to do: lists, with patterns of tasks. Slots: person, other, first, project, company, city, thing,
month."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TaskList:
    """A list's name, the patterns of its tasks, and the relations of those who may be assigned."""

    name: str
    patterns: tuple[str, ...]
    assignees: tuple[str, ...]


_STAFF, _HOME = ("colleague", "manager"), ("family", "friend", "neighbour")

LISTS = (
    TaskList(
        "Work",
        (
            "Send {project} status report to {person}", "Review {project} budget", "Prepare slides for {project}",
            "Answer {person}'s questions on {project}", "Book room for {project} workshop", "Call {company} back",
            "Approve timesheets for {month}", "Update {project} risk list", "Write minutes of {project} meeting",
            "Check invoice of {company}", "Order laptops for {project} team", "Plan holiday cover with {person}",
        ),
        _STAFF,
    ),
    TaskList(
        "Work: {project}",
        (
            "{project}: draft the roll-out plan", "{project}: collect open questions", "{project}: invite test users",
            "{project}: agree on scope with {person}", "{project}: clean up backlog", "{project}: renew licences",
            "{project}: send contract to {company}", "{project}: book trainer", "{project}: close old tickets",
            "{project}: measure response times", "{project}: interview {person}", "{project}: write release notes",
        ),
        _STAFF,
    ),
    TaskList(
        "Home",
        (
            "Fix the kitchen tap", "Fix the bathroom tap", "Call the chimney sweep", "Return {thing} to {person}",
            "Descale the kettle", "Renew home insurance", "Read the electricity meter", "Sort the cellar",
            "Paint the hallway", "Replace smoke detector battery", "Book boiler service", "Clean the gutters",
            "Pay the plumber", "Collect parcel at {first}'s",
        ),
        _HOME,
    ),
    TaskList(
        "Shopping",
        (
            "Light bulbs E27", "Light bulbs E14", "Oat milk", "Coffee beans", "Birthday card for {first}",
            "Wrapping paper", "Present for {person}", "Present for {other}", "Batteries AA", "Batteries AAA",
            "Dishwasher salt", "Potting soil", "New {thing}", "Printer paper",
        ),
        _HOME,
    ),
    TaskList(
        "Garden",
        (
            "Prune the apple tree", "Prune the roses", "Sow the beans", "Turn compost", "Mend the fence with {first}",
            "Bring back {first}'s hedge trimmer", "Order seed potatoes", "Empty the rain barrel", "Water the tomatoes",
            "Lift the dahlias", "Mow the lawn", "Mow the lawn at {first}'s",
        ),
        _HOME,
    ),
    TaskList(
        "Trip to {city}",
        (
            "Book train to {city}", "Book hotel in {city}", "Ask {person} about {city}", "Renew passport",
            "Find a cat sitter", "Print tickets for {city}", "Borrow {thing} from {first}", "Pay deposit for {city}",
            "Download map of {city}", "Pack the {thing}", "Tell {other} our arrival time", "Reserve table in {city}",
        ),
        _HOME,
    ),
    TaskList(
        "Family",
        (
            "Call {person}", "Call {other}", "Plan {first}'s birthday", "Sign the school form", "Book swimming lessons",
            "Send photos to {person}", "Dentist appointment for the children", "Visit {person} in {city}",
            "Collect {first} from the station", "Order cake for {first}", "Write to {other}", "Return library books",
        ),
        ("family",),
    ),
    TaskList(
        "Errands",
        (
            "Drop off dry cleaning", "Pick up dry cleaning", "Post parcel to {person}", "Get keys copied",
            "Take bike to the workshop", "Collect prescription", "Bring bottles back", "Exchange the {thing}",
            "Cancel gym membership", "Have tyres changed", "Renew parking permit", "Collect passport photos",
        ),
        _HOME,
    ),
    TaskList(
        "Someday",
        (
            "Learn to bake sourdough", "Sort photos of {city}", "Read the book {first} lent me", "Build a bird house",
            "Walk the coast path", "Restring the guitar", "Invite {person} for dinner", "Write a will",
            "Try the restaurant {first} praised", "Digitise old letters", "Learn {first}'s soup recipe", "Buy a kayak",
        ),
        (),
    ),
)  # fmt: skip
COMMENTS = (
    "{person} has the details.", "Costs about {amount}.", "Before noon, please.", "Number of the case: {number}.",
    "Ask {other} first.", "Not urgent.", "Second reminder came on {date}.", "Key is with {other}.",
    "See the note on {project}.", "Only on weekdays.", "Agreed with {person} on {date}.",
)  # fmt: skip
ENDINGS = (" again", " (2)", " (waiting)")
