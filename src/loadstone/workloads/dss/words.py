"""The word lists of the data, from which substitution parameters are drawn (clause 4.2.2.13)."""

from __future__ import annotations

REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")
NATIONS = {
    "ALGERIA": "AFRICA",
    "ARGENTINA": "AMERICA",
    "BRAZIL": "AMERICA",
    "CANADA": "AMERICA",
    "EGYPT": "MIDDLE EAST",
    "ETHIOPIA": "AFRICA",
    "FRANCE": "EUROPE",
    "GERMANY": "EUROPE",
    "INDIA": "ASIA",
    "INDONESIA": "ASIA",
    "IRAN": "MIDDLE EAST",
    "IRAQ": "MIDDLE EAST",
    "JAPAN": "ASIA",
    "JORDAN": "MIDDLE EAST",
    "KENYA": "AFRICA",
    "MOROCCO": "AFRICA",
    "MOZAMBIQUE": "AFRICA",
    "PERU": "AMERICA",
    "CHINA": "ASIA",
    "ROMANIA": "EUROPE",
    "SAUDI ARABIA": "MIDDLE EAST",
    "VIETNAM": "ASIA",
    "RUSSIA": "EUROPE",
    "UNITED KINGDOM": "EUROPE",
    "UNITED STATES": "AMERICA",
}
"""Nation: its region, by the number of the nation."""
SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD")
SHIP_MODES = ("REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB")
TYPE_SIZES = ("STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO")
TYPE_FINISHES = ("ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED")
TYPE_METALS = ("TIN", "NICKEL", "BRASS", "STEEL", "COPPER")
CONTAINER_SIZES = ("SM", "LG", "MED", "JUMBO", "WRAP")
CONTAINER_KINDS = ("CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM")
COMPLAINTS = ("special", "pending", "unusual", "express")
SUBJECTS = ("packages", "requests", "accounts", "deposits")
COLORS = tuple(
    """
    almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood burnished
    chartreuse chiffon chocolate coral cornflower cornsilk cream cyan dark deep dim dodger drab
    firebrick floral forest frosted gainsboro ghost goldenrod green grey honeydew hot indian ivory
    khaki lace lavender lawn lemon light lime linen magenta maroon medium metallic midnight mint
    misty moccasin navajo navy olive orange orchid pale papaya peach peru pink plum powder puff
    purple red rose rosy royal saddle salmon sandy seashell sienna sky slate smoke snow spring steel
    tan thistle tomato turquoise violet wheat white yellow
    """.split()  # noqa: SIM905 - 92 words
)
