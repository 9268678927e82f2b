"""`loadstone plan --detect`: what finds a change at the least cost, and what the file finds."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import ceil, log1p
from pathlib import Path
from typing import TYPE_CHECKING

from loadstone.cli.durations import about, whole_s
from loadstone.experiments.designs import design_of
from loadstone.report.text import number
from loadstone.spec.model import Experiment
from loadstone.units import format_duration, format_percent
from loadstone.workloads.judging import judged_metrics

if TYPE_CHECKING:
    from loadstone.report.scatter import Earlier
    from loadstone.results.statistics.planning import Plan, Test

_LENGTHS = (0.5, 4.0)
"""The advice keeps within so many times what earlier trials measured. Ticks do not tell what is as
slow as their trial: much shorter trials would scatter more, and much longer ones not less."""
_WITH_VALUE = ("--detect", "--repeats", "--name")
_OF_PLAN = ("--json", "--as-file")


@dataclass(frozen=True)
class Option:
    """A plan, and what it takes and finds."""

    repeats: int
    measured_s: float
    trials: int
    duration_s: float
    """About; without loading the data once."""
    finds_percent: float | None
    """The least change that it finds in 80 of 100; None: none, with so few repeats."""
    power: float
    """With which it finds the change that was asked for, 0 to 1."""


@dataclass(frozen=True)
class Pilot:
    """What to run first, where nothing is known."""

    repeats: int
    command: str


@dataclass(frozen=True)
class Detection:
    """The answer."""

    experiment: Experiment
    percent: float
    metric: str
    earlier: Earlier | None
    """None: nothing is known, and the pilot says how to learn it."""
    pilot: Pilot
    length_is_free: bool
    """Whether `measure` says how long a trial measures."""
    cheapest: Option | None
    """None: not known, or beyond what is looked for."""
    present: Option | None
    """The experiment as it is; None: not known."""


def detection_of(experiment: Experiment, results: Path, *, unsafe: bool) -> Detection | None:
    """What finds the change that an experiment is to find; None where none is named.

    Args:
        experiment: Checked.
        results: Folder of earlier results.
        unsafe: Whether it runs only with the user's leave.
    """
    if experiment.detect is None:
        return None
    # They bring numpy, which a plan without this question does not need.
    from loadstone.report.scatter import earlier_scatter, length_is_free
    from loadstone.results.statistics.planning import Plan, Test, cheapest, fewest

    design = design_of(experiment)
    test = Test(
        levels=design.levels_per_block(experiment),
        level=(1.0 - experiment.confidence) / max(design.families(experiment).values()),
    )
    metric = judged_metrics(experiment)[0]
    earlier = earlier_scatter(experiment, metric, results)
    free = length_is_free(experiment)
    best = present = None
    if earlier is not None and not earlier.scatter.is_none:
        scatter = earlier.scatter
        now_s = experiment.profile.measured_s if free else earlier.measured_s
        if free and scatter.within_trial is not None:
            plan = cheapest(
                scatter,
                test,
                experiment.detect,
                beside_s=earlier.beside_s,
                lengths_s=(_LENGTHS[0] * earlier.measured_s, _LENGTHS[1] * earlier.measured_s),
            )
        else:
            plan = fewest(scatter, test, experiment.detect, measured_s=now_s)
        best = None if plan is None else _option(experiment, plan, earlier, test)
        present = _option(experiment, Plan(experiment.repeats, now_s), earlier, test)
    return Detection(
        experiment=experiment,
        percent=experiment.detect,
        metric=metric,
        earlier=earlier,
        pilot=_pilot(experiment, test, unsafe=unsafe),
        length_is_free=free,
        cheapest=best,
        present=present,
    )


def _option(experiment: Experiment, plan: Plan, earlier: Earlier, test: Test) -> Option:
    assert experiment.detect is not None  # noqa: S101
    spread = earlier.scatter.of_trial(plan.measured_s)
    trials = design_of(experiment).trials_planned(
        experiment.model_copy(update={"repeats": plan.blocks})
    )
    return Option(
        repeats=plan.blocks,
        measured_s=plan.measured_s,
        trials=trials,
        duration_s=trials * (earlier.beside_s + plan.measured_s),
        finds_percent=test.finds_percent(plan.blocks, spread),
        power=test.power(plan.blocks, spread, log1p(experiment.detect / 100.0)),
    )


def _pilot(experiment: Experiment, test: Test, *, unsafe: bool) -> Pilot:
    """As few blocks as have enough degrees of freedom."""
    from loadstone.results.statistics.planning import ENOUGH_FREEDOM

    repeats = 1 + ceil(ENOUGH_FREEDOM / (test.levels - 1))
    words = sys.argv[sys.argv.index("plan") + 1 :] if "plan" in sys.argv else []
    command = pilot_command(words, experiment.design.kind, repeats, f"{experiment.name}-pilot")
    return Pilot(repeats, f"{command} --allow-unsafe" if unsafe else command)


def pilot_command(words: Sequence[str], verb: str, repeats: int, name: str) -> str:
    """The command that makes a pilot.

    Args:
        words: What was typed after `plan`.
        verb: That runs the design.
        repeats: Of the pilot.
        name: Of its folder of results.
    """
    kept, rest = [], iter(words)
    for word in rest:
        if word in _WITH_VALUE:
            next(rest, None)
        elif word not in _OF_PLAN and word.partition("=")[0] not in _WITH_VALUE:
            kept.append(word)
    return shlex.join(["loadstone", verb, *kept, "--repeats", str(repeats), "--name", name])


def detection_document(found: Detection | None) -> dict[str, object] | None:
    """For the JSON document."""
    if found is None:
        return None
    return {
        "percent": found.percent,
        "metric": found.metric,
        "earlier": found.earlier and asdict(found.earlier) | {"metric": found.metric},
        "cheapest": found.cheapest and asdict(found.cheapest),
        "present": found.present and asdict(found.present),
        "pilot": asdict(found.pilot) if found.earlier is None else None,
    }


def detection_lines(found: Detection) -> Iterator[str]:
    """For people."""
    if found.earlier is None:
        yield (
            f"What finds a change of {format_percent(found.percent)} is not known: there is no "
            "earlier result of this experiment from this machine that tells how much it scatters."
        )
        yield f"Run first: {found.pilot.command}"
        return
    if found.present is None:
        yield (
            f"What finds a change of {format_percent(found.percent)} is not known: in "
            f"{found.earlier.experiments[0]} trials of a block do not differ at all in "
            f"{found.earlier.metric.label}. The load decides it, as an open rate does: name "
            "another --metric."
        )
        return
    yield (
        f"To find a change of {format_percent(found.percent)} in {found.earlier.metric.label}, in "
        "80 of 100 experiments:"
    )
    yield f"  {_scatter(found.earlier)}"
    yield (
        f"  Beside what it measures a trial takes about {whole_s(found.earlier.beside_s)}, as in "
        f"{', '.join(found.earlier.experiments)}."
    )
    yield f"  {_advice(found)}"
    yield f"  {_as_it_is(found, found.present)}"


def _scatter(earlier: Earlier) -> str:
    scatter = earlier.scatter
    parts = [f"trials of a block {_sd(scatter.between_trials)}"]
    if scatter.within_trial is not None:
        parts.append(f"a measured second {_sd(scatter.within_trial)} (less by its square root)")
    parts.append(f"blocks {_sd(scatter.between_blocks)}")
    freedom = f"{scatter.freedom} degree{'s' if scatter.freedom > 1 else ''} of freedom"
    limit = "; upper 80 % limits, because so few trials tell no more" if scatter.is_limit else ""
    return f"Scatter: {', '.join(parts)}{limit} ({freedom})."


def _sd(logs: float) -> str:
    return f"{number(100 * logs)} %"


def _advice(found: Detection) -> str:
    best = found.cheapest
    if best is None:
        from loadstone.results.statistics.planning import MOST_BLOCKS

        return f"Not even {MOST_BLOCKS} repeats find it: look for a larger change, or less scatter."
    if found.length_is_free and found.earlier and found.earlier.scatter.within_trial is not None:
        plan = f"Cheapest: repeats: {best.repeats}, measure: {format_duration(best.measured_s)}"
    else:
        plan = f"Cheapest: repeats: {best.repeats}, with trials as long as they are"
    return f"{plan}; {best.trials} trials, about {about(best.duration_s)}."


def _as_it_is(found: Detection, present: Option) -> str:
    measured = f", measure: {format_duration(present.measured_s)}" if found.length_is_free else ""
    said = f"As it is (repeats: {present.repeats}{measured}; about {about(present.duration_s)})"
    if present.finds_percent is None:
        return f"{said}, it finds none, however large."
    return (
        f"{said}, it finds {number(present.finds_percent)} %, and "
        f"{format_percent(found.percent)} in {100 * present.power:.0f} of 100."
    )
