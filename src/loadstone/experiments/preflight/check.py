"""Whether an experiment can be run: its factors, settings and metric exist and fit together.

The model has checked the types before; this asks the workload, the target and the design.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from loadstone.errors import LoadstoneError, WrongInputError
from loadstone.experiments.designs import design_of
from loadstone.experiments.preflight.baselines import baseline_problems
from loadstone.experiments.preflight.crashes import crash_problems
from loadstone.experiments.preflight.loads import examined_loads
from loadstone.experiments.preflight.meters import (
    meter_problems,
    metrics_of_meters,
    needs_meter,
)
from loadstone.experiments.preflight.outages import outage_problems
from loadstone.experiments.preflight.reach import reach_problems
from loadstone.experiments.preflight.refusals import refuse_unfit
from loadstone.experiments.preflight.spellings import spelling_problems
from loadstone.experiments.preflight.systems import system_problems
from loadstone.factors.profile import decided_by
from loadstone.factors.registry import apply_changes, examine
from loadstone.factors.storage import check_role
from loadstone.host import process, sysctl
from loadstone.load.resources import Resources
from loadstone.results.graduated import FIGURES
from loadstone.results.metrics import RESPONSE_P50, RESPONSE_P95, RESPONSE_P99
from loadstone.spec.base import Level
from loadstone.spec.design import (
    CompareDesign,
    LadderDesign,
    ScaleDesign,
    SearchDesign,
    SweepDesign,
    looks_in,
)
from loadstone.spec.model import Experiment
from loadstone.spec.plans import Change, Variant
from loadstone.spec.problems import Path, Problem, near
from loadstone.spec.target import PartSpec, TargetSpec
from loadstone.targets.capabilities import SECOND_PLACE, explained

_DERIVED = (ScaleDesign, SearchDesign)
"""Designs that name no factors: theirs follow from the design, if that is right."""

PERCENTILES = ("p50", "p95", "p99", "p99.9")
"""Of the response time of an operation: `new-order p95` is a metric too."""


@dataclass(frozen=True)
class Examined:
    """What is known of an experiment before it begins."""

    problems: list[Problem]
    resources: Resources | None
    """What its largest load takes of this machine, as far as that is known before a target is
    open."""


def check_experiment(experiment: Experiment) -> list[Problem]:
    """Everything that would stop the experiment, found without starting anything."""
    return examine_experiment(experiment).problems


def examine_experiment(experiment: Experiment) -> Examined:
    """As `check_experiment`, with what was counted on the way."""
    of_design = design_of(experiment).problems(experiment)
    problems = of_design + _target_problems(experiment)
    problems += _profile_problems(experiment)
    of_settings = _setting_problems(experiment)
    told = {problem.message for problem in of_settings}
    problems = [each for each in problems if each.message not in told] + of_settings
    problems += spelling_problems(experiment)
    problems += _file_problems(experiment)
    problems += _tool_problems(experiment)
    problems += meter_problems(experiment)
    of_host = _host_problems(experiment)
    problems += of_host
    if not of_host and not (of_design and isinstance(experiment.design, _DERIVED)):
        problems += _factor_problems(experiment)
    if not problems:
        problems += _variant_problems(experiment)
    if not problems:
        problems += _archive_problems(experiment)
    if not problems:
        problems += baseline_problems(experiment)
    if not problems:
        problems += crash_problems(experiment)
    if not problems:
        problems += outage_problems(experiment)
    if not problems:
        problems += _detect_problems(experiment)
    resources = None
    if not problems:
        problems += reach_problems(experiment)
    if not problems:
        problems, resources = examined_loads(experiment)
    problems = [*problems, *_metric_problems(experiment), *_reference_problems(experiment)]
    return Examined(problems, resources)


def _target_problems(experiment: Experiment) -> list[Problem]:
    from loadstone.targets.registry import target_for
    from loadstone.workloads.registry import kind_of

    target = target_for(experiment.target)
    missing = kind_of(experiment.workload).requires - target.capabilities
    if missing:
        message = (
            f"workload {experiment.workload.name} cannot run on {experiment.target.engine}, "
            f"which does not offer {explained(missing)}"
        )
        return [Problem(("target", "engine"), message)]
    problems = system_problems(experiment.target)
    for path, part, of_part in _placed(experiment.target):
        for role in of_part.storage.named:
            name = f"{part}.{role}" if part else role
            problems += _said(
                (*path, "storage", role), partial(check_role, experiment.target, name)
            )
    return problems or _said(("target",), partial(target.describe, experiment.target))


def _placed(target: TargetSpec) -> Iterator[tuple[Path, str, TargetSpec | PartSpec]]:
    """The target and what is said of its parts: where it stands, the name of the part, the spec."""
    yield ("target",), "", target
    for name, part in target.parts.items():
        yield ("target", "parts", name), name, part


def _profile_problems(experiment: Experiment) -> list[Problem]:
    from loadstone.workloads.registry import kind_of

    name, profile = experiment.workload.name, experiment.profile
    if profile.graduated is not None and (against := list(_not_graduated(experiment))):
        return [Problem(("profile", "graduated"), why) for why in against]
    problems = [
        Problem(("profile", field), decided_by(name))
        for field in sorted(kind_of(experiment.workload).decides & profile.model_fields_set)
    ]
    if profile.phases and isinstance(experiment.design, SearchDesign):
        several = "a search measures one phase at each level: leave profile.phases out"
        problems.append(Problem(("profile", "phases"), several))
    return problems


def _not_graduated(experiment: Experiment) -> Iterator[str]:
    """Why the load cannot go through levels."""
    from loadstone.workloads.registry import kind_of

    name, kind = experiment.workload.name, kind_of(experiment.workload)
    if {"load", "phases"} & kind.decides:
        yield (
            f"the load of {name} is not a rate or users that can be set while it runs: it follows "
            "from the workload's parameters; compare or sweep those, with meters in the experiment"
        )
    if experiment.design.kind in ("search", "crash"):
        yield f"a {experiment.design.kind} has a load of its own: leave graduated out"
    if experiment.outage is not None:
        yield "an outage would fall into one of its levels: leave outage out"


def _setting_problems(experiment: Experiment) -> list[Problem]:
    problems = []
    for path, part, of_part in _placed(experiment.target):
        for name, level in of_part.settings.items():
            whole = f"{part}.{name}" if part else name
            change = Change(factor=f"target.{whole}", level=level)
            problems += _said((*path, "settings", name), partial(examine, experiment, change))
    return problems


def _file_problems(experiment: Experiment) -> list[Problem]:
    """Parameters whose file is not what it must be; a report of their trials does without it."""
    from loadstone.workloads.registry import workload_of

    workload = workload_of(experiment.workload)
    problems = []
    for name in workload.files():
        path = ("workload", "parameters", name)
        problems += _said(path, partial(workload.examine_file, name))
    return problems


def _tool_problems(experiment: Experiment) -> list[Problem]:
    """Programs of others that the load needs, and that this machine has not."""
    from loadstone.workloads.registry import workload_of

    problems = []
    for ask in workload_of(experiment.workload).tools(None).values():
        problems += _said(("workload",), ask)
    return problems


def _host_problems(experiment: Experiment) -> list[Problem]:
    """Settings of this machine that all trials share, and how processes are started."""
    target, profile = experiment.target, experiment.profile
    named: list[tuple[Path, str, Level | None]] = [
        *((("host", name), name, level) for name, level in experiment.host.items()),
        (("profile", "cpus"), process.GENERATOR_CPUS, profile.cpus),
    ]
    for path, part, of_part in _placed(target):
        family = f"{process.SERVER}.{part}" if part else process.SERVER
        for option, given in of_part.process.named.items():
            named.append(((*path, "process", option), f"{family}.{option}", given))
    problems = []
    for path, name, level in named:
        if level is not None:
            change = Change(factor=f"host.{name}", level=level)
            problems += _said(path, partial(_examine_host, experiment, change))
    for name, message in sysctl.exclusive(experiment.host):
        problems.append(Problem(("host", name), message))
    return problems


def _examine_host(experiment: Experiment, change: Change) -> None:
    """Without the experiment's other host settings: each is asked for itself."""
    examine(experiment.model_copy(update={"host": {}}), change)


