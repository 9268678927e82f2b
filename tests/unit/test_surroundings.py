"""Terminals of another encoding, narrow ones, and interrupts that a library renames."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pymysql
import pytest
from options import options_of
from rich.console import Console

from loadstone.cli import cube, import_, main
from loadstone.cli.console import plain_table
from loadstone.cli.main import run_command
from loadstone.cli.plain_signs import PLAIN_SIGNS
from loadstone.errors import ExitCode, InterruptedTrialError, TargetError
from loadstone.experiments.file import parse_experiment
from loadstone.experiments.interrupts import Interrupts

pytestmark = pytest.mark.usefixtures("own_places", "narrow")


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["run", "--help"], ExitCode.OK, b"loadstone run"),
        (["list", "workloads"], ExitCode.OK, b"oltp"),
        (["plan", "\N{GREEK SMALL LETTER PI}"], ExitCode.WRONG_INPUT, rb"'\u03c0' is neither"),
    ],
)
def test_what_an_encoding_lacks_is_replaced(words: list[str], code: int, said: bytes):
    done = subprocess.run(
        [sys.executable, "-m", "loadstone.cli.main", *words],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
    )
    assert done.returncode == code, done.stderr[-600:]
    assert b"Traceback" not in done.stderr
    assert said in done.stdout + done.stderr


VERBS = sorted({option.verb for option in options_of(main.build_app())})
SHORT = [
    ["--help"],
    ["run", "--help"],
    ["cube", "--help"],
    ["list", "targets"],
    ["list", "workloads"],
    ["plan", "noop", "--target", "none"],
    ["list", "nonsense"],
]
LONG = [
    *([*verb, "--help"] for verb in VERBS),
    *(["list", what] for what in ("designs", "factors", "host", "references", "results")),
    *(["plan", workload] for workload in ("oltp", "dss", "cube", "archive")),
    ["doctor"],
    ["doctor", "--rules"],
]


@pytest.fixture(autouse=True)
def _no_terminal_of_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process runs one command, and its commands of commands keep the terminal of the first."""
    for command in (cube.command, import_.command):
        for each in (command, *(command[name] for name in command)):
            monkeypatch.setattr(each, "_fallback_console", None)


def said_in(encoding: str, words: list[str]) -> tuple[int, str, str]:
    """Exit code, standard output and standard error on a terminal of an encoding."""
    raw, raw_err = io.BytesIO(), io.BytesIO()
    output = io.TextIOWrapper(raw, encoding=encoding, errors=PLAIN_SIGNS)
    errors = io.TextIOWrapper(raw_err, encoding=encoding, errors="backslashreplace")
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        code = run_command(words)
    output.flush()
    errors.flush()
    return code, raw.getvalue().decode("utf-8"), raw_err.getvalue().decode("utf-8")


@pytest.mark.parametrize(
    "words",
    [*SHORT, *(pytest.param(each, marks=pytest.mark.long) for each in LONG)],
    ids=" ".join,
)
def test_what_people_read_is_whole_on_a_narrow_terminal_without_its_signs(words: list[str]):
    code, told, said = said_in("ascii", words)
    assert code in (ExitCode.OK, ExitCode.WRONG_INPUT), said
    assert "error in Loadstone" not in said
    for line in told.splitlines():
        assert len(line) <= 40 or len(line.split()) == 1, line
        assert not line.lstrip().startswith("?"), line
    in_utf8 = said_in("utf-8", words)[1]
    assert "\N{HORIZONTAL ELLIPSIS}" not in in_utf8
    assert len(told.split()) == len(in_utf8.split())


DOCUMENTS = {
    "schema": ["schema"],
    "template": ["init", "oltp"],
    "plan": ["plan", "first.yaml", "--as-file"],
    "json": ["plan", "first.yaml", "--json"],
    "targets": ["list", "targets", "--json"],
}
TITLE = "Größe \N{GREEK SMALL LETTER PI} \N{BULLET}"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_is_whole_whatever_the_encoding(document: str, encoding: str):
    Path("first.yaml").write_text(
        f"version: 1\nname: first\ntitle: {TITLE}\nworkload: {{name: noop}}\n"
        "target: {engine: none}\n",
        encoding="utf-8",
    )
    code, told, said = said_in(encoding, DOCUMENTS[document])
    assert (code, said) == (ExitCode.OK, "")
    free = re.compile(r"\d{7,}")  # bytes of the disk
    assert free.sub("n", told) == free.sub("n", said_in("utf-8", DOCUMENTS[document])[1])
    assert document not in ("json", "schema", "targets") or json.loads(told)
    assert document != "plan" or parse_experiment(told, "first").experiment.title == TITLE


