"""Parameters of jobs: by application, in short, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from loadstone.spec.profile import ProfileSpec
from loadstone.workloads.jobs.inputs import provide, staged
from loadstone.workloads.jobs.parameters import JobsParameters
from loadstone.workloads.jobs.workload import Jobs


def parameters(**given: Any) -> JobsParameters:
    return JobsParameters.model_validate({"application": "command", "command": "true", **given})


def test_a_mix_takes_the_place_of_application_and_jobs() -> None:
    own = parameters(mix="command=2,pattern=1", ranks="command:8,pattern:16", jobs=9)
    assert own.counts == {"command": 2, "pattern": 1}
    assert own.at_once == 3
    assert (own.ranks_of("command"), own.ranks_of("pattern")) == (8, 16)
    assert own.placement_of("command") == "compact"
    spread = parameters(placement="pattern:distributed", mix="command=1,pattern=1", nodes="4")
    assert spread.placement_of("command") == "compact"
    assert spread.placement_of("pattern") == "distributed"
    assert spread.nodes_of("pattern") == 4


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"application": "fluid"}, "there is no application 'fluid'"),
        ({"mix": "command=1,fluid=2"}, "there is no application 'fluid'"),
        ({"mix": "command=0"}, "no application has a weight above 0"),
        ({"ranks": 0}, "greater than or equal to 1"),
        ({"ranks": "command:0"}, "command: '0' is no whole number from 1 to 4096"),
        ({"ranks": "fluid:2"}, "'fluid' is none of the applications: flow, pstm"),
        ({"ranks": "command:2,command:3"}, "names command twice"),
        ({"ranks": "command:"}, "write one value, or APPLICATION:VALUE for each"),
        ({"placement": "scattered"}, "'scattered' is none of compact, distributed"),
        ({"deck": "a.DATA"}, "deck is a parameter of none of command"),
        ({"applications": {"fluid": {}}}, "there is no application 'fluid'"),
        ({"applications": {"pattern": 3}}, "write its parameters by name"),
        ({"application": "pattern", "command": None, "applications": {"pattern.size": 3}}, "size"),
    ],
)
def test_what_is_wrong_is_said(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        parameters(**given)


def test_parameters_of_an_application_are_written_in_two_ways() -> None:
    one = parameters(mix="pattern=1", command=None, applications={"pattern": {"steady": 1.0}})
    two = parameters(mix="pattern=1", command=None, applications={"pattern.steady": 1.0})
    assert one.made("pattern").parameters == two.made("pattern").parameters
    assert one.applications == two.applications


def test_paths_are_those_that_applications_have() -> None:
    given = {
        "deck": "a.DATA",
        "command": "./run a.DATA",
        "applications": {"command": {"input": "b", "output": "c"}, "flow.deck": "d", "x.y": "e"},
    }
    assert set(Jobs.paths(given)) == {
        ("deck",),
        ("applications", "command", "input"),
        ("applications", "flow.deck"),
    }
    assert list(Jobs.paths({"applications": "x", "deck": 3})) == []


def test_a_load_is_as_many_users_as_jobs_and_ends_with_them() -> None:
    workload = Jobs(parameters(jobs=3))
    closed = workload.loaded(ProfileSpec())
    assert (closed.users, closed.warm_up) == (3, 0.0)
    assert closed.measure > 86400
    assert workload.idle(ProfileSpec()) == {"measure": "jobs run to their end"}
    arriving = ProfileSpec.model_validate({"load": "open", "rate_per_s": 0.1, "measure": "5min"})
    assert workload.loaded(arriving).measure == 300
    assert workload.loaded(arriving).sessions == 3
    assert workload.idle(arriving) == {}
    assert workload.arrival(ProfileSpec()) == "3 command at once, to their end"


# -- input files -------------------------------------------------------------------------------
def test_input_is_made_once_and_staged_apart_or_shared(tmp_path: Path) -> None:
    application = parameters(mix="pattern=1", command=None, applications={"pattern.volume_mb": 0.1})
    made = application.made("pattern")
    first, second = provide(made, 7, tmp_path / "cache"), provide(made, 7, tmp_path / "cache")
    assert first == second
    assert first.sums != provide(made, 8, tmp_path / "cache").sums
    for how, word in (("separate", "copy"), ("shared", "link")):
        found = staged(first, tmp_path / how, "pattern", how)
        assert {each["how"] for each in found} == {word}
        for each, file in zip(found, first.files, strict=True):
            assert each["to"] == file.name
            assert Path(each["from"]).read_bytes() == file.path.read_bytes()


def test_a_file_of_the_user_that_has_changed_is_taken_anew(tmp_path: Path) -> None:
    given = tmp_path / "model.dat"
    given.write_text("one")
    made = parameters(applications={"command.input": str(given)}).made("command")
    before = provide(made, 7, tmp_path / "cache")
    given.write_text("two")
    after = provide(made, 7, tmp_path / "cache")
    assert before.sums.keys() == after.sums.keys() == {"model.dat"}
    assert before.sums != after.sums
    assert after.files[0].path == given
