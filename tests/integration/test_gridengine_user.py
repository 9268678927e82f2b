"""An ordinary user of a Grid Engine that was there before: the table, a line of each trouble."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gridengine_bench import gridengine
from gridengine_login import Login, login
from lengths import LONG
from meeting import met
from packages import do_without
from session import Session, until
from sleepers import asleep, nap

from loadstone.errors import ExitCode
from loadstone.host.processes import matching
from loadstone.placements import programs
from loadstone.targets.gridengine import GridEngine
from loadstone.targets.gridengine.daemons import missing

_JOBS = ("--param", "application=command", "--param", "poll=100ms", "--param", "sample=100ms")
_SPREAD = ("--param", "ranks=2", "--param", "placement=distributed")


@pytest.fixture(scope="module")
def cluster() -> Iterator[GridEngine]:
    if reason := missing() or programs.absent("setpriv"):
        do_without(reason)
    with gridengine(nodes=2, slots=2) as found:
        yield found


@pytest.fixture(scope="module")
def user(cluster: GridEngine) -> Iterator[Login]:
    with login(cluster) as found:
        yield found


def _words(user: Login, *options: str, more: str = "") -> list[str]:
    server = f"gridengine://{user.queue}{more}"
    return ["loadstone", "run", "jobs", "--target", "gridengine", "--server", server, *_JOBS,
            "--quiet", *options]  # fmt: skip


def _trial(out: str) -> dict[str, Any]:
    (trial,) = json.loads(out)["trials"]
    found: dict[str, Any] = trial["result"]
    return found


def _ask(cluster: GridEngine, program: str, *arguments: str) -> str:
    """A command of Grid Engine on the head, by its manager."""
    environment = cluster.scheduler_spec().environment
    words = [f"{environment['PATH']}/{program}", *arguments]
    return cluster.nodes.head.run(words, doing=program, environment=environment)


@LONG
def test_an_ordinary_user_gets_the_table(user: Login) -> None:
    """Of jobs that are packed, and of jobs that Grid Engine spreads over nodes."""
    together = met(user.home / "met", 4)
    done = user.run(*_words(user, "--param", f"command={together}", "--param", "jobs=4"))
    assert "4 of 4" in done.stdout, done.stderr
    assert "What a job took" in done.stdout
    spread = _words(user, *_SPREAD, "--param", "command=id -u > own; sleep 1", "--json")
    done = user.run(*spread, "--param", "applications.command.output=own")
    jobs = _trial(done.stdout)["jobs"]
    assert (jobs["reached"], len(jobs["jobs"]), jobs["placement_proved"]) == (True, 2, True)
    assert {tuple(sorted(job["nodes"])) for job in jobs["jobs"]} == {("n1", "n2")}
    owners = user.run("sh", "-c", f"qacct -o {user.name} -j | grep '^owner' | sort -u").stdout
    assert owners.split() == ["owner", user.name]
    assert user.run("sh", "-c", "ls -d .local/state/loadstone/open/*.json").stdout == ""


@LONG
@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("?project=oil", "project oil: qconf says: oil is not known as a project"),
        ("?compact=smp", "parallel environment smp: qconf says: smp is not a parallel environment"),
        ("x", "has no nodes, or does not exist"),
    ],
)
def test_a_name_that_grid_engine_does_not_know_is_one_line(
    user: Login, more: str, said: str
) -> None:
    done = user.run(*_words(user, "--param", "command=true", more=more))
    assert done.returncode == ExitCode.TARGET
    assert said in done.stderr
    assert done.stderr.count("\n") == 2
    assert not done.stdout


@LONG
def test_a_queue_that_takes_no_jobs_and_a_qconf_that_is_denied_are_one_line(
    cluster: GridEngine, user: Login
) -> None:
    words = _words(user, "--param", "command=true")
    _ask(cluster, "qmod", "-d", user.queue)
    try:
        done = user.run(*words)
    finally:
        _ask(cluster, "qmod", "-e", user.queue)
    assert done.stderr.startswith(f"loadstone: no node of queue {user.queue} can take a job: d\n")
    denied = 'denied: host "head" is neither submit nor admin host'
    user.write_command("qconf", f"echo '{denied}' >&2; exit 1")
    try:
        done = user.run(*words)
    finally:
        (user.home / "bin" / "qconf").unlink()
    assert done.stderr == f"loadstone: qconf failed: {denied}\n"


@LONG
def test_a_limit_of_the_user_is_quoted(cluster: GridEngine, user: Login) -> None:
    rule = user.home / "limit"
    rule.write_text("{\nname one\nenabled TRUE\nlimit users {*} to slots=1\n}\n")
    _ask(cluster, "qconf", "-Arqs", str(rule))
    try:
        sleeping = ("--param", "command=sleep 1", "--param", "gate_timeout=4s")
        done = user.run(*_words(user, *sleeping, "--param", "jobs=2", "--json"))
    finally:
        _ask(cluster, "qconf", "-drqs", "one")
    jobs = _trial(done.stdout)["jobs"]
    assert (jobs["asked"], jobs["at_once"], jobs["reached"]) == (2, 1, False), done.stderr
    assert "exceeds limit" in jobs["reason"]


@LONG
def test_without_an_environment_of_whole_ranks_it_is_said_what_to_name(
    cluster: GridEngine, user: Login
) -> None:
    own = user.home / "round"
    kept = _ask(cluster, "qconf", "-sp", "ranks1").splitlines()
    other = {"pe_name": "round", "allocation_rule": "$round_robin"}
    lines = [line.split(None, 1) for line in kept if line.strip()]
    own.write_text("".join(f"{name} {other.get(name, value)}\n" for name, value in lines))
    _ask(cluster, "qconf", "-Ap", str(own))
    _ask(cluster, "qconf", "-rattr", "queue", "pe_list", "round", user.queue)
    try:
        done = user.run(*_words(user, *_SPREAD, "--param", "command=true", "--param", "jobs=1",
                                "--json"))  # fmt: skip
    finally:
        _ask(cluster, "qconf", "-rattr", "queue", "pe_list", "ranks1 ranks2", user.queue)
    reason = _trial(done.stdout)["jobs"]["reason"]
    assert "no parallel environment is known that places 1 rank on each of 2 nodes" in reason
    assert "gridengine://QUEUE?distributed=NAME" in reason


@LONG
def test_a_qmaster_that_hangs_for_good_fails_the_trial_and_recover_cancels(
    cluster: GridEngine, user: Login
) -> None:
    """Its jobs are at the gate or were just sent; the lab gives up, and says what to do."""
    words = _words(user, "--param", f"command=sleep {nap(600)}", "--param", "jobs=2", "--json")
    process = user.start(*words, "--set", "call_timeout_s=5")
    until("two jobs", lambda: user.run("qstat").stdout.count(" r ") == 2)
    until("the application", lambda: asleep(nap(600)))
    (qmaster,) = [each for each in cluster.nodes.head.processes() if each.name() == "sge_qmaster"]
    qmaster.send_signal(signal.SIGSTOP)
    try:
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=300)
        assert process.returncode != ExitCode.OK
        assert "could not be cancelled: qstat did not answer within 5 s" in err
        assert "loadstone recover" in err
        failed = user.run("loadstone", "recover")
        assert failed.returncode != ExitCode.OK
        assert "qstat did not answer within 5 s" in failed.stderr
    finally:
        qmaster.send_signal(signal.SIGCONT)
    assert list(user.home.glob("results/*/*/desk/*/job.json")), out
    recovered = user.run("loadstone", "recover")
    assert recovered.returncode == ExitCode.OK, recovered.stderr
    assert user.run("qstat").stdout == ""


@LONG
def test_two_clusters_of_loadstones_own_do_not_meet(tmp_path: Path) -> None:
    """Each has qmaster, queue and jobs of its own, and leaves nothing."""
    if reason := missing():
        do_without(reason)
    words = ["run", "jobs", "--target", "gridengine", *_JOBS, "--param", "jobs=2", "--json"]
    words += ["--set", "nodes=2", "--set", "slots=1", "--param", "command=sleep 5"]
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with Session(tmp_path / "a") as one, Session(tmp_path / "b") as other:
        both = [session.start(*words) for session in (one, other)]

        def masters() -> bool:
            found = matching(lambda line: line[:1] == ["/usr/lib/gridengine/sge_qmaster"])
            return len(found) >= len(both)

        until("two qmasters", masters)
        told = [process.communicate(timeout=300) for process in both]
        for out, err in told:
            jobs = _trial(out)["jobs"]
            assert [job["state"] for job in jobs["jobs"]] == ["ended"] * 2, err
            assert jobs["placement_proved"]
        for session in (one, other):
            session.assert_nothing_left()
        accounts = [{job["name"] for job in _trial(out)["jobs"]["jobs"]} for out, _ in told]
        assert not accounts[0] & accounts[1]
