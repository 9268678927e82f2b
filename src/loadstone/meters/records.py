"""What the meters of a trial said of a measured phase, as it is recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum

from loadstone.meters.choice import Main, Offer, main_after
from loadstone.meters.series import Series, stands_still
from loadstone.meters.twins import twins_of
from loadstone.meters.watts import LevelWatts, sum_of, watts_between
from loadstone.results.power import PowerRecord
from loadstone.spec.meters import Scope

Stretch = tuple[float, float]
"""Begin and end, by `time.monotonic()`."""
_NONE = LevelWatts(None, None, 0.0, 0, 0, None, None, "")


@dataclass(frozen=True)
class MeterRun:
    """A meter over a trial."""

    offer: Offer
    series: Mapping[str, Series]
    """By channel; empty of one that could not be opened."""
    problem: str = ""
    """Why it gave no readings, or no more."""


def power_records(
    runs: Sequence[MeterRun], main: Main | None, stretches: Sequence[Stretch]
) -> list[PowerRecord]:
    """A record for each channel of each meter, and for each sum; the experiment's meter first.

    A channel that is the same counter as another one has no record: it counts once.

    Args:
        runs: Of all meters.
        main: The experiment's meter, as it was chosen before the first trial.
        stretches: Of the measured load, in order: what lies between them is none of it.
    """
    records = [record for run in runs for record in _of_meter(run, main, stretches)]
    return sorted(records, key=lambda each: not each.main)


def _of_meter(
    run: MeterRun, main: Main | None, stretches: Sequence[Stretch]
) -> Iterator[PowerRecord]:
    offer, twins = run.offer, twins_of(run.offer.channels, run.series.values())
    still = {name: _still(name) for name, each in run.series.items() if stands_still(each)}
    chosen = main if main is not None and main.meter == offer.name else None
    if chosen is not None:
        chosen = main_after(chosen, offer, still, twins)
    watts = {
        each.name: _over(run, each.name, stretches, still.get(each.name, ""))
        for each in offer.channels
        if each.name not in twins
    }
    for name, found in watts.items():
        own = chosen is not None and chosen.parts == (name,)
        lacking = chosen.lacking if own and chosen is not None else ""
        yield _record(offer, (name,), _lacking(found, lacking), main=own)
    length_s = fsum(to_s - from_s for from_s, to_s in stretches)
    sums = [(tuple(offer.spec.sum), "", False)] if offer.spec.sum else []
    if chosen is not None and len(chosen.parts) > 1:
        sums = [each for each in sums if each[0] != chosen.parts]
        sums.append((chosen.parts, chosen.lacking, True))
    for parts, lacking, own in sums:
        known = [
            (name, watts.get(name) or _without(f"it is the counter of {twins[name]}"))
            for name in parts
        ]
        yield _record(offer, parts, _lacking(sum_of(known, length_s), lacking), main=own)


def _over(run: MeterRun, channel: str, stretches: Sequence[Stretch], still: str) -> LevelWatts:
    """A channel over all stretches together."""
    series = run.series.get(channel)
    if series is None or still:
        return _without(still or run.problem)
    found = [watts_between(series, *each) for each in stretches]
    if len(found) == 1:
        return _told(found[0], run.problem)
    lengths = [to_s - from_s for from_s, to_s in stretches]
    whole_s = fsum(lengths)
    joules = [each.joules for each in found if each.joules is not None]
    total = fsum(joules) if found and len(joules) == len(found) else None
    lags = [each.lag_s for each in found if each.lag_s is not None]
    steps = [each.resolution_w for each in found if each.resolution_w is not None]
    together = LevelWatts(
        watts=None if total is None else total / whole_s,
        joules=total,
        covered=fsum(each.covered * s for each, s in zip(found, lengths, strict=True)) / whole_s,
        readings=sum(each.readings for each in found),
        invalid=sum(each.invalid for each in found),
        lag_s=max(lags, default=None),
        resolution_w=max(steps, default=None),
        reason="; ".join(dict.fromkeys(each.reason for each in found if each.reason)),
    )
    return _told(together, run.problem)


def _told(found: LevelWatts, problem: str) -> LevelWatts:
    """With what became of the meter, where there are no watts for it."""
    if found.watts is not None or not problem:
        return found
    return _because(found, f"{found.reason}; {problem}" if found.reason else problem)


def _lacking(found: LevelWatts, why: str) -> LevelWatts:
    """No watts where they would be of a part of the system only."""
    return _because(found, why) if why else found


def _because(found: LevelWatts, reason: str) -> LevelWatts:
    return replace(found, watts=None, joules=None, reason=reason)


def _without(reason: str) -> LevelWatts:
    return _because(_NONE, reason)


def _still(name: str) -> str:
    return f"{name} does not move: no meter"


def _record(offer: Offer, parts: Sequence[str], found: LevelWatts, *, main: bool) -> PowerRecord:
    known = {each.name: each for each in offer.channels}
    own = [known[name] for name in parts]
    scopes: list[Scope] = [each.scope for each in own]
    accuracies = [each.accuracy_percent for each in own if each.accuracy_percent is not None]
    return PowerRecord(
        meter=offer.name,
        kind=offer.spec.kind,
        channel="+".join(parts),
        scope="package" if "package" in scopes else scopes[0],
        watts=found.watts,
        joules=found.joules,
        covered=found.covered,
        readings=found.readings,
        invalid=found.invalid,
        lag_s=found.lag_s,
        resolution_w=found.resolution_w,
        accuracy_percent=max(accuracies) if len(accuracies) == len(own) else None,
        reason=found.reason,
        main=main,
        simulated=any(each.simulated for each in own),
        estimated=any(each.estimated for each in own),
        parts=list(parts) if len(parts) > 1 else [],
    )
