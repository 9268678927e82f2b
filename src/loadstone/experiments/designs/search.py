"""The design `search`: the highest rate, or the most users, that a system can sustain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from math import inf
from typing import ClassVar

from loadstone.errors import LoadstoneError, WrongInputError
from loadstone.experiments.designs.arrange import arrange, trial_id
from loadstone.experiments.designs.ascent import Ascent, levels_at_most
from loadstone.experiments.designs.base import Design, Pair, Stages, Upwards
from loadstone.experiments.designs.search_state import (
    MOST_SOAKS,
    SHARES,
    PlannedLevel,
    Rules,
    SearchState,
    records_of,
)
from loadstone.experiments.relative import is_of_level, reference_of
from loadstone.load.objective import parse_objective, parse_term
from loadstone.results.record import LevelBound, TrialResult
from loadstone.spec.design import LoadedBy, SearchDesign
from loadstone.spec.model import Experiment
from loadstone.spec.plans import Change, LevelPlan, TrialPlan, Variant
from loadstone.spec.problems import Path, Problem, near
from loadstone.workloads.base import AnyWorkload
from loadstone.workloads.judging import judged_metrics
from loadstone.workloads.search import SearchIncrements

MOST_RAISED = 5000.0
"""Users up to which the load of a running trial is raised, unless `at_most` says another number.
The load has processes and ports for all of them from its beginning on."""
IMPLIED = "errors < 1 %"
"""A level at which more operations fail does not hold, unless the objective says otherwise."""


class Search(Design):
    """Ascent, soak and confirmation; which trial comes next follows from those before."""

    kind: ClassVar[str] = "search"
    about: ClassVar[str] = "the highest rate, or the most users, that holds"

    def variants(self, experiment: Experiment) -> list[Variant]:
        """The first level: the others are not known before their time."""
        rules = rules_of(experiment)
        return [_variant(experiment, rules, SearchState(rules).next()[0].level, [])]

    def pairs(self, experiment: Experiment) -> list[Pair]:
        """Nothing to compare."""
        return []

    def problems(self, experiment: Experiment) -> list[Problem]:
        """Terms that cannot be read, and loads that cannot be raised as it is asked."""
        design = _design(experiment)
        problems = _term_problems(experiment)
        over = _over(experiment)
        if over == "users" and experiment.profile.load == "open":
            message = "an open load has no users: search over rate, or write load: closed"
            problems.append(Problem(("design", "over"), message))
        if over == "rate" and experiment.profile.load == "closed" and _sets_profile(experiment):
            message = "a search over rates needs an open load: write load: open and rate_per_s"
            problems.append(Problem(("design", "over"), f"{message} (--rate)"))
        if design.method == "bisection" and (design.coarse or design.fine):
            message = "coarse and fine belong to method: steps; bisection takes a precision"
            problems.append(Problem(("design", "method"), message))
        if experiment.durability is not None:
            message = "a search makes no crash trials: crash the level that it finds"
            problems.append(Problem(("durability",), message))
        if experiment.repeats != 1:
            message = "a search repeats what it must: say failures and confirm in its design"
            problems.append(Problem(("repeats",), message))
        return problems or _range_problems(experiment)

    def idle(self, experiment: Experiment) -> dict[Path, str]:
        """What belongs to the other method, and a first load beside `from`."""
        if self.problems(experiment):
            return {}
        rules, found = rules_of(experiment), dict[Path, str]()
        if rules.ascent.increments.method == "steps":
            found["design", "precision"] = "steps go to the fine step (method: bisection has one)"
        else:
            why = "bisection halves the bracket (method: steps has steps)"
            found |= {("design", field): why for field in ("coarse", "fine")}
        if rules.over == "users" and _design(experiment).first is not None:
            found["profile", "users"] = "the first level is that of --from"
        return found

    def upwards(self, experiment: Experiment) -> Upwards:
        """Up to `at_most`, or a million times the first level."""
        rules = rules_of(experiment)
        return Upwards(
            first=SearchState(rules).next()[0].level,
            top=rules.ascent.top,
            assumed=rules.ascent.assumed,
            unit=rules.unit,
            whole=rules.ascent.whole,
            field=None if rules.ascent.at_most is None else ("design", "at_most"),
            at=lambda level: _changes(experiment, rules, level),
        )

    def stages(self, experiment: Experiment, *, allow_unsafe: bool = False) -> Stages:
        """The trials, as the state of the search asks for them."""
        return SearchStages(experiment, allow_unsafe=allow_unsafe)

    def trials_planned(self, experiment: Experiment) -> int:
        """At most, until a limit is found that does not move from one confirmation to the next."""
        rules = rules_of(experiment)
        own = rules.failures * levels_at_most(rules.ascent) + _soaks_at_most(rules)
        of_first = own + 1 if rules.is_relative else 0
        return own + of_first + rules.confirm * len(SHARES)

    def load_s(self, experiment: Experiment) -> float:
        """Of so many trials, each with the warm-up, ramp and drain of the profile."""
        rules, profile = rules_of(experiment), experiment.profile
        before_s = profile.before_s + profile.drain
        samples = rules.failures * levels_at_most(rules.ascent)
        ascent_s = samples * (before_s + (rules.shortest_s + rules.longest_s) / 2)
        soak_s = _soaks_at_most(rules) * (before_s + rules.soak_s)
        confirm_s = rules.confirm * len(SHARES) * (before_s + rules.longest_s)
        of_first_s = (ascent_s + soak_s + before_s + rules.longest_s) if rules.is_relative else 0.0
        return ascent_s + soak_s + confirm_s + of_first_s


class SearchStages(Stages):
    """One trial after the other; those of a confirmation together."""

    def __init__(self, experiment: Experiment, *, allow_unsafe: bool = False) -> None:
        self._experiment = experiment.model_copy(update={"repeats": 1})
        self._rules = rules_of(experiment)
        self._allow_unsafe = allow_unsafe
        self._variants: dict[str, Variant] = {}
        self._blocks = count(1)
        self._reference: float | None = None

    @property
    def variants(self) -> list[Variant]:
        """The levels that were tried or are being tried."""
        return list(self._variants.values())

    @property
    def pairs(self) -> list[Pair]:
        """Levels are judged, not compared."""
        return []

    @property
    def bound(self) -> LevelBound | None:
        """As it was told."""
        return self._rules.bound

    def kept_to(self, bound: LevelBound) -> Stages:
        """Itself; the search ends at that level, if it comes so far."""
        self._rules = rules_of(self._experiment, bound)
        return self

    def next(self, results: Sequence[TrialResult]) -> list[TrialPlan]:
        """What the state of the search asks for.

        Where a term is relative, the first level is measured again before each stage.
        """
        planned = SearchState.of(self._rules, records_of(results)).next()
        if not planned:
            return []
        first = self._first_level(planned, results)
        if first is not None:
            return self._block([first], len(results) + 1)
        self._reference = self._reference_in(results)
        size = len({each.level for each in planned})
        plans: list[TrialPlan] = []
        for start in range(0, len(planned), size):
            plans += self._block(planned[start : start + size], len(results) + len(plans) + 1)
        return plans

    def _first_level(
        self, planned: Sequence[PlannedLevel], results: Sequence[TrialResult]
    ) -> PlannedLevel | None:
        """The first level once more, before what is held against it; None: it was just measured."""
        level = self._rules.ascent.increments.first
        already = {each.level for each in planned} == {level} or not results
        if not self._rules.is_relative or already or is_of_level(results[-1], level):
            return None
        return PlannedLevel(level, "ascent", planned[0].measure_s)

    def _reference_in(self, results: Sequence[TrialResult]) -> float | None:
        if not self._rules.is_relative:
            return None
        metric = judged_metrics(self._experiment)[0]
        return reference_of(results, self._rules.ascent.increments.first, metric)

    def _block(self, planned: Sequence[PlannedLevel], first_order: int) -> list[TrialPlan]:
        """Trials of one block, each of another level, in random order."""
        variants = {each.level: self._variant(each.level) for each in planned}
        by_name = {variants[each.level].name: each for each in planned}
        block = next(self._blocks)
        plans = arrange(
            self._experiment,
            list(variants.values()),
            first_block=block,
            first_order=first_order,
            allow_unsafe=self._allow_unsafe,
        )
        return [
            self._of_level(plan, by_name[plan.variant.name], place)
            for place, plan in enumerate(plans, start=1)
        ]

    def _variant(self, level: float) -> Variant:
        variant = _variant(self._experiment, self._rules, level, self.variants)
        return self._variants.setdefault(variant.name, variant)

    def _of_level(self, plan: TrialPlan, planned: PlannedLevel, place: int) -> TrialPlan:
        """The plan with the length of the sample and what it is judged by."""
        profile = plan.profile.model_copy(update={"measure": planned.measure_s})
        name = f"{planned.kind} {_text(planned.level)}"
        return plan.model_copy(
            update={
                "trial": trial_id(plan.block, place, name),
                "profile": profile,
                "level": _level_plan(self._rules, planned, self._reference),
            }
        )


def rules_of(experiment: Experiment, bound: LevelBound | None = None) -> Rules:
    """The search that an experiment asks for, with the defaults of its workload.

    Args:
        experiment: Of the design `search`.
        bound: The highest level that the machine can make which runs it, or has run it.

    Raises:
        WrongInputError: If the workload or its parameters do not exist.
    """
    design, profile = _design(experiment), experiment.profile
    over = _over(experiment)
    workload = _workload(experiment)
    return Rules(
        over=over,
        unit=workload.search.unit_of_users if over == "users" else workload.search.rate_unit,
        ascent=replace(
            _ascent(experiment, workload, over), bound=None if bound is None else bound.level
        ),
        objective=_objective(design, workload),
        window_s=design.window,
        failures=design.failures,
        shortest_s=profile.measure,
        longest_s=max(profile.measure, design.longest or 2 * profile.measure),
        soak_s=workload.search.soak_s if design.soak is None else design.soak,
        confirm=design.confirm,
        raises=design.approach == "raise",
        raised_to=design.at_most or (MOST_RAISED if over == "users" else inf),
        bound=bound,
        sessions=workload.sessions(profile) if _has_sessions(experiment, workload) else None,
        sessions_option=workload.search.sessions_option,
        by_chance=_has_sessions(experiment, workload) and profile.arrival == "poisson",
        looks_for_rise="measure" not in workload.idle(profile),
    )


def _has_sessions(experiment: Experiment, workload: AnyWorkload) -> bool:
    """Whether arrivals are served by sessions, whose number is not that of the level."""
    is_open = experiment.profile.load == "open" and workload.charts().flow is None
    return _over(experiment) == "rate" and is_open


def _soaks_at_most(rules: Rules) -> int:
    return MOST_SOAKS if rules.soak_s else 0


def _ascent(experiment: Experiment, workload: AnyWorkload, over: LoadedBy) -> Ascent:
    design = _design(experiment)
    default = workload.search.increments(over)
    first = design.first or _given(experiment, workload, over) or default.first
    coarse = design.coarse or default.coarse or design.fine or first
    increments = SearchIncrements(
        first=first,
        method=design.method or default.method,
        coarse=coarse,
        fine=design.fine or (default.fine if design.coarse is None else None) or coarse,
    )
    return Ascent(increments, design.precision / 100, design.at_most, whole=over == "users")


def _given(experiment: Experiment, workload: AnyWorkload, over: LoadedBy) -> float | None:
    """The load that the experiment itself names."""
    profile = experiment.profile
    if over == "rate":
        return workload.search.rate_given(profile)
    return float(profile.users) if "users" in profile.model_fields_set else None


def _objective(design: SearchDesign, workload: AnyWorkload) -> tuple[str, ...]:
    terms = parse_objective(design.objective or workload.search.objective)
    texts = [term.text for term in terms]
    counts = any(term.figure == "errors" and term.operation is None for term in terms)
    return tuple(texts if counts else [*texts, IMPLIED])


def _over(experiment: Experiment) -> LoadedBy:
    design = _design(experiment)
    if design.over is not None:
        return design.over
    return "rate" if experiment.profile.load == "open" else _workload(experiment).search.over


def _sets_profile(experiment: Experiment) -> bool:
    """Whether the rate is that of the profile, not a parameter of the workload."""
    changes = _workload(experiment).search.at_rate(experiment.profile, 1.0)
    return any(change.factor == "profile.rate_per_s" for change in changes)


def _workload(experiment: Experiment) -> AnyWorkload:
    from loadstone.workloads.registry import workload_of

    return workload_of(experiment.workload)


def _variant(
    experiment: Experiment, rules: Rules, level: float, before: Sequence[Variant]
) -> Variant:
    """The configuration of a level; its step is from the first one."""
    changes = _changes(experiment, rules, level)
    name = f"{rules.unit if rules.over == 'users' else rules.over}={_text(level)}"
    first = before[0].name if before else None
    if first in (None, name):
        return Variant(name=name, changes=changes, step=[])
    return Variant(name=name, changes=changes, step=changes, previous=first)


def _changes(experiment: Experiment, rules: Rules, level: float) -> list[Change]:
    """What makes a level the load."""
    workload = _workload(experiment)
    if rules.over == "users":
        return workload.search.at_users(experiment.profile, int(level))
    return workload.search.at_rate(experiment.profile, level)


def _level_plan(rules: Rules, planned: PlannedLevel, reference: float | None) -> LevelPlan:
    of_first = planned.level == rules.ascent.increments.first
    return LevelPlan(
        over=rules.over,
        unit=rules.unit,
        level=planned.level,
        kind=planned.kind,
        of=planned.of,
        raised=list(planned.raised),
        objective=list(rules.objective),
        window_s=rules.window_s,
        reference=None if of_first else reference,
    )


def _term_problems(experiment: Experiment) -> list[Problem]:
    """Terms that cannot be read, and terms about operations that nobody makes."""
    try:
        known = _workload(experiment).operations()
    except LoadstoneError:  # it is told as what it is
        known = ()
    problems = []
    for index, text in enumerate(_design(experiment).objective):
        path: Path = ("design", "objective", index)
        try:
            operation = parse_term(text).operation
        except WrongInputError as error:
            message = f"{error.message} ({error.advice})" if error.advice else error.message
            problems.append(Problem(path, message))
            continue
        if known and operation is not None and operation not in known:
            message = f"there is no operation {operation!r}; {near(operation, known)}"
            problems.append(Problem(path, message))
    return problems


def _range_problems(experiment: Experiment) -> list[Problem]:
    """Levels that are none, once the defaults are known."""
    design = _design(experiment)
    try:
        rules = rules_of(experiment)
    except LoadstoneError as error:
        return [Problem(("design",), error.message)]
    increments, problems = rules.ascent.increments, list[Problem]()
    if rules.is_relative and rules.raises:
        message = "throughput of reference is a figure of whole trials: write approach: fresh"
        problems.append(Problem(("design", "approach"), message))
    if rules.ascent.whole:
        asked = {"from": design.first, "coarse": design.coarse, "fine": design.fine}
        problems += [
            Problem(("design", name), f"users are whole numbers; given {level:g}")
            for name, level in {**asked, "at_most": design.at_most}.items()
            if level is not None and level != int(level)
        ]
    if design.at_most is not None and design.at_most < increments.first:
        message = f"is below the first level, {increments.first:g}"
        problems.append(Problem(("design", "at_most"), message))
    if (increments.fine or 0) > (increments.coarse or 0):
        problems.append(
            Problem(("design", "fine"), f"is coarser than coarse, {increments.coarse:g}")
        )
    if design.longest is not None and design.longest < rules.shortest_s:
        message = f"is shorter than profile.measure, {rules.shortest_s:g}s"
        problems.append(Problem(("design", "longest"), message))
    return problems


def _text(level: float) -> str:
    return f"{level:.12g}"


def _design(experiment: Experiment) -> SearchDesign:
    assert isinstance(experiment.design, SearchDesign)  # noqa: S101
    return experiment.design
