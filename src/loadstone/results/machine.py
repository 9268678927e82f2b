"""Did the machine itself move around a trial? Its own speed, against what is usual."""

from __future__ import annotations

from collections.abc import Sequence

from loadstone.results.machine_state import DriftRecord
from loadstone.results.statistics import moved_percent

Speed = dict[str, float]
"""Figures of the machine's own speed, by name: times, so that more is slower."""


def drift_record(own: Sequence[Speed], speeds: Sequence[Speed]) -> DriftRecord | None:
    """How the machine stood before and after a trial, for the record.

    Args:
        own: Before the load and after it.
        speeds: All that tell what is usual, these two among them.

    Returns:
        None of a trial that did not come to its end.

    Raises:
        ValueError: A figure that is not finite and above 0.
    """
    if len(own) < 2:
        return None
    # fsync on virtual disks has two speeds (see method.md): the disk's move would tell of that.
    figures = [_without_disk(speed) for speed in speeds]
    moved = moved_percent([_without_disk(speed) for speed in own], figures)
    return DriftRecord(before=own[0], after=own[1], moved_percent=moved)


def _without_disk(speed: Speed) -> Speed:
    return {name: figure for name, figure in speed.items() if not name.startswith("disk")}
