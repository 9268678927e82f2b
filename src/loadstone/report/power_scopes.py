"""At which scope the power of results was measured: figures of different scopes are never compared.

The wall sees the losses of the supply, fans and disks; a package sees itself alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loadstone.report.reading import RecordedTrial
from loadstone.results.graduated import IDLE_WATTS, OVERALL, PEAK_WATTS, PROPORTIONALITY
from loadstone.results.power import WATTS, PowerRecord, main_of

_OF_POWER = frozenset({WATTS, OVERALL, PEAK_WATTS, IDLE_WATTS, PROPORTIONALITY})
_PER_WATT, _PER_JOULE = "_per_watt", "joules_per_"


def is_of_power(metric: str) -> bool:
    """Whether a figure follows from the experiment's meter.

    Args:
        metric: Its name; of a measured phase the phase's name stands before it.
    """
    name = metric.rpartition(" ")[2]
    return name in _OF_POWER or name.endswith(_PER_WATT) or name.startswith(_PER_JOULE)


def scopes_of(trials: Sequence[RecordedTrial]) -> list[str]:
    """The scopes of the experiment's meter, in order of the alphabet; none without a meter."""
    return sorted({record.scope for trial in trials for record in _main(trial)})


def why_apart(baseline: Sequence[RecordedTrial], candidate: Sequence[RecordedTrial]) -> str:
    """Why the power of two results cannot be compared; empty if it can, or one has none."""
    ours, theirs = scopes_of(baseline), scopes_of(candidate)
    if not ours or not theirs or (ours == theirs and len(ours) == 1):
        return ""
    return (
        f"power of one scope is not that of another: {' and '.join(ours)} against "
        f"{' and '.join(theirs)}"
    )


def meters_of(trials: Sequence[RecordedTrial]) -> list[str]:
    """Every meter that gave figures, with its scope and what marks them, the main one first."""
    found: dict[str, None] = {}
    records = [record for trial in trials for record in trial.result.power]
    for record in sorted(records, key=lambda each: not each.main):
        mark = f", {record.mark}" if record.mark else ""
        found[f"{record.meter} ({record.kind}, {record.scope}{mark})"] = None
    return list(found)


def _main(trial: RecordedTrial) -> Iterator[PowerRecord]:
    for records in (trial.result.power, *(phase.power for phase in trial.result.measured)):
        record = main_of(records)
        if record is not None:
            yield record
