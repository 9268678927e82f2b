"""Substitution parameters of the queries: those of the validation, and those drawn by seed.

Ranges and lists: TPC-H 3.0.1, clauses 2.4.1.3 to 2.4.22.3. The specification's own program draws
with a generator of its own, so that its streams are others; the distributions are the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from datetime import date, timedelta

from loadstone.workloads.dss import words

Parameters = Mapping[str, str]
"""Name in the template: text that is put there."""

VALIDATION: dict[int, dict[str, str]] = {
    1: {"delta": "90"},
    2: {"size": "15", "type": "BRASS", "region": "EUROPE"},
    3: {"segment": "BUILDING", "date": "1995-03-15"},
    4: {"date": "1993-07-01"},
    5: {"region": "ASIA", "date": "1994-01-01"},
    6: {"date": "1994-01-01", "discount": "0.06", "quantity": "24"},
    7: {"nation1": "FRANCE", "nation2": "GERMANY"},
    8: {"nation": "BRAZIL", "region": "AMERICA", "type": "ECONOMY ANODIZED STEEL"},
    9: {"color": "green"},
    10: {"date": "1993-10-01"},
    11: {"nation": "GERMANY", "fraction": "0.0001000000"},
    12: {"shipmode1": "MAIL", "shipmode2": "SHIP", "date": "1994-01-01"},
    13: {"word1": "special", "word2": "requests"},
    14: {"date": "1995-09-01"},
    15: {"date": "1996-01-01"},
    16: {"brand": "Brand#45", "type": "MEDIUM POLISHED", "sizes": "49, 14, 23, 45, 19, 3, 36, 9"},
    17: {"brand": "Brand#23", "container": "MED BOX"},
    18: {"quantity": "300"},
    19: {
        "brand1": "Brand#12",
        "brand2": "Brand#23",
        "brand3": "Brand#34",
        "quantity1": "1",
        "quantity2": "10",
        "quantity3": "20",
    },
    20: {"color": "forest", "date": "1994-01-01", "nation": "CANADA"},
    21: {"nation": "SAUDI ARABIA"},
    22: {"codes": "'13', '31', '23', '29', '30', '18', '17'"},
}
"""Query: the parameters with which the published answers at scale 1 were made."""


def drawn(query: int, scale: float, seed: int, stream: int) -> Parameters:
    """The parameters of a query in a stream.

    Args:
        query: 1 to 22.
        scale: Scale factor, on which the fraction of query 11 depends.
        seed: Of the load.
        stream: From 0. Each stream has parameters of its own.
    """
    found = _DRAWN[query](random.Random(f"dss {seed} {stream} {query}"))
    return {**found, "fraction": f"{0.0001 / scale:.10f}"} if query == 11 else found


def _month(draw: random.Random, first: date, last: date) -> str:
    """The first day of a month between two, inclusive."""
    months = (last.year - first.year) * 12 + last.month - first.month
    month = first.month - 1 + draw.randint(0, months)
    return date(first.year + month // 12, month % 12 + 1, 1).isoformat()


def _year(draw: random.Random) -> str:
    return date(draw.randint(1993, 1997), 1, 1).isoformat()


def _brand(draw: random.Random) -> str:
    return f"Brand#{draw.randint(1, 5)}{draw.randint(1, 5)}"


def _size_and_finish(draw: random.Random) -> str:
    return f"{draw.choice(words.TYPE_SIZES)} {draw.choice(words.TYPE_FINISHES)}"


def _nation(draw: random.Random) -> str:
    return draw.choice(tuple(words.NATIONS))


def _q03(draw: random.Random) -> Parameters:
    day = date(1995, 3, 1) + timedelta(days=draw.randint(0, 30))
    return {"segment": draw.choice(words.SEGMENTS), "date": day.isoformat()}


def _q07(draw: random.Random) -> Parameters:
    nation1, nation2 = draw.sample(tuple(words.NATIONS), 2)
    return {"nation1": nation1, "nation2": nation2}


def _q08(draw: random.Random) -> Parameters:
    nation = _nation(draw)
    kind = f"{_size_and_finish(draw)} {draw.choice(words.TYPE_METALS)}"
    return {"nation": nation, "region": words.NATIONS[nation], "type": kind}


def _q12(draw: random.Random) -> Parameters:
    shipmode1, shipmode2 = draw.sample(words.SHIP_MODES, 2)
    return {"shipmode1": shipmode1, "shipmode2": shipmode2, "date": _year(draw)}


def _q19(draw: random.Random) -> Parameters:
    return {
        **{f"brand{number}": _brand(draw) for number in (1, 2, 3)},
        "quantity1": str(draw.randint(1, 10)),
        "quantity2": str(draw.randint(10, 20)),
        "quantity3": str(draw.randint(20, 30)),
    }


def _q22(draw: random.Random) -> Parameters:
    codes = draw.sample(range(10, 10 + len(words.NATIONS)), 7)
    return {"codes": ", ".join(f"'{code}'" for code in codes)}


_DRAWN: dict[int, Callable[[random.Random], Parameters]] = {
    1: lambda draw: {"delta": str(draw.randint(60, 120))},
    2: lambda draw: {
        "size": str(draw.randint(1, 50)),
        "type": draw.choice(words.TYPE_METALS),
        "region": draw.choice(words.REGIONS),
    },
    3: _q03,
    4: lambda draw: {"date": _month(draw, date(1993, 1, 1), date(1997, 10, 1))},
    5: lambda draw: {"region": draw.choice(words.REGIONS), "date": _year(draw)},
    6: lambda draw: {
        "date": _year(draw),
        "discount": f"0.0{draw.randint(2, 9)}",
        "quantity": str(draw.randint(24, 25)),
    },
    7: _q07,
    8: _q08,
    9: lambda draw: {"color": draw.choice(words.COLORS)},
    10: lambda draw: {"date": _month(draw, date(1993, 2, 1), date(1995, 1, 1))},
    11: lambda draw: {"nation": _nation(draw)},
    12: _q12,
    13: lambda draw: {
        "word1": draw.choice(words.COMPLAINTS),
        "word2": draw.choice(words.SUBJECTS),
    },
    14: lambda draw: {"date": _month(draw, date(1993, 1, 1), date(1997, 12, 1))},
    15: lambda draw: {"date": _month(draw, date(1993, 1, 1), date(1997, 10, 1))},
    16: lambda draw: {
        "brand": _brand(draw),
        "type": _size_and_finish(draw),
        "sizes": ", ".join(map(str, draw.sample(range(1, 51), 8))),
    },
    17: lambda draw: {
        "brand": _brand(draw),
        "container": f"{draw.choice(words.CONTAINER_SIZES)} {draw.choice(words.CONTAINER_KINDS)}",
    },
    18: lambda draw: {"quantity": str(draw.randint(312, 315))},
    19: _q19,
    20: lambda draw: {
        "color": draw.choice(words.COLORS),
        "date": _year(draw),
        "nation": _nation(draw),
    },
    21: lambda draw: {"nation": _nation(draw)},
    22: _q22,
}
