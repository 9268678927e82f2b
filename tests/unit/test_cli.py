"""The command line as people call it: help, errors, exit codes; no server, no load."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from command_line import process, right, wrong

from loadstone.cli.main import VERBS
from loadstone.errors import ExitCode

pytestmark = pytest.mark.usefixtures("own_places")


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


@pytest.mark.parametrize("verb", [verb for verb, _, _ in VERBS])
def test_words_that_are_left_over_are_never_quoted(verb: str):
    said = wrong(verb, *(f"hunter{number}" for number in range(9)))
    assert "hunter8" not in said
    assert "oken" not in said


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
        (["list workloads"], {"duckdb", "numpy", "pyarrow", "pydantic"}),
        (
            [
                "run noop --param service_time_us=1000 --measure 100ms --warm-up 0s --quiet",
                "show noop-run",
                "report noop-run",
            ],
            {"numpy", "pyarrow", "pydantic", "sqlalchemy"},
        ),
    ],
    ids=["help", "plan", "list", "list workloads", "run, show and report"],
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


@pytest.mark.parametrize(
    ("arguments", "answers"),
    [
        (["runn", "oltp"], ['unknown command "runn"', 'Did you mean "run"?']),
        (["run", "noop", "--userz", "3"], ["--userz", "Did you mean --users?"]),
        (["run", "noop", "--users", "many"], ["--users", "'many'", "run --help"]),
        (["run"], ["WHAT", "loadstone run --help"]),
        (["scale", "noop", "--over", "users", "--levels", "1", "2", "3"],
         ["words 7, 8 are left over: loadstone scale takes fewer words", "commas between levels"]),
        (["show", "a", "a"], ["a word is left over: loadstone show takes"]),
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
        (["scale", "noop", "--over", "users", "--levels", "4-1"], ["--levels: ", "lie above from"]),
        (["scale", "noop", "--over", "users", "--levels", "0-3"],
         ["--levels: design.levels.from: should be greater than 0"]),
        (["scale", "noop", "--over", "users", "--levels", "1"], ["at least 2 items"]),
        (["search", "noop", "--rate", "5", "--objective", "nop.p95 < 5 ms"],
         ["--objective: ", "there is no operation 'nop'; did you mean 'noop'?"]),
        (["search", "http", "--on", "http://a.example", "--objective", "home.p95 < 5 ms"],
         ["there is no operation 'home'; choose one of page"]),
        (["list", "things"], ["things"]),
        (["list", "--status", "perfect"], []),
        (["show", "nothing"], ["there are no results"]),
        (["export", "nothing"], ["--csv"]),
        (["init", "nop"], ["did you mean 'noop'?"]),
        (["init", "oltp", "--target", "none"], ["needs sql, transactions of its target"]),
        (["reindex", "--results", "nowhere"], ["no folder nowhere"]),
        (["plan", "http", "--on", "http://a.example", "--cache", "cold"], ["cache: cold", "reset"]),
        (["plan", "oltp", "--server", "postgresql://ada@h/db", "--cache", "cold"],
         ["cache: cold is not possible"]),
        (["run", "http", "--on", "localhost:8080"], ["--on: ", "begins with http://"]),
        (["run", "http", "--on", "http://ada:pw@app.example"], ["the scenario of a web"]),
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
