"""Words that artists, albums and songs are made of, and the names of playlists."""

from __future__ import annotations

GENRES = ("folk", "indie rock", "jazz", "electronic", "soul", "classical", "hip hop", "pop", "country", "ambient")
BANDS = (
    "The Paper Lanterns", "Slow Harbour", "Nine Mile Creek", "Velvet Almanac", "The Tin Orchards", "Glass Meridian",
    "Copper Wolves", "Night Ferry", "The Quiet Hours", "Marble Kites", "Long Division", "Saltwater Choir",
    "The Spare Keys", "Blue Transit", "Winter Parade", "Lowland Radio", "Feather & Flint", "The Ninth Floor",
    "Orange Telegraph", "Distant Cousins", "The Harbour Lights", "Harbour Light", "Ivory Static", "Juniper Sons",
)  # fmt: skip
SOLO_LAST_NAMES = (
    "Ashdown", "Bellamy", "Calloway", "Delacroix", "Everhart", "Fontaine", "Greaves", "Hollis", "Iversen", "Jardine",
    "Kestrel", "Lovelace", "Montrose", "Nightingale", "Oakes", "Prescott",
)  # fmt: skip
ADJECTIVES = (
    "Golden", "Hollow", "Electric", "Silent", "Broken", "Crimson", "Distant", "Endless", "Gentle", "Hidden", "Last",
    "Lonely", "Midnight", "Northern", "Paper", "Restless", "Silver", "Summer", "Tender", "Wild", "Borrowed", "Blue",
)  # fmt: skip
NOUNS = (
    "River", "Morning", "Highway", "Garden", "Letter", "Mirror", "Window", "Station", "Ocean", "Shadow", "Fire",
    "Season", "Mountain", "Dancer", "Harvest", "Thunder", "Lullaby", "Horizon", "Carousel", "Avenue", "Satellite",
    "Kitchen", "Bicycle", "Snowfall", "Compass", "Lantern",
)  # fmt: skip
PHRASES = (
    "Before You Leave", "All the Way Home", "When the Rain Stops", "Ask Me Tomorrow", "Nothing Left to Say",
    "Hold the Line Again", "Same Old Sky", "Call It a Night", "Not Today", "Half Past Forever", "Closer to the Sea",
    "Letters I Never Sent", "Ten Minutes to Midnight", "Where the Road Bends", "Someone Else's Song", "Let It Snow",
    "One More Dance", "Walk Me Back", "The Long Way Round", "Everything at Once", "Stay Till Sunday", "Back to Start",
)  # fmt: skip
PATTERNS = (
    "{adjective} {noun}", "The {adjective} {noun}", "{noun} in the Rain", "{noun} and {other}", "My {adjective} {noun}",
    "{noun} for Two", "Song for a {noun}", "Under the {noun}", "{adjective} {noun}, Pt. 2", "{noun} Blues",
)  # fmt: skip
ALBUM_PATTERNS = ("{adjective} {noun}s", "The {noun} Sessions", "{noun} & {other}", "Live at the {noun}", "{adjective}")
VERSIONS = ("(Live)", "(Acoustic)", "(Remix)", "(Demo)")
PLAYLISTS = (
    "Morning run", "Morning run (short)", "Road trip", "Road trip 2", "Focus", "Deep focus", "Dinner party",
    "Sunday breakfast", "Cleaning day", "Late night", "Rainy days", "Workout", "Old favourites", "Party",
    "Party (kids)", "Commute", "Wind down", "New finds",
)  # fmt: skip
