"""Exchange rates are exact in binary, near the real ones, and move a little."""

from dataclasses import replace

import numpy as np
import pytest

from loadstone.workloads.cube.outline.model import Outline
from loadstone.workloads.cube.outline.outline import outline_of
from loadstone.workloads.cube.outline.sparse import ENTITY, LOADED_PERIODS, REGIONS
from loadstone.workloads.cube.rates import RATE_KINDS, UNITS_PER_1, Rates, rates_of

USUAL = {"EUR": 1.1, "BRL": 0.2, "PLN": 0.25, "AED": 0.27, "CNY": 0.14, "JPY": 1 / 128}


@pytest.fixture(scope="module")
def outline() -> Outline:
    return outline_of(42)


@pytest.fixture(scope="module", params=[0, 42, 2**63])
def rates(request: pytest.FixtureRequest, outline: Outline) -> Rates:
    return rates_of(outline, request.param)


def test_each_currency_has_both_rates_of_all_loaded_periods_of_five_years(rates: Rates) -> None:
    assert set(rates.currencies) == {currency for _, currency in REGIONS}
    assert rates.years == ("FY14", "FY15", "FY16", "FY17", "FY18")
    assert rates.values.shape == (7, len(RATE_KINDS), 5, len(LOADED_PERIODS)) == (7, 2, 5, 13)


def test_a_rate_is_a_whole_multiple_of_a_power_of_two(rates: Rates) -> None:
    units = rates.values * UNITS_PER_1
    assert np.array_equal(units, np.rint(units))
    assert units.min() >= 1
    # A hundred million, the largest amount of a cell by far, is converted without a rounding.
    assert np.array_equal((10**8 - 1) * rates.values * UNITS_PER_1, (10**8 - 1) * np.rint(units))


def test_rates_are_near_the_usual_ones_and_a_dollar_is_a_dollar(rates: Rates) -> None:
    for currency, own in zip(rates.currencies, rates.values, strict=True):
        if currency == "USD":
            assert np.all(own == 1.0)
        else:
            # JPY is 8 units of 1/1024: a unit is an eighth of it.
            slack = 1.5 / UNITS_PER_1
            assert np.all(np.abs(own - USUAL[currency]) <= 0.15 * USUAL[currency] + slack)


def test_a_rate_moves_a_little_and_its_average_is_never_its_ending(rates: Rates) -> None:
    average, ending = rates.values[:, 0], rates.values[:, 1]
    for place, currency in enumerate(rates.currencies):
        if currency == "USD":
            continue
        assert np.all(average[place] != ending[place])
        for own in (average[place], ending[place]):
            moves = np.abs(np.diff(own, axis=1))
            assert np.all(moves <= 0.1 * USUAL[currency] + 3 / UNITS_PER_1)
        assert len(np.unique(ending[place])) > 1


def test_a_year_opens_with_the_rate_that_the_last_one_ended_with(rates: Rates) -> None:
    ending = rates.values[:, 1]
    assert np.array_equal(ending[:, 1:, 0], ending[:, :-1, -1])


def test_a_seed_draws_the_same_rates_again(outline: Outline) -> None:
    one, again, other = rates_of(outline, 7), rates_of(outline, 7), rates_of(outline, 8)
    assert np.array_equal(one.values, again.values)
    assert not np.array_equal(one.values, other.values)
    place = one.currencies.index("EUR"), 1, 3
    assert np.array_equal(one.of("EUR", "ending", "FY17"), one.values[place])
    with pytest.raises(ValueError, match="not in tuple"):
        one.of("CHF", "ending", "FY17")


def test_a_currency_without_a_usual_rate_is_refused(outline: Outline) -> None:
    own = outline[ENTITY]
    members = tuple(replace(member, currency="CHF") for member in own.members)
    with pytest.raises(ValueError, match="no usual rate is known of CHF"):
        rates_of(outline.with_dimension(replace(own, members=members)), 42)
