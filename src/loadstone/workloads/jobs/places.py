"""Whether the ranks of jobs were where they were asked to be, as they say themselves.

Three things are looked at, each from inside a rank: the node that it ran on, the processors that it
was allowed to use, and the size of its MPI world. A launcher that does not match the MPI library
starts single ranks without an error; one that counts processors from zero on every node puts the
first ranks of two jobs on one processor.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from loadstone.counting import how_many
from loadstone.job.record import JobRecord
from loadstone.results.jobs import JobEntry
from loadstone.workloads.jobs.kept import JobsLoad, PlannedJobs

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class Machine:
    """This machine: nodes that it makes are bound if their ranks have fewer processors than it."""

    boot_id: str
    processors: int

    @classmethod
    def present(cls) -> Machine:
        """The one that the lab is on."""
        return cls(_BOOT_ID.read_text().strip(), len(os.sched_getaffinity(0)))


@dataclass(frozen=True)
class Place:
    """A job, and what its ranks told."""

    job: JobEntry
    record: JobRecord

    def beside(self, other: Place) -> bool:
        """Whether the two ran at the same time."""
        one, two = self.job.span, other.job.span
        return one is not None and two is not None and one[0] < two[1] and two[0] < one[1]


def places_of(jobs: Sequence[JobEntry], records: Mapping[str, JobRecord]) -> list[Place]:
    """The jobs whose application ran, with their records."""
    return [
        Place(job, records[job.name])
        for job in jobs
        if job.name in records and job.span is not None
    ]


def wrong_places(
    places: Sequence[Place], load: JobsLoad, machine: Machine | None = None
) -> list[str]:
    """What is not as it was asked for, a line each; none if all is.

    Args:
        places: Of all jobs that ran.
        load: What was asked for.
        machine: The lab's.
    """
    here = machine or Machine.present()
    found = [
        f"{place.job.name}: {problem}"
        for place in places
        for problem in (
            *_ranks(place, load.of(place.job.application)),
            *_worlds(place, load.of(place.job.application)),
        )
    ]
    return [*found, *_crowded_nodes(places, load), *_shared_processors(places, load, here)]


def _ranks(place: Place, planned: PlannedJobs) -> Iterator[str]:
    """Each rank once, as many on each node as were asked for."""
    ranks = place.record.ranks
    if len(ranks) != planned.ranks:
        yield f"{how_many(planned.ranks, 'rank')} asked, {len(ranks)} told of themselves"
        return
    numbers = sorted(rank.rank for rank in ranks)
    if numbers != list(range(planned.ranks)) and not any(_worlds(place, planned)):
        told = ", ".join(map(str, numbers))
        yield f"{how_many(planned.ranks, 'rank')} asked, and their numbers are {told}"
    on = Counter(rank.host for rank in ranks)
    if len(on) != planned.nodes:
        yield f"{how_many(planned.nodes, 'node')} asked, ranks ran on {len(on)} ({', '.join(on)})"
    elif set(on.values()) != {planned.per_node}:
        told = ", ".join(f"{count} on {host}" for host, count in on.items())
        yield f"{how_many(planned.per_node, 'rank')} on each node asked, {told} ran"


def _worlds(place: Place, planned: PlannedJobs) -> Iterator[str]:
    """One world of all ranks, as the launcher told each of them."""
    if not planned.one_world or planned.ranks == 1:
        return
    sizes = Counter(rank.world for rank in place.record.ranks)
    if set(sizes) == {planned.ranks}:
        return
    told = ", ".join(
        f"{how_many(-(-count // size), 'world')} of {how_many(size, 'rank')}"
        for size, count in sorted(sizes.items())
        if size > 0
    )
    yield f"{planned.ranks} ranks asked, {told or 'no world'} seen"


def _crowded_nodes(places: Sequence[Place], load: JobsLoad) -> Iterator[str]:
    """No node has more ranks at a time than slots: two jobs would share one."""
    slots = {_short(node.name): node.slots for node in load.nodes}
    worst: dict[str, tuple[int, list[str]]] = {}
    for place in places:
        beside = [other for other in places if other is place or _at_begin(other, place)]
        ranks: Counter[str] = Counter()
        for other in beside:
            ranks.update(_short(rank.host) for rank in other.record.ranks)
        for host, count in ranks.items():
            if count > slots.get(host, count) and count > worst.get(host, (0, []))[0]:
                names = [
                    other.job.name
                    for other in beside
                    if any(_short(rank.host) == host for rank in other.record.ranks)
                ]
                worst[host] = (count, names)
    for host, (count, names) in worst.items():
        has = how_many(slots[host], "slot")
        yield f"node {host} has {has} and had {how_many(count, 'rank')} ({', '.join(names)})"


def _at_begin(other: Place, place: Place) -> bool:
    """Whether another ran when this one began: the load of a node is highest at a begin."""
    return (
        other.job.span is not None
        and place.job.span is not None
        and (other.job.span[0] <= place.job.span[0] < other.job.span[1])
    )


def _shared_processors(places: Sequence[Place], load: JobsLoad, machine: Machine) -> Iterator[str]:
    """Of ranks that are bound, no more at a time than the processors that they are bound to."""
    slots = {_short(node.name): node.slots for node in load.nodes}
    told: set[tuple[str, frozenset[int]]] = set()
    for place in places:
        beside = [other for other in places if other is place or other.beside(place)]
        for rank in place.record.ranks:
            cpus, kernel = frozenset(rank.cpus), _kernel(place, rank.host, machine)
            ours = kernel == machine.boot_id
            whole = machine.processors if ours else slots.get(_short(rank.host), 0)
            if not cpus or len(cpus) >= whole or (kernel, cpus) in told:
                continue
            on = [
                other.job.name
                for other in beside
                for each in other.record.ranks
                if _kernel(other, each.host, machine) == kernel and frozenset(each.cpus) <= cpus
            ]
            if len(on) > len(cpus):
                told.add((kernel, cpus))
                names = ", ".join(dict.fromkeys(on))
                yield f"{len(on)} ranks of {names} share processor {_listed(cpus)} of {rank.host}"


def _kernel(place: Place, host: str, machine: Machine) -> str:
    """What has processors of its own: this machine with all its nodes, or another host."""
    return machine.boot_id if place.record.boot_id == machine.boot_id else host


def _short(host: str) -> str:
    return host.partition(".")[0]


def _listed(cpus: frozenset[int]) -> str:
    return ", ".join(map(str, sorted(cpus)))
