"""No target: for `noop`, whose operations end in the driver."""

from __future__ import annotations

from loadstone.targets.base import Target


class NoTarget(Target):
    """Nothing is started, kept or restored."""

    engine = "none"
