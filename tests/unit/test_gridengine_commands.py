"""How Grid Engine's commands are called, and what is made of failures: small scripts answer."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from pathlib import Path

import pytest

from loadstone.errors import TargetError, WrongInputError
from loadstone.schedulers import gridengine_output
from loadstone.schedulers.base import Request, SchedulerError, SchedulerSpec, SubmissionError
from loadstone.schedulers.gridengine import GridEngine
from loadstone.spec.target import TargetSpec
from loadstone.targets.gridengine import GridEngine as Target
from loadstone.targets.gridengine import GridEngineAtAddress, daemons
from loadstone.targets.gridengine.address import GridEngineAddress
from loadstone.targets.gridengine.cell import Cell
from loadstone.targets.registry import target_for

EMPTY = "<?xml version='1.0'?><job_info><queue_info/><job_info/></job_info>"
WAITS = (
    "<?xml version='1.0'?><job_info><queue_info/><job_info><job_list state='pending'>"
    "<JB_job_number>7</JB_job_number><JB_name>ls-a</JB_name><state>qw</state></job_list>"
    "</job_info></job_info>"
)
Answering = Callable[..., GridEngine]


@pytest.fixture
def answering(tmp_path: Path) -> Answering:
    """Commands that say what a test wants; what each was given is in `NAME.words`."""

    def made(*, call_timeout_s: float = 20, **scripts: str) -> GridEngine:
        for name, script in scripts.items():
            program = tmp_path / name
            program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{program}.words"\n{script}\n')
            program.chmod(0o755)
        spec = SchedulerSpec(
            kind="gridengine",
            environment={"PATH": str(tmp_path)},
            queue="all.q",
            parallel_environments={"2": "two", "compact": "one"},
            call_timeout_s=call_timeout_s,
        )
        return GridEngine(spec)

    return made


def _request(ranks: int = 4, nodes: int = 2, folder: Path = Path("/desk")) -> Request:
    return Request(
        name="ls-a",
        script=folder / "job.sh",
        folder=folder,
        ranks=ranks,
        nodes=nodes,
        per_node=ranks // nodes,
        time_limit_s=90,
    )


def _words(folder: Path, name: str) -> list[str]:
    return (folder / f"{name}.words").read_text().splitlines()


def _say(text: str) -> str:
    return f"cat <<'END'\n{text}\nEND"


def _account(**fields: str) -> str:
    plain = {
        "jobname": "ls-a",
        "jobnumber": "7",
        "owner": getpass.getuser(),
        "failed": "0",
        "exit_status": "0",
    }
    return "=====\n" + "\n".join(f"{name} {value}" for name, value in {**plain, **fields}.items())


def test_a_job_is_never_rerun_and_names_its_ranks_of_each_node(
    answering: Answering, tmp_path: Path
) -> None:
    assert answering(qsub="echo 7").submit(_request()) == "7"
    words = _words(tmp_path, "qsub")
    for option in (["-r", "n"], ["-pe", "two", "4"], ["-N", "ls-a"], ["-l", "h_rt=90"]):
        assert any(words[at : at + len(option)] == option for at in range(len(words))), option


def test_a_job_of_one_rank_needs_no_parallel_environment(
    answering: Answering, tmp_path: Path
) -> None:
    answering(qsub="echo 7").submit(_request(ranks=1, nodes=1))
    assert "-pe" not in _words(tmp_path, "qsub")


def test_a_placement_that_no_parallel_environment_makes_is_refused_before_qsub(
    answering: Answering, tmp_path: Path
) -> None:
    with pytest.raises(SubmissionError, match="places 3 ranks on each of 2 nodes") as refused:
        answering(qsub="echo 7").submit(_request(ranks=6))
    assert not refused.value.doubtful
    assert not (tmp_path / "qsub.words").exists()


@pytest.mark.parametrize(
    ("script", "doubtful"),
    [
        ("echo 'Unable to run job: failed receiving gdi request response' >&2; exit 1", True),
        ("echo 'error: commlib error: got select error' >&2; exit 1", True),
        ("echo welcome", True),
        ("exit 137", True),
        ("echo 'Unable to run job: job rejected: no such project' >&2; exit 1", False),
        ("echo 'qsub: Unknown option -x' >&2; exit 7", False),
    ],
)
def test_a_failure_of_qsub_is_in_doubt_unless_qmaster_has_refused(
    answering: Answering, script: str, doubtful: bool
) -> None:
    with pytest.raises(SubmissionError) as failed:
        answering(qsub=script).submit(_request())
    assert failed.value.doubtful == doubtful


def test_a_qsub_that_hangs_may_have_submitted(answering: Answering) -> None:
    with pytest.raises(SubmissionError, match="qsub did not answer") as failed:
        answering(qsub="sleep 600", call_timeout_s=0.3).submit(_request())
    assert failed.value.doubtful


def test_a_job_that_has_left_the_list_is_unknown_until_the_accounting_has_it(
    answering: Answering, tmp_path: Path
) -> None:
    engine = answering(
        qstat=f'case "$*" in *-j*) exit 1;; esac\ncat "{tmp_path}/listing"',
        qacct=f'cat "{tmp_path}/accounts"',
    )
    listing, accounts = tmp_path / "listing", tmp_path / "accounts"
    listing.write_text(WAITS)
    accounts.write_text("")
    assert engine.jobs("ls-")["ls-a"].state == "waiting"
    listing.write_text(EMPTY)
    assert "ls-a" not in engine.jobs("ls-")
    accounts.write_text(_account(exit_status="3"))
    assert engine.jobs("ls-")["ls-a"].state == "failed"
    accounts.unlink()  # what was told once is not asked again
    assert engine.jobs("ls-")["ls-a"].exit_code == 3


def test_jobs_of_somebody_else_are_not_ours(answering: Answering) -> None:
    said = _say(_account(owner="somebody-else"))
    assert answering(qstat=_say(EMPTY), qacct=said).jobs("ls-") == {}


def test_a_job_that_was_deleted_while_it_waited_was_cancelled(
    answering: Answering, tmp_path: Path
) -> None:
    """Grid Engine's accounting has no record of it."""
    engine = answering(
        qstat=f'case "$*" in *-j*) exit 1;; esac\ncat "{tmp_path}/listing"',
        qacct="echo 'error: job name ls-* not found' >&2; exit 1",
        qdel="echo 'root has deleted job 7'",
    )
    (tmp_path / "listing").write_text(WAITS)
    engine.jobs("ls-")
    assert engine.cancel_all("ls-") == ["7"]
    (tmp_path / "listing").write_text(EMPTY)
    assert engine.jobs("ls-")["ls-a"].state == "cancelled"
    assert engine.cancel_all("ls-") == []


