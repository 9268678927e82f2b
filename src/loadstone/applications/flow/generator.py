"""Generated decks: a box of layers with random rock, producers and injectors on a lattice."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from loadstone.applications.flow.parameters import FlowParameters
from loadstone.applications.flow.physics import PHYSICS, Box, Physics

CASE = "CASE"
"""Name of a generated deck and of all its output."""
ROCK_FILE = "ROCK.INC"
CELL_M, LAYER_M = 50.0, 10.0
MEAN_POROSITY = 0.2
_LEAST_POROSITY, _MOST_POROSITY = 0.08, 0.35
_LEAST_MD, _MOST_MD = 20.0, 2000.0
_PER_LINE = 8
_DAYS_OF_YEAR = 365.25


@dataclass(frozen=True)
class Well:
    """A vertical well through all layers; `i` and `j` count from 1."""

    name: str
    i: int
    j: int
    injects: bool


def wells_of(parameters: FlowParameters) -> list[Well]:
    """The wells, a producer first: on the corners of the lattice's squares, by turns."""
    side = parameters.lattice
    places = sorted(
        ((column, row) for column in range(side) for row in range(side)),
        key=lambda place: (sum(place) % 2, *place),
    )
    found = []
    for number, (column, row) in enumerate(places[: parameters.wells]):
        injects = number % 2 == 1
        i = 1 + round(column * (parameters.nx - 1) / (side - 1))
        j = 1 + round(row * (parameters.ny - 1) / (side - 1))
        found.append(Well(f"{'I' if injects else 'P'}{number // 2 + 1}", i, j, injects))
    return found


def rock_text(parameters: FlowParameters, seed: int, porosity_factor: float = 1.0) -> str:
    """PORO and PERMX of every cell, drawn with the seed.

    Args:
        parameters: Of the deck.
        seed: The same seed makes the same text.
        porosity_factor: 1.01: the porosity of every cell is 1 % higher than the seed makes it.
    """
    draw = random.Random(seed)
    porosity: list[float] = []
    permeability: list[float] = []
    for _ in range(parameters.layers):
        mean = MEAN_POROSITY + 0.02 * draw.gauss(0.0, 1.0)
        decades = 2.2 + 0.3 * draw.gauss(0.0, 1.0)
        for _ in range(parameters.nx * parameters.ny):
            drawn = mean + 0.02 * draw.gauss(0.0, 1.0)
            porosity.append(min(_MOST_POROSITY, max(_LEAST_POROSITY, drawn)) * porosity_factor)
            millidarcy = 10.0 ** (decades + 0.15 * draw.gauss(0.0, 1.0))
            permeability.append(min(_MOST_MD, max(_LEAST_MD, millidarcy)))
    return _values("PORO", porosity) + _values("PERMX", permeability)


def deck_text(parameters: FlowParameters) -> str:
    """The deck, without its rock."""
    physics = PHYSICS[parameters.physics]
    box = Box(physics.top_m, physics.top_m + LAYER_M * parameters.layers)
    sections = (
        _runspec(parameters, physics),
        _grid(parameters, physics),
        f"PROPS\n{physics.props}",
        f"SOLUTION\n{physics.solution(box)}",
        _SUMMARY,
        _schedule(parameters, physics),
    )
    return "\n".join(sections) + "\nEND\n"


_SUMMARY = """\
SUMMARY
FOPR
FGPR
FOPT
FGPT
FWPT
FWIT
FGIT
FPR
WBHP
/
"""


def _runspec(parameters: FlowParameters, physics: Physics) -> str:
    return "\n".join(
        (
            "RUNSPEC",
            "TITLE",
            f"Generated: {physics.title}",
            f"DIMENS\n{parameters.nx} {parameters.ny} {parameters.layers} /",
            *physics.runspec,
            "METRIC",
            "START\n1 'JAN' 2020 /",
            "EQLDIMS\n/",
            "TABDIMS\n1 1 40 40 /",
            f"WELLDIMS\n{parameters.wells} {parameters.layers} 1 {parameters.wells} /",
            "UNIFOUT",
            "",
        )
    )


def _grid(parameters: FlowParameters, physics: Physics) -> str:
    plane, cells = parameters.nx * parameters.ny, parameters.cells
    return "\n".join(
        (
            "GRID",
            "NOECHO",
            f"DX\n{cells}*{CELL_M} /",
            f"DY\n{cells}*{CELL_M} /",
            f"DZ\n{cells}*{LAYER_M} /",
            f"TOPS\n{plane}*{physics.top_m} /",
            f"INCLUDE\n'{ROCK_FILE}' /",
            "COPY\nPERMX PERMY /\nPERMX PERMZ /\n/",
            "MULTIPLY\nPERMZ 0.1 /\n/",
            "",
        )
    )


def _schedule(parameters: FlowParameters, physics: Physics) -> str:
    wells = wells_of(parameters)
    pores = CELL_M**2 * LAYER_M * MEAN_POROSITY * parameters.cells
    injectors = [well for well in wells if well.injects]
    producers = [well for well in wells if not well.injects]
    produced = pores * physics.produced / _DAYS_OF_YEAR / len(producers)
    injected = pores * physics.injection / _DAYS_OF_YEAR / len(injectors)
    rates = f"{produced:.6g} 4*" if physics.control == "ORAT" else f"2* {produced:.6g} 2*"
    lines = ["SCHEDULE", "RPTRST\nBASIC=2 /", "WELSPECS"]
    phase = "GAS" if physics.control == "GRAT" else "OIL"
    for well in wells:
        preferred = physics.injected if well.injects else phase
        lines.append(f"{well.name} G {well.i} {well.j} 1* {preferred} /")
    lines += ["/", "COMPDAT"]
    lines += [f"{well.name} 2* 1 {parameters.layers} OPEN 2* 0.2 /" for well in wells]
    lines += ["/", "WCONPROD"]
    lines += [
        f"{well.name} OPEN {physics.control} {rates} {physics.least_bar:g} /" for well in producers
    ]
    lines += ["/", "WCONINJE"]
    lines += [
        f"{well.name} {physics.injected} OPEN RATE {injected:.6g} 1* {physics.most_bar:g} /"
        for well in injectors
    ]
    lines.append("/")
    if physics.solvent:
        lines += ["WSOLVENT", *(f"{well.name} 1.0 /" for well in injectors), "/"]
    lines.append(f"TSTEP\n{parameters.report_steps}*{parameters.step_days:g} /")
    return "\n".join(lines)


def _values(name: str, values: list[float]) -> str:
    return "\n".join((name, *_lines(values), "/", ""))


def _lines(values: list[float]) -> Iterator[str]:
    for first in range(0, len(values), _PER_LINE):
        yield " ".join(f"{value:.6g}" for value in values[first : first + _PER_LINE])