def _factor_problems(experiment: Experiment) -> list[Problem]:
    """Each once: all levels of a range have one path, and often one problem."""
    problems: dict[Problem, None] = {}
    for path, change in changes_of(experiment):
        problems |= dict.fromkeys(_said(path, partial(examine, experiment, change)))
    return list(problems)


def changes_of(experiment: Experiment) -> Iterator[tuple[Path, Change]]:
    """Every factor and level that the design names, and where it does; of a search the first."""
    design = experiment.design
    if isinstance(design, CompareDesign):
        for index, level in enumerate(design.levels):
            path: Path = ("design", "levels", index)
            yield path, Change(factor=design.factor, level=level)
    elif isinstance(design, LadderDesign):
        for index, rung in enumerate(design.rungs):
            for factor, level in rung.change.items():
                path = ("design", "rungs", index, "change", factor)
                yield path, Change(factor=factor, level=level)
    elif isinstance(design, SweepDesign):
        for factor, levels in design.factors.items():
            for index, level in enumerate(levels):
                yield ("design", "factors", factor, index), Change(factor=factor, level=level)
    elif isinstance(design, _DERIVED):
        path = ("design", "levels" if isinstance(design, ScaleDesign) else "from")
        for variant in design_of(experiment).variants(experiment):
            for change in variant.changes:
                yield path, change


