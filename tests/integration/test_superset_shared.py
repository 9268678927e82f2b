"""A Superset that others use: Loadstone works there beside them, and leaves nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from command_line import process
from integration.postgresql_server import running_postgresql
from lengths import LONG
from session import until
from superset_runs import installed
from target_context import context_in

from loadstone.spec.target import TargetSpec
from loadstone.targets.superset import Superset, catalogue, removal
from loadstone.targets.superset.people import ROLES, USERS
from loadstone.targets.superset.rest import Rest, logged_in

pytestmark = [
    pytest.mark.timeout(1800),
    pytest.mark.xdist_group("superset"),
    LONG,
    installed,
]
WORD = "word-of-{}"
PEOPLE = ("ann", "bob", "cid", "dan", "eve", "flo")


@dataclass(frozen=True)
class Theirs:
    """Somebody's Superset, with a dashboard, a role and people of theirs."""

    url: str
    password: str = field(repr=False)

    @property
    def address(self) -> str:
        """As its administrator writes it."""
        return self.url.replace("http://", f"http://{catalogue.ADMIN}@")

    def logins(self) -> list[str]:
        """By which people log in."""
        with logged_in(self.url, catalogue.ADMIN, self.password) as rest:
            return [each["username"] for each in rest.listed(USERS)]

    def has(self) -> dict[str, list[str]]:
        """By name, all that Loadstone could have made there, and all rights."""
        rights = "/api/v1/security/permissions-resources/"
        with logged_in(self.url, catalogue.ADMIN, self.password) as rest:
            found = {
                kind.path: sorted(str(each[kind.name]) for each in rest.listed(kind.path))
                for kind in removal._KINDS
            }
            found[rights] = sorted(
                f"{each['permission']['name']} on {each['view_menu']['name']}"
                for each in rest.listed(rights)
            )
        return found


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theirs]:
    context = context_in(tmp_path_factory.mktemp("theirs"))
    target = Superset(TargetSpec(engine="superset", settings={"workers": 1}), context)
    with context.journal:
        try:
            target.open()
            target.empty(target.spec)
            found = Theirs(target.connection().url, target._state.secrets.admin)
            with logged_in(found.url, catalogue.ADMIN, found.password) as rest:
                fill(rest)
            yield found
        finally:
            target.close()


def fill(rest: Rest) -> None:
    roles = {each["name"]: each["id"] for each in rest.listed(ROLES)}
    rest.post("/api/v1/dashboard/", {"dashboard_title": "Theirs", "slug": "theirs"})
    rest.post(ROLES, {"name": "Loadstone of theirs"})
    for name in PEOPLE:
        rest.post(
            USERS,
            {
                "username": name,
                "first_name": name,
                "last_name": name,
                "email": f"{name}@example.invalid",
                "active": True,
                "password": WORD.format(name),
                "roles": [roles["Gamma"]],
            },
        )


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, theirs: Theirs) -> None:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("THEIR_ADMIN", theirs.password)
    monkeypatch.chdir(tmp_path)


def experiment(theirs: Theirs, **target: Any) -> str:
    """The file of a run of three people on it."""
    written = {
        "version": 1,
        "name": "shared",
        "workload": {"name": "bi", "parameters": {"scale": 0.002, "accounts": 6}},
        "target": {
            "engine": "superset",
            "server": theirs.address,
            "password": "env:THEIR_ADMIN",
            **target,
        },
        "profile": {
            "users": 3,
            "ramp": "2/s",
            "think_time": "200ms",
            "measure": "15s",
            "drain": "2s",
        },
    }
    Path("shared.yaml").write_text(json.dumps(written))
    return "shared.yaml"


def record() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        Path("results/shared/b01-1-baseline/result.json").read_text()
    )
    return found


def results_hold(word: str) -> bool:
    files = [path for path in Path("results").rglob("*") if path.is_file()]
    assert files
    return any(word.encode() in path.read_bytes() for path in files)


def test_people_work_there_and_nothing_is_left(theirs: Theirs) -> None:
    before = theirs.has()
    done = process("run", experiment(theirs))
    found = record()
    assert done.returncode == 0, done.stderr
    assert found["status"] in ("valid", "disturbed"), found["notices"]
    assert all(each["passed"] for each in found["checks"]), found["checks"]
    assert "charts show the warehouse" in {each["name"] for each in found["checks"]}
    assert found["data"]["accounts"] == 6
    assert [each["name"] for each in found["parts"]] == ["database"]  # the rest is not ours
    assert theirs.has() == before
    assert not results_hold(theirs.password)


def test_people_who_are_there_come_by_their_own_accounts(theirs: Theirs) -> None:
    before = theirs.has()
    lines = [f"{name},{WORD.format(name)}" for name in PEOPLE]
    Path("people.csv").write_text("\n".join(["username,password", *lines]))
    with running_postgresql() as server:
        server.run("CREATE DATABASE star")
        part = {"server": server.address.replace("/postgres?", "/star?")}
        done = process("run", experiment(theirs, accounts="people.csv", parts={"database": part}))
        left = server.run("SELECT count(*) FROM pg_database WHERE NOT datistemplate")
    assert done.returncode == 0, done.stderr
    found = record()
    assert all(each["passed"] for each in found["checks"]), found["checks"]
    assert found["parts"] == []
    assert theirs.has() == before
    assert left == [(2,)]  # theirs are back, and no other
    assert not any(results_hold(WORD.format(name)) for name in PEOPLE)


def test_what_a_killed_run_left_is_taken_away(theirs: Theirs) -> None:
    before = theirs.has()
    command = [sys.executable, "-m", "loadstone.cli.main", "run", experiment(theirs)]
    killed = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until("all accounts are made", lambda: len(theirs.logins()) == len(before[USERS]) + 6)
    finally:
        killed.kill()
        killed.wait()
    assert theirs.has() != before
    done = process("recover")
    assert done.returncode == 0, done.stderr
    assert theirs.has() == before


@pytest.mark.parametrize(
    ("user", "word", "told"),
    [
        (catalogue.ADMIN, "not-the-word", "the password is wrong"),
        ("ann", WORD.format("ann"), "does not administer Superset"),
    ],
)
def test_nothing_is_made_by_who_may_not(
    user: str, word: str, told: str, theirs: Theirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = theirs.has()
    monkeypatch.setitem(os.environ, "THEIR_ADMIN", word)
    server = theirs.url.replace("http://", f"http://{user}@")
    done = process("run", experiment(theirs, server=server))
    assert done.returncode == 5
    assert told in " ".join(done.stderr.split())
    assert word not in done.stderr
    assert theirs.has() == before
