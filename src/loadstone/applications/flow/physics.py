"""The fluids of generated decks, in metric units: bar, Sm3, rm3, cP, kg/m3.

The oil is that of the first SPE comparative solution project (A. S. Odeh, "Comparison of Solutions
to a Three-Dimensional Black-Oil Reservoir Simulation Problem", JPT, January 1981, table 2). The wet
gas, the solvent and all relative permeabilities (Corey curves) are made up for this purpose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from loadstone.applications.flow.tolerances import OF_CO2, TOLERANCES

Row = Sequence[float]

SWC, SORW, SORG, SGC = 0.15, 0.2, 0.1, 0.05
"""Connate water; residual oil to water and to gas; critical gas."""
_POINTS = 20


@dataclass(frozen=True)
class Box:
    """Where the reservoir lies, in m."""

    top: float
    bottom: float


@dataclass(frozen=True)
class Physics:
    """What a deck of this kind has that others have not."""

    title: str
    runspec: tuple[str, ...]
    props: str
    solution: Callable[[Box], str]
    injected: str
    """Phase of the injectors."""
    control: str
    """Of the producers: `ORAT` or `GRAT`."""
    produced: float
    """Surface volume a year for each volume of pores, of all producers together."""
    injection: float
    """The same of all injectors."""
    least_bar: float
    """Bottom-hole pressure below which a producer does not go."""
    most_bar: float
    top_m: float
    solvent: bool = False
    tolerances: tuple[tuple[str, float], ...] = tuple(TOLERANCES.items())
    """Of its results, by vector."""


def keyword(name: str, rows: Iterable[Row]) -> str:
    """A keyword with one table."""
    lines = (" ".join(f"{value:.7g}" for value in row) for row in rows)
    return name + "\n" + "\n".join(lines) + " /\n"


def _steps(least: float, most: float) -> list[float]:
    return [least + (most - least) * step / _POINTS for step in range(_POINTS + 1)]


def _corey(saturation: float, residual: float, span: float, end: float = 1.0) -> float:
    """Corey's relative permeability with the exponent 2, at most 1."""
    return min(1.0, end * (max(0.0, saturation - residual) / span) ** 2)


def _relative_permeability() -> str:
    """Of water, gas and oil: SWFN, SGFN, SOF3."""
    oil = 1.0 - SWC
    water = [(s, _corey(s, SWC, oil - SORW, 0.6), 0.0) for s in _steps(SWC, 1.0)]
    gas = [(s, _corey(s, SGC, oil - SGC, 0.9), 0.0) for s in _steps(0.0, oil)]
    both = [(s, _corey(s, SORW, oil - SORW), _corey(s, SORG, oil - SORG)) for s in _steps(0.0, oil)]
    return keyword("SWFN", water) + keyword("SGFN", gas) + keyword("SOF3", both)


_WATER = keyword("PVTW", [(277.0, 1.038, 4.67e-5, 0.318, 0.0)])
_ROCK = keyword("ROCK", [(277.0, 4.35e-5)])
_GAS_ROWS = (
    *((1.01, 0.936, 0.0080), (18.25, 0.0679, 0.0096), (35.5, 0.0352, 0.0112)),
    *((69.96, 0.01795, 0.0140), (138.9, 0.009062, 0.0189), (173.4, 0.007265, 0.0208)),
    *((207.9, 0.006064, 0.0228), (276.8, 0.004553, 0.0268), (345.8, 0.003644, 0.0309)),
    (621.5, 0.002167, 0.0470),
)
"""Pressure, formation volume factor, viscosity of the dry gas."""
_LIVE_OIL = """\
PVTO
0.178 1.01 1.062 1.040 /
16.12 18.25 1.150 0.975 /
32.06 35.5 1.207 0.910 /
66.08 69.96 1.295 0.830 /
113.3 138.9 1.435 0.695 /
138.0 173.4 1.500 0.641 /
165.6 207.9 1.565 0.594 /
226.2 276.8 1.695 0.510
      621.5 1.579 0.740 /
288.2 345.8 1.827 0.449
      621.5 1.737 0.631 /
/
"""
_RS_INITIAL = 200.0
_BLACK_OIL = (
    _relative_permeability()
    + keyword("DENSITY", [(859.5, 1033.0, 0.854)])
    + _WATER
    + _ROCK
    + keyword("PVDG", _GAS_ROWS)
    + _LIVE_OIL
)
_SOLVENT = (
    _BLACK_OIL
    + keyword("SDENSITY", [(1.87,)])
    + keyword("PVDS", [(p, 0.7 * volume, 1.8 * mu) for p, volume, mu in _GAS_ROWS])
    + keyword("SSFN", [(0.0, 0.0, 0.0), (1.0, 1.0, 1.0)])
)
_WET_GAS = (
    _relative_permeability()
    + keyword("DENSITY", [(760.0, 1033.0, 0.9)])
    + _WATER
    + _ROCK
    + keyword("PVDO", [(50, 1.10, 0.60), (150, 1.08, 0.63), (250, 1.06, 0.66), (500, 1.02, 0.72)])
    + """\
PVTG
 50 3.0e-5 0.02450 0.0130
    0.0    0.02460 0.0129 /
100 5.0e-5 0.01180 0.0150
    0.0    0.01190 0.0148 /
150 9.0e-5 0.00780 0.0180
    0.0    0.00785 0.0172 /
200 1.6e-4 0.00600 0.0215
    0.0    0.00605 0.0195 /
250 2.6e-4 0.00500 0.0255
    0.0    0.00510 0.0220 /
300 3.6e-4 0.00450 0.0300
    0.0    0.00455 0.0245 /
500 5.0e-4 0.00350 0.0400
    0.0    0.00355 0.0310 /
/
"""
)
_RV_INITIAL = 2.0e-4
_BRINE = (
    _ROCK
    + keyword("SALINITY", [(0.7,)])
    + keyword(
        "SGOF",
        [
            (s, _corey(s, 0.02, 0.98), _corey(1.0 - s, SORW, 1.0 - SORW), 0.0)
            for s in _steps(0.0, 1.0)
        ],
    )
)


