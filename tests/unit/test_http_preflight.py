"""What is found before anything begins: a load too large for this machine, a plan refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import right, wrong
from sample_web import experiment, fields, of_steps, scenario, workload

from loadstone.cli.needs import needs_said
from loadstone.errors import DriverError
from loadstone.experiments.preflight import loads
from loadstone.experiments.preflight.check import check_experiment, examine_experiment
from loadstone.experiments.preflight.idle import idle_fields
from loadstone.experiments.preflight.loads import examined_loads
from loadstone.host.tcp import PortRules, TcpSocket
from loadstone.load.plan_check import path_of
from loadstone.load.ports import Network
from loadstone.load.resources import Machine, Resources
from loadstone.protocol.frames import PROTOCOL_VERSION
from loadstone.spec.model import Experiment
from loadstone.spec.problems import Problem
from loadstone.spec.profile import ProfileSpec
from loadstone.workloads.http import reading

pytestmark = pytest.mark.usefixtures("own_places")

STUB = f"""\
#!{sys.executable}
import json, os, sys
if sys.argv[1] == "--version":
    print("loadstone-driver 0 (protocol {PROTOCOL_VERSION})")
    raise SystemExit
assert sys.argv[1:] == ["check"]
plan = json.loads(sys.stdin.readline())
asked = {{"plan": plan, "secret": os.environ.get("LOADSTONE_SECRET_0")}}
with open("asked.jsonl", "a") as file:
    print(json.dumps(asked), file=file)
