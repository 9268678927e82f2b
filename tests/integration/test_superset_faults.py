"""What goes wrong with a whole Superset while people work at it, and by which name it is told."""

from __future__ import annotations

import math
import subprocess
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from statistics import mean
from typing import Any, cast

import pytest
from lengths import LONG
from superset_runs import Runs, Trial, experiment, installed, runs

from loadstone.results.samples import read_samples
from loadstone.targets.postgresql.client import Client, connect
from loadstone.targets.superset import Superset, accounts, catalogue, installation
from loadstone.targets.superset.cache import RedisCache

pytestmark = [
    LONG,
    installed,
    pytest.mark.timeout(1200),
    pytest.mark.xdist_group("superset"),
]
__all__ = ["runs"]

AWAY = {"status_502", "status_503"}
WAITS_S = (1.0, 2.0, 4.0)
"""Of the front end before each further try; a random part of up to a second comes on top."""
MOST_SHARE_PERCENT = 5.0
"""Of the load generator's processor time, against that of Superset."""
SHUT_OUT = tuple(f"user{number:06}" for number in range(1, 11))


# -- nodes that go away ------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["stop", "kill"])
def test_people_go_on_at_the_other_node_which_shares_again_when_it_is_back(
    runs: Runs, kind: str
) -> None:
    outage = {"kind": kind, "part": "nodes.2", "after": "8s", "for": "15s"}
    trial, done = runs.one(
        experiment(
            "lost",
            settings={"nodes": 2},
            parameters={"errors_allowed": 5},
            profile={"measure": "60s"},
            outage=outage,
        )
    )
    (seen,) = trial.record["outages"]
    assert (seen["kind"], seen["part"]) == (kind, "nodes.2")
    assert "nodes.2 was" in done.stdout
    # Sessions are signed cookies, which the other node takes as well.
    assert (trial.comings.logged_in, trial.comings.lost) == (8, 0)
    assert set(trial.errors()) <= AWAY
    assert set(trial.of_requests("retried")) <= AWAY
    assert trial.metrics["requests_retried"] == sum(trial.of_requests("retried").values())
    # A node that is stopped ends its requests first.
    assert min(used_percent(trial, "nodes.2", seen["from_s"], seen["to_s"])) == 0
    back_s = seen["to_s"] + seen["back_s"] + 2
    shares = [mean(used_percent(trial, f"nodes.{number}", back_s, math.inf)) for number in (1, 2)]
    assert min(shares) > 0.2 * max(shares)
    assert trial.metrics["generator_share_percent"] < MOST_SHARE_PERCENT


def used_percent(trial: Trial, part: str, from_s: float, to_s: float) -> list[float]:
    """Processor time of a part in each second of an interval, 100 % is one processor."""
    return [
        each.value
        for each in read_samples(trial.folder)
        if each.metric == f"cpu_percent:{part}" and from_s <= each.t_s < to_s
    ]


def test_with_all_nodes_away_people_wait_as_long_as_the_front_end_tries(runs: Runs) -> None:
    tries = experiment(
        "away",
        settings={"nodes": 2},
        parameters={"errors_allowed": 100},
        profile={"users": 6, "measure": "45s"},
        outage={"kind": "stop", "part": "nodes", "after": "5s", "for": "20s"},
        design={"kind": "compare", "factor": "workload.retries", "levels": [True, False]},
    )
    runs.run(tries)
    found = {each.record["parameters"]["retries"]: each for each in runs.trials("away").values()}
    for trial in found.values():
        assert set(trial.errors()) <= AWAY
        assert trial.of_requests("errors")["status_503"] > 0
        assert (trial.comings.logged_in, trial.comings.lost) == (6, 0)
        assert trial.metrics["generator_share_percent"] < MOST_SHARE_PERCENT
    with_tries, without = found[True], found[False]
    assert with_tries.metrics["requests_retried"] > 0
    assert "requests-retried" in with_tries.notices
    waited = [row for trace in failed(with_tries) for row in tried_in(trace)]
    assert waited, "a request was tried until the last try failed"
    for starts_s in waited:
        assert len(starts_s) == 1 + len(WAITS_S)
        gaps = [later - earlier for earlier, later in pairwise(starts_s)]
        assert all(gap >= wait_s for gap, wait_s in zip(gaps, WAITS_S, strict=True))
    assert without.metrics["requests_retried"] == 0
    assert not [row for trace in failed(without) for row in tried_in(trace)]


def failed(trial: Trial) -> list[dict[str, Any]]:
    """The slowest transaction of each operation that failed."""
    return [each["failed"] for each in trial.record["traces"].values() if each["failed"]]


