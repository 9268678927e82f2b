"""The application `command`: a command of the user, and what makes a job of it count."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError
from sample_flow import BEGAN_S, finished

from loadstone.applications.base import FinishedJob
from loadstone.applications.command import ENDED, OUTPUT, Command, CommandParameters
from loadstone.errors import WrongInputError


def failed(command: Command, job: FinishedJob) -> dict[str, str]:
    return {result.name: result.detail for result in command.check(job) if not result.passed}


def made(tmp_path: Path, data: bytes = b"42\n", written_s: float = BEGAN_S + 1) -> Path:
    output = tmp_path / "output"
    output.mkdir()
    (output / "answer.txt").write_bytes(data)
    os.utime(output / "answer.txt", (written_s, written_s))
    return output


def test_exit_codes_alone_count_where_no_output_is_asked_for(tmp_path: Path) -> None:
    command = Command(CommandParameters(command="sleep 3"))
    job = finished(tmp_path, tmp_path, ranks=2)
    assert failed(command, job) == {}
    assert command.command(2, "python3") == ["/bin/sh", "-c", "sleep 3"]
    assert command.bring_back() == ()
    assert command.launch == "plain"
    assert Command(CommandParameters(command="x", mpi=True)).launch == "mpi"


def test_a_rank_that_failed_or_told_nothing_is_named(tmp_path: Path) -> None:
    command = Command(CommandParameters(command="sleep 3"))
    job = finished(tmp_path, tmp_path, ranks=2)
    ranks = [job.record.ranks[0], replace(job.record.ranks[1], exit_code=3)]
    bad = replace(job, record=replace(job.record, ranks=ranks))
    assert failed(command, bad) == {ENDED: "rank 1 ended with 3"}
    few = replace(job, record=replace(job.record, ranks=ranks[:1]))
    assert failed(command, few) == {ENDED: "1 of 2 ranks told how they ended"}


def test_the_output_must_be_there_with_its_sum(tmp_path: Path) -> None:
    right = hashlib.sha256(b"42\n").hexdigest()
    command = Command(CommandParameters(command="x", output="answer.txt", sha256=right.upper()))
    job = finished(made(tmp_path), tmp_path)
    assert failed(command, job) == {}
    (job.output / "answer.txt").write_bytes(b"43\n")
    os.utime(job.output / "answer.txt", (BEGAN_S + 1, BEGAN_S + 1))
    assert "not " + right in failed(command, job)[OUTPUT]
    (job.output / "answer.txt").unlink()
    assert failed(command, job) == {OUTPUT: "answer.txt: No such file or directory"}


@pytest.mark.parametrize(
    ("data", "written_s", "said"),
    [(b"", BEGAN_S + 1, "is empty"), (b"42\n", BEGAN_S - 3600, "older than the job's run")],
)
def test_an_empty_output_and_that_of_yesterday_do_not_count(
    tmp_path: Path, data: bytes, written_s: float, said: str
) -> None:
    command = Command(CommandParameters(command="x", output="answer.txt"))
    job = finished(made(tmp_path, data, written_s), tmp_path)
    assert said in failed(command, job)[OUTPUT]


def test_the_users_file_is_staged_under_its_name(tmp_path: Path) -> None:
    path = tmp_path / "model.dat"
    path.write_bytes(b"model")
    command = Command(CommandParameters(command="x", input=str(path)))
    command.examine()
    facts = command.make_input(tmp_path, 1)
    assert [(file.path, file.name) for file in facts.files] == [(path, "model.dat")]
    assert facts.size_bytes == 5
    missing = Command(CommandParameters(command="x", input=str(tmp_path / "none")))
    with pytest.raises(WrongInputError, match="there is no file"):
        missing.examine()
    assert Command(CommandParameters(command="x")).make_input(tmp_path, 1).files == ()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"command": ""}, "at least 1"),
        ({"command": "'a"}, "words for the shell"),
        ({"command": "   "}, "words for the shell"),
        ({"command": "x", "output": "../a"}, "below the working folder"),
        ({"command": "x", "output": "/a"}, "below the working folder"),
        ({"command": "x", "output": "*.txt"}, "below the working folder"),
        ({"command": "x", "sha256": "abc"}, "64 hexadecimal digits"),
    ],
)
def test_what_cannot_be_run_or_checked_is_refused(given: dict[str, str], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        CommandParameters.model_validate(given)


def test_a_sum_without_an_output_is_refused() -> None:
    with pytest.raises(WrongInputError, match="no output that it is of"):
        Command(CommandParameters(command="x", sha256="0" * 64)).examine()
