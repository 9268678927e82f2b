"""What stops an experiment before anything of it is started."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from loadstone.errors import RefusedError, WrongInputError
from loadstone.factors.base import Parts
from loadstone.factors.in_force import in_force, unavailable_in, unsafe_in
from loadstone.factors.registry import FACTORS, apply_changes, base_parts, examine
from loadstone.factors.target import level_text
from loadstone.host.locality import at_address
from loadstone.host.lock import HostLock
from loadstone.host.state import UNDO
from loadstone.results.record import SkippedRung
from loadstone.spec.model import Experiment
from loadstone.spec.plans import Change, Variant
from loadstone.spec.problems import Problem
from loadstone.targets.capabilities import explained
from loadstone.targets.connection import NoConnection
from loadstone.workloads.base import AnyWorkload


def refuse_problems(what: str, problems: Sequence[Problem]) -> None:
    """Stops before what cannot be made here.

    Args:
        what: Cannot be made: `the outage`.
        problems: Why; none if it can.

    Raises:
        RefusedError: With every reason.
    """
    if problems:
        said = "; ".join(problem.message for problem in problems)
        raise RefusedError(f"{what} cannot be made: {said}")


def refuse_unsafe(experiment: Experiment, variants: Sequence[Variant], *, allowed: bool) -> None:
    """Stops before a setting that can lose acknowledged commits is applied without leave.

    Raises:
        RefusedError: If there is one and it is not allowed.
    """
    if allowed:
        return
    found: dict[str, str] = {}
    for variant in variants:
        for setting in unsafe_in(apply_changes(experiment, variant.changes)):
            found.setdefault(setting, variant.name)
    if not found:
        return
    settings = ", ".join(f"{setting} (in {name!r})" for setting, name in found.items())
    raise unsafe_refused(settings)


def unsafe_refused(settings: str) -> RefusedError:
    """For settings that can lose acknowledged commits, and that nobody has allowed."""
    return RefusedError(
        f"unsafe: {settings}: commits that were acknowledged can be lost in a crash",
        advice="if the data may be lost, add --allow-unsafe; every figure will carry the word",
    )


def refuse_impossible(experiment: Experiment, changes: Iterable[Change]) -> None:
    """Stops before a factor, or a setting of all trials, that can never be changed there.

    Raises:
        WrongInputError: If a factor or level does not exist.
        RefusedError: If the engine refuses it, with the reason.
    """
    settings = [
        change
        for change in in_force(base_parts(experiment))
        if change.factor.partition(".")[0] in FACTORS
    ]
    for change in [*settings, *changes]:
        info = examine(experiment, change)
        if info.refused:
            raise RefusedError(f"{change.factor} cannot be changed: {info.refused}")


def refuse_unfit(parts: Parts, cache: str) -> None:
    """Stops before a workload that needs, as it is set, what there is not: a file, a capability.

    Args:
        parts: Of a configuration.
        cache: State of the caches at the start of each trial.

    Raises:
        WrongInputError: With what it lacks.
    """
    from loadstone.targets.registry import target_for
    from loadstone.workloads.registry import workload_of

    spec, workload = parts.target, workload_of(parts.workload)
    warms = workload.warms() if cache == "cold" else None
    if warms:
        raise WrongInputError(
            f"cache: cold does not go with workload {parts.workload.name} as it is set: {warms}",
            advice="change that, or write cache: warm",
        )
    kept = target_for(spec).keeps_caches(spec) if cache == "cold" else None
    if kept:
        raise WrongInputError(
            f"cache: cold is not possible with {spec.engine}: {kept}", advice="write cache: warm"
        )
    refuse_beyond_generator(parts)
    for name in workload.files():
        workload.examine_file(name)
    workload.examine_place(spec, parts.profile)
    made = workload.sets()
    for name in spec.settings:
        if name in made:
            raise WrongInputError(
                f"target.{name} would have no effect: workload {parts.workload.name} sets it for "
                f"each step, as its parameters {made[name]} say",
                advice="change those instead (workload.NAME as a factor)",
            )
    offered = target_for(spec).capabilities
    lacking = workload.needs() - offered
    if lacking:
        where = " at an address" if at_address(spec) else ""
        raise WrongInputError(
            f"{spec.engine}{where} does not offer {explained(lacking)}, which workload "
            f"{parts.workload.name} needs as it is set",
            advice=f"{_way_out(workload, offered)}, or choose another target: "
            "loadstone list targets",
        )


def _way_out(workload: AnyWorkload, offered: frozenset[str]) -> str:
    """The parameters with which a workload fits, as they are written where it says them."""
    fitting = {name: level_text(level) for name, level in workload.fitting(offered).items()}
    if not fitting or not workload.requires <= offered:
        return "change its parameters"
    fields = ", ".join(f"{name}: {level}" for name, level in fitting.items())
    options = " ".join(f"--param {name}={level}" for name, level in fitting.items())
    return f"write {fields} among its parameters, which is {options} on the command line"


def refuse_beyond_generator(parts: Parts) -> None:
    """Stops before a load that the program which makes it cannot make.

    Raises:
        WrongInputError: With the field of the profile, and what the program can do.
    """
    from loadstone.targets.registry import target_for
    from loadstone.workloads.registry import workload_of

    target, workload = target_for(parts.target), workload_of(parts.workload)
    profile = workload.loaded(parts.profile)
    program = workload.program(NoConnection(target.generator))
    sessions = workload.sessions(profile)
    if sessions > program.most_sessions:
        raise WrongInputError(
            f"{sessions:,} users or sessions are more than {program.name} can have "
            f"({program.most_sessions:,})"
        )
    if profile.threads > program.most_threads:
        raise WrongInputError(
            f"profile.threads: {profile.threads} is not possible with {program.name}, which makes "
            f"the load of {workload.name} on {target.engine}",
            advice="leave it out",
        )
    divided = profile.processes not in (1, "auto")
    if divided and target.in_process:
        raise WrongInputError(
            f"profile.processes: {profile.processes} is not possible with {target.engine}: it runs "
            "within the driver, and each process would be an engine of its own",
            advice="leave it out, or raise profile.threads",
        )
    if divided and not program.shares:
        raise WrongInputError(
            f"profile.processes: {profile.processes} is not possible: the load of {workload.name} "
            "as it is set cannot be divided",
            advice="leave it out",
        )


def refuse_unavailable(
    experiment: Experiment, variants: Sequence[Variant], skipped: Sequence[SkippedRung] = ()
) -> None:
    """Stops before a factor that this machine has not or does not let Loadstone change.

    Args:
        experiment: Its settings of all trials are looked at too.
        variants: All that are to run.
        skipped: Rungs that were left out for the same reason; one at least must be left.

    Raises:
        RefusedError: With each factor and its reason.
    """
    reasons = unavailable_in(base_parts(experiment))
    for variant in variants:
        for factor, reason in unavailable_in(apply_changes(experiment, variant.changes)).items():
            reasons.setdefault(factor, reason)
    if reasons:
        raise _unavailable("this machine cannot run it", reasons)
    if skipped and len(variants) == 1:
        reasons = {f"rung {each.name!r}": each.reason for each in skipped}
        raise _unavailable("this machine can climb no rung of the ladder", reasons)


def refuse_claimed_host(experiment: Experiment, variants: Sequence[Variant]) -> None:
    """Stops an experiment that changes the host while another run does.

    Raises:
        RefusedError: If so, or if a killed run left settings of the host changed.
    """
    if any(apply_changes(experiment, variant.changes).host for variant in variants):
        HostLock(UNDO).look()


def _unavailable(what: str, reasons: Mapping[str, str]) -> RefusedError:
    said = "; ".join(f"{name} is {reason}" for name, reason in reasons.items())
    return RefusedError(
        f"{what}: {said}", advice="loadstone list host shows what this machine allows"
    )