def tried_in(trace: dict[str, Any]) -> list[list[float]]:
    """When each request of a transaction was begun, the first time and again; of those tried
    again whose last try failed, too."""
    places: dict[tuple[int, int | None], list[dict[str, Any]]] = {}
    for row in trace["rows"]:
        places.setdefault((row["step"], row["lane"]), []).append(row)
    return [
        [row["at_s"] for row in rows]
        for rows in places.values()
        if len(rows) > 1 and all(row["status"] in (502, 503) for row in rows)
    ]


def test_a_worker_that_gunicorn_kills_is_named(runs: Runs) -> None:
    settings = {"workers": 2, "worker_class": "sync", "worker_timeout_s": 6, "query_cache": "off"}
    load = {"users": 3, "measure": "80s"}
    trial, done = runs.one(experiment("silent", settings=settings, profile=load), hold_queries)
    assert trial.notices["workers-timed-out"].startswith("nodes.1: gunicorn killed ")
    assert "WORKER TIMEOUT" in " ".join(done.stdout.split())
    # Until those that take their places have loaded Superset, the balancer has no node.
    # On a connection that had served before the balancer closes it instead of answering 502, and a
    # browser sends the request again.
    wrong = {*trial.of_requests("retried"), *trial.of_requests("errors")}
    assert wrong or trial.of_requests("resent")
    assert wrong <= {*AWAY, "status_500", "status_504"}
    assert (trial.comings.logged_in, trial.comings.lost) == (3, 0)


def hold_queries(target: Superset) -> None:
    """Every query of a chart takes longer than a worker may take."""
    with connect(target.warehouse().connection()) as held:
        held.execute("SELECT pg_sleep(3)")  # all are at work: what is lost is of measured load
        held.execute("BEGIN")
        held.execute("LOCK TABLE sales IN ACCESS EXCLUSIVE MODE")
        held.execute("SELECT pg_sleep(12)")
        held.execute("ROLLBACK")


# -- people who are not let in -----------------------------------------------------------------
def test_ten_of_a_hundred_with_a_wrong_password_are_refused_and_the_others_work(
    runs: Runs,
) -> None:
    runs.before_load.append(forget_passwords)
    refused: set[str] = set()
    trial, done = runs.one(
        experiment(
            "passwords",
            settings={"workers": 2, "tuned": "on"},
            parameters={"accounts": 100, "next": {"list": {"list": 1.0}}},
            profile={"users": 100, "ramp": "4/s", "think_time": "30s", "gather": "45s"},
        ),
        lambda target: refused.update(refused_in(target)),
    )
    assert refused == set(SHUT_OUT)
    assert set(trial.errors()) == {"log_in_refused"}
    assert (trial.comings.logged_in, trial.comings.lost) == (90, 0)
    assert trial.notices["users-absent"].startswith("10 of 100 users")
    # They hold off for ever longer: 1 s doubling to 30 s.
    assert len(SHUT_OUT) < trial.errors()["log_in_refused"] <= 12 * len(SHUT_OUT)
    assert not trial.checks["answers are as expected"]["passed"]
    told(trial, done.stdout, "log_in_refused")


def forget_passwords(target: Superset) -> None:
    """Gives ten accounts another password in the catalogue."""
    with closing(catalogue_of(target)) as client:
        client.query(
            "UPDATE ab_user SET password = %s WHERE username = ANY(%s)",
            (accounts.quick_hash("another"), list(SHUT_OUT)),
        )


def refused_in(target: Superset) -> set[str]:
    """The accounts whose last log-in Superset has refused."""
    with closing(catalogue_of(target)) as client:
        rows = client.query("SELECT username FROM ab_user WHERE fail_login_count > 0")
    return {name for (name,) in rows}


def catalogue_of(target: Superset) -> Client:
    return Client(replace(target.warehouse().connection(), database=catalogue.DATABASE))


# -- settings that are too tight ---------------------------------------------------------------
@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"session_life_s": 12}, "session_expired"),
        ({"rate_limit": "3 per second"}, "rate_limited"),
        ({"pool_size": 1, "pool_timeout_s": 1, "threads": 16}, "pool_exhausted"),
    ],
)
def test_a_setting_that_is_too_tight_is_named(
    runs: Runs, settings: dict[str, Any], error: str
) -> None:
    load = {"users": 12, "ramp": "6/s", "gather": "15s", "measure": "30s"}
    trial, done = runs.one(experiment("tight", settings=settings, profile=load))
    assert error in trial.errors()
    assert trial.record["status"] == "invalid"
    assert ("pool-exhausted" in trial.notices) == (error == "pool_exhausted")
    told(trial, done.stdout, error)


