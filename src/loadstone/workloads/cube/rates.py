"""The exchange rates of the planning cube, drawn by seed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from loadstone.workloads.cube.outline.model import Outline
from loadstone.workloads.cube.outline.sparse import CONVERTED, ENTITY, LOADED_PERIODS, MONTHS, YEARS

RateKind = Literal["average", "ending"]
"""By the average of a period, or by the rate at its end."""
RATE_KINDS: tuple[RateKind, ...] = get_args(RateKind)
UNITS_PER_1 = 1024
"""A rate is a whole number of parts of so many: whole amounts times a rate are exact in binary."""
_USUAL = {"EUR": 1.1, "BRL": 0.2, "PLN": 0.25, "AED": 0.27, "CNY": 0.14, "JPY": 1 / 128}
"""US dollars for one."""
_BAND = 0.15
"""How far a rate may go from the usual one."""
_MONTHLY, _RETURN = 0.02, 0.1
"""Standard deviation of a month's move, and the share of its distance that a rate comes back."""


@dataclass(frozen=True)
class Rates:
    """US dollars for one of each currency."""

    currencies: tuple[str, ...]
    years: tuple[str, ...]
    values: NDArray[np.float64]
    """Whole multiples of 1/1024. Shape (currencies, kinds, years, loaded periods): kinds are those
    of `RATE_KINDS`, periods the opening balance and 12 months."""

    def of(self, currency: str, kind: RateKind, year: str) -> NDArray[np.float64]:
        """The rates of a year's loaded periods. Shape (13,).

        Raises:
            ValueError: If there are none of that currency or year.
        """
        place = self.currencies.index(currency), RATE_KINDS.index(kind), self.years.index(year)
        found: NDArray[np.float64] = self.values[place]
        return found


def rates_of(outline: Outline, seed: int) -> Rates:
    """The rates of all currencies of an outline, for all its years.

    A rate moves a little from month to month. The opening balance of a year has the rate at the end
    of the year before. The average of a period is never its ending rate, except of US dollars, both
    of which are always 1: a conversion that takes one for the other is found out.

    Args:
        outline: Its entities have a currency each.
        seed: Of the draws.

    Raises:
        ValueError: If an entity has a currency of which no usual rate is known.
    """
    codes = tuple(dict.fromkeys(own.currency for own in outline[ENTITY].members if own.currency))
    unknown = sorted(set(codes) - _USUAL.keys() - {CONVERTED})
    if unknown:
        raise ValueError(f"no usual rate is known of {unknown[0]}")
    years = tuple(outline[YEARS].members[number].name for number in outline[YEARS].leaves())
    draw = np.random.default_rng(np.random.SeedSequence([seed, 5]))
    values = np.ones((len(codes), len(RATE_KINDS), len(years), len(LOADED_PERIODS)))
    for place, code in enumerate(codes):
        if code != CONVERTED:
            values[place] = _drawn(_USUAL[code], len(years), draw) / UNITS_PER_1
    return Rates(codes, years, values)


def _drawn(usual: float, years: int, draw: np.random.Generator) -> NDArray[np.int64]:
    """Rates in units of 1/1024. Shape (kinds, years, 13)."""
    months = years * len(MONTHS) + 2
    path = np.empty(months)
    away = 0.0
    for month, move in enumerate(draw.normal(0.0, _MONTHLY, months)):
        away = float(np.clip((1.0 - _RETURN) * away + move, -_BAND, _BAND))
        path[month] = away
    level = usual * UNITS_PER_1 * (1.0 + path)
    ending = np.rint(level[1:]).astype(np.int64)
    middle = np.array([(before + after) / 2 for before, after in pairwise(level)])
    average = np.rint(middle).astype(np.int64)
    towards = np.where(middle < ending, -1, 1)
    average = np.where(average == ending, ending + towards, average)
    first = np.arange(years)[:, None] * len(MONTHS)
    periods = first + np.arange(len(LOADED_PERIODS))
    found: NDArray[np.int64] = np.stack([average[periods], ending[periods]])
    return found
