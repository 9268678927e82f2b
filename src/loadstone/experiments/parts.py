"""What the parts of a system under test took while load was measured."""

from __future__ import annotations

from collections.abc import Sequence

from loadstone.experiments.outcome import LoadRun, PartsReading
from loadstone.host.listening import listeners
from loadstone.host.locality import at_address, is_here
from loadstone.load.driver_group import Generator
from loadstone.probes.others import FindOwn
from loadstone.probes.part_processors import MostProcessors
from loadstone.probes.parts import FindParts, PartsProbe
from loadstone.results.folder import TrialFolder
from loadstone.results.generator import GeneratorHealth
from loadstone.results.record import MetricValue, Notice
from loadstone.results.usage import PartUsage
from loadstone.spec.target import TargetSpec
from loadstone.targets.base import Target
from loadstone.targets.connection import Connection
from loadstone.targets.walk import all_parts

USED_UP_PERCENT = 10.0
"""A quota that is used up for more of the time is told."""
SERVER = "server"
"""The name of a server that is no part of a system, where it is watched like one."""


def watched(target: Target, spec: TargetSpec) -> FindParts:
    """Finds the processes of each part; of a system without parts those of a server with a quota.

    Parts at an address are left out: they may be on another machine.

    Args:
        target: Runs while load does.
        spec: Of the trial.
    """
    found = all_parts(target)
    if not found and spec.process.quota is not None:
        found = {SERVER: target}
    own = {name: part for name, part in found.items() if part.serves and not at_address(part.spec)}
    return lambda: {name: part.server_pids() for name, part in own.items()}


def own_processes(target: Target, connection: Connection) -> FindOwn | None:
    """Finds the first processes of the system under test, of those that run on this machine.

    Args:
        target: Runs while load does.
        connection: By which the load reaches it: what listens there belongs to it.

    Returns:
        None if something answers on this machine whose processes cannot be seen.
    """
    if target.server_pids():
        return target.server_pids
    found: list[int] = []
    for host, port in connection.places:
        if is_here(host):
            pids = listeners(host, port)
            if not pids:
                return None
            found += pids
    return lambda: found


def bounded(target: Target) -> MostProcessors:
    """Says how many processors each part can use, of those that are bounded by what they are.

    Args:
        target: Runs while load does.
    """

    def most() -> dict[str, float]:
        found = {name: part.most_processors() for name, part in all_parts(target).items()}
        return {name: each for name, each in found.items() if each is not None}

    return most


def quota_notices(usages: Sequence[PartUsage]) -> list[Notice]:
    """Which parts stood still for want of their quota; a part is told, not the parts of it."""
    return [
        Notice(
            code="part-at-quota",
            severity="info",
            message=f"{each.name} used up its quota of {each.quota:g} processor"
            f"{'' if each.quota == 1 else 's'} for {each.throttled_percent:.0f} % of the time "
            "while load was measured, and stood still until its next period",
            advice="it bounds the system, if nothing else does: raise its quota to see",
        )
        for each in usages
        if "." not in each.name
        and each.quota is not None
        and (each.throttled_percent or 0.0) > USED_UP_PERCENT
    ]


def generator_share(
    health: GeneratorHealth | None, usages: Sequence[PartUsage]
) -> list[MetricValue]:
    """The processor time of the load generator, in percent of that of the system's parts.

    Nothing where no part was watched: at an address nobody knows what the system took.

    Args:
        health: Of the generator, over the measured load.
        usages: Of the parts over the same time; parts of a part are passed over.
    """
    system_s = sum(each.cpu_s for each in usages if "." not in each.name)
    if health is None or not system_s > 0:
        return []
    own_s = health.cpu_user_s + health.cpu_system_s - (health.engine_cpu_s or 0.0)
    return [
        MetricValue(
            name="generator_share_percent",
            value=100.0 * own_s / system_s,
            unit="%",
            higher_is_better=False,
            label="CPU of the load generator, of the system's",
        )
    ]


def keep_logs(target: Target, folder: TrialFolder) -> None:
    """Copies the system's own log into the folder of the trial, and those of its parts.

    Raises:
        DiskFullError: If there is no space left.
    """
    folder.keep_log(target.log_path())
    for name, part in all_parts(target).items():
        folder.keep_log(part.log_path(), name)


def read_parts(probe: PartsProbe, driver: Generator) -> PartsReading:
    """What the parts have used until now."""
    return PartsReading(driver.clock_s(), probe.cpu_s())


def usages(probe: PartsProbe, run: LoadRun, phases: Sequence[str]) -> list[PartUsage]:
    """What each part took over measured phases; nothing if one of them did not end.

    Args:
        probe: That watched them.
        run: Has readings at the borders of the phases.
        phases: That follow each other.
    """
    if not phases or not (run.begins.keys() & run.ends.keys()) >= set(phases):
        return []
    borders = [(run.begins[phase].parts, run.ends[phase].parts) for phase in phases]
    seconds = sum(end.t_s - begin.t_s for begin, end in borders)
    from_s, to_s = borders[0][0].t_s, borders[-1][1].t_s
    found = []
    for part in borders[0][0].cpu_s:
        cpu_s = sum(end.cpu_s.get(part, 0.0) - begin.cpu_s.get(part, 0.0) for begin, end in borders)
        memory, quota = probe.memory(part, from_s, to_s), probe.quota(part, from_s, to_s)
        found.append(
            PartUsage(
                name=part,
                cpu_s=cpu_s,
                cpu_percent=100.0 * cpu_s / seconds if seconds > 0 else 0.0,
                memory_bytes=None if memory is None else memory.mean,
                most_memory_bytes=None if memory is None else memory.most,
                quota=None if quota is None else quota.cpus,
                throttled_percent=None if quota is None else quota.throttled_percent,
            )
        )
    return found
