"""How many processors a trial had, and how busy they were while load was measured."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median

import pyarrow as pa
import pyarrow.compute as pc

from loadstone.host.cpulist import parse
from loadstone.load.totals import MEASURE
from loadstone.report.probe_series import HOST_PROBE, read_samples
from loadstone.report.reading import RecordedTrial
from loadstone.results.columns import texts
from loadstone.results.record import PhaseTiming
from loadstone.results.samples import SAMPLES_TABLE
from loadstone.results.usage import PartUsage

FULL_PERCENT = 95.0
"""Of the processors of a machine: busier than this, it is the limit itself."""
_NOT_BUSY = ("cpu_idle_percent", "cpu_iowait_percent")


def host_cpu_percent(trials: Sequence[RecordedTrial]) -> float | None:
    """How busy this machine was under the measured load, whoever used it.

    Args:
        trials: Of one configuration, whose figures count.

    Returns:
        The median of the trials, in percent of all its processors; None if none was sampled.
    """
    each = (
        busy_percent(read_samples(trial.path / SAMPLES_TABLE), trial.result.phases)
        for trial in trials
    )
    found = [percent for percent in each if percent is not None]
    return median(found) if found else None


def busy_percent(samples: pa.Table | None, phases: Sequence[PhaseTiming]) -> float | None:
    """The share of the processors' time that was neither idle nor spent waiting for a disk.

    Args:
        samples: Of the probes: `t_s`, `probe`, `metric`, `value`.
        phases: As the trial ran; those that are measured count.

    Returns:
        The mean in percent; None if there is no sample of it in a measured phase.
    """
    if samples is None:
        return None
    chosen = samples.filter(
        pc.and_(
            pc.equal(samples["probe"], HOST_PROBE),
            pc.is_in(samples["metric"], value_set=texts(_NOT_BUSY)),
        )
    )
    spans = [(phase.from_s, phase.to_s) for phase in phases if phase.kind == MEASURE]
    unused: dict[float, float] = {}
    for row in chosen.to_pylist():
        if any(from_s <= row["t_s"] <= to_s for from_s, to_s in spans):
            unused[row["t_s"]] = unused.get(row["t_s"], 0.0) + row["value"]
    return 100.0 - fmean(unused.values()) if unused else None


def processors_of(trial: RecordedTrial, usage: PartUsage) -> float | None:
    """The processors that a part may use.

    Args:
        trial: Says how its processes were started, and what the machine has.
        usage: Of the part.

    Returns:
        The least of its quota, its list of processors and those of the machine; None if nothing is
        known of any.
    """
    target = trial.plan.target
    part = target.parts.get(usage.name.partition(".")[0])
    pinned = (part.process.cpus if part is not None else None) or target.process.cpus
    bounds = [
        usage.quota,
        None if pinned is None else float(len(parse(pinned))),
        *_of_machine(trial),
    ]
    found = [bound for bound in bounds if bound is not None]
    return min(found) if found else None


def _of_machine(trial: RecordedTrial) -> list[float]:
    """What a process may use at most there: by its mask, and by the control group around it."""
    host = trial.inventory.get("host", {})
    told = []
    for section, name in (("limits", "cpus_allowed"), ("cgroup", "cpus")):
        values = host.get(section)
        if isinstance(values, dict) and name in values:
            told.append(float(values[name]))
    return told
