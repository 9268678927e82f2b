"""A person is recorded in a real browser; five users of other names do the same with the driver."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import process, right
from recorded_application import COOKIE, Application, serving
from recorded_browser import record, sanitized
from ruamel.yaml import YAML

from loadstone.errors import ExitCode

USER = "alice@example.org"
PASSWORD = "Tr0ub4dor&3"
USERS = [f"user-{number}" for number in range(5)]
OPERATIONS = ["log-in", "items", "item", "item-notes", "filters", "items-2"]
EXPERIMENT = """
version: 1
name: recorded
workload: {{name: http, parameters: {{scenario: scenario.yaml}}}}
target: {{engine: http, url: "{url}"}}
profile: {{users: 5, warm_up: 0s, measure: 3s, drain: 1s}}
"""


@pytest.fixture(scope="module")
def application() -> Iterator[Application]:
    with serving(PASSWORD) as application:
        yield application


@pytest.fixture(scope="module")
def recording(application: Application, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return record(application.url, USER, PASSWORD, tmp_path_factory.mktemp("recording"))


pytestmark = pytest.mark.usefixtures("own_places", "password")


@pytest.fixture
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOADSTONE_PASSWORD", PASSWORD)


def imported(recording: dict[str, Any], *options: str) -> str:
    """Imports a recording into `scenario.yaml`, with users of other names and short waits."""
    Path("person.har").write_text(json.dumps(recording))
    said = right("import", "har", "person.har", "--output", "scenario.yaml", *options)
    Path("scenario-people.csv").write_text("\n".join(["username", *USERS]) + "\n")
    text = Path("scenario.yaml").read_text()
    Path("scenario.yaml").write_text(re.sub(r"mean_s: [\d.]+", "mean_s: 0.05", text))
    Path("person.har").unlink()
    return said


def run(application: Application, *expected: ExitCode) -> dict[str, Any]:
    """The record of a trial; nothing of what happened before it is in the application's notes."""
    for notes in (application.users, application.left, application.refused, application.cookies):
        notes.clear()
    application.paths.clear()
    application.unchanged.clear()
    Path("recorded.yaml").write_text(EXPERIMENT.format(url=application.url))
    ended = process("run", "recorded.yaml", "--json")
    # Where other programs run, the load generator may have been late, and the trial invalid.
    assert ended.returncode in (expected or (ExitCode.OK, ExitCode.INVALID_TRIAL)), ended.stderr
    assert os.environ["LOADSTONE_PASSWORD"] not in ended.stdout + ended.stderr
    (trial,) = json.loads(ended.stdout)["trials"]
    result: dict[str, Any] = trial["result"]
    return result


def operations_of(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in result["operations"]}


def cookies_of(recording: dict[str, Any]) -> set[str]:
    """Values of the application's cookie that the recording holds."""
    texts = [
        each["value"]
        for entry in recording["log"]["entries"]
        for part in (entry["request"], entry["response"])
        for each in part["cookies"]
    ]
    return {each for each in texts if len(each) > 20}


@pytest.mark.parametrize("export", ["with sensitive data", "sanitized"])
def test_users_of_other_names_do_what_the_recording_shows(
    application: Application, recording: dict[str, Any], export: str
) -> None:
    cookies = cookies_of(recording)
    assert len(cookies) >= 3, "the recording should hold the cookies that must not be sent again"
    export_of = sanitized(recording) if export == "sanitized" else recording
    assert (COOKIE in json.dumps(export_of)) == (export != "sanitized")
    said = imported(export_of)
    assert said.splitlines()[0] == f"12 requests: {', '.join(OPERATIONS)}, log-out"
    assert "Looks like a token" not in said
    result = run(application)
    assert all(each["passed"] for each in result["checks"]), result["checks"]
    operations = operations_of(result)
    assert {name: each["errors"] for name, each in operations.items() if each["errors"]} == {}
    assert set(OPERATIONS) <= operations.keys()
    assert application.refused == []
    # Each user logs in once by a name of the people, and out when it leaves.
    assert application.users == dict.fromkeys(USERS, 1)
    assert application.left == dict.fromkeys(USERS, 1)
    assert not application.cookies & cookies
    assert_silent(cookies)


def assert_silent(cookies: set[str]) -> None:
    """Neither the password nor a cookie of the recording, nor the person, is in any file."""
    for path in Path().rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        for secret in (PASSWORD, USER, *cookies):
            assert secret.encode() not in content, path


def test_static_files_are_fetched_once_and_then_as_a_browser_asks_for_them(
    application: Application, recording: dict[str, Any]
) -> None:
    said = imported(recording, "--keep-static")
    assert "static file" not in said
    operations = operations_of(run(application))
    assert {name: each["errors"] for name, each in operations.items() if each["errors"]} == {}
    # A user asks for the script once, about the style at each page, and for the picture again.
    users, asked = len(USERS), application.paths
    assert asked["/static/app.js"] == users
    assert application.unchanged["/static/style.css"] == asked["/static/style.css"] - users > users
    assert asked["/static/logo.png"] > users


def test_a_wrong_password_is_no_success(
    application: Application, recording: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The application answers a log-in in vain with status 200, and the form again."""
    monkeypatch.setenv("LOADSTONE_PASSWORD", "an0ther-one")
    imported(recording)
    result = run(application, ExitCode.INVALID_TRIAL, ExitCode.FAILED_CHECK)
    assert operations_of(result)["log-in"]["errors"].keys() == {"check"}
    assert not application.users


def test_the_scenario_says_what_it_takes_from_where(recording: dict[str, Any]) -> None:
    imported(recording)
    scenario = YAML(typ="safe", pure=True).load(Path("scenario.yaml").read_text())
    taken = {
        (step["request"], name): rule
        for part in (scenario["log_in"], *scenario["transactions"])
        for own in part["steps"]
        for step in own.get("parallel", [own])
        for name, rule in step.get("extract", {}).items()
    }
    assert taken["get items", "item_id"] == {"json": "$.items[2].id"}
    assert taken["get home", "csrf_token"] == {"form": "csrf_token"}
    assert taken["post login", "csrf_token_2"] == {"form": "csrf_token"}
    assert taken["post item notes", "reference"] == {"regex": 'data-reference="([^"]+)'}
    assert taken["post filters", "filter_key"] == {"json": "$.key"}
