"""Names and phrases that the sites' content is put together from."""

from __future__ import annotations

FIRST = [
    "Amara",
    "Anton",
    "Beatriz",
    "Bruno",
    "Celeste",
    "Cormac",
    "Dalia",
    "Dario",
    "Edda",
    "Emil",
    "Fenna",
    "Florian",
    "Greta",
    "Gustav",
    "Hanneke",
    "Hugo",
    "Ilse",
    "Ivo",
    "Jonna",
    "Jasper",
    "Kaia",
    "Kasper",
    "Lotte",
    "Lucian",
    "Maren",
    "Matteo",
    "Nadia",
    "Nils",
    "Odile",
    "Orson",
    "Petra",
    "Pascal",
    "Quinn",
    "Rafael",
    "Ronja",
    "Silas",
    "Tamsin",
    "Tobias",
    "Ulla",
    "Viktor",
    "Wanda",
    "Willem",
    "Xenia",
    "Yannick",
    "Yara",
    "Zoran",
]
LAST = [
    "Albrecht",
    "Barros",
    "Castell",
    "Dahl",
    "Ekberg",
    "Farrow",
    "Gillespie",
    "Hartog",
    "Iversen",
    "Jansen",
    "Kowalski",
    "Lindqvist",
    "Moreau",
    "Novak",
    "Okafor",
    "Pereira",
    "Quigley",
    "Rossi",
    "Strand",
    "Thorne",
    "Ulrich",
    "Varga",
    "Whitlock",
    "Ximenes",
    "Yilmaz",
    "Zeller",
]

TREE: dict[str, dict[str, str]] = {
    "Furniture": {
        "Chairs": "Armchair|Rocking Chair|Dining Chair|Bar Stool",
        "Tables": "Coffee Table|Side Table|Dining Table|Folding Table",
        "Shelves": "Bookshelf|Wall Shelf|Shoe Rack|Corner Shelf",
        "Beds": "Bed Frame|Bunk Bed|Day Bed",
    },
    "Kitchen": {
        "Cookware": "Saucepan|Frying Pan|Stock Pot|Casserole",
        "Knives": "Chef Knife|Bread Knife|Paring Knife",
        "Tableware": "Dinner Plate|Soup Bowl|Serving Dish|Mug",
        "Appliances": "Kettle|Toaster|Hand Mixer|Coffee Grinder",
    },
    "Lighting": {
        "Table Lamps": "Desk Lamp|Bedside Lamp|Reading Lamp",
        "Ceiling Lights": "Pendant Light|Chandelier|Spotlight Rail",
        "Outdoor Lights": "Garden Lantern|Wall Light|Path Light",
    },
    "Garden": {
        "Tools": "Hand Trowel|Garden Fork|Pruning Shears|Leaf Rake",
        "Planters": "Planter Box|Hanging Basket|Clay Pot",
        "Watering": "Watering Can|Hose Reel|Rain Barrel",
    },
    "Outdoors": {
        "Tents": "Tunnel Tent|Dome Tent|Tarp Shelter",
        "Backpacks": "Day Pack|Trekking Pack|Dry Bag",
        "Camp Kitchen": "Camp Stove|Cook Set|Water Bottle",
    },
    "Textiles": {
        "Bedding": "Duvet Cover|Pillow Case|Wool Blanket",
        "Curtains": "Blackout Curtain|Sheer Curtain|Roman Blind",
        "Rugs": "Hallway Rug|Kitchen Runner|Sheepskin Rug",
    },
}
"""Categories, subcategories, and what each sells."""
SERIES = [
    "Alder",
    "Birk",
    "Corda",
    "Delta",
    "Ember",
    "Fjord",
    "Granit",
    "Havre",
    "Isola",
    "Juniper",
    "Kestrel",
    "Loma",
    "Mistral",
    "Nordlys",
    "Orla",
    "Plover",
    "Quarz",
    "Ronda",
]
"""Product lines: "Fjord Bookshelf"."""
COLOURS = ["Black", "White", "Oak", "Walnut", "Sage", "Slate", "Sand", "Copper", "Navy", "Rust"]
QUALITIES = [
    "Made for daily use",
    "Easy to clean",
    "Comes flat-packed",
    "With a five-year guarantee",
    "Hand finished",
    "Made from recycled material",
    "Stands firmly on uneven floors",
    "Packs small",
    "Tested for outdoor use",
    "Dishwasher safe",
    "Ships in two parcels",
    "Spare parts are kept for ten years",
]
REVIEWS = [
    "Does what it should",
    "Better than expected",
    "Solid, a bit heavy",
    "Not worth the price",
    "Arrived with a scratch",
    "My third one",
    "Good value",
    "Colour differs from the picture",
    "Would buy again",
    "Wobbles a little",
    "Gift that was well received",
    "Instructions are hard to follow",
]
STREETS = [
    "Harbour Road",
    "Mill Lane",
    "Station Street",
    "Orchard Way",
    "Castle Hill",
    "Ferry Quay",
    "Linden Avenue",
    "Market Square",
]
TOWNS = ["Bergen", "Dublin", "Graz", "Leeds", "Lyon", "Porto", "Aarhus", "Ghent", "Basel", "Turku"]

