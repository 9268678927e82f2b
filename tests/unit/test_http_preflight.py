"""What is found before anything begins: a load too large for this machine, a plan refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import right, wrong
from sample_web import experiment, fields, of_steps, scenario

from loadstone.errors import DriverError
from loadstone.experiments.preflight import web
from loadstone.experiments.preflight.check import check_experiment
from loadstone.experiments.preflight.idle import idle_fields
from loadstone.experiments.preflight.web import most_resources, web_problems
from loadstone.load.plan_check import path_of
from loadstone.load.resources import Machine
from loadstone.protocol.frames import PROTOCOL_VERSION

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

    def present(_host: object = None) -> Machine:
        return Machine(200, 20_000, 1, lambda _host, _port: ())

    monkeypatch.setattr(web.Machine, "present", present)


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
    assert web_problems(experiment(design=design)) == []
    assert len(driver.asked) == 1
    levels = ["http://127.0.0.1:8080", "http://127.0.0.1:8081"]
    compared = {"kind": "compare", "factor": "target.url", "levels": levels}
    assert web_problems(experiment(design=compared)) == []
    assert [each["plan"]["connection"]["url"] for each in driver.asked[1:]] == levels


def test_a_driver_that_gives_no_answer_is_broken(driver: Driver):
    driver.says("it fell over", 101)
    with pytest.raises(DriverError, match="ended with 101: it fell over"):
        web_problems(experiment())


def test_without_a_driver_there_is_no_opinion(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LOADSTONE_DRIVER", "/nowhere/driver")
    assert web_problems(experiment()) == []


def test_other_workloads_are_none_of_its_business(driver: Driver):
    noop = experiment()
    noop = noop.model_copy(
        update={"workload": noop.workload.model_copy(update={"name": "noop", "parameters": {}})}
    )
    assert web_problems(noop) == []
    assert most_resources(noop) is None
    assert driver.asked == []


@pytest.mark.usefixtures("small")
def test_too_few_ports_are_found(driver: Driver):
    far = {"url": "http://192.0.2.1"}
    assert web_problems(experiment(None, far, profile={"users": 200})) == []
    (problem,) = web_problems(experiment(None, far, profile={"users": 201}))
    assert problem.path == ("profile",)
    assert "need 201 connections to 192.0.2.1, and 200 are possible" in problem.message
    assert len(driver.asked) == 1


@pytest.mark.usefixtures("small", "driver")
def test_the_configuration_with_most_connections_is_told():
    design = {"kind": "sweep", "factors": {"profile.users": [10, 150, 20]}}
    found = most_resources(experiment(design=design))
    assert found is not None
    assert (found.users, found.connections, found.ports) == (150, 150, 200)


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


def test_a_people_file_that_is_not_there(driver: Driver):
    found = check_experiment(experiment(scenario(people="/nowhere.csv")))
    assert any("/nowhere.csv" in each.message for each in found)
    assert driver.asked == []
