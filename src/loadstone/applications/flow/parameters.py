"""The parameters of `flow`."""

from __future__ import annotations

import math
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from loadstone.applications.flow.tolerances import TOLERANCES
from loadstone.spec.base import Spec

PhysicsName = Literal["blackoil", "wetgas", "solvent", "co2store"]
MOST_CELLS = 5_000_000
"""Of a generated deck: Flow keeps about 3 KB of memory for each cell."""
MOST_TOLERANCE = 0.1


class FlowParameters(Spec):
    """A deck that is generated, or a deck of the user."""

    deck: str | None = Field(
        default=None,
        description="Path of a deck of your own, with the files that it includes below its folder. "
        "None: a deck is generated from the other parameters.",
    )
    physics: PhysicsName = Field(
        default="blackoil",
        description="Of a generated deck: `blackoil` (gas dissolves in oil), `wetgas` (oil "
        "vaporizes in gas), `solvent` (black oil with an injected solvent), `co2store` (CO2 in "
        "brine). There is no equation-of-state model.",
    )
    size: str = Field(
        default="20x20x5",
        pattern=r"^[1-9]\d{0,3}x[1-9]\d{0,3}x[1-9]\d{0,2}$",
        description="Of a generated deck: cells along x and y, of 50 m, and layers, of 10 m.",
    )
    wells: int = Field(
        default=2, ge=2, le=400, description="Producers and injectors, by turns on a lattice."
    )
    report_steps: int = Field(
        default=12, ge=1, le=2000, description="After each, results are kept."
    )
    step_days: float = Field(default=30.0, gt=0, le=3650, description="Days of a report step.")
    fault: Literal["none", "porosity"] = Field(
        default="none",
        description="A planted fault of a generated deck: the jobs compute with a porosity that is "
        "a little off, the reference with the right one. It shows that the check finds it.",
    )

    tolerances: dict[str, float] = Field(
        default_factory=dict,
        description="Of a deck of your own: by vector (`FPR: 1e-3`), how far a result may be from "
        "the serial run, relative to the largest value of the run.",
    )

    @field_validator("tolerances")
    @classmethod
    def _known(cls, given: dict[str, float]) -> dict[str, float]:
        for name, value in given.items():
            if name not in TOLERANCES:
                raise ValueError(f"{name} is none of {', '.join(TOLERANCES)}")
            if not 0 < value <= MOST_TOLERANCE:
                raise ValueError(f"{name}: {value:g} is not above 0 and at most {MOST_TOLERANCE:g}")
        return given

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.deck is None and self.tolerances:
            raise ValueError(
                "tolerances are of a deck of your own: those of generated ones are set"
            )
        if self.deck is not None:
            given = sorted(self.model_fields_set - {"deck", "tolerances"})
            if given:
                raise ValueError(f"{given[0]} is of a generated deck, and deck names one of yours")
            return self
        if self.cells > MOST_CELLS:
            raise ValueError(f"{self.cells} cells are too many: {MOST_CELLS} at most")
        most = min(self.nx, self.ny) ** 2
        if self.wells > most:
            raise ValueError(
                f"{self.wells} wells have no room on {self.nx} x {self.ny} cells: {most} at most"
            )
        return self

    @property
    def nx(self) -> int:
        """Cells along x."""
        return self._cells[0]

    @property
    def ny(self) -> int:
        """Cells along y."""
        return self._cells[1]

    @property
    def layers(self) -> int:
        """Cells along z."""
        return self._cells[2]

    @property
    def cells(self) -> int:
        """Of a generated deck."""
        return math.prod(self._cells)

    @property
    def lattice(self) -> int:
        """Wells along each side of the lattice that they stand on."""
        return max(2, math.isqrt(self.wells - 1) + 1)

    @property
    def _cells(self) -> tuple[int, int, int]:
        nx, ny, layers = (int(each) for each in self.size.split("x"))
        return nx, ny, layers
