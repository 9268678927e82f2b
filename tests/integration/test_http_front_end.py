"""What a front end does beside asking: tries, classes, marks and kept answers, by a command."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

import pytest
from command_line import loadstone

from loadstone.errors import ExitCode
from loadstone.results.answers import read_answers

ENDED = {ExitCode.INVALID_TRIAL, ExitCode.FAILED_CHECK}
SECRET = "s3cret-word"
"""Of the log-in: in no file of the trial."""


class _Application(BaseHTTPRequestHandler):
    """Sessions die after five pages; two of five answers are 503; half of the rows are cached."""

    protocol_version = "HTTP/1.1"
    pages: ClassVar[count[int]] = count()
    in_session: ClassVar[dict[str, int]] = {}

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        given = self.rfile.read(length).decode()
        if self.path == "/login":
            user = given.partition("user=")[2].partition("&")[0]
            self.in_session[user] = 0
            self._say(200, "welcome", {"Set-Cookie": f"user={user}; Path=/"})
            return
        number = next(self.pages)
        year = json.loads(given)["year"]
        self._say(200, json.dumps({"cached": number % 2 == 0, "rows": [[year, number]]}))

    def do_GET(self) -> None:
        if self.path.startswith("/login"):
            self._say(200, "a form")
            return
        if self.path == "/logout":
            self._say(200, "gone")
            return
        if self.path == "/page" and next(self.pages) % 5 < 2:
            self._say(503, "away")
            return
        user = (self.headers["Cookie"] or "").partition("user=")[2]
        self.in_session[user] = self.in_session.get(user, 0) + 1
        if self.in_session[user] > 5:
            self._say(302, "", {"Location": "/login?next=page"})
        else:
            self._say(200, "a page")

    def _say(self, status: int, body: str, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Application) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def scenario() -> dict[str, Any]:
    form = {"user": "${username}", "password": "${password}"}
    return {
        "people": "people.csv",
        "secrets": {"password": "env:FRONT_END_PASSWORD"},
        "first": {"page": 1},
        "retry": {"wait_s": 0.01, "longest_s": 0.02, "jitter": False},
        "classes": [{"name": "session_expired", "location": "/login"}],
        "log_in_again": {"classes": ["session_expired"]},
        "think_time": {"distribution": "constant", "mean_s": 0.01},
        "log_in": {"steps": [{"request": "log in", "post": "/login", "form": form}]},
        "log_out": {"steps": [{"request": "log out", "get": "/logout"}]},
        "transactions": [
            {"name": "page", "next": {"rows": 1}, "steps": [{"request": "page", "get": "/page"}]},
            {
                "name": "rows",
                "next": {"page": 1},
                "pick": {"year": {"of": [1994, 1995]}},
                "steps": [
                    {
                        "request": "rows",
                        "post": "/rows",
                        "json": {"year": "${year}", "by": "${password}"},
                        "marks": {"cached": {"json": "$.cached"}},
                        "keep": {"answers": 5},
                    }
                ],
            },
        ],
    }


def test_tries_classes_marks_and_answers_are_in_the_result(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("FRONT_END_PASSWORD", SECRET)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("username\nann\nbo\ncy\n")
    Path("scenario.yaml").write_text(json.dumps(scenario()))
    experiment = {
        "version": 1,
        "name": "front",
        "workload": {"name": "http", "parameters": {"scenario": "scenario.yaml"}},
        "target": {"engine": "http", "url": url},
        "profile": {"users": 3, "warm_up": "100ms", "measure": "800ms", "drain": "200ms"},
        "disturbance": 1000,
        "extra_trials": 0,
    }
    Path("front.yaml").write_text(json.dumps(experiment))
    done = loadstone("run", "front.yaml", "--json", "--quiet")
    assert done.returncode in ENDED, done.stderr
    (result,) = [trial["result"] for trial in json.loads(done.stdout)["trials"]]
    found = {each["name"]: each for each in result["operations"]}
    page, rows = (found[name]["requests"][0] for name in ("page", "rows"))
    assert page["retried"]["status_503"] > 0
    assert page["errors"].get("status_503", 0) == 0, "the last try succeeds"
    assert found["page"]["errors"]["session_expired"] > 0
    assert 0 < rows["marks"]["cached"] < rows["count"]
    metrics = {each["name"]: each["value"] for each in result["metrics"]}
    assert metrics["requests_retried"] == page["retried"]["status_503"]
    checks = {each["name"]: each for each in result["checks"]}
    assert checks["who logged in has logged out"]["passed"], checks
    assert not checks["answers are as expected"]["passed"], "a session that died is a wrong answer"

    (trial,) = {path.parent for path in Path("results").rglob("answers.jsonl")}
    kept = read_answers(trial)
    assert len(kept) == 5
    for each in kept:
        assert each.username in ("ann", "bo", "cy")
        assert each.body == {"year": each.values["year"], "by": "***"}
        assert each.answer["rows"][0][0] == each.values["year"]
    texts = [path.read_bytes() for path in trial.rglob("*") if path.is_file()]
    assert all(SECRET.encode() not in text for text in texts)
    shown = loadstone("show", "front")
    assert "tried again: status_503" in shown.stdout
    assert "cached " in shown.stdout