@pytest.mark.parametrize(
    ("script", "fails"),
    [
        ("echo 'denied: job \"7\" does not exist' >&2; exit 1", False),
        ("echo 'error: unable to contact qmaster' >&2; exit 1", True),
    ],
)
def test_qdel_may_complain_of_a_job_that_is_over(
    answering: Answering, script: str, fails: bool
) -> None:
    engine = answering(qdel=script)
    if fails:
        with pytest.raises(SchedulerError, match="unable to contact qmaster"):
            engine.cancel(["7"])
    else:
        engine.cancel(["7"])


@pytest.mark.parametrize(
    ("script", "missing"),
    [
        ("echo 'error: job name x not found' >&2; exit 1", ""),
        ("echo 'no accounting file' >&2; exit 1", "qacct says: no accounting file"),
    ],
)
def test_where_there_is_no_accounting_it_is_said(
    answering: Answering, script: str, missing: str
) -> None:
    engine = answering(qacct=script)
    assert engine.accounting_missing() == missing
    assert engine.accounting("ls-") == {}


def test_only_environments_that_place_a_whole_number_on_each_node_are_taken(
    answering: Answering,
) -> None:
    rules = {"smp": "$pe_slots", "two": "2", "rr": "$round_robin", "fill": "$fill_up"}
    cases = "".join(f"*-sp*{name}) echo allocation_rule '{rule}';;" for name, rule in rules.items())
    script = f'case "$*" in *-sq*) echo pe_list {" ".join(rules)};; {cases} esac'
    assert answering(qconf=script).environments() == {"compact": "smp", "2": "two"}


def test_ranks_that_are_no_mpi_are_started_on_the_nodes_of_the_job(
    answering: Answering, tmp_path: Path
) -> None:
    """The words run in the job: qrsh brings a rank to another node."""
    hosts = tmp_path / "hosts"
    hosts.write_text("here 1 all.q@here UNDEFINED\nthere 2 all.q@there UNDEFINED\n")
    engine = answering(qrsh='shift 3; host=$1; shift; ON=$host "$@"')
    words = engine.launcher(_request(ranks=4), "plain")
    told = '"${ON:-here}" "$LOADSTONE_RANK" "$LOADSTONE_RANKS"'
    script = f'printf "%s %s %s\\n" {told} >>"{tmp_path}/ran"'
    commands = engine._commands
    commands.ask([*words, "sh", "-c", script], PE_HOSTFILE=str(hosts), HOSTNAME="here", NSLOTS="3")
    ran = sorted((tmp_path / "ran").read_text().splitlines())
    assert ran == ["here 0 3", "there 1 3", "there 2 3"]


