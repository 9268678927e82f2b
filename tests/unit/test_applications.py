"""What every application is, over the registry; and the sizes of MPI worlds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from loadstone.applications.base import InputFacts, InputFile
from loadstone.applications.registry import APPLICATIONS, application_of
from loadstone.applications.world import WORLD_FILE, told_world, world_problem
from loadstone.errors import WrongInputError

LEAST: Mapping[str, dict[str, Any]] = {"command": {"command": "true"}}
"""Parameters that an application cannot do without."""


@pytest.mark.parametrize("name", APPLICATIONS)
def test_every_application_is_declared_in_full(name: str) -> None:
    cls = APPLICATIONS[name]
    application = application_of(name, LEAST.get(name, {}))
    assert application.name == cls.name == name
    assert cls.claims
    assert all(check.startswith(f"{name}-") and claim for check, claim in cls.claims.items())
    assert set(cls.path_parameters) <= set(cls.Parameters.model_fields)
    assert all(field.description for field in cls.Parameters.model_fields.values())
    assert application.launch in {"mpi", "plain"}
    assert application.physics()
    json.dumps(application.data_key())
    application.examine()
    application.fits(1)
    words = application.command(2, "python3")
    assert words
    assert all(isinstance(word, str) for word in words)
    assert all(not pattern.startswith("/") for pattern in application.bring_back())


def test_an_unknown_application_and_a_wrong_parameter_are_named() -> None:
    with pytest.raises(WrongInputError, match="no application 'flov'; did you mean 'flow'"):
        application_of("flov", {})
    with pytest.raises(WrongInputError, match=r"applications\.flow\.wells: .*given 1"):
        application_of("flow", {"wells": 1})
    with pytest.raises(WrongInputError, match=r"applications\.flow\.well: there is no such field"):
        application_of("flow", {"well": 4})


def test_a_missing_input_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(WrongInputError, match="cannot be read: No such file"):
        InputFacts.of([InputFile(tmp_path / "none", "none")])


@pytest.mark.parametrize(
    ("ranks", "seen", "said"),
    [
        (4, 4, ""),
        (4, 1, "4 ranks asked, 4 worlds of 1 rank seen"),
        (4, 2, "4 ranks asked, 2 worlds of 2 ranks seen"),
        (4, 3, "4 ranks asked, a world of 3 ranks seen"),
        (1, 2, "1 rank asked, a world of 2 ranks seen"),
        (2, None, "2 ranks asked, and Flow does not say how many there were"),
    ],
)
def test_a_world_of_another_size_is_told(ranks: int, seen: int | None, said: str) -> None:
    assert world_problem(ranks, seen, "Flow") == said


@pytest.mark.parametrize(
    ("text", "size"), [('{"size": 4}', 4), ('{"size": 0}', None), ("[]", None), ("{", None)]
)
def test_the_world_is_read_from_its_file(tmp_path: Path, text: str, size: int | None) -> None:
    assert told_world(tmp_path) is None
    (tmp_path / WORLD_FILE).write_text(text)
    assert told_world(tmp_path) == size
