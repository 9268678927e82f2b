"""The experiment that would measure a change on this machine, made from a rule's `Measure`.

It runs on a server that Loadstone starts, with the settings of the server that was looked at as
far as they decide performance; never on that server itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from loadstone.doctor.facts import Facts
from loadstone.doctor.facts_superset import SupersetFacts
from loadstone.doctor.model import Advice, Finding, Measure, Rule
from loadstone.errors import LoadstoneError
from loadstone.experiments.designs import design_of
from loadstone.experiments.preflight.check import check_experiment
from loadstone.experiments.preflight.refusals import refuse_impossible, refuse_unavailable
from loadstone.factors.in_force import unsafe_in
from loadstone.factors.registry import apply_changes
from loadstone.spec.base import Level
from loadstone.spec.durations import durations_as_text
from loadstone.spec.model import EXPERIMENT_VERSION, Experiment, WorkloadSpec
from loadstone.spec.target import default_server
from loadstone.targets.registry import TARGETS
from loadstone.workloads.registry import workload_of

REPEATS = 5
"""Of each level: with five a difference can be shown, with three it cannot (docs/method.md)."""
_WAREHOUSES = (4, 10)
"""The smallest and the largest data that an experiment of the doctor loads."""

CARRIED: Mapping[str, tuple[str, ...]] = {
    "postgresql": (
        "shared_buffers",
        "work_mem",
        "max_wal_size",
        "min_wal_size",
        "wal_buffers",
        "wal_compression",
        "checkpoint_timeout",
        "checkpoint_completion_target",
        "effective_cache_size",
        "random_page_cost",
        "huge_pages",
        "jit",
        "io_method",
        "io_workers",
        "commit_delay",
    ),
    "mariadb": (
        "innodb_buffer_pool_size",
        "innodb_log_file_size",
        "innodb_flush_method",
        "innodb_io_capacity",
        "innodb_page_size",
    ),
    "sqlite": ("journal_mode", "page_size"),
}
"""Settings of the server that decide performance and go into its experiments."""


@dataclass(frozen=True)
class Base:
    """What all experiments of one visit of the doctor share."""

    engine: str
    server: str
    """`embedded`, `local` or `local:MAJOR`."""
    settings: Mapping[str, Level]
    warehouses: int
    left_out: tuple[str, ...] = ()
    """Settings of the server that the experiments' own server does not take."""
    workload: str = "oltp"


def superset_base(seen: SupersetFacts) -> Base:
    """People at the dashboards of a Superset like the one that was looked at, on a small star."""
    own = {"nodes": seen.nodes, "workers": seen.workers, "threads": seen.threads}
    settings = {name: each for name, each in own.items() if each is not None}
    return Base("superset", default_server("superset"), settings, 0, workload="bi")


def base_of(facts: Facts, server: str) -> Base:
    """From the server that was looked at; PostgreSQL where there was none.

    Args:
        facts: What was seen.
        server: Whose programs the experiments' own server uses.
    """
    seen = facts.server
    engine = seen.subject if seen is not None else "postgresql"
    settings = seen.carried(CARRIED[engine]) if seen is not None else {}
    size = seen.size_bytes if seen is not None else None
    return Base(engine, server, settings, _warehouses(size or 0))


def _warehouses(size_bytes: int) -> int:
    """Order entry about as large as the data that was seen, within what loads in minutes."""
    one = workload_of(WorkloadSpec(name="oltp", parameters={"warehouses": 1}))
    least, most = _WAREHOUSES
    return max(least, min(size_bytes // (one.expected_size_bytes() or 1), most))


def experiment_of(rule: Rule, measure: Measure, base: Base) -> Experiment:
    """The comparison that a rule asks for. Pure: nothing is looked up or started."""
    name = f"doctor-{rule.name.replace('.', '-')}"
    return _experiment(name, rule.about[:1].upper() + rule.about[1:], base, measure)


def _size_of(base: Base) -> dict[str, Level]:
    """The parameter that says how large its data are; those of `bi` have a good default."""
    return {"warehouses": base.warehouses} if base.warehouses else {}


def _experiment(name: str, title: str, base: Base, measure: Measure) -> Experiment:
    varied = measure.factor.removeprefix("target.")
    settings = {**base.settings, **measure.settings}
    settings.pop(varied, None)
    fields: dict[str, Any] = {
        "version": EXPERIMENT_VERSION,
        "name": name,
        "title": title,
        "workload": {
            "name": base.workload,
            "parameters": {**_size_of(base), **measure.parameters},
        },
        "target": {"engine": base.engine, "server": base.server},
        "profile": durations_as_text(
            {"users": measure.users, "warm_up": 10.0, "measure": measure.measure_s}
        ),
        "design": {
            "kind": "compare",
            "factor": measure.factor,
            "levels": list(measure.levels),
        },
        "repeats": REPEATS,
        "seed": 42,
    }
    if settings:
        fields["target"]["settings"] = settings
    if measure.cache != "warm":
        fields["cache"] = measure.cache
    if measure.metric is not None:
        fields["metric"] = measure.metric
    if measure.crash is not None:
        fields["durability"] = measure.crash
    return Experiment.model_validate(fields)


def fitted(base: Base) -> Base:
    """The base without the settings that the experiments' own server does not take."""
    if base.engine not in TARGETS or not base.settings:
        return base
    probe = _experiment("settings", "", base, Measure("profile.users", (8, 8)))
    paths = [each.path for each in check_experiment(probe)]
    bad = {str(path[2]) for path in paths if path[:2] == ("target", "settings")}
    kept = {name: level for name, level in base.settings.items() if name not in bad}
    return replace(base, settings=kept, left_out=tuple(sorted(bad)))


def finding_of(rule: Rule, advice: Advice, base: Base) -> Finding:
    """Advice with its experiment, checked as if it were to run; or with why there is none.

    Args:
        rule: That spoke.
        advice: What it said.
        base: Fitted: its settings are not asked about again.
    """
    if isinstance(advice.measure, str):
        return Finding(rule, advice, no_experiment=advice.measure)
    if base.engine not in TARGETS:
        return Finding(
            rule, advice, no_experiment=f"this Loadstone cannot start a server of {base.engine}"
        )
    experiment = experiment_of(rule, advice.measure, base)
    bare = experiment_of(rule, advice.measure, replace(base, settings={}))
    try:
        unsafe = _check(bare)
        for variant in design_of(experiment).variants(experiment):
            apply_changes(experiment, variant.changes)
    except LoadstoneError as error:
        return Finding(rule, advice, no_experiment=f"not on this machine: {error.message}")
    return Finding(rule, advice, experiment, left_out=base.left_out, unsafe=unsafe)


def _check(experiment: Experiment) -> bool:
    """Whether it needs leave for unsafe levels.

    Raises:
        LoadstoneError: If it cannot run here.
    """
    problems = check_experiment(experiment)
    if problems:
        raise LoadstoneError("; ".join(each.message for each in problems))
    variants = design_of(experiment).variants(experiment)
    for variant in variants:
        refuse_impossible(experiment, variant.changes)
    refuse_unavailable(experiment, variants)
    return any(unsafe_in(apply_changes(experiment, each.changes)) for each in variants)
