"""What limited the system of a trial: what the probes saw, beside what the load itself tells."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from loadstone.experiments.outcome import TrialOutcome
from loadstone.load.process_figures import generator_processes
from loadstone.load.totals import LoadTotals, add_up
from loadstone.protocol.frames import Tick
from loadstone.results import limits
from loadstone.results.record import NO_MORE_SESSIONS
from loadstone.results.usage import ResourceUse
from loadstone.targets.registry import target_for

_SHARE_TOLD = 0.05
"""Of the processors of the machine: who used less of them is not named."""


def phase_limits(outcome: TrialOutcome, phase: str | None = None) -> list[ResourceUse]:
    """What was looked at over a measured phase, the likeliest limit first.

    Args:
        outcome: Of the trial, which has ended.
        phase: None: the only one. Several have loads of their own, and nothing of them together.
    """
    log = outcome.load.log
    phases = log.measured_phases(phase)
    if len(phases) != 1:
        return _refused(outcome) if phase is None else []
    (only,) = phases
    span, ticks = (only.from_s, only.to_s), log.measured_ticks(phase)
    return limits_between(outcome, span, ticks, processors_of(outcome, phase))


def processors_of(outcome: TrialOutcome, phase: str | None = None) -> dict[str, float]:
    """Processors that the parts of the system used on average, or the server without parts."""
    parts = outcome.load.watched.parts.get(phase, [])
    if parts:
        return {each.name: each.cpu_percent / 100.0 for each in parts if "." not in each.name}
    measured = outcome.load.measured(phase)
    if measured is None or measured.server_cpu_s is None or measured.duration_s <= 0:
        return {}
    return {"the server": measured.server_cpu_s / measured.duration_s}


def limits_between(
    outcome: TrialOutcome,
    span: tuple[float, float],
    ticks: Sequence[Tick],
    processors: Mapping[str, float] = MappingProxyType({}),
) -> list[ResourceUse]:
    """What was looked at over a stretch of the load, the likeliest limit first.

    Args:
        outcome: Of the trial.
        span: Begin and end on the trial's clock.
        ticks: Of the load in it.
        processors: That each part of the system used in it, where that is known.
    """
    from_s, to_s = span
    if not ticks or to_s <= from_s:
        return _refused(outcome)
    load = add_up(ticks)
    found = [*_refused(outcome), *outcome.load.watched.uses(from_s, to_s)]
    used = {"the load generator": load.generator_cpu_s / (to_s - from_s), **processors}
    found = [_with_users(use, used) for use in found]
    if not outcome.workload.judges_generator:
        found += _generator(outcome, load, ticks, to_s - from_s)
    known = target_for(outcome.plan.target).exhaustions(outcome.plan.target)
    return limits.in_order([*found, *_failed(load, known)])


def _refused(outcome: TrialOutcome) -> list[ResourceUse]:
    """A trial that ended because no more sessions were let in has no other limit."""
    if outcome.failure is None or outcome.failure.code != NO_MORE_SESSIONS:
        return []
    return [limits.use_of(limits.SESSIONS, 1.0, "the server let no more sessions of the load in")]


def _generator(
    outcome: TrialOutcome, load: LoadTotals, ticks: Sequence[Tick], length_s: float
) -> list[ResourceUse]:
    hello = outcome.load.log.hello
    if hello is None:
        return []
    threads = max(1, hello.threads)
    share = load.generator_cpu_s / (length_s * threads)
    busiest = [each.cpu_share for each in generator_processes(hello, ticks, length_s)]
    used = max(busiest, default=share)
    who = "the busiest of its processes" if busiest else "it"
    evidence = (
        f"{who} used {used:.0%} of one processor for each of its worker threads"
        if busiest
        else f"it used {load.generator_cpu_s / length_s:.2f} of the {threads} "
        f"processor{'' if threads == 1 else 's'} that its worker threads can use"
    )
    return [limits.use_of(limits.GENERATOR, used, evidence)]


def _failed(load: LoadTotals, known: Mapping[str, str]) -> list[ResourceUse]:
    """What ran out, by the operations that failed for it; what never did counts as looked at."""
    ended = load.count + load.errors
    found = []
    for resource in dict.fromkeys(known.values()):
        names = [name for name, each in known.items() if each == resource]
        counts = {
            name: sum(operation.errors.get(name, 0) for operation in load.operations.values())
            for name in names
        }
        failed = sum(counts.values())
        seen = ", ".join(name for name, count in counts.items() if count)
        evidence = f"{failed:,} of {ended:,} operations failed for it"
        evidence += f" ({seen})" if seen else ""
        found.append(limits.use_of(resource, failed / ended if ended else 0.0, evidence))
    return found


def _with_users(use: ResourceUse, used: Mapping[str, float]) -> ResourceUse:
    """The processors of the machine, with who used them: the load generator may be the one."""
    if use.resource != limits.HOST_PROCESSORS:
        return use
    machine = os.cpu_count() or 1
    shares = {**used, "all others": use.used * machine - sum(used.values())}
    told = [
        f"{who} {share:.2f}"
        for who, share in sorted(shares.items(), key=lambda pair: -pair[1])
        if share >= _SHARE_TOLD * machine
    ]
    if not told:
        return use
    return use.model_copy(update={"evidence": f"{use.evidence}: {', '.join(told)}"})