def test_a_table_on_a_narrow_terminal_loses_nothing():
    table = plain_table("name", "now", "about", whole=("name",))
    cells = ("host.vm.dirty_background_ratio", "10", "memory at which writing begins")
    table.add_row(*cells)
    output = io.StringIO()
    Console(file=output, width=40).print(table)
    shown = "".join(output.getvalue().split())
    assert all(sign in shown for sign in "".join(cells).replace(" ", ""))
    assert max(map(len, output.getvalue().splitlines())) <= 40
    for cell in cells:
        at = {line.find(cell[:6]) for line in output.getvalue().splitlines()} - {-1}
        assert at, cell


def test_a_table_of_names_alone_is_not_cut():
    names = ("a-member-with-a-long-name", "a-parent-with-a-long-name")
    table = plain_table("name", "parent", whole=("name", "parent"))
    table.add_row(*names)
    output = io.StringIO()
    Console(file=output, width=40).print(table)
    shown = "".join(output.getvalue().split())
    assert len(shown) == len("nameparent" + "".join(names))


@pytest.fixture
def heeds_ctrl_c() -> Iterator[None]:
    """A shell lets what it starts in the background ignore Ctrl-C, tests too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeds_ctrl_c")
def test_an_interrupt_that_a_library_renames_is_an_interrupt(monkeypatch: pytest.MonkeyPatch):
    def library(*_: Any) -> NoReturn:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            threading.Event().wait(10)
        except KeyboardInterrupt as error:
            raise RuntimeError("Query interrupted") from error
        raise AssertionError("no signal came")

    monkeypatch.setattr(main, "_say_what_is_left_behind", library)
    assert run_command(["list"]) == ExitCode.INTERRUPTED
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_without_an_interrupt_is_an_error(monkeypatch: pytest.MonkeyPatch):
    def wrong(*_: Any) -> NoReturn:
        raise RuntimeError("wrong")

    monkeypatch.setattr(main, "_say_what_is_left_behind", wrong)
    assert run_command(["list"]) == ExitCode.INTERNAL


def test_the_handler_of_an_experiment_notes_what_it_raises():
    interrupts = Interrupts()
    with interrupts.installed(), pytest.raises(InterruptedTrialError):
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait(10)
    assert interrupts.requested


def _renamed(library: str) -> Exception:
    """What a library makes of an interrupt while it runs a query."""
    import duckdb
    import psycopg

    return {
        "duckdb": duckdb.InterruptException("INTERRUPT Error: Interrupted!"),
        "chdb": RuntimeError("Code: 394. DB::Exception: Query was cancelled"),
        "psycopg": psycopg.errors.QueryCanceled("canceling statement due to user request"),
        "pymysql": pymysql.err.OperationalError(2013, "Lost connection (interrupted)"),
        "of the target": TargetError("the query was cancelled"),
        "operating system": InterruptedError("interrupted"),
    }[library]


@pytest.mark.parametrize(
    "library", ["duckdb", "chdb", "psycopg", "pymysql", "of the target", "operating system"]
)
@pytest.mark.parametrize("place", ["in a trial", "before the trials"])
def test_an_interrupt_within_an_experiment_is_130_whatever_a_library_makes_of_it(
    library: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    error = _renamed(library)

    def interrupted(*_: Any) -> NoReturn:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            threading.Event().wait(10)
        except InterruptedTrialError:
            raise error from None
        raise AssertionError("no signal came")

    within = {
        "in a trial": "loadstone.experiments.trial.machine_speed",
        "before the trials": "loadstone.targets.none.NoTarget.open",
    }
    monkeypatch.setattr(within[place], interrupted)
    code = run_command(["run", "noop", "--target", "none", "--quiet"])
    assert code == ExitCode.INTERRUPTED
    found = [json.loads(each.read_text()) for each in tmp_path.rglob("result.json")]
    assert [each["status"] for each in found] == ["interrupted"] * (place == "in a trial")
    assert not list((tmp_path / "state").glob("journals/*"))