def _variant_problems(experiment: Experiment) -> list[Problem]:
    """Levels that are right alone and wrong together."""
    problems: list[Problem] = []
    of_variants: dict[Problem, list[str]] = {}
    for path, changes in _changed_together(experiment):
        problems += [Problem(path, message) for _, message in sysctl.exclusive(changes)]
    for variant in design_of(experiment).variants(experiment):
        path = _levels_path(experiment)
        found = _said(path, partial(_refuse_unfit_variant, experiment, variant))
        if found and not variant.changes:  # it is wrong whatever the design is
            return [*problems, *(Problem((), each.message) for each in found)]
        for each in found:
            of_variants.setdefault(each, []).append(variant.name)
    return [
        *problems,
        *(
            Problem(each.path, f"{_first_of(of)}: {each.message}")
            for each, of in of_variants.items()
        ),
    ]


def _first_of(variants: Sequence[str]) -> str:
    """The first of several that have the same problem."""
    return variants[0] if len(variants) == 1 else f"{variants[0]} (and {len(variants) - 1} more)"


def _levels_path(experiment: Experiment) -> Path:
    """Where the design says what its variants are, if one field does."""
    design = experiment.design
    if isinstance(design, SearchDesign) and design.first is not None:
        return ("design", "from")
    return ("design", "levels") if isinstance(design, ScaleDesign) else ("design",)


def _archive_problems(experiment: Experiment) -> list[Problem]:
    """A placement for what moves away from the data, where no variant moves anything."""
    from loadstone.workloads.registry import workload_of

    variants = design_of(experiment).variants(experiment)
    parts = [apply_changes(experiment, variant.changes) for variant in variants]
    named = any("archive" in each.target.storage.named for each in parts)
    if not named or any(SECOND_PLACE in workload_of(each.workload).needs() for each in parts):
        return []
    of_base = "archive" in experiment.target.storage.named
    message = (
        f"nothing would lie on storage.archive: workload {experiment.workload.name} moves no "
        "tables as it is set (workload archive does with move: true)"
    )
    return [Problem(("target", "storage", "archive") if of_base else ("design",), message)]


