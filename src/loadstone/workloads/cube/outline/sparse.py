"""The large sparse dimensions, whose fan-out is skewed as in real ones, and the small ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from loadstone.workloads.cube.outline.model import Dimension, DimensionBuilder, Member

ENTITY, PRODUCT, PERIOD = "Entity", "Product", "Period"
YEARS, SCENARIO, VERSION, CURRENCY = "Years", "Scenario", "Version", "Currency"
NO_ENTITY, CORPORATE, NO_PRODUCT = "NoEntity", "Corporate", "NoProduct"
LOCAL, CONVERTED = "Local", "USD"
OPENING = "BegBalance"
"""The period before the first month."""
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
LOADED_PERIODS = (OPENING, *MONTHS)
QUARTERS, YEAR_TOTAL = ("Q1", "Q2", "Q3", "Q4"), "YearTotal"
REGIONS = (
    ("NorthAmerica", "USD"),
    ("LatinAmerica", "BRL"),
    ("WesternEurope", "EUR"),
    ("EasternEurope", "PLN"),
    ("MiddleEast", "AED"),
    ("AsiaPacific", "CNY"),
    ("Japan", "JPY"),
)
"""With the currency in which their entities keep their books."""
_COUNTRIES, _OFFICES, _DEPARTMENTS = 50, 400, 8249
_LINES, _FAMILIES, _BRANDS, _ARTICLES = 9, 72, 520, 8036
_MANAGERS = 7
_SKEW = 0.8
"""Standard deviation of the logarithm of the fan-out."""


def entities(draw: np.random.Generator) -> Dimension:
    """8,767 members, 8,709 of them stored in five generations; the rest are another roll-up."""
    builder = DimensionBuilder(Member(ENTITY, None))
    offices_of = _fan_out(draw, _COUNTRIES, _OFFICES)
    departments_of = _fan_out(draw, _OFFICES, _DEPARTMENTS)
    countries: list[str] = []
    office = department = 0
    for (region, currency), many in zip(
        REGIONS, _fan_out(draw, len(REGIONS), _COUNTRIES), strict=True
    ):
        upper = builder.add(0, Member(region, 0, currency=currency))
        for _ in range(many):
            countries.append(f"Country_{len(countries) + 1:02d}")
            country = builder.add(upper, Member(countries[-1], 0, currency=currency))
            for _ in range(offices_of[len(countries) - 1]):
                below = departments_of[office]
                office += 1
                name = f"Office_{office:03d}"
                lower = builder.add(country, Member(name, 0, currency=currency))
                names = [f"Dept_{department + nth:04d}" for nth in range(1, below + 1)]
                department += below
                builder.add_leaves(lower, [Member(own, 0, currency=currency) for own in names])
    for name in (NO_ENTITY, CORPORATE):
        builder.add(0, Member(name, 0, currency=CONVERTED))
    _add_managers(builder, countries, draw)
    return builder.finished(ENTITY, dense=False)


def _add_managers(
    builder: DimensionBuilder, countries: list[str], draw: np.random.Generator
) -> None:
    """Another roll-up of the countries: each is shared by one manager, in any order."""
    top = builder.add(0, Member("ByManager", 0, "label-only", "~"))
    places = iter(draw.permutation(len(countries)))
    for number, many in enumerate(_fan_out(draw, _MANAGERS, len(countries)), start=1):
        manager = builder.add(top, Member(f"Manager_{number}", 0, "dynamic"))
        shared = [Member(countries[next(places)], 0, "shared") for _ in range(many)]
        builder.add_leaves(manager, shared)


def products(draw: np.random.Generator) -> Dimension:
    """8,639 members, all stored, in five generations."""
    builder = DimensionBuilder(Member(PRODUCT, None))
    brands_of = _fan_out(draw, _FAMILIES, _BRANDS)
    articles_of = _fan_out(draw, _BRANDS, _ARTICLES)
    family = brand = article = 0
    for line, many in enumerate(_fan_out(draw, _LINES, _FAMILIES), start=1):
        upper = builder.add(0, Member(f"Line_{line}", 0))
        for _ in range(many):
            family += 1
            middle = builder.add(upper, Member(f"Family_{family:02d}", 0))
            for _ in range(brands_of[family - 1]):
                below = articles_of[brand]
                brand += 1
                lower = builder.add(middle, Member(f"Brand_{brand:03d}", 0))
                names = [f"Article_{article + nth:04d}" for nth in range(1, below + 1)]
                article += below
                builder.add_leaves(lower, [Member(own, 0) for own in names])
    builder.add(0, Member(NO_PRODUCT, 0))
    return builder.finished(PRODUCT, dense=False)


def periods() -> Dimension:
    """19 members; quarters and the year are made when they are asked for."""
    builder = DimensionBuilder(Member(PERIOD, None))
    builder.add(0, Member(OPENING, 0, consolidation="~"))
    year = builder.add(0, Member(YEAR_TOTAL, 0, "dynamic"))
    for number, quarter in enumerate(QUARTERS):
        upper = builder.add(year, Member(quarter, 0, "dynamic"))
        builder.add_leaves(upper, [Member(own, 0) for own in MONTHS[3 * number : 3 * number + 3]])
    return builder.finished(PERIOD, dense=True)


def small(name: str, *members: str) -> Dimension:
    """A sparse dimension whose members do not add up to anything."""
    builder = DimensionBuilder(Member(name, None))
    builder.add_leaves(0, [Member(own, 0, consolidation="~") for own in members])
    return builder.finished(name, dense=False)


def _fan_out(draw: np.random.Generator, parents: int, children: int) -> NDArray[np.int64]:
    """Children of each parent: one at least, the others by weights that spread lognormally."""
    weights = draw.lognormal(sigma=_SKEW, size=parents)
    return 1 + draw.multinomial(children - parents, weights / weights.sum())
