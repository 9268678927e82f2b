"""What is written of the parts of a system, in a file or in options, and what of it is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pieces import House

from loadstone.cli.main import run_command
from loadstone.errors import WrongInputError
from loadstone.experiments.file import parse_experiment
from loadstone.experiments.preflight.check import check_experiment
from loadstone.spec.target import PartSpec

pytestmark = pytest.mark.usefixtures("house_known")


def problems(text: str) -> list[tuple[tuple[str | int, ...], str]]:
    head = "version: 1\nname: x\nworkload: {name: noop}\n"
    found = check_experiment(parse_experiment(head + text, "x.yaml").experiment)
    return [(each.path, each.message) for each in found]


@pytest.mark.parametrize(
    ("text", "path", "said"),
    [
        (
            "target: {engine: house, parts: {bak: {}}}",
            ("target", "parts", "bak"),
            "did you mean 'back'",
        ),
        (
            "target: {engine: sqlite, parts: {a: {}}}",
            ("target", "parts", "a"),
            "leave parts out",
        ),
        (
            "target: {engine: house, parts: {back: {settings: {size: 3}}}}",
            ("target", "parts", "back", "settings", "size"),
            "no setting 'size'",
        ),
        (
            "target: {engine: house, parts: {back: {password: 'env:NOT_SET_ANYWHERE'}}}",
            ("target", "parts", "back", "password"),
            "password",
        ),
        (
            "target: {engine: house, parts: {back: {storage: {log: tmpfs}}}}",
            ("target", "parts", "back", "storage", "log"),
            "back: target piece has no storage.log",
        ),
        (
            "target: {engine: house, parts: {door: {process: {quota: 0.25, cpus: '99'}}}}",
            ("target", "parts", "door", "process", "cpus"),
            "takes a list of processors",
        ),
        (
            "target: {engine: house, parts: {back: {settings: {colour: a, COLOUR: b}}}}",
            ("target", "settings", "back.COLOUR"),
            "another spelling",
        ),
        (
            "target: {engine: house}\noutage: {kind: stop, part: rows.7}",
            ("outage",),
            "no part 'rows.7'",
        ),
        (
            "target: {engine: house}\noutage: {kind: full-disk}",
            ("outage",),
            "a full disk is that of one part",
        ),
        (
            "target: {engine: house}\noutage: {kind: full-disk, part: back}",
            ("outage",),
            "parts.back.storage.data: loop:ext4",
        ),
        (
            "target: {engine: house, parts: {back: {server: 'postgresql://a@b/c'}}}\n"
            "outage: {kind: kill, part: back}",
            ("outage",),
            "is not Loadstone's",
        ),
    ],
)
def test_what_is_wrong_of_a_part_is_said_where_it_stands(
    text: str, path: tuple[str | int, ...], said: str
) -> None:
    text += "\nprofile: {measure: 60s}"
    found = problems(text)
    assert [each for each in found if each[0] == path and said in each[1]], found


def test_a_plan_shows_each_part_and_what_is_said_of_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["plan", "noop", "--target", "house", "--set", "back.colour=red", "--set", "rows=2"]
    assert run_command([*words, "--host", "server.rows.nofile=512"]) == 0
    said = capsys.readouterr().out
    for each in ("back: piece", "rows.2: piece", "target.back.colour", "host.server.rows.nofile"):
        assert each in said
    assert run_command([*words, "--outage", "stop:rows.2,after=2s,for=1s", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in document["parts"]] == [
        "back", "rows", "rows.1", "rows.2", "door",
    ]  # fmt: skip


def test_options_say_what_a_part_is_and_which_is_out_of_service(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["plan", "noop", "--target", "sql-dashboards", "--as-file"]
    assert run_command([*words, "--part", "database=mariadb", "--outage", "kill:database"]) == 0
    spec = parse_experiment(capsys.readouterr().out, "x.yaml").experiment
    assert spec.target.parts == {"database": PartSpec(engine="mariadb")}
    assert spec.outage is not None
    assert (spec.outage.kind, spec.outage.part) == ("kill", "database")
    assert run_command([*words, "--part", "database=mysql://me@h/shop"]) == 0
    spec = parse_experiment(capsys.readouterr().out, "x.yaml").experiment
    assert spec.target.parts["database"] == PartSpec(engine="mariadb", server="mysql://me@h/shop")
    assert run_command([*words, "--part", "database"]) == 2
    assert "--part" in capsys.readouterr().err


def test_an_engine_of_a_part_that_is_none_is_named_in_its_place() -> None:
    text = (
        "version: 1\nname: x\nworkload: {name: noop}\n"
        "target: {engine: house, parts: {back: {engine: oracle}}}"
    )
    with pytest.raises(WrongInputError, match=r"target\.parts\.back\.engine: there is no target"):
        parse_experiment(text, "x.yaml")


def test_a_password_of_a_part_is_a_reference() -> None:
    part = {"password": "env:LOADSTONE_PART", "server": "postgresql://a@b/c"}
    text = (
        "version: 1\nname: x\nworkload: {name: noop}\n"
        f"target: {{engine: house, parts: {{back: {part}}}}}"
    )
    spec = parse_experiment(text, "x.yaml").experiment.target
    assert House.part_spec(spec, "back").password == "env:LOADSTONE_PART"
    with pytest.raises(WrongInputError, match="a password is a reference") as caught:
        parse_experiment(text.replace("env:LOADSTONE_PART", "hunter2"), "x.yaml")
    assert "hunter2" not in str(caught.value)
