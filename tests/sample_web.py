"""Scenarios, experiments and a web server, for tests of web applications."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from pydantic import ValidationError

from loadstone.spec.model import Experiment
from loadstone.spec.problems import dotted, problems_of
from loadstone.spec.target import TargetSpec
from loadstone.targets.http.target import connection_to
from loadstone.targets.web import WebConnection
from loadstone.workloads.http.parameters import WebParameters
from loadstone.workloads.http.scenario import Scenario
from loadstone.workloads.http.workload import WebScenario

URL = "http://127.0.0.1:8080"
PAGE: dict[str, Any] = {"name": "page", "steps": [{"get": "/"}]}


def problems(given: dict[str, Any]) -> dict[str, str]:
    """What is wrong in a scenario, by its place; nothing if it is right."""
    try:
        Scenario.model_validate(given)
    except ValidationError as error:
        found = problems_of(error, Scenario, given)
        return {dotted(each.path): each.message for each in found}
    return {}


def driver(given: dict[str, Any]) -> dict[str, Any]:
    """What the driver is told of a scenario."""
    return Scenario.model_validate(given).driver(None, {})


def scenario(**fields: Any) -> dict[str, Any]:
    """One page, and what else is given."""
    return {"transactions": [PAGE], **fields}


def of_steps(*steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """One transaction with these steps."""
    return {"transactions": [{"name": "page", "steps": list(steps)}], **fields}


def workload(given: dict[str, Any] | str, **parameters: Any) -> WebScenario:
    return WebScenario(WebParameters.model_validate({"scenario": given, **parameters}))


def fields(
    given: dict[str, Any] | str | None = None,
    target: Mapping[str, Any] | None = None,
    **rest: Any,
) -> dict[str, Any]:
    """The fields of an experiment about a web application."""
    return {
        "version": 1,
        "name": "web",
        "workload": {"name": "http", "parameters": {"scenario": given or scenario()}},
        "target": {"engine": "http", "url": URL, **(target or {})},
        **rest,
    }


def experiment(*words: Any, **rest: Any) -> Experiment:
    return Experiment.model_validate(fields(*words, **rest))


def connection(url: str = URL, **target: Any) -> WebConnection:
    return connection_to(TargetSpec(engine="http", server=url, **target))


class _Handler(BaseHTTPRequestHandler):
    status: ClassVar[int] = 200

    def do_GET(self) -> None:
        self.send_response(self.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def version_string(self) -> str:
        return "sample/1"

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextlib.contextmanager
def running(status: int = 200) -> Iterator[str]:
    """The address of a server that answers each GET with this status."""
    handler = type("Handler", (_Handler,), {"status": status})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
