"""A standard output that takes no more: a reader that went away, or a full disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from warm import command

from loadstone.errors import ExitCode

FULL = Path("/dev/full")
COMMANDS = [
    pytest.param(("list", "workloads"), id="a table"),
    pytest.param(("list", "workloads", "--json"), id="a document"),
    pytest.param(("init", "noop"), id="a file"),
    pytest.param(("run", "--help"), id="help"),
]
pytestmark = pytest.mark.usefixtures("own_places")


def run(words: tuple[str, ...], output: int, *, unbuffered: bool) -> tuple[int, str]:
    environment = {**os.environ, "PYTHONUNBUFFERED": "1" if unbuffered else ""}
    started = command(words, Path.cwd(), environment, output)
    _, said = started.communicate()
    assert started.returncode is not None
    return started.returncode, said


@pytest.mark.parametrize("unbuffered", [True, False])
@pytest.mark.parametrize("words", COMMANDS)
def test_a_reader_who_went_away_is_no_error(words: tuple[str, ...], unbuffered: bool) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        assert run(words, writer, unbuffered=unbuffered) == (ExitCode.OK, "")
    finally:
        os.close(writer)


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("unbuffered", [True, False])
@pytest.mark.parametrize("words", COMMANDS)
def test_a_full_disk_is_told_in_a_line(words: tuple[str, ...], unbuffered: bool) -> None:
    with FULL.open("wb") as output:
        code, said = run(words, output.fileno(), unbuffered=unbuffered)
    assert code == ExitCode.INTERNAL
    assert said.splitlines()[0] == (
        "loadstone: standard output cannot be written: No space left on device"
    )
    assert "Traceback" not in said
    assert "Exception ignored" not in said
