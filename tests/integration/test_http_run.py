"""Web applications under load: a real nginx, the real driver, and the commands of users."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Done, loadstone
from nginx_server import PARTS, PASSWORD, NginxServer, running_nginx
from session import Session

from loadstone.errors import ExitCode
from loadstone.results.lines import read_lines

ENDED = {ExitCode.OK, ExitCode.INVALID_TRIAL}
"""On a busy machine the generator may be late, which marks a trial."""
THINK = {"distribution": "constant", "mean_s": 0.02}


@pytest.fixture(scope="module")
def nginx() -> Iterator[NginxServer]:
    with running_nginx() as server:
        yield server


pytestmark = pytest.mark.usefixtures("own_places")


def transaction(name: str, *steps: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "steps": list(steps)}


def get(name: str, path: str, *text: str, **fields: Any) -> dict[str, Any]:
    return {"request": name, "get": path, "expect": {"status": 200, "text": list(text)}, **fields}


ABOUT = transaction("about", get("about page", "/about.html", "About"))


def scenario(*transactions: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"order": "in-turn", "think_time": THINK, "transactions": list(transactions), **fields}


def experiment(
    target: dict[str, Any] | str, given: dict[str, Any], *, users: int = 4, **fields: Any
) -> Path:
    """Writes scenario and experiment; YAML reads JSON."""
    Path("scenario.yaml").write_text(json.dumps(given))
    where = {"url": target} if isinstance(target, str) else target
    path = Path("web.yaml")
    profile = {"users": users, "warm_up": "100ms", "measure": "600ms", **fields.pop("profile", {})}
    path.write_text(
        json.dumps(
            {
                "version": 1,
                "name": "web",
                "workload": {"name": "http", "parameters": {"scenario": "scenario.yaml"}},
                "target": {"engine": "http", **where},
                "profile": profile,
                # Other programs of this machine are no business of these tests.
                "disturbance": 1000,
                "extra_trials": 0,
                **fields,
            }
        )
    )
    return path


def run(path: Path) -> Done:
    return loadstone("run", str(path), "--json", "--quiet")


def results(done: Done) -> list[dict[str, Any]]:
    assert done.returncode in ENDED, done.stderr
    return [trial["result"] for trial in json.loads(done.stdout)["trials"]]


def operations(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in result["operations"]}


def requests(operation: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in operation["requests"]}


def metrics(result: dict[str, Any]) -> dict[str, float]:
    return {each["name"]: each["value"] for each in result["metrics"]}


def said(result: dict[str, Any]) -> str:
    return " ".join(f"{each['message']} {each['advice']}" for each in result["notices"])


def assert_well(result: dict[str, Any]) -> None:
    assert result["checks"]
    assert [each for each in result["checks"] if not each["passed"]] == []
    assert [each for each in result["operations"] if each["errors"]] == []


def test_pages_are_fetched_and_their_requests_told(nginx: NginxServer) -> None:
    parts = [get(f"part {number}", f"/{name}") for number, name in enumerate(PARTS)]
    home = transaction(
        "home",
        get("home page", "/", "Home", extract={"token": {"form": "csrf_token"}}),
        {"parallel": parts},
    )
    about = transaction(
        "about", get("about page", "/about.html", "About", headers={"X-CSRFToken": "${token}"})
    )
    (result,) = results(run(experiment(nginx.url, scenario(home, about))))
    assert_well(result)
    found = operations(result)
    assert all(found[name]["count"] > 0 for name in ("home", "about"))
    told = requests(found["home"])
    assert list(told) == ["home page", *(f"part {number}" for number in range(len(PARTS)))]
    assert all(each["count"] > 0 and not each["errors"] for each in told.values())
    figures = metrics(result)
    assert figures["requests_per_s"] > figures["transactions_per_s"] > 0
    assert "not reset" in said(result), "nobody knows in which state the application was"
    shown = loadstone("show", "web")
    assert "about page" in shown.stdout


def test_the_certificate_of_a_server_is_checked(nginx: NginxServer) -> None:
    target = {"url": nginx.tls_url, "ca": str(nginx.ca)}
    (result,) = results(run(experiment(target, scenario(ABOUT))))
    assert_well(result)
    assert operations(result)["about"]["count"] > 0
    stranger = run(experiment(nginx.tls_url, scenario(ABOUT)))
    assert stranger.returncode == ExitCode.TARGET, stranger.stderr
    assert "certificate" in stranger.stderr.lower()
    assert "Traceback" not in stranger.stderr


def test_two_addresses_are_compared(nginx: NginxServer) -> None:
    target = {
        "url": nginx.url,
        "others": {"other": {"engine": "http", "url": nginx.other_url}},
    }
    design = {"kind": "compare", "factor": "target.engine", "levels": ["http", "other"]}
    path = experiment(
        target, scenario(ABOUT), design=design, repeats=2, profile={"measure": "300ms"}
    )
    done = run(path)
    found = results(done)
    for result in found:
        assert_well(result)
    assert len({result["variant"] for result in found}) == 2
    assert len(json.loads(done.stdout)["comparisons"]) == 1


def test_a_server_that_is_not_there_is_named_before_anything_begins() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    done = run(experiment(f"http://127.0.0.1:{port}", scenario(ABOUT)))
    assert done.returncode == ExitCode.TARGET, done.stderr
    assert done.stdout == ""
    assert f"127.0.0.1:{port}" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_server_that_goes_away_under_load_is_told_by_its_errors(tmp_path: Path) -> None:
    with running_nginx() as server, Session(tmp_path) as user:
        profile = {"measure": "8s"}
        path = experiment(server.url, scenario(ABOUT), profile=profile)
        process = user.start("run", str(path))
        user.measuring()
        server.kill()
        _, err = process.communicate(timeout=120)
        # Nothing wrong was answered: the checks pass, and yet the trial does not count.
        assert process.returncode == ExitCode.INVALID_TRIAL, err
        result = user.result()
        assert result["status"] == "invalid"
        assert all(check["passed"] for check in result["checks"])
        assert "operations failed (connect_refused" in said(result)
        about = operations(result)["about"]
        assert about["count"] > 0
        assert about["errors"]["connect_refused"] > 0
        assert requests(about)["about page"]["errors"]["connect_refused"] > 0
        assert "no_ports" not in about["errors"]


def test_people_come_from_a_file(nginx: NginxServer) -> None:
    Path("people.csv").write_text("name,title\nada,Countess\ngrace,Admiral\nedsger,Professor\n")
    page = get("page", "/people/${name}.html", "<h1>")
    path = experiment(
        nginx.url, scenario(transaction("person", page), people="people.csv"), users=2
    )
    (result,) = results(run(path))
    assert_well(result)
    assert set(nginx.people()) == {"ada", "grace"}, "each of two users has a row of its own"


def test_a_person_logs_in_and_out_and_the_password_is_in_no_file(
    nginx: NginxServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APP_PASSWORD", PASSWORD)
    asked = {"X-Password": "${password}"}
    given = scenario(
        ABOUT,
        secrets={"password": "env:APP_PASSWORD"},
        log_in={"steps": [get("log in", "/log-in", "Welcome", headers=asked)]},
        log_out={"steps": [get("log out", "/log-out", "Goodbye")]},
    )
    done = run(experiment(nginx.url, given, profile={"drain": "500ms"}))
    (result,) = results(done)
    assert_well(result)
    assert "drain" in {phase["kind"] for phase in result["phases"]}
    shown = loadstone("show", "web")
    for text in (done.stdout, done.stderr, shown.stdout, *kept(tmp_path)):
        assert PASSWORD not in text


def kept(folder: Path) -> Iterable[str]:
    """The text of every file below a folder, packed ones too."""
    for path in folder.rglob("*"):
        if path.suffix == ".zst":
            yield "\n".join(json.dumps(line) for line in read_lines(path))
        elif path.is_file():
            yield path.read_bytes().decode("utf-8", "replace")


def test_a_command_resets_the_application_before_each_trial(
    nginx: NginxServer, tmp_path: Path
) -> None:
    script, done_so_far = tmp_path / "reset.sh", tmp_path / "resets"
    script.write_text(f"echo one more >> {done_so_far}\necho as delivered\n")
    target = {"url": nginx.url, "reset": f"sh {script}"}
    path = experiment(target, scenario(ABOUT), repeats=2, profile={"measure": "300ms"})
    found = results(run(path))
    assert len(done_so_far.read_text().splitlines()) == len(found) == 2
    assert len({result["fingerprint"]["digest"] for result in found}) == 1
    assert not any("not reset" in said(result) for result in found)


def test_a_reset_that_fails_ends_the_trial_with_its_words(
    nginx: NginxServer, tmp_path: Path
) -> None:
    script = tmp_path / "reset.sh"
    script.write_text("echo the database is locked >&2\nexit 3\n")
    target = {"url": nginx.url, "reset": f"sh {script}"}
    done = run(experiment(target, scenario(ABOUT)))
    assert done.returncode == ExitCode.TARGET, done.stderr
    assert "the database is locked" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_users_are_raised_until_the_highest_level(nginx: NginxServer) -> None:
    design = {
        "kind": "search",
        "over": "users",
        "from": 2,
        "at_most": 4,
        "objective": ["p99 < 10 s"],
        "confirm": 0,
    }
    path = experiment(nginx.url, scenario(ABOUT), users=2, design=design)
    done = run(path)
    assert done.returncode in ENDED, done.stderr
    search = json.loads(done.stdout)["search"]
    if search["status"] != "cut short":  # a busy machine may keep the generator from a level
        assert (search["status"], search["level"]) == ("no limit found", 4)
