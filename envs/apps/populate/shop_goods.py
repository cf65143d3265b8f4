"""What the shop sells: categories with their brands, goods and remarks; coupons; what reviewers say."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Category:
    """Every good is sold by two to four of the brands, in one or two of the variants, at a price around its own."""

    name: str
    brands: tuple[str, ...]
    goods: tuple[tuple[str, int], ...]
    """Name and usual price in cents."""
    variants: tuple[str, ...]
    remarks: tuple[str, ...]


CATEGORIES = (
    Category(
        "kitchen", ("Ovenbird", "Larder & Co", "Steelbrook", "Maison Gris"),
        (
            ("Frying pan 28 cm", 4_200), ("Saucepan set", 8_900), ("Bread knife", 2_600), ("Kettle", 3_900),
            ("Coffee grinder", 5_400), ("Mixing bowl", 1_700), ("Cutting board", 2_200), ("Espresso maker", 6_800),
            ("Kitchen scale", 2_400),
        ),
        ("", "", ", black", ", steel", ", large"),
        ("Dishwasher safe", "Made to last", "Two-year warranty", "Spare parts available", "Hand-finished"),
    ),
    Category(
        "home", ("Nestwell", "Hjem", "Linden House", "Maison Gris"),
        (
            ("Desk lamp", 3_400), ("Wool blanket", 5_900), ("Wall clock", 2_900), ("Laundry basket", 2_700),
            ("Cushion cover", 1_500), ("Bed linen", 6_400), ("Door mat", 1_900), ("Curtain", 4_800),
            ("Picture frame", 1_300),
        ),
        ("", "", ", grey", ", green", ", small", ", large"),
        ("Easy to care for", "Packed without plastic", "Comes with spare parts", "Also in other colours", "Fair made"),
    ),
    Category(
        "garden", ("Greenfork", "Terrano", "Bramble & Son", "Rainwell"),
        (
            ("Hedge trimmer", 11_900), ("Watering can 10 l", 1_900), ("Garden hose 20 m", 3_300),
            ("Pruning shears", 2_500),
            ("Raised bed", 8_400), ("Wheelbarrow", 7_900), ("Bird feeder", 1_800), ("Planter", 2_300), ("Rake", 2_100),
        ),
        ("", "", ", compact", ", heavy duty"),
        ("Weatherproof", "Does not rust", "Light and sturdy", "Packed in cardboard", "Spare parts for ten years"),
    ),
    Category(
        "electronics", ("Voltworks", "Sonaro", "Pixelon", "Kitewire"),
        (
            ("Wireless headphones", 12_900), ("USB-C charger", 2_900), ("Bluetooth speaker", 6_900), ("Webcam", 5_900),
            ("E-reader", 13_900), ("Power bank", 3_900), ("Keyboard", 6_400), ("Computer mouse", 2_900),
            ("Monitor 27 inch", 24_900),
        ),
        ("", "", ", black", ", white", " Pro", " Mini"),
        ("Two-year warranty", "Can be repaired", "Works with all systems", "Cable included", "Energy class A"),
    ),
    Category(
        "office", ("Clerkwell", "Papyra", "Notably", "Larkdesk"),
        (
            ("Notebook A5", 900), ("Fountain pen", 3_200), ("Desk organiser", 1_900), ("Stapler", 1_400),
            ("Office chair", 18_900), ("Whiteboard", 5_200), ("Paper shredder", 7_400), ("Label printer", 6_900),
            ("Ring binder", 600),
        ),
        ("", "", ", blue", ", black", " Premium"),
        ("Recycled material", "Two-year warranty", "Made in small batches", "Spare parts available", "Award-winning"),
    ),
    Category(
        "sports", ("Altura", "Fleetfoot", "Peakline", "Kitewire"),
        (
            ("Running shoes", 10_900), ("Yoga mat", 3_400), ("Tent for two", 17_900), ("Sleeping bag", 9_900),
            ("Rucksack 30 l", 8_900), ("Bike helmet", 6_400), ("Water bottle", 1_900), ("Camping stove", 5_400),
            ("Head torch", 3_900),
        ),
        ("", "", ", blue", ", red", " Light", " Plus"),
        ("Weighs little", "Two-year warranty", "For all seasons", "Tested by mountain guides", "Can be repaired"),
    ),
    Category(
        "toys", ("Woodling", "Brickaboo", "Tumblejack", "Papyra"),
        (
            ("Building blocks", 3_900), ("Wooden train", 5_900), ("Puzzle 500 pieces", 1_600), ("Card game", 1_200),
            ("Plush rabbit", 2_400), ("Kite", 2_900), ("Chess set", 4_400), ("Toy kitchen", 8_900), ("Marble run",
            6_200),
        ),
        ("", "", " Junior", " Classic", ", large"),
        ("From three years", "Safe colours", "Sold with a cotton bag", "Designed in Northfield", "Parts can be bought"),
    ),
    Category(
        "books", ("Elmwood Press", "Night Heron", "Quarto & Sons", "Harbour Classics"),
        (
            ("The Clockmaker's Garden", 1_400), ("A Short History of Maps", 2_600), ("Winter Orchard", 1_300),
            ("How Bridges Fall", 2_200), ("Small Rivers", 1_200), ("The Quiet Archive", 1_800), ("Bread and Stones",
            2_900),
            ("The Salt Path Home", 1_500), ("Night Train North", 1_400),
        ),
        ("", "", " (hardcover)", " (large print)"),
        ("New translation", "With an index", "Illustrated", "Second edition", "Winner of the Harbour Prize"),
    ),
    Category(
        "clothing", ("Threadneedle", "Nordlys", "Field & Loom", "Fleetfoot"),
        (
            ("Rain jacket", 9_900), ("Merino jumper", 7_900), ("Linen shirt", 5_400), ("Wool socks", 1_400),
            ("Scarf", 2_900),
            ("Leather belt", 3_900), ("Gloves", 2_600), ("Cap", 1_900), ("Slippers", 3_400),
        ),
        ("", "", ", navy", ", olive", ", size M", ", size L"),
        ("True to size", "Fair made", "Repaired for free for five years", "Packed without plastic", "Soft feel"),
    ),
    Category(
        "health", ("Medica", "Balmwell", "Purely", "Nordlys"),
        (
            ("Electric toothbrush", 7_900), ("Hand cream", 700), ("Blood pressure monitor", 4_900),
            ("Hot water bottle", 1_700),
            ("First aid kit", 2_400), ("Bathroom scale", 3_600), ("Sun cream", 1_400), ("Massage ball", 1_100),
            ("Thermometer", 1_900),
        ),
        ("", "", " Comfort", " Plus", ", twin pack"),
        ("Clinically tested", "Developed with nurses", "Recyclable pack", "Made without perfume", "Easy to use"),
    ),
)  # fmt: skip

COUPONS = (
    ("WELCOME5", 5, None, 0), ("SPRING10", 10, None, 5_000), ("SPRING15", 15, None, 9_000), ("SUMMER10", 10, None,
    4_000),
    ("GARDEN15", 15, "garden", 3_000), ("GARDEN20", 20, "garden", 8_000), ("KITCHEN15", 15, "kitchen", 4_000),
    ("KITCHEN10", 10, "kitchen", 0), ("BOOKWORM10", 10, "books", 2_000), ("BOOKWORM20", 20, "books", 5_000),
    ("SPORTY12", 12, "sports", 6_000), ("TOYS10", 10, "toys", 2_500), ("OFFICE8", 8, "office", 1_500),
    ("VOLT5", 5, "electronics", 10_000), ("COSY15", 15, "home", 3_500), ("THANKYOU20", 20, None, 15_000),
)  # fmt: skip
"""Code, percent, category, lowest sum of the cart."""

PRAISE = (
    "Exactly what I was looking for.", "In use every day for {few} weeks.", "Well made, would buy again.",
    "Arrived in {few} days, works perfectly.", "My second one, as good as the first.",
    "A present for a friend, who loves it.",
)  # fmt: skip
MIXED = (
    "Does the job, but smaller than expected.", "Good, though a bit dear.", "Fine, the packaging was damaged.",
    "All right for the price.", "Works, the manual is useless.",
)  # fmt: skip
COMPLAINTS = (
    "Broke after {few} weeks.", "Sent it back.", "Colour differs from the picture.",
    "Smells odd even after {many} days.",
    "A part was missing, still waiting for it.", "Stopped working within {many} days.",
)  # fmt: skip
GIFT_NOTES = ("Happy birthday!", "With love from us", "Enjoy!", "Thank you for everything", "For the new home")
