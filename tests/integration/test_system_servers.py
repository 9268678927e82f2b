"""A real system of parts: PostgreSQL with servers beside it, from its start to its end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from integration.line_system import LINES, LineSystem
from lengths import long_but

from loadstone.errors import TargetError
from loadstone.experiments.conduct import RunOptions, conduct
from loadstone.experiments.file import parse_experiment
from loadstone.experiments.observer import Observer
from loadstone.experiments.preflight.check import check_experiment
from loadstone.host import cpu_group
from loadstone.host.cgroup import bounds_of
from loadstone.host.processes import lives
from loadstone.journal import Journal, open_journals
from loadstone.placements.tree import DEFAULT_PARENT
from loadstone.report.document import build_document
from loadstone.report.terminal_parts import part_table, part_tables
from loadstone.results.record import Status, TrialResult
from loadstone.results.trial_files import read_result
from loadstone.spec.target import ProcessSpec, TargetSpec
from loadstone.targets.base import TargetContext
from loadstone.targets.registry import TARGETS
from loadstone.targets.walk import all_parts, part_of

HERE = Path(__file__).parent
MAY_BOUND = isinstance(cpu_group.place(), Path)
needs_groups = pytest.mark.skipif(not MAY_BOUND, reason=f"no quota here: {cpu_group.place()}")
QUOTA = 0.2
START = "start"


@pytest.fixture(autouse=True)
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    monkeypatch.setitem(TARGETS._places, LineSystem.engine, "integration.line_system:LineSystem")


@pytest.fixture(scope="module")
def data() -> Iterator[Path]:
    """A folder that the account of PostgreSQL can enter; nothing may be left in it."""
    folder = Path(tempfile.mkdtemp(dir=DEFAULT_PARENT))
    folder.chmod(0o755)
    yield folder
    folder.rmdir()


@pytest.fixture(scope="module")
def opened(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LineSystem]:
    """A system with a snapshot of its data, as `START`."""
    folder = tmp_path_factory.mktemp("opened")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOADSTONE_STATE", str(folder / "state"))
        journal = Journal(folder / "journal.jsonl", "pytest")
        spec = TargetSpec(engine=LineSystem.engine, data=str(data), settings={LINES: 2})
        made = LineSystem(spec, TargetContext(journal=journal, owner="pytest"))
        try:
            made.open()
            made.part("database").execute("CREATE TABLE t (n integer)")  # type: ignore[attr-defined]
            made.snapshot(START)
            yield made
        finally:
            made.close()
            journal.close()


@pytest.fixture
def system(opened: LineSystem) -> LineSystem:
    """As it was opened."""
    opened.restore(START, opened.spec)
    return opened


def groups() -> set[str]:
    """Control groups of Loadstone's own that there are now."""
    place = cpu_group.place()
    return {each.name for each in place.glob("loadstone-*")} if isinstance(place, Path) else set()


# -- the target --------------------------------------------------------------------------------
def test_parts_are_restored_together_with_what_each_was_asked(system: LineSystem) -> None:
    system.part("database").execute("DROP TABLE t")  # type: ignore[attr-defined]
    before = system.server_pids()
    wanted = {LINES: 3, "database.work_mem": "5MB", "lines.Colour": "red"}
    readings = system.restore(START, system.spec.with_settings(wanted))
    assert {each.factor: each.read_back for each in readings} == {
        "target.database.work_mem": "5120kB",
        "target.lines.Colour": "red",
        "target.lines": 3,
    }
    assert system.part("database").query("SELECT count(*) FROM t") == [(0,)]  # type: ignore[attr-defined]
    assert set(before).isdisjoint(system.server_pids())
    assert list(all_parts(system)) == ["database", "lines", "lines.1", "lines.2", "lines.3"]
    system.settle("cold")
    system.check_ready()
    assert system.inventory()["parts"]["lines"]["parts"]["3"]["server"]


@needs_groups
def test_each_member_has_a_group_of_its_own_that_is_read_back_and_removed(
    system: LineSystem,
) -> None:
    readings = system.restore(START, system.spec.with_part(LINES, process=ProcessSpec(quota=QUOTA)))
    assert {each.factor: each.read_back for each in readings}["host.server.lines.quota"] == QUOTA
    pids = [pid for name in ("1", "2") for pid in system.part(f"{LINES}.{name}").server_pids()]
    held = [bounds_of(pid).cpu for pid in pids]
    assert [group and group.cpus for group in held] == [QUOTA, QUOTA]
    own = {group.folder.name for group in held if group}
    assert len(own) == 2
    children = [child.pid for pid in pids for child in psutil.Process(pid).children()]
    assert [bounds_of(pid).cpu for pid in children] == held
    assert own <= groups()
    system.restore(START, system.spec.with_part(LINES, process=ProcessSpec(quota=QUOTA / 2)))
    assert [bounds_of(pid).cpu.cpus for pid in system.part(LINES).server_pids()] == [0.1, 0.1]  # type: ignore[union-attr]
    system.restore(START, system.spec)
    assert not own & groups()


def test_one_member_stops_and_comes_back_while_the_others_run(system: LineSystem) -> None:
    running = {name: part.server_pids() for name, part in all_parts(system).items()}
    for kind in ("stop", "kill"):
        with part_of(system, "lines.2").outage(kind):  # type: ignore[arg-type]
            now = {name: part.server_pids() for name, part in all_parts(system).items()}
            assert now == {**running, "lines": running["lines.1"], "lines.2": []}
            with pytest.raises(TargetError):
                system.check_ready()
        system.check_ready()
        running = {name: part.server_pids() for name, part in all_parts(system).items()}