FORUMS: dict[str, dict[str, str]] = {
    "Home": {
        "Furniture care": "oiling an oak table top|squeaky bed slats|a shelf that sags|removing water rings",
        "Kitchen talk": "seasoning a new pan|sharpening angles|descaling a kettle|the quietest grinder",
        "Lighting ideas": "warm bulbs for a hallway|dimming a pendant|reading lamps for two|hiding cables",
    },
    "Garden and outdoors": {
        "Vegetable beds": "slugs on young lettuce|rotating tomatoes|raised beds in shade|saving bean seeds",
        "Balconies": "herbs on a north balcony|wind-proof planters|watering during holidays|bees in the city",
        "Camping": "a tent for heavy rain|cooking without gas|sleeping mats compared|packing for three days",
    },
    "Community": {
        "Introductions": "new from the coast|moving into a first flat|back after years|restoring an old house",
        "Swap and share": "offering spare jars|looking for roof tiles|a ladder to lend|seed swap in spring",
        "Repair cafe": "a toaster that trips the fuse|gluing a chair leg|zips on an old tent|fixing a lamp switch",
    },
}
OPENERS = [
    "Question about",
    "Tips for",
    "Help with",
    "Trouble with",
    "Experiences with",
    "Best way of",
    "Notes on",
    "Update on",
]
SENTENCES = [
    "I tried this last weekend and it took about two hours.",
    "Mine has been fine for three winters.",
    "The trick is to wait until it is completely dry.",
    "Has anyone compared the two in practice?",
    "I would start with the cheap option.",
    "Take a photo before you take it apart.",
    "That did not work for me at all.",
    "Thank you, this solved it.",
    "Check the screws first, they come loose.",
    "I have a spare one if you need it.",
    "The manual says the opposite, by the way.",
    "Ours came from a flea market.",
    "You will need a second pair of hands.",
    "Do not use too much of it.",
    "It depends on the size of the room.",
    "I asked the shop and they sent a replacement.",
]

WIKI: dict[str, str] = {
    "Handbook": "Working hours|Remote work|Travel expenses|Parental leave|Sick leave|Public transport|Training budget|"
    "Code of conduct|Onboarding checklist|Offboarding checklist|Office keys|Visitors|Gifts and invitations|Side jobs|"
    "Company cars|Meeting rooms|Lunch subsidy|Bicycle leasing",
    "Warehouse": "Receiving goods|Picking routes|Packing fragile items|Returns desk|Forklift rules|Shelf labels|Stock "
    "counting|Cold storage|Hazardous goods|Loading dock plan|Pallet sizes|Night shift|Damage reports|Seasonal stock|"
    "Scanner care|Fire exits|Dangerous slopes|Parcel limits",
    "Products": "Oak and walnut|Enamel care|Textile symbols|Lamp sockets|Tent fabrics|Knife steels|Wool grades|Ceramic "
    "glazes|Paint codes|Recycled plastics|Wood certificates|Spare parts policy|Product photos|Naming of series|Safety "
    "marks|Battery rules|Packaging design|Price labels",
    "Customer care": "Tone of voice|Refund limits|Late deliveries|Missing parcels|Broken items|Warranty claims|Gift "
    "cards|Complaints|Voucher mistakes|Large orders|Phone greetings|Chat macros|Escalation path|Data requests|Address "
    "changes|Unpaid invoices|Review replies|Fraud signs",
    "Systems": "Till software|Order export|Label printers|Network plan|Backup schedule|Password rules|Mail signatures|"
    "Shared drives|Phone system|Camera system|Door badges|Web shop freeze|Test accounts|Monitoring|Licence list|Guest "
    "wifi|Video calls|Spare laptops",
    "Places": "Bergen branch|Dublin branch|Graz branch|Leeds branch|Lyon branch|Porto branch|Aarhus depot|Ghent depot|"
    "Basel office|Turku office|Car parks|Opening hours|Local suppliers|Emergency contacts|Floor plans|Showroom rules|"
    "Cleaning plan|Recycling points",
}

