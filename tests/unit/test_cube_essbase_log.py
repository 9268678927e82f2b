"""The log of a kit becomes a result with the times that are in it, and nothing else."""

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from essbase_shell import Shell

from loadstone.cli.main import run_command
from loadstone.errors import ExitCode, WrongInputError
from loadstone.protocol.frames import Event
from loadstone.protocol.steps import steps_of
from loadstone.report.document import build_document
from loadstone.results.frames import parsed_frames
from loadstone.results.record import Status
from loadstone.results.trial_files import TARGET_LOG_FILE, read_result
from loadstone.workloads.cube.cycle import STEPS, steps_of_cycle
from loadstone.workloads.cube.essbase.log import CycleLog, read_log
from loadstone.workloads.cube.essbase.maxl import cycle_script
from loadstone.workloads.cube.essbase.record import experiment_of, plan_of, result_of
from loadstone.workloads.cube.essbase.settings import KitSettings
from loadstone.workloads.cube.metrics import METRICS

SCRIPT = cycle_script(KitSettings(0.01, 7, calc_threads=6))
Write = Callable[..., Path]


pytestmark = pytest.mark.usefixtures("own_places")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a log, of statements that take 4.25 s each if nothing else is said."""

    def log(name: str = "cycle.log", script: str = SCRIPT, **more: object) -> Path:
        shell = Shell(**{"takes_s": lambda _line: 4.25, **more})  # type: ignore[arg-type]
        path = tmp_path / name
        path.write_text(shell.log(script))
        return path

    return log


def _by_step(log: CycleLog, cycle: int) -> dict[str, float]:
    return {step.step: step.seconds for step in log.cycles[cycle].steps}


def test_a_step_took_what_the_server_says_or_what_the_stamps_say(write: Write) -> None:
    log = read_log(write())
    assert log.facts == {
        "scale": 0.01,
        "seed": 7,
        "load_threads": 8,
        "calc_threads": 6,
        "alloc_tasks": 8,
        "cycles": 3,
        "hybrid": 0,
    }
    assert log.release == "11.1.2"
    assert log.began_at == datetime(2024, 3, 11, 23, 59, 58)
    assert [cycle.number for cycle in log.cycles] == [1, 2, 3]
    assert log.left_out == ()
    for number in range(3):
        times = _by_step(log, number)
        assert tuple(times) == STEPS
        for step in ("aggregate", "allocate", "convert", "aggregate-converted"):
            assert times[step] == 4.25
        for step in ("reset", "native-load", "csv-load", "restructure"):
            assert times[step] in (4, 5)
        assert log.cycles[number].seconds == sum(times.values())


def test_a_hybrid_kit_is_whole_without_its_aggregations(write: Write) -> None:
    script = cycle_script(KitSettings(0.01, 7, hybrid=True))
    log = read_log(write(script=script))
    assert [*_by_step(log, 0)] == [*steps_of_cycle(hybrid=True)]
    experiment = experiment_of([log], "hybrid", "here")
    assert experiment.workload.parameters["hybrid"] is True
    names = [value.name for value in result_of(plan_of(experiment, 1), log).metrics]
    assert "allocate_s" in names
    assert "aggregate_s" not in names


def test_a_log_of_a_kit_that_does_not_say_hybrid_is_of_none(write: Write) -> None:
    log = read_log(write(script=SCRIPT.replace(", hybrid 0", "")))
    assert log.facts["hybrid"] == 0
    assert len(log.cycles) == 3


def test_a_log_without_the_statements_themselves_says_the_same(write: Write) -> None:
    log, plain = read_log(write()), read_log(write("plain.log", echoes=False))
    assert plain.cycles == log.cycles


def test_a_figure_of_the_server_that_the_stamps_contradict_is_not_taken(
    tmp_path: Path, write: Write
) -> None:
    text = write().read_text()
    (tmp_path / "a.log").write_text(text.replace("[4.25] seconds", "[2.25] seconds"))
    assert _by_step(read_log(tmp_path / "a.log"), 0)["aggregate"] in (4, 5)
    line = " OK/INFO - 1012579 - Total Calc Elapsed Time : [4.0] seconds.\n"
    (tmp_path / "b.log").write_text(text.replace(" OK/INFO - 1012579", f"{line} OK/INFO - 1012579"))
    assert _by_step(read_log(tmp_path / "b.log"), 0)["aggregate"] in (4, 5)


class ClockSet:
    """A clock that is set once, within a statement of the second cycle."""

    def __init__(self, statement: str, by_s: float) -> None:
        self.statement, self.by_s, self.seen = statement, by_s, 0

    def __call__(self, line: str) -> float:
        self.seen += self.statement in line
        return self.by_s if self.seen == 2 and self.statement in line else 0.0


@pytest.mark.parametrize("by_s", [1200, 61, -1200, -6])
@pytest.mark.parametrize(("step", "script"), [("aggregate", "aggreg"), ("allocate", "allocate")])
def test_the_servers_figure_wins_over_a_clock_that_was_set(
    write: Write, step: str, script: str, by_s: float
) -> None:
    plain = read_log(write(takes_s=lambda _line: 20.0))
    log = read_log(write(takes_s=lambda _line: 20.0, clock_set_s=ClockSet(f"'{script}';", by_s)))
    assert [own.seconds for own in log.cycles] == [own.seconds for own in plain.cycles]
    assert log.cycles == plain.cycles
    assert log.left_out == ()
    (told,) = log.clock_set
    assert told.startswith(f"cycle 2 {step}: 20 s, not the {20 + by_s:,.0f} s of the stamps")
    notices = result_of(plan_of(experiment_of([log], "set", "here"), 1), log).notices
    assert next(own.message for own in notices if own.code == "imported-clock").endswith(told)


def test_only_the_cycle_in_which_the_clock_went_back_is_left_out(write: Write) -> None:
    plain = read_log(write())
    log = read_log(write(clock_set_s=ClockSet("'cells.csv'", -3600)))
    assert [cycle.number for cycle in log.cycles] == [1, 3]
    (reason,) = log.left_out
    assert reason.startswith("cycle 2: the clock went back by 3,5")
    assert log.cycles[0] == plain.cycles[0]
    assert abs(log.cycles[1].seconds - plain.cycles[2].seconds) <= 1


def test_a_cycle_that_failed_is_left_out_and_said(write: Write, tmp_path: Path) -> None:
    first, marked, rest = SCRIPT.partition('echo "loadstone: cycle 2 step allocate begins";')
    script = first + marked + rest.replace("'allocate'", "'broken'", 1)
    log = read_log(write(script=script, fails_at="'broken'"))
    assert [cycle.number for cycle in log.cycles] == [1]
    (reason,) = log.left_out
    assert reason.startswith("cycle 2: allocate")
    assert "1012008" in reason
    lines = write().read_text().splitlines()
    end = next(n for n, own in enumerate(lines) if "cycle 3 step csv-load begins" in own)
    (tmp_path / "cut.log").write_text("\n".join(lines[:end]))
    cut = read_log(tmp_path / "cut.log")
    assert len(cut.cycles) == 2
    assert cut.left_out == ("cycle 3: it has 2 of 9 steps",)


def test_rejected_lines_are_no_failure(write: Write, tmp_path: Path) -> None:
    text = write().read_text().splitlines()
    at = next(n for n, own in enumerate(text) if "cycle 1 step csv-load begins" in own)
    text.insert(at + 3, "   ERROR - 1003000 - Unknown Item [Dpt_0815] in Data Load.")
    (tmp_path / "r.log").write_text("\n".join(text))
    assert len(read_log(tmp_path / "r.log").cycles) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _text: "nothing\nof ours", "no line says what the kit is for"),
        (lambda text: text.replace("timestamp:", "time:"), "no time stamp that is understood"),
        (lambda text: text.replace("kit 1", "kit 2"), "is of kit 2, this Loadstone reads 1"),
        (lambda text: text.replace(", seed 7", ""), "does not say the seed"),
        (lambda text: text.replace("Mar 12", "Mar 32"), "no time stamp"),
        (lambda text: text[: text.index("cycle 1 step convert")], "no cycle of .* is whole"),
    ],
)
def test_a_log_that_tells_no_times_is_refused(
    write: Write, tmp_path: Path, change: Callable[[str], str], message: str
) -> None:
    (tmp_path / "x.log").write_text(change(write().read_text()))
    with pytest.raises(WrongInputError, match=message):
        read_log(tmp_path / "x.log")


def test_logs_become_a_result_that_is_shown_and_compared(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    days = [datetime(2024, 3, day, 8, 0, 0) for day in range(11, 15)]
    slow = [write(f"slow-{day.day}.log", now=day) for day in days]
    fast = [
        write(f"fast-{day.day}.log", now=day, takes_s=lambda _line, more=day.day: 2.0 + more / 64)
        for day in days
    ]
    for name, logs in (("slow", slow), ("fast", fast)):
        words = [*map(str, logs), "--name", name, "--server", "exalytics"]
        assert run_command(["import", "essbase-log", *words]) == ExitCode.OK
    folder = tmp_path / "results" / "slow"
    trial = folder / "b01-1-essbase"
    result = read_result(trial)
    assert result.status is Status.VALID
    assert [metric.name for metric in result.metrics] == [
        spec.name
        for spec in METRICS
        if spec.name.endswith("_s") and "cpu" not in spec.name
        if spec.name != "grids_per_s"
    ]
    aggregate = result.metric("aggregate_s")
    assert aggregate is not None
    assert (aggregate.value, aggregate.unit, aggregate.higher_is_better) == (4.25, "s", False)
    assert not result.checks
    assert result.generator is None
    assert result.fingerprint is None
    assert "imported" in {notice.code for notice in result.notices}
    events = [frame for frame in parsed_frames(trial) if isinstance(frame, Event)]
    steps = steps_of(events)
    assert [step.operation for step in steps] == [*STEPS] * 3
    assert (trial / TARGET_LOG_FILE).read_text() == slow[0].read_text()
    document = build_document(folder)
    assert document.load == ""
    assert document.status == "complete"
    assert document.steps is not None
    assert len(document.trials[0].steps) == 27
    capsys.readouterr()
    for words in (["show", "slow"], ["show", "slow/b01"], ["list"], ["export", "slow", "--json"]):
        assert run_command(words) == ExitCode.OK
    assert "cycle" in capsys.readouterr().out
    assert run_command(["compare", "slow", "fast", "--json"]) == ExitCode.OK
    compared = json.loads(capsys.readouterr().out)
    assert compared["metric"]["name"] == "cycle_s"
    assert compared["comparison"]["verdict"] == "better"
    assert compared["comparison"]["differences"] == []


def test_what_differs_between_two_kits_is_said(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    one = write("one.log")
    other = write("other.log", script=cycle_script(KitSettings(0.01, 7, calc_threads=4)))
    for path in (one, other):
        assert run_command(["import", "essbase-log", str(path)]) == ExitCode.OK
    capsys.readouterr()
    assert run_command(["compare", "essbase-one", "essbase-other", "--json"]) == ExitCode.OK
    found = json.loads(capsys.readouterr().out)["comparison"]["differences"]
    assert any("calc_threads: 6 against 4" in line for line in found)


def test_one_run_is_no_repeat_and_two_kits_are_no_result(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, same = write("one.log"), write("same.log")
    other = write(
        "other.log",
        script=cycle_script(KitSettings(0.1, 7, calc_threads=6)),
        now=datetime(2024, 4, 1, 8, 0, 0),
    )
    for words, message in (
        ([str(one), str(same)], "is of the same run as"),
        ([str(one), str(other)], "is of another kit than"),
        ([str(one), "--name", "Not A Name"], "is no name of a result"),
        ([str(tmp_path / "none.log")], "cannot be read"),
    ):
        capsys.readouterr()
        assert run_command(["import", "essbase-log", *words]) == ExitCode.WRONG_INPUT
        captured = capsys.readouterr()
        assert captured.out == ""
        assert message in captured.err
    assert not (tmp_path / "results").exists()
