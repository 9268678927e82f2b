"""Answers that the load has kept, so that what was in them can be looked at after a trial."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadstone.errors import LoadstoneError

ANSWERS_FILE = "answers.jsonl"
"""In the folder of a trial; further processes of the load write `answers-2.jsonl` and so on."""

MOST_BYTES = 65_536
"""A longer answer is told by its length alone."""


@dataclass(frozen=True)
class KeptAnswer:
    """An answer of a request or a statement, and who asked for it with which values."""

    draw: float
    """The number that it drew, in [0, 1): the answers of a request with the lowest are a sample."""
    t_s: float
    """When it was there, on the clock of the load generator's process."""
    user: int
    username: str
    """Empty where people have no such column."""
    operation: str
    request: str
    body: Any
    """What was handed over with the request, if that was JSON; no secret, nothing of an answer."""
    values: Mapping[str, Any]
    """Name: the value that stood for it. Secrets, and what came from answers, are left out."""
    answer: Any
    """None: it is too long to be kept, or no JSON."""
    answer_bytes: int = 0
    """Its length."""

    @property
    def is_too_long(self) -> bool:
        """Whether the answer was left out because of its length."""
        return self.answer is None and self.answer_bytes > MOST_BYTES


def read_answers(folder: Path) -> list[KeptAnswer]:
    """The answers that the load of a trial has kept, in the order of their numbers.

    Of each request they are a sample of all its answers, of all processes of the load: those that
    drew the lowest numbers. A last line that a kill cut off is left out.

    Args:
        folder: Of the trial.

    Raises:
        LoadstoneError: If a line of a file is none of the load generator's.
    """
    path = folder / ANSWERS_FILE
    sampled: dict[tuple[str, str], list[KeptAnswer]] = {}
    most: dict[tuple[str, str], int] = {}
    for file in sorted(folder.glob(f"{path.stem}*{path.suffix}")):
        for told in _lines(file):
            answer = told.answer
            key = (answer.operation, answer.request)
            sampled.setdefault(key, []).append(answer)
            most[key] = told.most
    found = [
        answer
        for key, answers in sampled.items()
        for answer in sorted(answers, key=lambda each: each.draw)[: most[key]]
    ]
    return sorted(found, key=lambda each: each.draw)


@dataclass(frozen=True)
class _Line:
    answer: KeptAnswer
    most: int
    """Answers of its request that are a sample."""


def _lines(path: Path) -> Iterator[_Line]:
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines[:-1], 1):
        try:
            told = json.loads(line)
            yield _Line(_answer(told), int(told["most"]))
        except (ValueError, KeyError, TypeError) as error:
            raise LoadstoneError(f"{path}:{number} is no kept answer: {error!r}") from error


def _answer(told: Mapping[str, Any]) -> KeptAnswer:
    return KeptAnswer(
        draw=float(told["draw"]),
        t_s=float(told["t_s"]),
        user=int(told["user"]),
        username=told["username"] or "",
        operation=str(told["operation"]),
        request=str(told["request"]),
        body=told["body"],
        values=dict(told["values"]),
        answer=told["answer"],
        answer_bytes=int(told["answer_bytes"]),
    )