def _refuse_unfit_variant(experiment: Experiment, variant: Variant) -> None:
    from loadstone.workloads.registry import workload_of

    parts = apply_changes(experiment, variant.changes)
    idle = workload_of(parts.workload).idle_parameters()
    for change in variant.changes:
        prefix, _, name = change.factor.partition(".")
        if prefix == "workload" and name in idle:
            raise WrongInputError(f"{change.factor} would have no effect: {idle[name]}")
        if prefix == "profile" and name in parts.profile.idle:
            why = parts.profile.idle[name]
            raise WrongInputError(f"{change.factor} would have no effect: {why}")
    refuse_unfit(parts, experiment.cache)


def _changed_together(experiment: Experiment) -> Iterator[tuple[Path, list[str]]]:
    """The host settings that are changed together."""
    design = experiment.design
    if isinstance(design, LadderDesign):
        for index, rung in enumerate(design.rungs):
            path: Path = ("design", "rungs", index, "change")
            yield path, _host_names(rung.change)
    elif isinstance(design, SweepDesign):
        yield ("design", "factors"), _host_names(design.factors)


def _host_names(factors: Iterable[str]) -> list[str]:
    return [factor.partition(".")[2] for factor in factors if factor.startswith("host.")]


def _metric_problems(experiment: Experiment) -> list[Problem]:
    from loadstone.workloads.judging import COMPARING
    from loadstone.workloads.registry import kind_of

    known = [spec.name for spec in kind_of(experiment.workload).metrics]
    known += [RESPONSE_P50, RESPONSE_P95, RESPONSE_P99]
    if experiment.profile.graduated is not None:
        known += FIGURES
    known += metrics_of_meters(experiment)
    problems = [
        Problem(path, message)
        for path, name in _metrics_named(experiment)
        if (message := _no_metric(experiment, name, known))
    ]
    kind = experiment.design.kind
    if len(experiment.named_metrics) > 1 and kind not in COMPARING:
        message = f"several metrics are judged where levels are compared: name one for a {kind}"
        problems.append(Problem(("metric",), message))
    return problems


def _metrics_named(experiment: Experiment) -> Iterator[tuple[Path, str]]:
    """Each metric that the experiment names, and where it does."""
    from loadstone.workloads.registry import workload_of

    listed = isinstance(experiment.metric, list)
    for index, name in enumerate(experiment.named_metrics):
        yield ("metric", index) if listed else ("metric",), name
    if isinstance(experiment.design, SweepDesign):
        for word in experiment.design.relative_to:
            name = workload_of(experiment.workload).metric_called(word)
            yield ("design", "relative_to", word), name


def _no_metric(experiment: Experiment, name: str, known: list[str]) -> str:
    """That there is no such metric; empty if there is one."""
    scope, _, figure = name.rpartition(" ")
    in_phase = scope in [phase.name for phase in experiment.profile.measured]
    if name in known or figure in PERCENTILES or (in_phase and figure in known):
        return ""
    dark = needs_meter(experiment, figure if in_phase else name)
    told = "it needs a power meter: name meters (--meter)" if dark else near(name, known)
    return f"there is no metric {name!r}; {told}"


def _detect_problems(experiment: Experiment) -> list[Problem]:
    """A change to be found where nothing is compared, or where the number of blocks is open."""
    if experiment.detect is None:
        return []
    if looks_in(experiment.design):
        message = "it plans a fixed number of repeats, and design.looks may stop: leave one out"
        return [Problem(("detect",), message)]
    if design_of(experiment).pairs(experiment):
        return []
    message = (
        f"a design of kind {experiment.design.kind} compares nothing, so it finds no change: name "
        "one in a compare, a ladder or a sweep"
    )
    return [Problem(("detect",), message)]


def _reference_problems(experiment: Experiment) -> list[Problem]:
    design = experiment.design
    if not isinstance(design, LadderDesign) or design.reference is None:
        return []
    from loadstone.results.references.catalogue import load_ladder

    return _said(("design", "reference"), partial(load_ladder, design.reference))


def _said(path: Path, ask: Callable[[], object]) -> list[Problem]:
    """The problem that an error of the asked becomes, or nothing."""
    try:
        ask()
    except LoadstoneError as error:
        advice = f" ({error.advice})" if error.advice else ""
        return [Problem(path, f"{error.message}{advice}")]
    return []
