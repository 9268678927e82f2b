"""Idle connections that nginx closes just as users need them again (hyper#3553, haproxy#1423).

What a browser does costs no request: it opens another connection, and sends once more what met the
end of the old one. `LOADSTONE_TEST_KEEPALIVE_SCALE=1` runs it as long as it was reported: think
times of 5 s and 60 s, keep-alive of 5 s and 75 s, for 5 and 20 minutes.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from command_line import loadstone
from nginx_server import running_nginx

from loadstone.errors import ExitCode
from loadstone.results.frames import read_frames

SCALE = float(os.environ.get("LOADSTONE_TEST_KEEPALIVE_SCALE", "0.1"))
USERS = 500
_SIGMAS = 5
pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(600 + 1800 * SCALE),
    pytest.mark.usefixtures("own_places"),
]


@dataclass(frozen=True)
class Load:
    """The measured phase of a trial."""

    requests: int
    errors: Counter[str]
    resent: Counter[str]
    opened: int
    """Connections."""
    reused: int
    """Requests on one that had served before."""


def scaled(seconds: float) -> str:
    """A time as an experiment and nginx have it."""
    return f"{round(seconds * SCALE * 1000)}ms"


def load(keepalive_s: float, think: dict[str, Any], warm_up_s: float, measure_s: float) -> Load:
    """GET and POST in turn against a server that closes idle connections after a time."""
    read = {"request": "read", "get": "/about.html", "expect": {"text": "About"}}
    write = {"request": "write", "post": "/order", "form": {"n": 1}, "expect": {"text": "Ordered"}}
    scenario = {
        "order": "in-turn",
        "think_time": think,
        "transactions": [
            {"name": "read", "steps": [read]},
            {"name": "write", "steps": [write]},
        ],
    }
    profile = {"users": USERS, "warm_up": scaled(warm_up_s), "measure": scaled(measure_s)}
    with running_nginx(keepalive=scaled(keepalive_s)) as server:
        Path("web.yaml").write_text(
            json.dumps(
                {
                    "version": 1,
                    "name": "web",
                    "workload": {"name": "http", "parameters": {"scenario": scenario}},
                    "target": {"engine": "http", "url": server.url},
                    "profile": profile,
                    "disturbance": 1000,
                    "extra_trials": 0,
                }
            )
        )
        done = loadstone("run", "web.yaml", "--json", "--quiet")
    # On a busy machine the generator may be late, which marks a trial.
    assert done.returncode in {ExitCode.OK, ExitCode.INVALID_TRIAL}, done.stderr
    (folder,) = Path("results/web").glob("*/frames.jsonl.zst")
    found = measured(folder.parent)
    print(json.dumps(vars(found)))
    return found


def measured(folder: Path) -> Load:
    """What the driver told of the measured phase."""
    requests, errors, resent, counters = 0, Counter[str](), Counter[str](), Counter[str]()
    for frame in read_frames(folder):
        if frame.get("frame") != "tick" or frame.get("phase") != "measure":
            continue
        counters.update(frame["counters"])
        for operation in frame["operations"].values():
            errors.update(operation["errors"])
            for request in operation["requests"].values():
                requests += request["count"]
                resent.update(request["resent"])
    opened, reused = counters["connections_opened"], counters["connections_reused"]
    return Load(requests, errors, resent, opened, reused)


def test_users_who_think_as_long_as_a_connection_is_kept_meet_no_error() -> None:
    think = {"distribution": "constant", "mean_s": 5 * SCALE}
    found = load(5, think, warm_up_s=10, measure_s=300)
    assert found.errors == {}
    assert found.requests > 0.8 * USERS * 300 / 5
    # Each is on a connection that was kept, or on a new one; what was sent again, on both.
    assert found.opened > 0
    assert found.opened + found.reused == pytest.approx(
        found.requests + found.resent.total(), abs=2 * USERS
    )


def test_as_many_connections_are_opened_as_think_times_outlast_them() -> None:
    """A think time of mean 60 s is longer than 75 s with probability e^(-75/60) = 28.7 %."""
    think = {"distribution": "negative-exponential", "mean_s": 60 * SCALE}
    found = load(75, think, warm_up_s=300, measure_s=1200)
    assert found.errors == {}
    expected = math.exp(-75 / 60)
    chance = _SIGMAS * math.sqrt(expected * (1 - expected) / found.requests)
    assert found.opened / found.requests == pytest.approx(expected, abs=chance)
