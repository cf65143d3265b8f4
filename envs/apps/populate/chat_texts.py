"""What is said in chats: conversations as turns, by who takes part.

Slots in braces: my (the person's first name), your (the other's, or a member's), other (a third person's name),
project, company, city, place, thing, and those of `Cast.figures`; one draw holds for a whole conversation.
"""

from __future__ import annotations

Talks = tuple[tuple[str, ...], ...]

PRIVATE_TALKS: Talks = (
    (
        "Are you free for dinner on {day}?", "Yes! Where?", "{place}, {hour}. I have booked for {few}.",
        "Perfect, is {other} coming too?", "Said yes this morning.",
    ),
    (
        "Did I leave my {thing} at your place?", "It is here. Shall I bring it on {day}?", "That would be great.",
        "I can also give it to {other}.", "Better bring it yourself, then we have coffee.",
    ),
    (
        "I owe you {amount} for the tickets.", "No hurry. Pay me by {day}.", "Will do. Same account as before?",
        "Yes, but please write ticket {number} on it.",
    ),
    (
        "Train {number} is late again.", "How late?", "About {many} minutes. Don't wait with the food.",
        "We wait. {other} has not arrived either.",
    ),
    (
        "We are thinking of a weekend in {city} in {month}.", "Count me in, who else?", "{other}, and the neighbours.",
        "How much is the house?", "{amount} for all of us, if we book by {day}.", "Book it!",
    ),
    (
        "Happy birthday!!", "Thank you so much!", "Party on {day}?", "Yes, at {place}, from {hour}.",
    ),
    (
        "What was the name of that film?", "Night Train to {city}", "No, the other one, with the clockmaker.",
        "The Clockmaker's Garden. {other} has it.",
    ),
    (
        "Can you water the plants from {day}?", "Sure, for how long?", "{few} days. The key code is {code}.",
        "Noted. And the post?", "Please put it on the kitchen table.",
    ),
    (
        "Moved in at last!", "Congratulations! What is the new street?", "I will send it by mail. Boxes everywhere.",
        "Need help? I have {few} hours on {day}.", "Yes please, and bring the {thing}.",
    ),
    (
        "Do you know a good plumber?", "Ask {other}, they had one last month.", "Was it expensive?",
        "{amount} for the tap, I think.",
    ),
    (
        "Run on {day}?", "My knee says no.", "Then a walk. {hour} at the bridge.", "Good, a walk I can do.",
    ),
    (
        "How was {city}?", "Lovely. Rain on {few} days.", "Did you see {other}?", "Only for a coffee at {place}.",
    ),
    (
        "The concert is on {day}, row {few}.", "Great. Who has my ticket?", "Booking {number}, show it at the door.",
    ),
    (
        "{other} is in hospital, nothing serious.", "Oh no. Can one visit?", "From {day}, after {hour}.",
        "I go on the way home from work.",
    ),
)  # fmt: skip
WORK_TALKS: Talks = (
    (
        "Have you seen the figures for {project}?", "Yes. {amount} over.", "Do we tell {other} before the meeting?",
        "I will, today.",
    ),
    (
        "Can we move our talk to {day}, {hour}?", "Fine. Same room?", "No, {place}, I need coffee.",
    ),
    (
        "The test run failed again, ticket {number}.", "Same error?", "Yes, line {code}.", "Ask {other} to look.",
        "Fixed, it runs.",
    ),
    (
        "Who has the slides for {company}?", "I do, version {few}.", "Please send them to {other} as well.", "Done.",
    ),
    (
        "I am ill today.", "Get well! What is urgent?", "Only the report for {project}, due {day}.",
        "{other} and I take it.", "Thanks!",
    ),
    (
        "Room code for {day}?", "{code}", "That was the old one.", "Then it is at the front desk.",
    ),
    (
        "Could you approve my holiday from {day}?", "Who covers for you?", "{other} said yes.", "Approved.",
    ),
    (
        "{company} asks for a discount of {few} percent.", "On {amount}?", "On everything.", "Offer half of it.",
        "They took it.",
    ),
    (
        "Lunch at {place}?", "In {many} minutes?", "Good. {other} joins us.",
    ),
    (
        "Go-live of {project} is now {day}.", "Again?", "The licence {number} came late.", "I tell {company}.",
    ),
    (
        "New starter on {day}, desk {many}.", "Who is the buddy?", "{other}.", "Good choice.",
    ),
)  # fmt: skip
OUTSIDE_TALKS: Talks = (
    (
        "Hello {my}, the delivery comes on {day}.", "Thank you, {your}. Between what hours?", "From {hour}.",
        "Someone will be there.",
    ),
    (
        "Did you get our invoice {number}?", "Yes, over {amount}. We pay by {day}.", "Perfect, thanks.",
    ),
    (
        "Could we get {few} more licences for {project}?", "Sure, {amount} each per year.", "Please send an offer.",
        "It is in your mail.",
    ),
    (
        "I am at the front desk.", "Be right down.", "{other} is with me.", "Then we need a larger room.",
    ),
    (
        "Our contact from {month} is {other}.", "Sorry to see you go! Does the price of {amount} stand?",
        "Until {day}, yes.",
    ),
    (
        "The parcel {number} came back.", "Wrong address?", "Yes, we moved to {city}.", "I send it again on {day}.",
    ),
)  # fmt: skip
GROUP_TALKS: Talks = (
    (
        "Who comes on {day}?", "Me!", "I can't, sorry.", "Me too, {hour}?", "{hour} works.", "Then we are {few}.",
    ),
    (
        "I collected {amount} so far.", "My share is on its way.", "Mine too, reference {number}.", "Whose is missing?",
        "{other}'s, I think.",
    ),
    (
        "Where do we meet?", "{place}?", "It is closed on Mondays.", "Then at {other}'s.", "Good for me.",
    ),
    (
        "Who has the {thing}?", "It is in my cellar.", "Can you bring it on {day}?", "Sure.", "Legend.",
    ),
    (
        "Change of plan: not {city}, too far.", "What then?", "Something within {many} minutes by train.",
        "{other} knows a place.", "Fine with me.",
    ),
    (
        "Photos are up, code {code}.", "Lovely, thanks!", "The one with the cake!", "Don't share it with {other}.",
    ),
    (
        "{other} has a birthday on {day}.", "What do we give?", "A {thing}?", "{amount}, we share it.", "I get a card.",
    ),
    (
        "Reminder: deposit of {amount} is due on {day}.", "Paid.", "Paid as well.", "I do it tonight.",
    ),
)  # fmt: skip
SMALL_TALK = (
    "Good morning!", "Thanks again.", "On my way.", "Call me when you have a minute.", "See you later.", "Haha!",
    "Sorry, wrong chat.", "Will do.", "Sounds good.", "Ok!", "Any news?",
)  # fmt: skip
GROUP_TITLES = (
    "Weekend in {city}", "Weekend in {city} (new)", "Project {project}", "Project {project} leads", "Lunch crew",
    "Book club", "Present for {other}", "House-warming", "Choir trip", "Parents 3b", "Parents 3a", "Sunday football",
    "Neighbours no. {many}", "Family", "Family (without {your})", "Summer party", "Garden swap", "Car pool",
)  # fmt: skip
EVENT_QUESTIONS = (
    "Is {title} on {date} still on?", "I may be late for {title} on {date}.", "See you on {date} ({title}).",
)  # fmt: skip
EVENT_ANSWERS = ("Yes, {hour} as planned.", "No problem, we start at {hour}.", "{hour}, right? See you there.")
