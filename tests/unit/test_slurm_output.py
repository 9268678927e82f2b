"""What Slurm's commands say, as values; the lines were recorded from Slurm 22.05."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.schedulers import slurm_output
from loadstone.schedulers.base import SchedulerError

AT = "2026-11-28T00:10:00"
AT_S = 1_795_824_600.0


def _line(*fields: str) -> str:
    return "".join(f"{field:<40}|" for field in fields) + "\n"


def _job(state: str = "RUNNING", *, reason: str = "None", restarts: str = "0") -> str:
    fields = ("7", "ls-a", state, AT, AT, AT, restarts, "0", "n[1-2]", reason)
    return _line(*fields)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("17\n", "17"),
        ("17;cluster2\n", "17"),
        ("Submitted batch job 17\n", "17"),
        ("Submitted batch job 17 on cluster two\n", "17"),
        ("Welcome!\n 1 account\nprice: 3\n17\nBye\n", "17"),
        ("", None),
        ("no 17 here\n", None),
        ("17\n18\n", None),
    ],
)
def test_the_id_is_found_whatever_a_site_prints(text: str, expected: str | None) -> None:
    assert slurm_output.submitted(text) == expected


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("PENDING", "waiting"),
        ("RUNNING", "running"),
        ("COMPLETING", "running"),
        ("COMPLETED", "ended"),
        ("FAILED", "failed"),
        ("OUT_OF_MEMORY", "failed"),
        ("CANCELLED", "cancelled"),
        ("TIMEOUT", "timed-out"),
        ("NODE_FAIL", "node-failed"),
        ("REQUEUE_HOLD", "requeued"),
        ("LAUNCH_INTO_SPACE", "unknown"),
        ("", "unknown"),
    ],
)
def test_a_state_that_is_not_known_is_never_an_end(state: str, expected: str) -> None:
    found = slurm_output.queue(_job(state))["ls-a"]
    assert found.state == expected
    assert found.over == (expected in {"ended", "failed", "cancelled", "timed-out", "node-failed"})
    assert (found.ended_s is not None) == found.over  # a running job has an end in the future


def test_the_fields_of_a_job() -> None:
    found = slurm_output.queue(_job("COMPLETED"))["ls-a"]
    assert (found.id, found.nodes, found.exit_code) == ("7", ("n1", "n2"), 0)
    assert (found.submitted_s, found.began_s, found.ended_s) == (AT_S, AT_S, AT_S)
    assert found.reason == ""


def test_a_job_that_waits_has_a_reason_and_no_begin() -> None:
    found = slurm_output.queue(_job("PENDING", reason="QOSMaxJobsPerUserLimit"))["ls-a"]
    assert (found.state, found.reason) == ("waiting", "QOSMaxJobsPerUserLimit")
    assert found.began_s is None


def test_a_held_job_does_not_wait() -> None:
    assert slurm_output.queue(_job("PENDING", reason="JobHeldUser"))["ls-a"].state == "held"


@pytest.mark.parametrize("state", ["PENDING", "RUNNING"])
def test_a_job_that_was_begun_again_is_requeued(state: str) -> None:
    found = slurm_output.queue(_job(state, reason="BeginTime", restarts="1"))["ls-a"]
    assert (found.state, found.reason) == ("requeued", "requeued 1 times; BeginTime")


def test_of_two_jobs_with_one_name_the_last_counts() -> None:
    older = _job("COMPLETED").replace("7 ", "6 ", 1)
    assert slurm_output.queue(_job("RUNNING") + older)["ls-a"].id == "7"


def test_text_that_is_no_line_of_jobs_is_not_guessed_at() -> None:
    with pytest.raises(SchedulerError, match="1 fields where 10 were asked"):
        slurm_output.queue("slurm is down for maintenance\n")


def test_accounting_adds_the_memory_of_steps() -> None:
    text = (
        f"7|ls-a|CANCELLED by 1000|{AT}|{AT}|{AT}|01:02:03.5||0:9|n1\n"
        f"7.batch|batch|CANCELLED|{AT}|{AT}|{AT}|00:01.000|2048K|0:9|n1\n"
        f"7.0|python|COMPLETED|{AT}|{AT}|{AT}|00:01.000|3M|0:0|n1\n"
        f"8|ls-b|COMPLETED|{AT}|Unknown|Unknown|00:00:00||0:0|None assigned\n"
    )
    found = slurm_output.accounts(text)
    assert sorted(found) == ["ls-a", "ls-b"]
    first, second = found["ls-a"], found["ls-b"]
    assert (first.state, first.cpu_s, first.max_rss_mib) == ("cancelled", 3723.5, 3.0)
    assert first.exit_code == 137
    assert (second.began_s, second.nodes, second.max_rss_mib) == (None, (), None)


def test_a_rank_fits_on_each_core_of_a_node() -> None:
    found = slurm_output.nodes("n1|8|2|idle\nn2|2|1|mixed\nn3|2|1|down*\nn4|2|1|idle*\n")
    assert [(node.name, node.slots, node.up) for node in found] == [
        ("n1", 4, True),
        ("n2", 2, True),
        ("n3", 2, False),
        ("n4", 2, False),
    ]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n1", ["n1"]),
        ("n[1-3,7]", ["n1", "n2", "n3", "n7"]),
        ("n[08-10],login", ["n08", "n09", "n10", "login"]),
        ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
        ("n[1-2]-ib", ["n1-ib", "n2-ib"]),
        ("", []),
        ("(null)", []),
    ],
)
def test_lists_of_hosts(text: str, names: list[str]) -> None:
    assert list(slurm_output.hosts(text)) == names


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("00:01.5", 1.5), ("1-00:00:00", 86_400), ("02:03:04", 7384), ("", None), ("Unknown", None)],
)
def test_durations(text: str, seconds: float | None) -> None:
    assert slurm_output.duration_s(text) == seconds


@given(st.text())
def test_no_text_of_sbatch_breaks_the_reader(text: str) -> None:
    found = slurm_output.submitted(text)
    assert found is None or found in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "MPI plugin types are...\n\tpmix\n\tnone\n"
            "specific pmix plugin versions available: pmix_v3,pmix_v4\n",
            ["none", "pmix", "pmix_v3", "pmix_v4"],
        ),
        ("srun: MPI types are...\nsrun: none\nsrun: pmi2\n", ["none", "pmi2"]),
        ("srun: fatal: Could not establish a configuration source\n", []),
    ],
)
def test_the_types_of_mpi_that_srun_tells(text: str, expected: list[str]) -> None:
    assert slurm_output.types_of_mpi(text) == expected
