"""Did the machine itself move around a trial? Its own speed, against what is usual."""

from __future__ import annotations

from collections.abc import Sequence

from loadstone.results.record import DriftRecord
from loadstone.results.statistics import drift, usual

Speed = dict[str, float]
"""Figures of the machine's own speed, by name: times, so that more is slower."""

PROBES_FOR_DRIFT = 6
"""Fewer measurements of the machine's speed (three trials) do not show what is usual."""


def drift_record(own: Sequence[Speed], speeds: Sequence[Speed], limit: float) -> DriftRecord | None:
    """Whether the machine moved between its speeds before and after a trial.

    Args:
        own: Before the load and after it.
        speeds: All that tell what is usual, these two among them.
        limit: Percent by which it may move.

    Returns:
        None of a trial that did not come to its end.

    Raises:
        ValueError: A figure that is not finite and above 0.
    """
    if len(own) < 2:
        return None
    before, after = own
    # The disk is reported, not judged: fsync on virtual disks has two speeds (see method.md).
    found = drift(_without_disk(before), _without_disk(after), usual(speeds), limit)
    return DriftRecord(
        before=before,
        after=after,
        moved_percent=found.worst_percent,
        disturbed=found.disturbed and len(speeds) >= PROBES_FOR_DRIFT,
    )


def _without_disk(speed: Speed) -> Speed:
    return {name: figure for name, figure in speed.items() if not name.startswith("disk")}