def test_a_part_that_does_not_start_leaves_nothing(tmp_path: Path, data: Path) -> None:
    before = set(data.iterdir())
    with Journal(tmp_path / "journal.jsonl", "pytest") as journal:
        settings = {LINES: 2, "lines.colour": "blue"}
        spec = TargetSpec(engine=LineSystem.engine, data=str(data), settings=settings)
        system = LineSystem(spec, TargetContext(journal=journal, owner="pytest"))
        with pytest.raises(TargetError, match="does not start with colour = blue"):
            system.open()
        assert system.part("database").server_pids()
        folder = str(system.part("database").data_folder())
        system.close()
        assert set(data.iterdir()) == before
        assert not [each for each in psutil.process_iter() if folder in " ".join(_words(each))]


@pytest.mark.parametrize("stage", long_but(["restored"], ["open", "restored"]))
def test_recover_ends_all_parts_that_a_killed_run_left(
    stage: str, tmp_path: Path, data: Path
) -> None:
    if stage == "restored" and not MAY_BOUND:
        pytest.skip("no quota can be set here")
    before = set(data.iterdir())
    victim = subprocess.run(
        [sys.executable, HERE / "line_system.py", tmp_path / "journal.jsonl", data, stage],
        env={**os.environ, "PYTHONPATH": str(HERE.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert victim.returncode == -9, victim.stderr
    pids = [int(word) for word in victim.stdout.split()]
    assert len(pids) == 3
    assert all(map(_lives, pids))
    own = {group.folder.name for pid in pids if (group := bounds_of(pid).cpu) is not None}
    assert len(own) == (2 if stage == "restored" else 0)
    (left,) = open_journals()
    failed: list[Exception] = []
    assert left.recover(lambda _entry, error: failed.append(error) if error else None), failed
    assert not any(map(_lives, pids))
    assert set(data.iterdir()) == before
    assert not own & groups()


def _lives(pid: int) -> bool:
    return psutil.pid_exists(pid) and lives(psutil.Process(pid))


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


# -- a whole run -------------------------------------------------------------------------------
def test_a_run_measures_each_part_and_the_outage_of_one(tmp_path: Path, data: Path) -> None:
    quota = f"process: {{quota: {QUOTA}}}" if MAY_BOUND else ""
    text = f"""
version: 1
name: parts
workload: {{name: noop, parameters: {{service_time_us: 100000}}}}
disturbance: 100000
target:
  engine: {LineSystem.engine}
  data: {data}
  parts:
    database: {{settings: {{work_mem: 5MB}}}}
    lines: {{settings: {{colour: red}}, {quota}}}
profile: {{users: 2, warm_up: 500ms, measure: 4s}}
outage: {{kind: stop, part: lines.1, after: 1s, for: 1s}}
design: {{kind: compare, factor: target.lines, levels: [1, 2]}}
"""
    experiment = parse_experiment(text, "parts.yaml").experiment
    assert check_experiment(experiment) == []
    options = RunOptions(tmp_path / "results", "loadstone compare")
    before = set(data.iterdir())
    folder = conduct(experiment, options, Observer())
    assert set(data.iterdir()) == before
    results = {each.variant: each for each in map(read_result, sorted(folder.glob("*-*-*")))}
    assert {result.status for result in results.values()} == {Status.VALID}
    two = results["lines=2"]
    assert [each.name for each in two.parts] == ["database", "lines", "lines.1", "lines.2"]
    assert [each.name for each in results["lines=1"].parts] == ["database", "lines", "lines.1"]
    _looks_right(two)
    (outage,) = two.outages
    assert (outage.part, outage.state) == ("lines.1", "stopped")
    assert "lines.1 was stopped" in outage.notice(0.0).message
    readings = {each.factor: each.read_back for each in two.factors}
    assert readings["target.database.work_mem"] == "5120kB"
    assert readings["target.lines.colour"] == "red"
    assert readings["target.lines"] == 2
    assert readings.get("host.server.lines.quota") == (QUOTA if MAY_BOUND else None)
    logs = sorted(each.name for each in (folder / two.trial).glob("target*.log"))
    assert logs == ["target.database.log", "target.lines.1.log", "target.lines.2.log"]
    _is_reported(folder)


def _looks_right(result: TrialResult) -> None:
    by_name = {each.name: each for each in result.parts}
    assert all(each.cpu_s >= 0 for each in result.parts)
    assert (by_name["database"].most_memory_bytes or 0) > 1 << 20
    members = [by_name["lines.1"], by_name["lines.2"]]
    assert by_name["lines"].cpu_s == pytest.approx(sum(each.cpu_s for each in members))
    assert by_name["database"].quota is None
    assert by_name["lines"].quota == (2 * QUOTA if MAY_BOUND else None)


def _is_reported(folder: Path) -> None:
    document = build_document(folder)
    assert [row.part for row in document.parts] == ["database", "lines", "lines.1", "lines.2"]
    trial = next(each for each in document.trials if each.result.variant == "lines=2")
    assert {"cpu_percent:database", "memory_bytes:lines.2"} <= trial.parts.columns.keys()
    assert "database.active_sessions" in trial.target.columns
    assert not any(name.startswith("cpu_percent:") for name in trial.target.columns)
    assert [mark.kind for mark in trial.marks if "outage" in mark.kind] == [
        "outage: lines.1 stopped"
    ]
    assert part_table(trial.result)
    assert part_tables(document)
    assert document.comparisons[0].differences == []
    assert json.loads(document.model_dump_json())["parts"]
