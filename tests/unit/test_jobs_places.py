"""The proof of placement, from inside: nodes, processors and worlds of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import sample_jobs
from sample_jobs import KERNEL, event, planned, rank, record, records

from loadstone.job.record import JobRecord
from loadstone.protocol.frames import Event
from loadstone.workloads.jobs.kept import PlannedJobs
from loadstone.workloads.jobs.places import Machine, places_of, wrong_places
from loadstone.workloads.jobs.told import entries_of

HERE = Machine(KERNEL, processors=2)
MPI_4 = planned(count=1, ranks=4, nodes=2, per_node=2, one_world=True)


def wrong(
    desk: Path, jobs: PlannedJobs, events: Sequence[Event], found: Sequence[JobRecord]
) -> list[str]:
    load = sample_jobs.load(desk, jobs)
    told = records(*found)
    entries = entries_of(events, load, told)
    return wrong_places(places_of(entries, told), load, HERE)


def four(worlds: Sequence[int], hosts: Sequence[str] = ("n1", "n1", "n2", "n2")) -> JobRecord:
    ranks = [
        rank(number, host, world)
        for number, (host, world) in enumerate(zip(hosts, worlds, strict=True))
    ]
    return record("1-command", ranks)


def test_ranks_on_the_nodes_that_were_asked_for_in_one_world_are_right(tmp_path: Path) -> None:
    assert wrong(tmp_path, MPI_4, [event("1-command", 5, 10)], [four([4] * 4)]) == []


@pytest.mark.parametrize(
    ("worlds", "said"),
    [
        ([1, 1, 1, 1], "4 ranks asked, 4 worlds of 1 rank seen"),
        ([2, 2, 2, 2], "4 ranks asked, 2 worlds of 2 ranks seen"),
        ([8, 8, 8, 8], "4 ranks asked, 1 world of 8 ranks seen"),
    ],
)
def test_an_mpi_job_that_is_several_is_seen_though_its_result_is_right(
    tmp_path: Path, worlds: list[int], said: str
) -> None:
    found = wrong(tmp_path, MPI_4, [event("1-command", 5, 10)], [four(worlds)])
    assert found == [f"{sample_jobs.PREFIX}1-command: {said}"]


def test_ranks_that_all_take_themselves_for_the_first_are_told_as_worlds(tmp_path: Path) -> None:
    alone = record("1-command", [rank(0, host, 1) for host in ("n1", "n1", "n2", "n2")])
    found = wrong(tmp_path, MPI_4, [event("1-command", 5, 10)], [alone])
    assert found == [f"{sample_jobs.PREFIX}1-command: 4 ranks asked, 4 worlds of 1 rank seen"]
    plain = MPI_4.model_copy(update={"one_world": False})
    (said,) = wrong(tmp_path, plain, [event("1-command", 5, 10)], [alone])
    assert said.endswith("4 ranks asked, and their numbers are 0, 0, 0, 0")


def test_ranks_that_know_no_world_are_no_mpi_job(tmp_path: Path) -> None:
    plain = MPI_4.model_copy(update={"one_world": False})
    assert wrong(tmp_path, plain, [event("1-command", 5, 10)], [four([1] * 4)]) == []


@pytest.mark.parametrize(
    ("hosts", "said"),
    [
        (("n1", "n1", "n1", "n1"), "2 nodes asked, ranks ran on 1 (n1)"),
        (("n1", "n1", "n1", "n2"), "2 ranks on each node asked, 3 on n1, 1 on n2 ran"),
    ],
)
def test_a_job_that_was_placed_otherwise_is_seen(
    tmp_path: Path, hosts: tuple[str, ...], said: str
) -> None:
    found = wrong(tmp_path, MPI_4, [event("1-command", 5, 10)], [four([4] * 4, hosts)])
    assert f"{sample_jobs.PREFIX}1-command: {said}" in found


def test_a_rank_that_told_nothing_is_missed(tmp_path: Path) -> None:
    three = record("1-command", [rank(0, "n1", 4), rank(1, "n1", 4), rank(3, "n2", 4)])
    (found,) = wrong(tmp_path, MPI_4, [event("1-command", 5, 10)], [three])
    assert found.endswith("4 ranks asked, 3 told of themselves")


def bound(name: str, cpus: list[int], boot: str = KERNEL, host: str = "n1") -> JobRecord:
    return record(name, [rank(0, host, cpus=cpus)], boot_id=boot)


def test_two_jobs_on_one_bound_processor_are_seen(tmp_path: Path) -> None:
    """Nodes of this machine: a launcher that counts from 0 on each takes the same processor."""
    events = [event("1-command", 5, 10), event("2-command", 6, 10)]
    jobs = [bound("1-command", [0]), bound("2-command", [0], host="n2")]
    (found,) = wrong(tmp_path, planned(), events, jobs)
    assert "2 ranks of" in found
    assert "share processor 0 of n1" in found
    apart = [bound("1-command", [0]), bound("2-command", [1], host="n2")]
    assert wrong(tmp_path, planned(), events, apart) == []


def test_ranks_that_may_use_the_whole_machine_are_not_bound(tmp_path: Path) -> None:
    events = [event(f"{number}-command", 5, 10) for number in range(3)]
    jobs = [bound(f"{number}-command", [0, 1], host=f"n{number % 2 + 1}") for number in range(3)]
    assert wrong(tmp_path, planned(count=3), events, jobs) == []


def test_processors_of_two_machines_have_the_same_numbers_and_are_others(tmp_path: Path) -> None:
    events = [event("1-command", 5, 10), event("2-command", 6, 10)]
    jobs = [bound("1-command", [0], "kernel-a"), bound("2-command", [0], "kernel-b", "n2")]
    assert wrong(tmp_path, planned(), events, jobs) == []


def test_jobs_one_after_the_other_may_have_the_same_processor(tmp_path: Path) -> None:
    events = [event("1-command", 5, 10), event("2-command", 15, 10)]
    jobs = [bound("1-command", [0]), bound("2-command", [0])]
    assert wrong(tmp_path, planned(), events, jobs) == []


def test_more_ranks_on_a_node_than_it_has_slots_are_seen(tmp_path: Path) -> None:
    events = [event(f"{number}-command", 5 + number, 10) for number in range(3)]
    jobs = [record(f"{number}-command") for number in range(3)]
    (found,) = wrong(tmp_path, planned(count=3), events, jobs)
    assert found.startswith("node n1 has 2 slots and had 3 ranks (")
    later = [*events[:2], event("2-command", 25, 10)]
    assert wrong(tmp_path, planned(count=3), later, jobs) == []