def _oil_column(box: Box) -> str:
    """Oil from top to bottom: contacts above and below."""
    depths = (box.top - 100.0, box.bottom + 100.0)
    equil = f"EQUIL\n{box.top} 300 {depths[1]} 0 {depths[0]} 0 1 0 0 /\n"
    return equil + keyword("RSVD", [(depth, _RS_INITIAL) for depth in depths])


def _gas_column(box: Box) -> str:
    """Gas from top to bottom: both contacts below."""
    depths = (box.top - 100.0, box.bottom + 100.0)
    equil = f"EQUIL\n{box.top} 260 {depths[1]} 0 {depths[1]} 0 0 1 0 /\n"
    return equil + keyword("RVVD", [(depth, _RV_INITIAL) for depth in depths])


def _brine_column(box: Box) -> str:
    """Brine, which takes the place of oil, from top to bottom."""
    depths = (box.top - 100.0, box.bottom + 100.0)
    equil = f"EQUIL\n{box.top} 150 {depths[1]} 0 {depths[0]} 0 1 1 0 /\n"
    temperature = keyword("RTEMPVD", [(depth, 50.0) for depth in depths])
    return equil + temperature + keyword("RSVD", [(depth, 0.0) for depth in depths])


PHYSICS: Mapping[str, Physics] = {
    "blackoil": Physics(
        title="black oil: oil, water, gas that dissolves in oil",
        runspec=("OIL", "GAS", "WATER", "DISGAS"),
        props=_BLACK_OIL,
        solution=_oil_column,
        injected="WATER",
        control="ORAT",
        produced=0.10 / 1.6,
        injection=0.05 / 1.04,
        least_bar=180.0,
        most_bar=400.0,
        top_m=2500.0,
    ),
    "wetgas": Physics(
        title="wet gas: gas, water, oil that vaporizes in gas",
        runspec=("OIL", "GAS", "WATER", "VAPOIL"),
        props=_WET_GAS,
        solution=_gas_column,
        injected="GAS",
        control="GRAT",
        produced=0.15 / 0.005,
        injection=0.05 / 0.005,
        least_bar=120.0,
        most_bar=350.0,
        top_m=2500.0,
    ),
    "solvent": Physics(
        title="black oil with an injected solvent",
        runspec=("OIL", "GAS", "WATER", "DISGAS", "SOLVENT"),
        props=_SOLVENT,
        solution=_oil_column,
        injected="GAS",
        control="ORAT",
        produced=0.08 / 1.6,
        injection=0.06 / 0.0031,
        least_bar=180.0,
        most_bar=400.0,
        top_m=2500.0,
        solvent=True,
    ),
    "co2store": Physics(
        title="CO2 storage in brine",
        runspec=("OIL", "GAS", "DISGAS", "CO2STORE"),
        props=_BRINE,
        solution=_brine_column,
        injected="GAS",
        control="ORAT",
        produced=0.008,
        injection=0.004 / 0.0031,
        least_bar=50.0,
        most_bar=250.0,
        top_m=1500.0,
        tolerances=tuple(OF_CO2.items()),
    ),
}
"""By name. A year's production is about a tenth of the pores (CO2: a hundredth), and less is
injected: the pressure falls, and by how much depends on the porosity."""
