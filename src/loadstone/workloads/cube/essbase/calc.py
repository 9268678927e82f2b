"""The calculation scripts of a kit: aggregate, allocate, convert.

Formulas of dense members are worked out in the blocks that are there and make none, so that a cell
whose driver is missing stays missing, and `#Missing` times anything is `#Missing`.
"""

from __future__ import annotations

from collections.abc import Sequence

from loadstone.workloads.cube.cycle import (
    AGGREGATE,
    AGGREGATE_ALLOCATED,
    AGGREGATE_CONVERTED,
    ALLOCATE,
    CONVERT,
    steps_of_cycle,
)
from loadstone.workloads.cube.data.volume import SLICE, YEARS_LOADED
from loadstone.workloads.cube.essbase.settings import SCRIPTS, KitSettings
from loadstone.workloads.cube.outline.accounts import ACCOUNT, ALLOCATED, POOLS, UNITS
from loadstone.workloads.cube.outline.model import Dimension, Outline
from loadstone.workloads.cube.outline.sparse import (
    CONVERTED,
    CORPORATE,
    ENTITY,
    LOADED_PERIODS,
    LOCAL,
    MONTHS,
    NO_PRODUCT,
    PRODUCT,
)
from loadstone.workloads.cube.rates import RATE_KINDS, Rates

_SCENARIO, _VERSION, _ = SLICE


def calc_scripts(outline: Outline, rates: Rates, settings: KitSettings) -> dict[str, str]:
    """The text of each script, by its name without `.csc`."""
    parallel = [f"SET CALCPARALLEL {settings.calc_threads};"]
    texts = {
        AGGREGATE: _script(
            "Step 4: the stored parents of products and entities.",
            [*parallel, *_aggregated([*_years(), *_view(LOCAL)])],
        ),
        ALLOCATE: _script(
            "Step 5: each pool is spent where units are sold, in proportion to them.",
            _allocated(outline[ENTITY], rates, settings.alloc_tasks),
        ),
        AGGREGATE_ALLOCATED: _script(
            "Step 6: the parents of what was allocated.",
            [*parallel, *_aggregated([*_years(), *_view(LOCAL), *map(_quoted, ALLOCATED)])],
        ),
        CONVERT: _script(
            "Step 7, first half: amounts of level 0 in US dollars.",
            [*parallel, *_converted(outline[ENTITY], rates)],
        ),
        AGGREGATE_CONVERTED: _script(
            "Step 7, second half: the parents of what was converted.",
            [*parallel, *_aggregated([*_years(), *_view(CONVERTED)])],
        ),
    }
    steps = steps_of_cycle(hybrid=settings.hybrid)
    return {SCRIPTS[step]: text for step, text in texts.items() if step in steps}


def _script(title: str, lines: Sequence[str]) -> str:
    # Intelligent calculation would leave out blocks that a cycle before marked as clean.
    settings = ["SET UPDATECALC OFF;", "SET AGGMISSG OFF;", "SET MSG SUMMARY;"]
    return "\n".join([f"/* {title} */", *settings, *lines]) + "\n"


def _aggregated(view: Sequence[str]) -> list[str]:
    return _fixed(view, [f"AGG({_quoted(PRODUCT)}, {_quoted(ENTITY)});"])


def _allocated(entities: Dimension, rates: Rates, tasks: int) -> list[str]:
    total = _across(UNITS, ENTITY, PRODUCT)
    formulas = [
        f"{_quoted(share)} = {_across(pool, CORPORATE, NO_PRODUCT)} * {_quoted(UNITS)} / {total};"
        for share, pool in zip(ALLOCATED, POOLS, strict=True)
    ]
    view = [*_years(), *_view(LOCAL), _leaves(PRODUCT), *map(_quoted, MONTHS)]
    codes = rates.currencies
    everywhere = ", ".join(branch for code in codes for branch in _branches(entities, code))
    return _fixed(
        view,
        [f"FIXPARALLEL({tasks}, {everywhere})", *_indented(formulas), "ENDFIXPARALLEL"],
    )


def _converted(entities: Dimension, rates: Rates) -> list[str]:
    """A copy makes the blocks; then each rate multiplies what it is for, in its place.

    Accounts that are no money stay as they are copied, and so do amounts in US dollars, bit by bit.
    """
    branches = {code: _branches(entities, code) for code in rates.currencies}
    everywhere = [branch for code in rates.currencies for branch in branches[code]]
    view = [*_years(), _quoted(_SCENARIO), _quoted(_VERSION), _leaves(PRODUCT), *everywhere]
    copy = [f"DATACOPY {_quoted(LOCAL)} TO {_quoted(CONVERTED)};"]
    lines = ["SET COPYMISSINGBLOCK OFF;", *_fixed(view, copy)]
    for code in rates.currencies:
        if code != CONVERTED:
            view = [*_view(CONVERTED), _leaves(PRODUCT), *branches[code]]
            lines += [f"/* {code} */", *_fixed(view, _multiplied(code, rates))]
    return lines


def _multiplied(currency: str, rates: Rates) -> list[str]:
    lines: list[str] = []
    for year in YEARS_LOADED:
        for kind in RATE_KINDS:
            # Totals have the attribute of their leaves, and no formula may be for a dynamic one.
            accounts = (
                f'@UDA({_quoted(ACCOUNT)}, "Rate:{kind}") AND @LEVMBRS({_quoted(ACCOUNT)}, 0)'
            )
            factors = zip(LOADED_PERIODS, rates.of(currency, kind, year), strict=True)
            lines += _fixed(
                [_quoted(year), accounts],
                [f"{_quoted(own)} = {_quoted(own)} * {float(factor)};" for own, factor in factors],
            )
    return lines


def _branches(entities: Dimension, currency: str) -> list[str]:
    """Lists of all stored entities of level 0 with a currency, each of as large a branch as can be.

    The other roll-up is none of them: its shared members would be worked on a second time.
    """
    leaves = entities.leaves()

    def found(number: int) -> list[str]:
        last = int(entities.last[number])
        kinds = {entities.members[own].currency for own in leaves if number <= own <= last}
        if kinds == {currency}:
            name = entities.members[number].name
            return [_leaves(name) if entities.children[number] else _quoted(name)]
        if currency not in kinds:
            return []
        return [branch for child in entities.children[number] for branch in found(child)]

    return found(0)


def _fixed(view: Sequence[str], lines: Sequence[str]) -> list[str]:
    return [f"FIX({', '.join(view)})", *_indented(lines), "ENDFIX"]


def _years() -> list[str]:
    return [_quoted(year) for year in YEARS_LOADED]


def _view(currency: str) -> list[str]:
    return [_quoted(_SCENARIO), _quoted(_VERSION), _quoted(currency)]


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _quoted(name: str) -> str:
    return f'"{name}"'


def _leaves(name: str) -> str:
    return f"@RELATIVE({_quoted(name)}, 0)"


def _across(*names: str) -> str:
    return "->".join(map(_quoted, names))
