"""The workload `http`: what its load is told, and what its files and options mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sample_web import PAGE, connection, fields, of_steps, scenario, workload

from loadstone.cli.draft import Draft, lay_over
from loadstone.cli.init import experiment_template
from loadstone.cli.options import ShortForm
from loadstone.errors import WrongInputError
from loadstone.experiments.file import parse_experiment, write_experiment
from loadstone.load.profiles import pacing_of, run_plan
from loadstone.spec.profile import ProfileSpec
from loadstone.targets.connection import Reach

STEPS = {"steps": [{"get": "/"}]}
NONE = {"distribution": "none"}
THINK = {"distribution": "constant", "mean_s": 2.0}
UNIFORM = {"distribution": "uniform", "from_s": 1.0, "to_s": 3.0}


# -- what the load is told ---------------------------------------------------------------------


def test_the_plan_has_the_scenario_and_no_secret(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("APP_PASSWORD", "s3cret-word")
    secrets = {"password": "env:APP_PASSWORD", "other": "env:APP_PASSWORD"}
    web = workload(of_steps({"post": "/", "form": {"password": "${password}"}}, secrets=secrets))
    reached = web.connected(connection())
    plan = run_plan(ProfileSpec(), web.known_plan(), web.pacing(), reached, 1)
    told = plan["workload"]["parameters"]["scenario"]
    assert told["secrets"] == {"password": "LOADSTONE_SECRET_0", "other": "LOADSTONE_SECRET_1"}
    assert reached.secrets == dict.fromkeys(told["secrets"].values(), "s3cret-word")
    assert "s3cret-word" not in str(plan)
    assert "s3cret-word" not in repr(reached)
    assert plan["connection"] == {
        "protocol": "http",
        "url": "http://127.0.0.1:8080",
        "connect_timeout_s": 10.0,
    }


def test_the_connection_names_certificates_and_sources(tmp_path: Path):
    reached = connection(ca=str(tmp_path / "ca.pem"), sources=["127.0.0.2"])
    assert reached.plan()["ca"] == str(tmp_path / "ca.pem")
    assert reached.plan()["sources"] == ["127.0.0.2"]


def test_a_secret_that_is_not_there(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("APP_PASSWORD", raising=False)
    web = workload(scenario(secrets={"password": "env:APP_PASSWORD"}))
    with pytest.raises(WrongInputError, match="password"):
        web.variables()


def test_a_user_has_files_for_all_its_connections():
    side_by_side = {"parallel": [{"get": "/a"}, {"get": "/b"}, {"get": "http://a/c"}]}
    given = of_steps(side_by_side, connections=4, hosts=["a"])
    assert workload(given).connected(connection()).files == 3
    assert workload(scenario()).connected(connection()).files == 1


def test_what_a_load_wants_of_the_machine():
    profile = ProfileSpec(users=5, threads=2)
    wanted = workload(scenario(think_time=THINK)).resources(profile, connection())
    assert (wanted.sessions, wanted.profile.threads) == (5, 2)
    assert wanted.profile.think_time == "specified"
    assert list(wanted.connection.reaches) == [Reach("127.0.0.1", 8080)]
    assert wanted.program.shares
    opened = ProfileSpec(load="open", rate_per_s=5, sessions=7)
    assert workload(scenario()).resources(opened, connection()).sessions == 7


def test_think_times_are_those_of_the_scenario_unless_the_profile_has_one():
    transactions = [PAGE, {**PAGE, "name": "slow", "think_time": UNIFORM}]
    web = workload({"transactions": transactions, "think_time": THINK, "log_in": STEPS})

    def waits(**profile: Any) -> dict[str, Any]:
        loaded = web.loaded(ProfileSpec(**profile))
        return pacing_of(loaded, web.pacing())

    own = {
        name: each["think"]
        for name, each in waits()["operations"].items()
        if name in web.scenario.names
    }
    assert own == {"page": THINK, "slow": UNIFORM}
    assert waits(think_time="specified") == waits()
    assert waits(think_time="5s")["default"]["think"]["mean_s"] == 5.0
    assert waits(think_time="0s") == {"default": {"keying_s": 0.0, "think": NONE}}
    assert "operations" not in waits(load="open", rate_per_s=5)


def test_the_load_in_words():
    assert "think times of the scenario" in workload(scenario(think_time=THINK)).arrival(
        ProfileSpec()
    )
    assert "think" not in workload(scenario()).arrival(ProfileSpec())


def test_people_lie_beside_their_scenario(tmp_path: Path):
    (tmp_path / "people.csv").write_text("name\nada\n")
    path = tmp_path / "shop.yaml"
    path.write_text("people: people.csv\ntransactions: [{name: a, steps: [{get: '/${name}'}]}]\n")
    web = workload(str(path))
    told = web.known_plan()["parameters"]["scenario"]
    assert told["people"] == {"path": str(tmp_path / "people.csv")}
    people = web.people()
    assert people is not None
    assert people.columns == ("name",)


def test_users_log_in_as_their_load_begins():
    assert not workload(scenario()).program(connection()).logs_in


# -- files of an experiment --------------------------------------------------------------------


def test_a_scenario_is_kept_with_the_experiment(tmp_path: Path):
    path = tmp_path / "shop.yaml"
    path.write_text("# mine\ntransactions: [{name: a, steps: [{get: /}]}]\n")
    draft = Draft(fields(str(path)))
    kept = draft.finish().experiment.workload.parameters["scenario"]
    assert kept == path.read_text()
    path.unlink()
    assert workload(str(kept)).scenario.names == ("a",)
    assert workload(str(kept)).files() == {}


def test_a_kept_scenario_is_written_as_it_is_read(tmp_path: Path):
    path = tmp_path / "shop.yaml"
    path.write_text("# mine \ntransactions:\n  - {name: ä, steps: [{get: /}]}\n\n\n# \tend\n")
    experiment = Draft(fields(str(path))).finish().experiment
    text = write_experiment(experiment)
    assert "    scenario: |\n      # mine \n      transactions:\n" in text
    assert parse_experiment(text, "x").experiment == experiment


def test_a_scenario_is_no_level(tmp_path: Path):
    path = tmp_path / "shop.yaml"
    path.write_text("transactions: [{name: a, steps: [{get: /}]}]\n")
    with pytest.raises(WrongInputError, match="no level of a factor"):
        workload(str(path)).examine_file("scenario")


@pytest.mark.parametrize("address", ["http://a", "https://a"])
def test_a_web_application_is_given_by_its_address(address: str):
    draft = Draft(fields())
    lay_over(draft, ShortForm(on=address))
    assert draft.data["target"] == {"engine": "http", "server": address}
    other = Draft(fields())
    lay_over(other, ShortForm(server=address))
    assert other.data["target"] == {"engine": "http", "server": address}


def test_the_first_experiment_is_one_that_can_be_read():
    experiment = parse_experiment(experiment_template("http"), "x").experiment
    assert experiment.target.server == "http://127.0.0.1:8080"
