"""Answers that the load has kept: a sample of each request, of all processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loadstone.errors import LoadstoneError
from loadstone.results.answers import read_answers


def line(draw: float, **fields: Any) -> dict[str, Any]:
    return {
        "draw": draw,
        "t_s": 1.0,
        "user": 7,
        "username": "ann",
        "operation": "open",
        "request": "chart",
        "values": {"year": 1995},
        "body": None,
        "answer": {"rows": []},
        "answer_bytes": 11,
        "most": 2,
        **fields,
    }


def write(path: Path, *lines: dict[str, Any]) -> None:
    path.write_text("".join(f"{json.dumps(each)}\n" for each in lines))


def test_the_lowest_numbers_of_all_processes_are_the_sample(tmp_path: Path) -> None:
    write(tmp_path / "answers.jsonl", line(0.9), line(0.3), line(0.5, request="other"))
    write(tmp_path / "answers-2.jsonl", line(0.2, user=8, username=None), line(0.4))
    found = read_answers(tmp_path)
    assert [(each.draw, each.request) for each in found] == [
        (0.2, "chart"),
        (0.3, "chart"),
        (0.5, "other"),
    ]
    assert (found[0].user, found[0].username, found[0].values) == (8, "", {"year": 1995})


def test_a_trial_that_kept_none_has_none(tmp_path: Path) -> None:
    assert read_answers(tmp_path) == []


def test_a_line_that_a_kill_cut_off_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    write(path, line(0.3))
    with path.open("a") as file:
        file.write('{"draw": 0.1')
    assert [each.draw for each in read_answers(tmp_path)] == [0.3]


def test_a_line_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").write_text("{}\n")
    with pytest.raises(LoadstoneError, match=r"answers.jsonl:1 is no kept answer"):
        read_answers(tmp_path)