def test_a_rank_that_fails_fails_the_launcher(answering: Answering, tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("here 2 all.q@here UNDEFINED\n")
    engine = answering()
    words = [*engine.launcher(_request(), "plain"), "sh", "-c", 'exit "$LOADSTONE_RANK"']
    said = engine._commands.run(words, PE_HOSTFILE=str(hosts), HOSTNAME="here", NSLOTS="2")
    assert said.code == 1


def test_the_parts_of_an_address() -> None:
    found = GridEngineAddress.parse("gridengine://all.q?project=oil&distributed=orte")
    assert (found.queue, found.project, found.environments) == (
        "all.q",
        "oil",
        {"distributed": "orte"},
    )
    assert GridEngineAddress.parse("gridengine://").queue == ""


@pytest.mark.parametrize(
    "server",
    [
        "slurm://all.q",
        "gridengine://all.q/more",
        "gridengine://all.q?qos=x",
        "gridengine://a;b",
        "gridengine://me:secret@all.q",
    ],
)
def test_an_address_that_cannot_be_is_refused_without_its_secret(server: str) -> None:
    with pytest.raises(WrongInputError) as refused:
        GridEngineAddress.parse(server)
    assert "secret" not in refused.value.message


def test_where_it_is_decides_which_target_it_is() -> None:
    assert target_for(TargetSpec(engine="gridengine")) is Target
    at = TargetSpec(engine="gridengine", server="gridengine://all.q")
    assert target_for(at) is GridEngineAtAddress


def test_a_machine_without_its_commands_is_told_which_package_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TargetError, match="qsub is missing") as raised:
        GridEngineAtAddress.describe(TargetSpec(engine="gridengine", server="gridengine://all.q"))
    assert "gridengine-client" in str(raised.value.advice)


def test_a_machine_without_its_daemons_is_told_which_package_has_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = {"sge_qmaster": Path("/usr/sbin/sge_qmaster")}
    monkeypatch.setattr(daemons.programs, "find", there.get)
    assert daemons.missing() == "sge_execd is missing: install the package gridengine-exec"


@pytest.mark.parametrize("settings", [{"slot": 2}, {"node_timeout_s": 1}, {"accounting": "none"}])
def test_a_setting_that_cannot_be_is_refused(settings: dict[str, str | int]) -> None:
    for name, level in settings.items():
        with pytest.raises(WrongInputError):
            Target.setting(TargetSpec(engine="gridengine"), name, level)


def test_a_cell_has_an_environment_for_each_number_of_ranks(tmp_path: Path) -> None:
    cell = Cell(tmp_path, "head", {"n1": 2, "n2": 3}, "root", 75)
    cell.write()
    assert cell.environments() == {"1": "ranks1", "2": "ranks2", "3": "ranks3"}
    rules = {
        path.name: gridengine_output.rule_of(path.read_text())
        for path in (cell.objects / "pes").iterdir()
    }
    assert rules == {"ranks1": "1", "ranks2": "2", "ranks3": "3"}
    queue = cell.queue_file.read_text()
    assert gridengine_output.environments_of(queue) == ["ranks1", "ranks2", "ranks3"]
    assert "slots 0,[n1=2],[n2=3]\n" in queue
    assert "max_unheard 00:01:15\n" in (cell.objects / "configuration").read_text()
    assert str(cell.database) in (cell.common / "bootstrap").read_text()


def test_how_the_scheduler_works_is_changed_where_it_must_be(tmp_path: Path) -> None:
    cell = Cell(tmp_path, "head", {"n1": 1}, "root", 30)
    cell.schedule_as("algorithm   default\nschedule_interval  0:0:15\nhalftime 168\n")
    said = dict(line.split(" ", 1) for line in cell.scheduling.read_text().splitlines())
    assert said["schedule_interval"] == "0:0:1"
    assert said["schedd_job_info"] == "true"
    assert (said["algorithm"], said["halftime"]) == ("default", "168")


def test_recover_finds_the_cell_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SGE_ROOT", "/opt/sge")
    monkeypatch.setenv("SGE_CELL", "two")
    spec = GridEngineAddress.parse("gridengine://all.q").scheduler_spec(60)
    assert spec.environment["SGE_ROOT"] == "/opt/sge"
    assert spec.environment["SGE_CELL"] == "two"
