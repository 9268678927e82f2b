"""What a request costs: the CPU time of the driver and of its peers for one GET of a page of 1 KB.

The count of requests is the server's, and CPU time is taken over the same seconds, so that neither
the start of an interpreter nor a tool's own way of counting is part of it.

python -m benchmarks http
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from dataclasses import dataclass, field

from benchmarks.http_running import FailedError, Running
from benchmarks.http_server import PAGE_BYTES, WebServer, version, web_server
from benchmarks.http_tools import OURS, PEERS, MissingError, Tool, Work
from benchmarks.table import Aim, Report, median, spread

ROUNDS = 6
SECONDS = 5.0
_WARM_UP_S = 1.0
_SPARE_S = 3
"""That a tool goes on for after what is measured, at least."""
USERS = 64
COOKIE_BYTES = 32
_PATIENCE_S = 60.0
AIMS = {"k6": 1 / 5, "Locust": 1 / 12, "wrk": 1.5}
"""Peer: the driver's CPU of a request, as a multiple of its, at most."""


@dataclass
class Cost:
    """Of a tool, one value a round."""

    cpu_us: list[float] = field(default_factory=list)
    """Of a request."""
    per_s: list[float] = field(default_factory=list)


def measure() -> Report:
    """All tools in turn, `ROUNDS` rounds, each round beginning with another one."""
    versions, missing = _versions()
    tools = [tool for tool in (OURS, *PEERS) if tool.name in versions]
    costs: dict[str, Cost] = defaultdict(Cost)
    for_tool, for_server = _processors()
    with web_server(cookie_bytes=COOKIE_BYTES, cpus=for_server) as server:
        for number in range(ROUNDS):
            first = number % len(tools)
            for tool in tools[first:] + tools[:first]:
                _measure_one(tool, server, for_tool, costs[tool.name])
    pinned = "each on a processor of its own, " if for_tool else ""
    return Report(
        title="Beside k6, Locust, Goose, oha and wrk: a request over HTTP",
        how=f"GET of a page of {PAGE_BYTES:,} bytes from nginx {version()} on loopback, one "
        f"worker, {pinned}{USERS} connections, no think time; the status is checked, and the "
        "cookie that the "
        f"first answer sets is sent. {ROUNDS} interleaved rounds of {SECONDS:g} s after "
        f"{_WARM_UP_S:g} s that do not count, median and range. CPU is user and system time of all "
        "processes of a tool, requests are those that the server counted in the same time. "
        + " ".join(f"{tool.name}: {tool.note}." for tool in tools if tool.note),
        header=("", "CPU, us a request", "requests/s", "the driver's CPU, of its"),
        rows=[
            *(_row(tool, versions[tool.name], costs) for tool in tools),
            *((name, reason, "", "") for name, reason in missing.items()),
        ],
        aims=[
            Aim(f"CPU of a request, of {name}'s", value, "", f"<= {aim:.3g}", value <= aim)
            for name, aim in AIMS.items()
            if name in versions
            for value in [median(_ratios(costs, name))]
        ],
    )


def _versions() -> tuple[dict[str, str], dict[str, str]]:
    """The tools that are there with their versions, and the others with what to do."""
    versions, missing = {}, {}
    for tool in (OURS, *PEERS):
        try:
            versions[tool.name] = tool.version()
        except MissingError as error:
            missing[tool.name] = str(error)
    return versions, missing


def _processors() -> tuple[str | None, str | None]:
    """One for the tool and one for the server; None of a machine that has only one."""
    usable = sorted(os.sched_getaffinity(0))
    return (str(usable[0]), str(usable[-1])) if len(usable) > 1 else (None, None)


def _measure_one(tool: Tool, server: WebServer, cpus: str | None, cost: Cost) -> None:
    before = server.counts().requests
    seconds = round(_WARM_UP_S + SECONDS) + _SPARE_S
    work = Work(server.base, server.cookie, USERS, seconds)
    with Running(tool, work, cpus) as running:
        # Interpreters take a while to start; a tool's own time begins with its load.
        if not running.await_that(lambda: server.counts().requests > before, _PATIENCE_S):
            raise FailedError(f"{tool.name} asks for nothing")
        time.sleep(_WARM_UP_S)
        cpu_s, requests, at_s = running.cpu_s(), server.counts().requests, time.monotonic()
        time.sleep(SECONDS)
        cpu_s = running.cpu_s() - cpu_s
        requests = server.counts().requests - requests
        took_s = time.monotonic() - at_s
        running.finish(_PATIENCE_S)
    cost.cpu_us.append(cpu_s / requests * 1e6)
    cost.per_s.append(requests / took_s)


def _ratios(costs: dict[str, Cost], name: str) -> list[float]:
    pairs = zip(costs[OURS.name].cpu_us, costs[name].cpu_us, strict=True)
    return [own / theirs for own, theirs in pairs]


def _row(tool: Tool, version_of: str, costs: dict[str, Cost]) -> tuple[str, ...]:
    cost = costs[tool.name]
    ratio = "" if tool is OURS else spread(_ratios(costs, tool.name))
    return f"{tool.name} {version_of}", spread(cost.cpu_us), spread(cost.per_s), ratio