QUEUES = {
    "IT Support": "it", "Facilities": "fac", "Human Resources": "hr", "Payroll": "pay", "Logistics": "log",
    "Security": "sec",
}  # fmt: skip
TROUBLES = {
    "it": "Laptop does not start|Printer prints blank pages|VPN drops every hour|Mailbox is full|Screen flickers|"
    "Password expired|Scanner not found|Slow network|Phone has no sound|Shared drive is read-only",
    "fac": "Heating is cold|Broken window|Lift makes noise|Water leak|Lamp is out|Desk is wobbly|Door does not close|"
    "Blocked drain|Air is stale|Missing chair",
    "hr": "Contract copy needed|Holiday balance wrong|Change of name|Training request|Reference letter|Parental leave "
    "dates|New starter form|Work permit question",
    "pay": "Payslip is missing|Overtime not paid|Tax class changed|Bank details changed|Travel "
    "claim open|Bonus question",
    "log": "Pallet lost|Wrong goods delivered|Carrier is late|Customs papers missing|Forklift battery|Label unreadable",
    "sec": "Badge does not work|Camera is offline|Lost key|Alarm at night|Visitor without pass|Suspicious mail",
}
ROOMS = [
    "reception",
    "meeting room 2",
    "the canteen",
    "floor 3",
    "the loading dock",
    "the workshop",
    "the archive",
    "desk 14",
    "the showroom",
]
REPLIES = [
    "Looked at it and ordered a spare part.",
    "Could not reproduce it, please send a photo.",
    "Waiting for the supplier to call back.",
    "Restarted it, please check again.",
    "Passed on to the colleague on duty.",
    "Replaced the cable.",
    "Appointment made for Thursday.",
    "Asked for the serial number.",
    "Works again after an update.",
    "Second visit is needed.",
]
KNOWLEDGE = {
    "Accounts": "reset a password|unlock an account|set up two-step sign-in|share a mailbox|change a display name",
    "Printing": "add a printer|clear a paper jam|print double-sided|order toner|print from a phone",
    "Network": "join the guest wifi|use the VPN at home|map a network drive|report an outage|find an IP address",
    "Travel": "book a train|claim expenses|order a company card|rent a car|extend a trip",
    "Building": "book a meeting room|report a leak|get a new badge|reserve parking|change the heating",
    "Staff": "request leave|download a payslip|update bank details|enrol in training|get a reference letter",
}
MODELS = {
    "Laptop": "Lumo 14|Lumo 15|Carbide X", "Monitor": "Vista 24|Vista 27", "Phone": "Pica 5|Pica 6",
    "Printer": "Quill 300|Quill 500", "Server": "Basalt R1|Basalt R2", "Switch": "Node 24|Node 48",
    "Tablet": "Slate 10|Slate 12", "Projector": "Beam S|Beam L",
}  # fmt: skip
CATALOG = {
    "Hardware": "Standard laptop:1150:13 inch,15 inch|Developer laptop:1890:14 inch,16 inch|Docking station:180:|"
    "External monitor:240:24 inch,27 inch|Headset:85:Wired,Wireless|Webcam:60:|Desk phone:95:|Ergonomic "
    "mouse:45:Left-handed,Right-handed|Mechanical keyboard:110:English,German,French|Tablet:520:10 inch,12 inch",
    "Software": "Drawing suite:300:1 year,3 years|Office suite:120:Basic,Full|Database client:90:|Video editor:260:1 "
    "year,3 years|Statistics package:410:|Project planner:140:Basic,Full|Password manager:30:",
    "Access": "VPN access:0:6 months,12 months|Badge for a new building:10:|Guest wifi voucher:0:1 day,1 week|Shared "
    "mailbox:0:|Finance system access:0:Read only,Read and write|Warehouse system access:0:Read only,Read and write",
    "Furniture": "Standing desk:480:White,Oak|Office chair:310:Grey,Black|Footrest:40:|Whiteboard:150:Small,"
    "Large|Desk lamp:55:Grey,Black|Locker:90:|Filing cabinet:220:Two drawers,Four drawers",
}
"""Category: "name:price:options", divided by bars."""
