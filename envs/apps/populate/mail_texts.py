"""What the mails of a world say: topics of correspondence with their turns, newsletters and notices.

Slots in braces: me, my_first, your_first, other (a third person), project, company, date (ISO, to come) and its weekday
day, past (ISO), hour, amount, number (of an invoice or booking), place, table (a restaurant), city, thing.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Topic:
    """A kind of correspondence: with whom, subjects that look alike, first mails, answers to and fro, its label."""

    relations: tuple[str, ...]
    subjects: tuple[str, ...]
    openings: tuple[str, ...]
    answers: tuple[str, ...]
    label: str | None = None


WORK = ("colleague", "manager")
BUSINESS = ("client", "vendor")
PRIVATE = ("friend", "family", "neighbour")


TOPICS = (
    Topic(
        WORK,
        ("Project {project}: status report", "Project {project} status", "{project} status report for {date}"),
        (
            "Could you send me the numbers for {project} by {day}? {other} needs them for the steering group.",
            "I have put together the status of {project}. Two milestones slipped; see my remarks and correct me.",
            "The status of {project} is due on {date}. I still miss your part on testing.",
        ),
        (
            "You will have them by {day} noon.", "Thanks. I changed the second milestone to {date}, the rest is fine.",
            "{other} has my part; please take it from there.", "Looks good to me. Shall we show it on {day}?",
        ),
        "projects",
    ),
    Topic(
        WORK,
        ("Budget {project}", "Budget {project}, second version", "Re-planning the {project} budget"),
        (
            "We are {amount} over plan in {project}. Can we talk on {day} at {hour}?",
            "Attached are the figures for {project}. The licence costs come to {amount}; I had {other} check them.",
        ),
        (
            "{day} at {hour} works.", "I can save {amount} if we move the training to next quarter.",
            "Agreed. Please book it under {project} and let {other} know.", "That is more than I can sign off alone.",
        ),
        "budget",
    ),
    Topic(
        WORK,
        ("Minutes of {date}", "Minutes: {project} meeting", "Action points from {day}"),
        (
            "Here are the minutes. Your action point: ask {other} about the delivery date of the {project} material.",
            "Short minutes: we go ahead with {project}, {other} owns the roll-out, review on {date}.",
        ),
        (
            "Thanks, nothing to add.", "Please correct one thing: the review is on {day}, not earlier.",
            "Done, {other} knows.",
        ),
        "minutes",
    ),
    Topic(
        WORK,
        ("Holiday cover in week of {date}", "Holiday cover", "Who covers for me from {date}?"),
        (
            "I am away from {date}. Would you look after {project} in that week? {other} takes the support line.",
            "Can you cover for me from {date}? There is little to do besides the {day} report.",
        ),
        ("Yes, happy to.", "I am away myself, please ask {other}.", "Thank you, I owe you a coffee at {table}."),
    ),
    Topic(
        WORK,
        ("Feedback on the draft", "Draft for {project}: feedback please", "Second draft of the {project} paper"),
        (
            "The draft is ready. I would be glad of your comments by {day}, above all on chapter two.",
            "{other} thinks the draft is too long. What do you think? I could drop the appendix.",
        ),
        (
            "I read it on the train: shorten the summary.",
            "Comments are in the margin. The table on page 4 adds up wrongly.",
        ),
        "projects",
    ),
    Topic(
        BUSINESS,
        ("Invoice {number}", "Invoice {number} (corrected)", "Invoice {number}: reminder", "Your invoice {number}"),
        (
            "Please find our invoice {number} over {amount}, payable by {date}.",
            "According to our books invoice {number} over {amount} is still open. Please pay by {date}.",
            "The first version of {number} had a wrong tax rate. The right amount is {amount}.",
        ),
        (
            "It was paid on {day}.", "We will pay by {date}.", "Thank you, the payment has arrived.",
            "The amount differs from the offer. Please check with {other}.",
        ),
        "invoices",
    ),
    Topic(
        BUSINESS,
        ("Offer for {project}", "Offer for {project}, revised", "Our offer of {date}"),
        (
            "We can do it for {amount}, delivery by {date}. The offer stands for four weeks.",
            "Following your call with {other} we have lowered the price to {amount}.",
        ),
        (
            "Thank you. We decide on {day}.", "Could you split the price by phase?",
            "We accept. Please send the order form to {other}.", "We have chosen another supplier this time.",
        ),
        "offers",
    ),
    Topic(
        BUSINESS,
        ("Visit on {date}", "Your visit on {day}", "Visit on {date}: new time"),
        (
            "We look forward to your visit on {date} at {hour}. Ask for {other} at the desk.",
            "Something came up here. Can we move the visit to {day}, {hour}?",
        ),
        ("Fine with us.", "Then rather at {hour}, please.", "I bring {other} along, so we will be three."),
        "travel",
    ),
    Topic(
        PRIVATE,
        ("Dinner on {day}?", "Dinner", "Dinner on {date}"),
        (
            "Shall we have dinner at {table} on {day}? {other} would come too.",
            "We have a table at {table} on {date}, {hour}. Are you in?",
        ),
        (
            "Gladly! {hour} is perfect.", "I can't make that day, how about {day}?", "Can we bring the children?",
            "See you there.",
        ),
        "friends",
    ),
    Topic(
        PRIVATE,
        ("The {thing}", "Borrowing your {thing}", "Your {thing}"),
        (
            "Could I borrow your {thing} over the weekend? I would bring it back on {day}.",
            "I still have your {thing}. Shall I drop it at your place on {day}, or give it to {other}?",
        ),
        ("Of course, it is in the shed.", "{other} has it at the moment, ask there.", "Keep it till {date}."),
    ),
    Topic(
        PRIVATE,
        ("Weekend in {city}", "Trip on {date}", "Trip on {date}: who drives?"),
        (
            "{other} and I leave on {date} at {hour}. There is a seat left in the car, and the house has four beds.",
            "The booking is {number}, {amount} for all of us. Could you transfer your share?",
        ),
        (
            "Count me in.", "I have transferred it.", "I come by train and arrive at {hour}.",
            "Does {other} bring the {thing}?",
        ),
        "travel",
    ),
    Topic(
        PRIVATE,
        ("New address", "We have moved", "My new address"),
        (
            "We have moved at last! The flat is bright, the boxes are not unpacked. House-warming on {date}.",
            "Please note that my old address is no longer valid; letters still go astray. Come and see us on {day}.",
        ),
        ("Congratulations! We come with pleasure.", "Do you still need the {thing} for the boxes?"),
        "family",
    ),
    Topic(
        PRIVATE,
        ("Birthday present for {other}", "{other}'s birthday", "Surprise for {other}"),
        (
            "We celebrate {other}'s birthday on {date}. I thought of a {thing}; it costs {amount}. Do we share?",
            "Let us meet at {table} on {day} to plan the surprise. Not a word to {other}!",
        ),
        ("Good idea, I am in with half.", "{other} already has one of those.", "I get the card, you get the flowers."),
        "family",
    ),
)  # fmt: skip

NEWSLETTERS = (
    ("news@gardenweek.example", "Garden Week", ("What to sow in the week of {date}", "Five plants for a shady corner",
     "Our readers' finest tomatoes")),
    ("digest@citynotes.example", "City Notes", ("What is on from {day}", "New opening hours of {place}",
     "Road works until {date}")),
    ("hello@trailpost.example", "Trail Post", ("Short hikes near you", "Huts that open on {date}",
     "How to pack a rucksack")),
    ("offers@shop.example", "Shop offers", ("{day} deals: up to 30 percent off", "Only until {date}: free delivery",
     "You left something behind")),
    ("weekly@leanwork.example", "Lean Work", ("Meetings that end on time", "The one-page plan", "Why estimates fail")),
    ("mail@railcard.example", "Railcard", ("Your timetable changes on {date}", "Cheaper tickets on {day}",
     "Fewer trains to {city}")),
)  # fmt: skip
"""Sender, name and subjects."""

NOTICES = (
    ("orders@shop.example", "Your order {number} has been shipped", "Order {number} over {amount} is on its way and "
     "should arrive by {date}.", "receipts"),
    ("orders@shop.example", "Your order {number}", "Thank you for your order {number} over {amount}.", "receipts"),
    ("service@bank.example", "Your statement of {past}", "Your statement of {past} is ready in the bank app.", None),
    ("service@bank.example", "Payment received", "We booked a payment of {amount} on {past}, reference {number}.",
     None),
    ("noreply@calendar.example", "Reminder: {day}, {hour}", "You have an event on {day} at {hour} at {place}.", None),
    ("library@townlibrary.example", "Your loans are due on {date}", "Three loans are due on {date}. Renew them online "
     "with card number {number}.", None),
    ("tickets@oldmill.example", "Your tickets, booking {number}", "Two seats in row F on {date}, {hour}. "
     "Booking {number}, paid {amount}.", "receipts"),
)  # fmt: skip
"""Sender, subject, text, label."""

NEWSLETTER_BODIES = (
    "Dear reader,\nin this issue: {first}, {second}. We also tell you what changes on {date}.\nYour team at {name}",
    "Hello {my_first},\nthis week we look at {first} and at {second}. Reader's tip: meet at {place} on {day}.\n{name}",
)
NEWSLETTER_THEMES = (
    "sharper knives", "early risers", "slow trains", "old maps", "small balconies", "quiet rooms", "winter bread",
    "good shoes", "shared tools", "long lists", "cheap repairs", "open windows", "wild herbs", "first drafts",
)  # fmt: skip

GREETINGS = ("Hi {your_first},", "Hello {your_first},", "Dear {your_first},", "{your_first},")
CLOSINGS = ("Best,\n{my_first}", "Thanks,\n{my_first}", "Kind regards\n{me}", "{my_first}", "See you,\n{my_first}")
OWN_LABELS = ("follow-up", "to read", "important")