said, code = json.load(open("answer.json"))
print(said, file=sys.stderr)
raise SystemExit(code)
"""
PREFIX = "loadstone-driver: plan refused: workload.parameters.scenario"


class Driver:
    """A driver that says what it is told to."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.says("", 0)

    def says(self, words: str, code: int) -> None:
        (self._folder / "answer.json").write_text(json.dumps([words, code]))

    @property
    def asked(self) -> list[dict[str, Any]]:
        path = self._folder / "asked.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Driver:
    path = tmp_path / "driver"
    path.write_text(STUB)
    path.chmod(0o755)
    monkeypatch.setenv("LOADSTONE_DRIVER", str(path))
    monkeypatch.chdir(tmp_path)
    return Driver(tmp_path)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of 200 ports, on which no name is known."""

    of_machine(monkeypatch)


def of_machine(monkeypatch: pytest.MonkeyPatch, *sockets: TcpSocket) -> None:
    """A machine of 200 ports, on which no name is known, with these sockets."""
    rules = PortRules(range(40_000, 40_200))
    network = Network(rules, lambda *_: (), lambda _: sockets, lambda _: "192.0.2.7")
    monkeypatch.setattr(loads.Machine, "present", lambda _host=None: Machine(network, 20_000, 1))


def load_problems(given: Experiment) -> list[Problem]:
    return examined_loads(given)[0]


def most_resources(given: Experiment) -> Resources | None:
    return examined_loads(given)[1]


def test_the_driver_is_asked_for_its_opinion_of_the_plan(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("APP_PASSWORD", "s3cret-word")
    given = scenario(secrets={"password": "env:APP_PASSWORD"})
    assert check_experiment(experiment(given)) == []
    (asked,) = driver.asked
    assert asked["secret"] == "s3cret-word"
    assert asked["plan"]["workload"]["name"] == "http"
    assert asked["plan"]["connection"]["url"] == "http://127.0.0.1:8080"
    assert "s3cret-word" not in json.dumps(asked["plan"])


def test_what_it_refuses_is_said_at_its_place(driver: Driver):
    driver.says(f"{PREFIX}.transactions[0].steps[0].get: `${{nix}}` is not known: it is no: x", 2)
    (problem,) = check_experiment(experiment(of_steps({"get": "/${nix}"})))
    scenario_at = ("workload", "parameters", "scenario")
    assert problem.path == (*scenario_at, "transactions", 0, "steps", 0, "get")
    assert problem.message == "`${nix}` is not known: it is no: x"


def test_the_line_of_the_field_is_named(driver: Driver):
    Path("web.yaml").write_text(
        "version: 1\nname: web\nworkload:\n  name: http\n  parameters:\n    scenario:\n"
        "      transactions:\n        - name: a\n          steps:\n            - get: /${nix}\n"
        "target: {engine: http, url: http://127.0.0.1:8080}\n"
    )
    driver.says(f"{PREFIX}.transactions[0].steps[0].get: is wrong", 2)
    assert "web.yaml:10: " in wrong("plan", "web.yaml")


def test_configurations_that_differ_only_in_their_load_are_looked_at_once(driver: Driver):
    design = {"kind": "sweep", "factors": {"profile.users": [1, 2, 3]}}
    assert load_problems(experiment(design=design)) == []
    assert len(driver.asked) == 1
    levels = ["http://127.0.0.1:8080", "http://127.0.0.1:8081"]
    compared = {"kind": "compare", "factor": "target.url", "levels": levels}
    assert load_problems(experiment(design=compared)) == []
    assert [each["plan"]["connection"]["url"] for each in driver.asked[1:]] == levels


def test_a_driver_that_gives_no_answer_is_broken(driver: Driver):
    driver.says("it fell over", 101)
    with pytest.raises(DriverError, match="ended with 101: it fell over"):
        load_problems(experiment())


def test_without_a_driver_there_is_no_opinion(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LOADSTONE_DRIVER", "/nowhere/driver")
    assert load_problems(experiment()) == []


def test_of_a_target_that_is_not_known_before_it_is_open_nothing_is_said(driver: Driver):
    for engine in ("none", "sqlite", "postgresql"):
        noop = Experiment.model_validate(
            {
                "version": 1,
                "name": "x",
                "workload": {"name": "noop"},
                "target": {"engine": engine},
            }
        )
        assert examined_loads(noop) == ([], None)
    assert driver.asked == []


@pytest.mark.usefixtures("small")
def test_a_database_at_an_address_has_ports_and_files_too(driver: Driver):
    def users(count: int) -> Experiment:
        target = {"engine": "postgresql", "server": "postgresql://u@db.example/d"}
        given = {"version": 1, "name": "x", "workload": {"name": "oltp"}, "target": target}
        return Experiment.model_validate({**given, "profile": {"users": count}})

    problems, found = examined_loads(users(200))
    assert problems == []
    assert found is not None
    assert (found.connections, found.destinations[0].port, found.open_files) == (200, 5432, 220)
    (problem,) = load_problems(users(201))
    assert "need 201 connections to db.example, port 5432" in problem.message
    assert driver.asked == []


@pytest.mark.usefixtures("small")
def test_too_few_ports_are_found(driver: Driver):
    far = {"url": "http://192.0.2.1"}
    assert load_problems(experiment(None, far, profile={"users": 200})) == []
    (problem,) = load_problems(experiment(None, far, profile={"users": 201}))
    assert problem.path == ("profile",)
    assert "need 201 connections to 192.0.2.1, port 80, and 200 are possible" in problem.message
    assert len(driver.asked) == 1


@pytest.mark.usefixtures("small", "driver")
def test_the_configuration_with_most_connections_is_told():
    design = {"kind": "sweep", "factors": {"profile.users": [10, 150, 20]}}
    found = most_resources(experiment(design=design))
    assert found is not None
    assert (found.users, found.connections, found.ports) == (150, 150, 200)


@pytest.mark.usefixtures("driver")
def test_ports_in_time_wait_are_told_and_waited_for(monkeypatch: pytest.MonkeyPatch):
    ended = [TcpSocket("192.0.2.7", 40_000 + n, "192.0.2.1", 80, 6, 20.5) for n in range(120)]
    used = [TcpSocket("192.0.2.7", 40_150 + n, "192.0.2.1", 80, 1, 0.0) for n in range(10)]
    of_machine(monkeypatch, *ended, *used)
    far = {"url": "http://192.0.2.1"}
    examined = examine_experiment(experiment(None, far, profile={"users": 100}))
    assert examined.problems == []
    found = examined.resources
    assert found is not None
    assert (found.in_use, found.time_wait, found.wait_s) == (10, 120, 20.5)
    assert (
        "10 of the ports are in use; 120 are in TIME_WAIT of earlier connections, and a run "
        in (said := needs_said(found))
    )
    assert "a run waits 21 s for them." in said
    (problem,) = load_problems(experiment(None, far, profile={"users": 191}))
    assert "190 are possible: 200 ports, 10 of them in use" in problem.message
    assert "120 of the ports are in TIME_WAIT" in problem.message


@pytest.mark.usefixtures("small", "driver")
def test_every_server_that_requests_name_is_counted():
    steps = [{"get": "/"}, {"parallel": [{"get": f"http://192.0.2.2:81/{n}"} for n in range(3)]}]
    given = of_steps(*steps, hosts=["192.0.2.2:81"])
    far = {"url": "http://192.0.2.1"}
    found = most_resources(experiment(given, far, profile={"users": 60}))
    assert found is not None
    assert [(each.host, each.connections) for each in found.destinations] == [
        ("192.0.2.1", 60),
        ("192.0.2.2", 180),
    ]
    assert "(60 users, up to 3 each to one server): 180 to 192.0.2.2:81, 60 to 192.0.2.1:80." in (
        needs_said(found)
    )
    (problem,) = load_problems(experiment(given, far, profile={"users": 67}))
    assert "67 users or sessions with up to 3 connections each need 201 connections" in (
        problem.message
    )
    assert "192.0.2.2, port 81" in problem.message


@pytest.mark.parametrize(
    ("field", "path"),
    [
        ("a.b", ("a", "b")),
        ("steps[0].parallel[12].get", ("steps", 0, "parallel", 12, "get")),
        ("headers.X-Token", ("headers", "X-Token")),
        ("expect.json.$.a[", ("expect", "json", "$.a[")),
        (".", ()),
    ],
)
def test_fields_of_the_driver(field: str, path: tuple[str | int, ...]):
    assert path_of(field) == path


# -- commands ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("driver")
def test_a_plan_says_what_the_load_takes():
    Path("web.yaml").write_text(json.dumps(fields(profile={"users": 1500})))
    flat = " ".join(right("plan", "web.yaml").split())
    assert "The load opens 1,500 connections at most (1,500 users)" in flat
    assert "the one that the system chooses" in flat
    found = json.loads(right("plan", "web.yaml", "--json"))["resources"]
    assert (found["users"], found["connections"], found["sources"]) == (1500, 1500, [])
    assert json.loads(right("plan", "noop", "--json"))["resources"] is None


@pytest.mark.usefixtures("driver")
def test_a_file_of_a_scenario_lies_beside_that_of_the_experiment():
    folder = Path("there")
    folder.mkdir()
    (folder / "shop.yaml").write_text("transactions: [{name: a, steps: [{get: /}]}]\n")
    (folder / "web.yaml").write_text(json.dumps(fields("shop.yaml")))
    right("plan", "there/web.yaml")
    right("plan", "http", "--on", "http://127.0.0.1", "--param", "scenario=there/shop.yaml")


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["http"], "needs an address"),
        (["http", "--on", "http://127.0.0.1", "--param", "scenario=nowhere.yaml"], "nowhere.yaml"),
        (["http", "--on", "http://127.0.0.1", "--set", "x=1"], "no setting 'x'"),
        (["http", "--target", "sqlite"], "cannot run on sqlite"),
        (["oltp", "--on", "http://127.0.0.1"], "cannot run on http"),
    ],
)
def test_what_is_wrong_on_the_command_line(words: list[str], said: str):
    assert said in wrong("plan", *words)


def test_an_option_of_no_think_time_is_refused_where_it_would_leave_them():
    think = {"distribution": "constant", "mean_s": 1}
    waiting, hasty = experiment(scenario(think_time=think)), experiment()
    path = ("profile", "think_time")
    assert "0s" in idle_fields(waiting)[path]
    assert path not in idle_fields(hasty)


def test_a_profile_of_its_own_think_time_is_not_idle():
    waiting = scenario(think_time={"distribution": "constant", "mean_s": 1})
    path = ("profile", "think_time")
    assert path not in idle_fields(experiment(waiting, profile={"think_time": "specified"}))
    opened = {"load": "open", "rate_per_s": 1}
    assert path not in idle_fields(experiment(waiting, profile=opened))
    assert workload(waiting).idle(ProfileSpec(think_time="1s")) == {}


@pytest.mark.usefixtures("driver")
def test_a_plan_reads_its_scenario_and_counts_its_load_once(monkeypatch: pytest.MonkeyPatch):
    read, counted = [], []
    parse, count = reading.YAML, loads.resources_of
    monkeypatch.setattr(reading, "YAML", lambda **given: read.append(1) or parse(**given))
    monkeypatch.setattr(loads, "resources_of", lambda *given: counted.append(1) or count(*given))
    reading.kept_scenario.cache_clear()
    Path("shop.yaml").write_text("transactions: [{name: a, steps: [{get: /}]}]\n")
    Path("web.yaml").write_text(json.dumps(fields("shop.yaml")))
    right("plan", "web.yaml")
    assert len(counted) == 1
    assert len(read) == 2 * 2  # nodes and data, of the file and of the text that is kept


@pytest.mark.parametrize("field", ["ca", "reset", "reset_timeout_s", "sources"])
def test_fields_that_a_target_does_not_have(field: str):
    value = {"reset_timeout_s": 5, "sources": ["192.0.2.7"]}.get(field, "x")
    target = {"engine": "sqlite", field: value}
    given = {"version": 1, "name": "x", "workload": {"name": "oltp"}, "target": target}
    (problem,) = check_experiment(Experiment.model_validate(given))
    assert problem.path == ("target", field)
    assert problem.message == f"target sqlite has no {field}: leave it out"


def test_a_people_file_that_is_not_there(driver: Driver):
    found = check_experiment(experiment(scenario(people="/nowhere.csv")))
    assert any("/nowhere.csv" in each.message for each in found)
    assert driver.asked == []
