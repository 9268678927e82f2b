"""The jobs of a trial over the nodes' slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile

from loadstone.report.model.jobs import GanttBar, GanttLane, GanttReport
from loadstone.results.jobs import ClusterNode, JobEntry, JobsRecord


def gantt_report(record: JobsRecord | None, origin: float) -> GanttReport | None:
    """Each job on as many slots of each of its nodes as it has ranks there.

    Which slot of a node a job had is not known: the lowest that is free is drawn. A node that has
    more ranks than slots gets rows beyond its slots.

    Args:
        record: Of the trial.
        origin: Zero of its charts, on the trial's clock.

    Returns:
        None of a trial without jobs, and where none of them ran.
    """
    if record is None:
        return None
    ran = sorted((job for job in record.jobs if _span(job) is not None and job.nodes), key=_arrived)
    if not ran:
        return None
    places = _places(ran)
    lanes = _lanes(record.nodes, places)
    row = {(lane.node, lane.slot): at for at, lane in enumerate(lanes)}
    gates = [job.gate_open_s for job in ran if job.gate_open_s is not None]
    shared = len(shared_beginning([job.name for job in record.jobs]))
    return GanttReport(
        lanes=lanes,
        bars=[
            _bar(job, job.name[shared:], [row[place] for place in places[job.name]], origin)
            for job in ran
        ],
        gate_open_s=gates[0] - origin if gates else None,
        unplaced=[
            f"{job.name[shared:]}: {job.state}{f' ({job.reason})' if job.reason else ''}"
            for job in record.jobs
            if job not in ran
        ],
    )


def shared_beginning(names: Sequence[str]) -> str:
    """What all names begin with, up to a dash: of a single one, up to its first."""
    if len(names) < 2:
        return "".join(f"{name.partition('-')[0]}-" for name in names if "-" in name)
    split = [name.split("-")[:-1] for name in names]
    alike = takewhile(lambda parts: len(set(parts)) == 1, zip(*split, strict=False))
    return "".join(f"{parts[0]}-" for parts in alike)


Place = tuple[str, int]
"""Node and slot, from 1."""


def _span(job: JobEntry) -> tuple[float, float] | None:
    """From its arrival on a node to its end there."""
    begin = job.arrived_s if job.arrived_s is not None else job.began_s
    end = job.ended_s if job.ended_s is not None else job.seen_s
    return None if begin is None or end is None or end < begin else (begin, end)


def _arrived(job: JobEntry) -> tuple[float, str]:
    span = _span(job)
    return (span[0] if span else 0.0), job.name


def _places(ran: Sequence[JobEntry]) -> dict[str, list[Place]]:
    """The slots of each job, by its name."""
    free_at: dict[Place, float] = {}
    found: dict[str, list[Place]] = {}
    for job in ran:
        span = _span(job)
        if span is None:
            continue
        begin, end = span
        for node, ranks in _ranks_on(job).items():
            slot = 0
            taken = 0
            while taken < ranks:
                slot += 1
                if free_at.get((node, slot), begin) <= begin:
                    free_at[node, slot] = end
                    found.setdefault(job.name, []).append((node, slot))
                    taken += 1
    return found


def _ranks_on(job: JobEntry) -> dict[str, int]:
    """Its ranks on each node; at least one on each that it names."""
    share, rest = divmod(job.ranks, len(job.nodes))
    return {node: max(1, share + (at < rest)) for at, node in enumerate(job.nodes)}


def _lanes(nodes: Sequence[ClusterNode], places: Mapping[str, Sequence[Place]]) -> list[GanttLane]:
    """All slots of the nodes that are known, and all that jobs take."""
    slots = {node.name: node.slots for node in nodes}
    for taken in places.values():
        for node, slot in taken:
            slots[node] = max(slots.get(node, 0), slot)
    return [
        GanttLane(node=node, slot=slot)
        for node, count in slots.items()
        for slot in range(1, count + 1)
    ]


def _bar(job: JobEntry, label: str, lanes: list[int], origin: float) -> GanttBar:
    begin, end = _span(job) or (origin, origin)

    def moment(of: float | None) -> float | None:
        return None if of is None else of - origin

    return GanttBar(
        name=job.name,
        label=label,
        application=job.application,
        ranks=job.ranks,
        nodes=job.nodes,
        state=job.state,
        reason=job.reason,
        lanes=lanes,
        submitted_s=moment(job.submitted_s),
        arrived_s=begin - origin,
        began_s=moment(job.began_s),
        ended_s=end - origin,
        waiting_s=job.waiting_s,
        launch_s=job.launch_s,
        stage_s=job.stage_s,
        run_s=job.run_s,
        late_s=job.late_s,
        cpu_s=job.cpu_s,
        read_mib=job.read_mib,
        written_mib=job.written_mib,
    )
