"""The design `graduate`: one configuration, under load at 100 %, 90 % ... 10 % and active idle."""

from __future__ import annotations

from typing import ClassVar

from loadstone.experiments.designs.run import Run
from loadstone.spec.model import Experiment


class Graduate(Run):
    """As `run`: the levels are those of the profile, which other designs can have too."""

    kind: ClassVar[str] = "graduate"
    about: ClassVar[str] = (
        "one configuration at 100 %, 90 % ... 10 % of its load, and at active idle"
    )

    def first_block(self, experiment: Experiment) -> int:
        """The first."""
        return 1