def test_people_whose_token_has_expired_go_on_when_they_load_a_page(runs: Runs) -> None:
    """The token comes with a page. Whoever stays on one for longer than it lives is refused."""
    ways = {"open": {"filter": 1.0}, "filter": {"filter": 9.0, "list": 1.0}}
    trial, done = runs.one(
        experiment(
            "token",
            settings={"csrf_life_s": 20},
            parameters={"next": ways, "errors_allowed": 100},
            profile={"users": 6, "measure": "60s", "think_time": "3s", "gather": "40s"},
        )
    )
    assert set(trial.errors()) == {"csrf_expired"}
    assert trial.operation("filter")["errors"]["csrf_expired"] > 0
    assert trial.operation("filter")["count"] > 0
    # A page needs no token: nobody has to log in again.
    assert trial.operation("list")["errors"] == trial.operation("open")["errors"] == {}
    assert (trial.comings.logged_in, trial.comings.lost) == (6, 0)
    told(trial, done.stdout, "csrf_expired")


def told(trial: Trial, terminal: str, error: str) -> None:
    """A class of errors is told on the terminal and on the page, as in the result."""
    assert error in terminal
    assert error in (trial.folder.parent / "report.html").read_text()


# -- answers that are wrong --------------------------------------------------------------------
CHANGES = """
import pickle, sys
import redis

client, change = redis.Redis(unix_socket_path=sys.argv[1]), sys.argv[2]
found = {}
for key in client.scan_iter("data_*"):
    kept = pickle.loads(client.get(key)[1:])
    if isinstance(kept, dict) and list(kept["df"].columns) == ["nation", "revenue"]:
        found[key] = kept
frames = [kept["df"] for kept in found.values()]
for kept, other in zip(found.values(), frames[1:] + frames[:1]):
    if change == "another person's rows":
        kept["df"] = other
    else:
        revenues = list(map(float, kept["df"]["revenue"]))
        kept["df"] = kept["df"].assign(revenue=[revenues[0] * 1.0001, *revenues[1:]])
for key, kept in found.items():
    client.set(key, b"!" + pickle.dumps(kept), keepttl=True)
print(len(found))
"""
"""Run by the interpreter of Superset, which keeps frames of pandas in Redis."""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("a row", "region-nations of user"),
        ("another person's rows", "does not belong there"),
    ],
)
def test_what_is_changed_in_the_cache_while_load_runs_is_found(
    runs: Runs, change: str, words: str
) -> None:
    changed = []

    def change_cache(target: Superset) -> None:
        python, socket = installation.environment().python, cast("RedisCache", target.part("cache"))
        done = subprocess.run(
            [python, "-c", CHANGES, socket.socket, change],
            capture_output=True,
            text=True,
            check=True,
        )
        changed.append(int(done.stdout))

    trial, done = runs.one(
        experiment("cache", parameters={"sample": 1000}, profile={"measure": "30s"}), change_cache
    )
    assert changed[0] > 1
    check = trial.checks["charts show the warehouse"]
    assert not check["passed"]
    assert words in check["detail"]
    assert trial.record["status"] == "invalid"
    # What is wrong is what was shown: Superset itself has nothing to complain of.
    assert trial.errors() == {}
    assert "charts show the warehouse" in done.stdout


PLANTED = """
_told = FLASK_APP_MUTATOR

def FLASK_APP_MUTATOR(app):
    _told(app)
    import itertools, json
    from flask import request
    turns = itertools.count()

    @app.after_request
    def fail(response):
        if request.path == "/api/v1/chart/data" and next(turns) % 9 == 8:
            told = response.get_json()
            told["result"][0].update(error="planted", status="failed", data=None)
            response.set_data(json.dumps(told))
        return response
"""


def test_an_answer_of_200_that_carries_an_error_is_an_error(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    from loadstone.targets.superset import configuration

    usual = configuration.text
    monkeypatch.setattr(configuration, "text", lambda *given: usual(*given) + PLANTED)
    trial, done = runs.one(experiment("carried"))
    assert set(trial.errors()) == {"chart_failed"}
    assert trial.of_requests("errors")["chart_failed"] > 0
    assert trial.of_requests("retried") == {}
    check = trial.checks["answers are as expected"]
    assert not check["passed"]
    assert "chart_failed" in check["detail"]
    assert trial.record["status"] == "invalid"
    told(trial, done.stdout, "chart_failed")
