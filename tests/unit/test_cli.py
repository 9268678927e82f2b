"""The command line as people call it: help, errors, exit codes, plans; no server, no load."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from lengths import long_but

from loadstone.cli.main import VERBS, run_command
from loadstone.errors import ExitCode
from loadstone.experiments.file import parse_experiment
from loadstone.journal import state_dir
from loadstone.targets.registry import TARGETS

ROOT = Path(__file__).parents[2]
FOR_A_CURVE = {"crash-sqlite"}
"""Examples that repeat less than a verdict takes, and say so."""


@pytest.fixture(autouse=True)
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("LOADSTONE_DEBUG", raising=False)
    # A JVM that is asked for a setting ends at once: compiling well would be most of its work.
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    monkeypatch.chdir(tmp_path)


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def loadstone(*arguments: str) -> Done:
    """Runs a command in this process, where it needs not start an interpreter first."""
    stdout, stderr = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        code = run_command(list(arguments))
    return Done(code, stdout.getvalue(), stderr.getvalue())


def process(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a command as a shell does."""
    return subprocess.run(
        [sys.executable, "-m", "loadstone.cli.main", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ,
    )


def wrong(*arguments: str, code: ExitCode = ExitCode.WRONG_INPUT) -> str:
    """What is said on standard error; nothing on standard output, and no stack trace."""
    done = loadstone(*arguments)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("loadstone: ")
    return done.stderr


def right(*arguments: str) -> str:
    done = loadstone(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


# -- help, version, completion -----------------------------------------------------------------


def test_help_lists_every_verb_and_the_exit_codes():
    text = right("--help")
    for verb, _, line in VERBS:
        assert verb in text
        assert line[:30] in text
    codes = " ".join(text[text.index("Exit codes") :].split())
    for code in ExitCode:
        assert f"{int(code)} " in codes


@pytest.mark.parametrize("verb", [verb for verb, _, _ in VERBS])
def test_every_verb_has_help(verb: str):
    text = right(verb, "--help")
    assert f"Usage: loadstone {verb}" in text
    assert right(verb, "-h") == text


def test_the_help_of_verbs_that_run_shows_an_example():
    for verb in ("run", "compare", "ladder", "sweep", "plan"):
        assert f"loadstone {verb} oltp" in right(verb, "--help")


def test_the_program_itself_answers_with_text_and_exit_code():
    done = process("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("loadstone 0.")
    done = process("run", "noop", "--users", "0")
    assert (done.returncode, done.stdout) == (ExitCode.WRONG_INPUT, "")
    assert done.stderr == (
        "loadstone: --users: profile.users: should be greater than or equal to 1; given 0\n"
    )


LIBRARIES = {
    *("duckdb", "numpy", "pandas", "psycopg", "pyarrow"),
    *("pydantic", "pymysql", "scipy", "sqlalchemy"),
}


@pytest.mark.parametrize(
    ("commands", "needed"),
    [
        (["--help"], set()),
        (["plan noop"], {"numpy", "pydantic"}),
        (["list"], {"pydantic", "sqlalchemy"}),
        (
            [
                "run noop --param service_time_us=1000 --measure 100ms --warm-up 0s --quiet",
                "show noop-run",
                "report noop-run",
            ],
            {"numpy", "pyarrow", "pydantic", "sqlalchemy"},
        ),
    ],
    ids=["help", "plan", "list", "run, show and report"],
)
def test_a_command_waits_for_no_library_that_it_does_not_use(commands: list[str], needed: set[str]):
    Path("results").mkdir()
    script = (
        "import sys\n"
        "from loadstone.cli.main import run_command\n"
        f"assert [run_command(each.split()) for each in {commands}] == {[0 for _ in commands]}\n"
        f"sys.exit(', '.join({LIBRARIES - needed} & set(sys.modules)) or 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_printed_for_each_shell(shell: str):
    text = right("completion", shell)
    assert "loadstone" in text
    assert "ladder" in text
    if shell == "bash":
        subprocess.run(["bash", "-n"], input=text, text=True, check=True)


def test_completion_is_installed_where_it_is_told(tmp_path: Path):
    path = tmp_path / "completions" / "loadstone"
    right("completion", "bash", "--install", "--output", str(path))
    assert "ladder" in path.read_text()


# -- wrong input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "answers"),
    [
        (["runn", "oltp"], ['unknown command "runn"', 'Did you mean "run"?']),
        (["run", "noop", "--userz", "3"], ["--userz", "Did you mean --users?"]),
        (["run", "noop", "--users", "many"], ["--users", "'many'", "run --help"]),
        (["run"], ["WHAT", "loadstone run --help"]),
        (["run", "oltpp"], ["'oltpp' is neither a workload nor a file", "did you mean 'oltp'?"]),
        (["run", "missing.yaml"], ["missing.yaml cannot be read"]),
        (["run", "noop", "--users", "0"], ["--users: profile.users", "given 0"]),
        (["run", "noop", "--measure", "60"], ["--measure: profile.measure", "30s"]),
        (["run", "noop", "--param", "service_time_us"], ["--param", "NAME=LEVEL"]),
        (["run", "noop", "--param", "servic=1"], ["--param:", "no such field"]),
        (["run", "oltp", "--set", "shared_bufers=1GB"], ["--set:", "shared_bufers"]),
        (["run", "oltp", "--target", "oracle"], ["--target:", "no target 'oracle'"]),
        (["run", "noop", "--name", "My Run"], ["--name: name", "'My Run'"]),
        (["run", "noop", "--rate", "5", "--think-time", "1s"], ["profile", "an open load"]),
        (["compare", "noop"], ["nothing to compare", "--factor"]),
        (["compare", "noop", "--factor", "users"], ["a factor and its levels"]),
        (["compare", "noop", "--factor", "users", "--levels", "1"], ["2 items"]),
        (["compare", "noop", "--factor", "users", "--levels", "1,0"], ["--levels:", "given 0"]),
        (["sweep", "noop"], ["nothing to sweep", "--vary"]),
        (["sweep", "noop", "--vary", "users"], ["NAME=A,B,C"]),
        (["ladder", "noop"], ["nothing to ladder", "--rung"]),
        (["ladder", "noop", "--rung", "users"], ["[NAME:]FACTOR=LEVEL"]),
        (["ladder", "noop", "--rung", "users=1,sigma=2"], ["changes 2 things", "several"]),
        (["search", "noop", "--objective", "p99"], ["--objective: ", "no term of an objective"]),
        (["search", "noop", "--over", "rate"], ["needs an open load", "--rate"]),
        (["search", "noop", "--rate", "5", "--over", "users"], ["an open load has no users"]),
        (["search", "noop", "--over", "nodes"], ["--over: ", "'rate' or 'users'"]),
        (["search", "noop", "--failures", "3"], ["--failures: ", "1 or 2"]),
        (["search", "noop", "--repeats", "3"], ["--repeats: ", "failures and confirm"]),
        (["search", "noop", "--soak", "60"], ["--soak: ", "is not a duration"]),
        (["scale", "noop"], ["nothing to scale", "--levels"]),
        (["scale", "noop", "--over", "users"], ["what is scaled and its levels"]),
        (["scale", "noop", "--over", "users", "--levels", "1,many"], ["are numbers"]),
        (["list", "things"], ["things"]),
        (["list", "--status", "perfect"], []),
        (["show", "nothing"], ["there are no results"]),
        (["export", "nothing"], ["--csv"]),
        (["init", "nop"], ["did you mean 'noop'?"]),
        (["init", "oltp", "--target", "none"], ["needs sql, transactions of its target"]),
        (["reindex", "--results", "nowhere"], ["no folder nowhere"]),
    ],
)  # fmt: skip
def test_wrong_input_is_answered_in_a_line(arguments: list[str], answers: list[str]):
    if arguments[:2] == ["list", "--status"]:
        Path("results").mkdir()
        answers = ["there is no status 'perfect'", "disturbed"]
    said = wrong(*arguments)
    for answer in answers:
        assert answer in said


def test_a_wrong_file_is_answered_with_line_and_field():
    Path("x.yaml").write_text("version: 1\nname: x\nworkload: {name: noop}\nrepeats: 0\n")
    said = wrong("run", "x.yaml")
    assert "x.yaml:4: repeats: should be greater than or equal to 1; given 0" in said
    assert "target: is missing" in said


def test_a_file_of_another_design_is_answered_with_the_right_verb():
    Path("x.yaml").write_text(
        "version: 1\nname: x\nworkload: {name: noop}\ntarget: {engine: none}\n"
    )
    assert "x.yaml is a run, not a ladder" in wrong("ladder", "x.yaml")
    assert "x.yaml is a run, not a search" in wrong("search", "x.yaml")
    assert "x.yaml is a run, not a scale" in wrong("scale", "x.yaml")


def test_an_unsafe_setting_is_refused_without_leave():
    said = wrong("run", "oltp", "--set", "fsync=off", code=ExitCode.REFUSED)
    assert "fsync=off" in said
    assert "--allow-unsafe" in said


def test_a_setting_that_cannot_be_changed_is_refused():
    assert "block_size" in wrong("run", "oltp", "--set", "block_size=4096", code=ExitCode.REFUSED)


def test_a_plan_that_was_changed_by_hand_is_not_repeated():
    Path("plan.json").write_text("{}")
    assert "is not the plan of a trial" in wrong("run", "plan.json")


def test_debug_shows_the_stack_trace():
    done = process("run", "missing.yaml", "--debug")
    assert "Traceback" in done.stderr
    assert "loadstone: missing.yaml cannot be read" in done.stderr
    assert done.returncode == ExitCode.WRONG_INPUT


# -- what plans show ----------------------------------------------------------------------------


def test_a_plan_shows_trials_factors_and_what_they_need():
    text = right("plan", "oltp", "--rung", "shared_buffers=1GB", "--rung", "lax:fsync=off")
    flat = " ".join(text.split())
    assert "target.shared_buffers 1GB restart" in flat
    assert "target.fsync off reload unsafe" in flat
    assert "needs --allow-unsafe" in flat
    assert not Path("results").exists()


def test_a_plan_as_json_is_one_document_in_the_order_of_the_seed():
    first = json.loads(right("plan", "noop", "--vary", "users=1,2", "--repeats", "3", "--json"))
    again = json.loads(right("plan", "noop", "--vary", "users=1,2", "--repeats", "3", "--json"))
    other = json.loads(
        right("plan", "noop", "--vary", "users=1,2", "--repeats", "3", "--seed", "7", "--json")
    )
    assert first["trials"] == again["trials"] != other["trials"]
    assert len(first["trials"]) == first["trials_at_most"] == 6
    assert first["duration_s"] > 6 * 65


def test_a_short_form_becomes_a_file_that_means_the_same():
    options = ["--users", "3", "--measure", "90s", "--factor", "sigma", "--levels", "0.1,0.2"]
    text = right("plan", "noop", *options, "--as-file")
    experiment = parse_experiment(text, "x").experiment
    assert experiment.name == "noop-compare"
    assert (experiment.profile.users, experiment.profile.measure) == (3, 90.0)
    assert experiment.design.model_dump() == {
        "kind": "compare",
        "factor": "workload.sigma",
        "levels": [0.1, 0.2],
        "looks": None,
    }
    Path("x.yaml").write_text(text)
    by_file = json.loads(right("plan", "x.yaml", "--json"))
    by_options = json.loads(right("plan", "noop", *options, "--json"))
    assert by_file["trials"] == by_options["trials"]


def test_a_search_in_options_becomes_a_file_that_means_the_same():
    options = ["--over", "rate", "--from", "50", "--soak", "1h", "--objective", "p99 < 5 ms"]
    text = right("plan", "noop", *options, "--window", "2500ms", "--as-file")
    experiment = parse_experiment(text, "x").experiment
    assert experiment.name == "noop-search"
    assert (experiment.profile.load, experiment.profile.rate_per_s) == ("open", 50)
    assert experiment.design.model_dump(exclude_unset=True) == {
        "kind": "search",
        "over": "rate",
        "from": 50,
        "soak": 3600,
        "window": 2.5,
        "objective": ["p99 < 5 ms"],
    }
    Path("x.yaml").write_text(text)
    by_file = json.loads(right("plan", "x.yaml", "--json"))
    assert by_file["trials_at_most"] > len(by_file["trials"]) == 1
    assert by_file["duration_s"] > 3600


@pytest.mark.parametrize(
    ("words", "soak_s", "said"),
    [
        (["noop", "--over", "users"], 0, "No soak"),
        (["archive", "--over", "rate"], 600, "must hold for 10min"),
        (["archive", "--over", "rate", "--soak", "0s"], 0, "No soak"),
        (["noop", "--users", "2"], None, ""),
    ],
)
def test_a_plan_says_how_long_the_level_found_must_hold(
    words: list[str], soak_s: float | None, said: str
):
    assert json.loads(right("plan", *words, "--json"))["soak_s"] == soak_s
    assert ("oak" in right("plan", *words)) == bool(said)
    assert said in right("plan", *words)


def test_a_curve_in_options_becomes_a_file_that_means_the_same():
    text = right("plan", "noop", "--over", "processors", "--levels", "1-2", "--as-file")
    experiment = parse_experiment(text, "x").experiment
    assert experiment.name == "noop-scale"
    assert experiment.design.model_dump(mode="json") == {
        "kind": "scale",
        "over": "processors",
        "levels": {"from": 1, "to": 2, "step": 1},
    }


def test_an_option_replaces_what_the_file_says():
    text = right("plan", str(ROOT / "examples" / "noop-open.yaml"), "--rate", "50", "--as-file")
    assert parse_experiment(text, "x").experiment.profile.rate_per_s == 50


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.yaml")), ids=lambda p: p.name)
def test_every_example_can_be_planned_and_show_something(path: Path):
    text = right("plan", str(path))
    assert re.search(r"\d trials?\b", text)
    assert ("Too few" in text) == (path.stem in FOR_A_CURVE)


@pytest.mark.parametrize(
    ("rungs", "repeats", "least"), [(1, 3, 4), (1, 4, None), (2, 2, 3), (2, 3, None), (7, 2, 3)]
)
def test_a_plan_says_when_its_trials_can_show_nothing(rungs: int, repeats: int, least: int | None):
    options = [
        word for at in range(rungs) for word in ("--rung", f"r{at}:service_time_us={at + 1}")
    ]
    document = json.loads(right("plan", "noop", *options, "--repeats", str(repeats), "--json"))
    said = document["too_few_repeats"]
    assert (said is None) == (least is None)
    assert least is None or f"{least} is the least" in said


@pytest.mark.parametrize(
    ("workload", "target"),
    [("oltp", engine) for engine, cls in TARGETS.items() if "transactions" in cls.capabilities]
    + [("archive", engine) for engine, cls in TARGETS.items() if "bulk" in cls.capabilities]
    + [("dss", engine) for engine, cls in TARGETS.items() if "files" in cls.capabilities]
    + [("noop", engine) for engine in TARGETS if engine != "device"],
)
def test_the_file_of_init_runs_as_it_stands(workload: str, target: str):
    text = right("init", workload, "--target", target)
    assert f"engine: {target}" in text
    assert text.count("#") > 10
    Path("first.yaml").write_text(text)
    assert "for 1 trial" in right("plan", "first.yaml")


def test_the_file_of_init_does_not_guess_a_device():
    text = right("init", "storage", "--target", "device")
    Path("first.yaml").write_text(text)
    assert "there is no device /dev/NAME" in wrong("plan", "first.yaml")


FILE_ENGINES = [name for name, cls in TARGETS.items() if "files" in cls.capabilities]
QUICK_FILE_ENGINES = [name for name in FILE_ENGINES if name != "spark"]
"""Spark starts a JVM for each level; `test_the_file_of_init_runs_as_it_stands` starts one, too."""


@pytest.mark.parametrize("engine", long_but(QUICK_FILE_ENGINES, FILE_ENGINES))
def test_the_comparison_that_init_suggests_for_decision_support_is_of_a_setting(engine: str):
    lines = right("init", "dss", "--target", engine).splitlines()
    factor, levels = (
        next(line.partition(f"# {name}: ")[2] for line in lines if f"# {name}: " in line)
        for name in ("factor", "levels")
    )
    assert factor.startswith("target.")
    compared = ["--factor", factor, "--levels", levels.strip("[]").replace(" ", "")]
    refreshes = "changes" in TARGETS[engine].capabilities
    given = [] if refreshes else ["--param", "refreshes=false"]
    assert "for 2 trials" in right("plan", "dss", "--target", engine, *given, *compared)


# -- lists, schema, recover ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "some"),
    [
        ("workloads", "oltp"),
        ("targets", "postgresql"),
        ("designs", "ladder"),
        ("factors", "profile."),
        ("references", "linux-maximus"),
    ],
)
def test_what_is_known_is_listed(what: str, some: str):
    assert some in right("list", what)
    document = json.loads(right("list", what, "--json"))
    assert document["version"] == 1
    assert some in {row.get("name", row.get("prefix")) for row in document[what]}


def test_no_results_are_an_empty_list():
    assert json.loads(right("list", "--json")) == {"version": 1, "results": []}


def test_the_schema_is_printed_and_written():
    right("schema", "--output", "schema.json")
    assert json.loads(Path("schema.json").read_text()) == json.loads(right("schema"))


def leave_a_journal() -> Path:
    """A journal as a killed run leaves it: of a process that is no more."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    started = psutil.Process(gone.pid).create_time()
    gone.wait()
    left = Path("left-behind")
    left.mkdir()
    journal = Path("journal.jsonl").resolve()
    change = {"event": "change", "number": 1, "what": "a folder", "kind": "no-such-kind"}
    journal.write_text(json.dumps({**change, "data": {"path": str(left)}}) + "\n")
    pointer = state_dir() / "open" / "left.json"
    pointer.parent.mkdir(parents=True)
    pointer.write_text(
        json.dumps(
            {
                "journal": str(journal),
                "pid": gone.pid,
                "process_started": started,
                "command": "loadstone run oltp",
            }
        )
    )
    return pointer


def test_what_a_killed_run_left_is_said_by_every_command():
    leave_a_journal()
    done = loadstone("list", "--json")
    assert json.loads(done.stdout)["results"] == []
    assert "a killed run left 1 change" in done.stderr
    assert "loadstone recover" in done.stderr


def test_recover_says_what_it_would_do_and_does_nothing():
    pointer = leave_a_journal()
    document = json.loads(right("recover", "--dry-run", "--json"))
    assert document["journals"][0]["changes"] == [{"what": "a folder", "error": None}]
    assert pointer.exists()


def test_recover_that_cannot_undo_something_says_so_and_fails():
    pointer = leave_a_journal()
    done = loadstone("recover")
    assert done.returncode == ExitCode.TARGET
    assert "a folder: could not be undone" in done.stderr
    assert pointer.exists()


def test_what_could_not_be_put_back_is_said_with_every_reason(monkeypatch: pytest.MonkeyPatch):
    def command() -> None:
        raise ExceptionGroup("some changes could not be undone", [OSError("a"), OSError("b")])

    monkeypatch.setattr("loadstone.cli.recover.command", command)
    done = loadstone("recover")
    assert done.returncode == ExitCode.TARGET
    assert "could not be undone:\n  a\n  b\n" in done.stderr
    assert "loadstone recover" in done.stderr


def test_nothing_to_recover():
    done = loadstone("recover")
    assert (done.returncode, done.stdout) == (0, "")
    assert "nothing to recover" in done.stderr
