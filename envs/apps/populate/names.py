"""Words that people, places and companies of a world are made of. All domains are reserved ones (RFC 2606)."""

from __future__ import annotations

FIRST_NAMES = (
    "Adam", "Aisha", "Alice", "Amara", "Anna", "Ben", "Bruno", "Carla", "Carlos", "Chen", "Chloe", "Clara", "Daniel",
    "David", "Diego", "Elena", "Elif", "Emma", "Erik", "Farah", "Felix", "Fiona", "Gabriel", "Grace", "Hana", "Hugo",
    "Ines", "Isaac", "Jana", "Jonas", "Julia", "Kenji", "Lars", "Laura", "Leila", "Leo", "Lina", "Lucas", "Maria",
    "Marta", "Mateo", "Maya", "Mei", "Miriam", "Nadia", "Nina", "Noah", "Nora", "Olga", "Omar", "Oscar", "Paula",
    "Pedro", "Petra", "Priya", "Rafael", "Rosa", "Samuel", "Sara", "Simon", "Sofia", "Tariq", "Theo", "Tomas", "Vera",
    "Viktor", "Yara", "Yusuf", "Zoe",
)  # fmt: skip
LAST_NAMES = (
    "Abbott", "Adeyemi", "Almeida", "Bauer", "Becker", "Bennett", "Berg", "Brandt", "Carter", "Castillo", "Costa",
    "Dalton", "Demir", "Dubois", "Eriksen", "Farrell", "Ferreira", "Garcia", "Gruber", "Haas", "Harper", "Hoffmann",
    "Holm", "Ibrahim", "Ivanov", "Jansen", "Kaya", "Keller", "Kim", "Kovacs", "Lang", "Larsen", "Lopez", "Marino",
    "Mendes", "Moreau", "Morris", "Nakamura", "Navarro", "Novak", "Okafor", "Olsen", "Park", "Patel", "Pereira",
    "Quinn", "Rahman", "Reyes", "Rossi", "Sato", "Silva", "Singh", "Sullivan", "Tanaka", "Torres", "Vogel", "Walsh",
    "Weber", "Wong", "Yilmaz", "Ziegler",
)  # fmt: skip
LOOKALIKES = (
    ("Meyer", "Meier"), ("Schmidt", "Schmitt"), ("Andersen", "Anderson"), ("Clark", "Clarke"), ("Fischer", "Fisher"),
    ("Johnson", "Johnston"), ("Petersen", "Pedersen"), ("Hansen", "Hanssen"), ("Stewart", "Stuart"),
    ("Reed", "Reid"), ("Gonzalez", "Gonzales"), ("Nielsen", "Nilsen"),
)  # fmt: skip
"""Pairs of last names that are easily taken for one another."""
CITIES = (
    "Ashford", "Brookhaven", "Cedar Falls", "Dunmore", "Eastport", "Fairview", "Glenwood", "Harborough", "Kingsbridge",
    "Lakeside", "Millbrook", "Northfield", "Oakridge", "Port Ellis", "Riverton", "Stonebridge", "Westbury", "Winslow",
)  # fmt: skip
STREETS = (
    "Alder Way", "Birch Lane", "Bridge Street", "Canal Road", "Castle Hill", "Cherry Avenue", "Church Lane",
    "Copper Street", "Elm Street", "Field Close", "Foundry Road", "Garden Row", "Harbour Street", "High Street",
    "Juniper Court", "Kiln Lane", "Linden Avenue", "Maple Drive", "Market Place", "Meadow Road", "Mill Road",
    "Orchard Lane", "Park Avenue", "Quarry Road", "Rose Terrace", "Station Road", "Sycamore Street", "Tanner Row",
    "Union Street", "Valley View", "Vine Street", "Willow Court",
)  # fmt: skip
COMPANIES = (
    "Altona Freight", "Bellweather Studio", "Brightwater Labs", "Cobalt Analytics", "Corvid Software", "Elmwood Press",
    "Fernhill Foods", "Greystone Legal", "Halcyon Travel", "Ironbark Tools", "Juniper Health", "Kestrel Media",
    "Larkspur Design", "Meridian Energy", "Northlight Optics", "Orchid Events", "Palisade Insurance", "Quillon Systems",
    "Redwood Logistics", "Silverline Rail", "Tallow & Reed", "Umbra Security", "Verdant Parks", "Westmark Bank",
)  # fmt: skip
PERSONAL_DOMAINS = ("postbox.example", "quickmail.example", "homenet.example")
STAFF_TITLES = (
    "Product Designer", "Data Analyst", "Software Engineer", "QA Engineer", "Account Manager", "Project Coordinator",
    "Office Manager", "Marketing Specialist", "Financial Controller", "Technical Writer", "Support Lead", "Recruiter",
)  # fmt: skip
MANAGER_TITLES = ("Head of Product", "Director of Operations", "Engineering Manager", "Chief of Staff")
CLIENT_TITLES = ("Procurement Manager", "Managing Partner", "Head of IT", "Programme Lead", "Operations Manager")
VENDOR_TITLES = ("Sales Manager", "Key Account Manager", "Photographer", "Electrician", "Caterer", "Translator")
OTHER_TITLES = ("Teacher", "Nurse", "Architect", "Chef", "Librarian", "Student", "Carpenter", "Pharmacist", "Retired")
COMMENTS = (
    "Prefers a call to an e-mail.", "Vegetarian.", "Allergic to nuts.", "Met at the trade fair in Riverton.",
    "Never available on Fridays.", "Borrowed the camping stove.", "Send invoices in duplicate.", "Plays the cello.",
    "Knows a good plumber.", "Likes to be addressed by first name.", "Works from home on Mondays.",
    "Ask about the lake house.",
)  # fmt: skip
GROUPS = (
    ("Book club", ("friend", "neighbour")), ("Book circle", ("friend", "colleague")),
    ("Hiking crew", ("friend", "colleague")), ("Board game night", ("friend", "neighbour", "family")),
    ("Choir", ("friend", "neighbour")), ("Neighbourhood watch", ("neighbour", "friend")),
    ("Family", ("family",)), ("Summer party guests", ("family", "friend", "neighbour")),
    ("Leadership team", ("manager", "colleague")), ("Design guild", ("colleague",)),
    ("Onboarding buddies", ("colleague",)), ("Key clients", ("client",)), ("Trusted suppliers", ("vendor",)),
    ("Running group", ("friend", "colleague", "neighbour")), ("Office lunch", ("colleague", "manager")),
)  # fmt: skip
"""Group names with the relations their members come from."""
PROJECTS = (
    "Aurora", "Basecamp", "Cascade", "Driftwood", "Ember", "Foxglove", "Gridline", "Horizon", "Kingfisher", "Lantern",
    "Mosaic", "Pathfinder",
)  # fmt: skip
THINGS = (
    "camping stove", "step ladder", "drill", "projector", "tent", "cake tin", "hedge trimmer", "sleeping bag",
    "board game", "bike rack", "cool box", "folding table",
)  # fmt: skip
PLACES = (
    "Café Morgen", "Trattoria Lucca", "The Copper Kettle", "Harbour Bistro", "Noodle Bar", "the town library",
    "the community centre", "the botanical garden", "the Old Mill Theatre",
)  # fmt: skip
TABLES = ("Café Morgen", "Trattoria Lucca", "The Copper Kettle", "Harbour Bistro", "Noodle Bar")
