"""Host settings as factors: where they go, what is skipped, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from loadstone.errors import ExitCode, RefusedError
from loadstone.experiments.designs import design_of, stages_of, trials_of
from loadstone.experiments.file import parse_experiment
from loadstone.experiments.preflight.check import check_experiment
from loadstone.experiments.preflight.refusals import (
    refuse_impossible,
    refuse_unavailable,
    refuse_unsafe,
)
from loadstone.factors.base import NEEDS_NOTHING
from loadstone.factors.host import NEEDS_HOST, NEEDS_RESTART
from loadstone.factors.in_force import in_force, unsafe_in
from loadstone.factors.registry import apply_changes, base_parts, examine
from loadstone.results.folder import ExperimentFolder
from loadstone.spec.model import Experiment
from loadstone.spec.plans import Change

ABSENT = "host.queue.nosuchdisk.scheduler"
"""A disk that no machine has."""


def noop(**fields: Any) -> Experiment:
    return Experiment.model_validate(
        {"version": 1, "name": "x", "workload": {"name": "noop"}, "target": {"engine": "none"}}
        | fields
    )


def ladder(*rungs: tuple[str, dict[str, Any]], **fields: Any) -> Experiment:
    written = [{"name": name, "change": change} for name, change in rungs]
    return noop(design={"kind": "ladder", "rungs": written}, **fields)


# -- where they go -----------------------------------------------------------------------------


def test_a_setting_of_the_host_goes_to_the_host():
    parts = apply_changes(noop(), [Change(factor="host.vm.swappiness", level=10)])
    assert parts.host == {"vm.swappiness": 10}


def test_start_options_go_to_the_part_that_starts_the_process():
    given = noop(
        target={"engine": "postgresql"},
        host={"server.cpus": "0", "server.nofile": 4096, "generator.cpus": 0, "vm.swappiness": 5},
    )
    parts = base_parts(given)
    assert (parts.target.process.cpus, parts.target.process.nofile) == ("0", 4096)
    assert parts.profile.cpus == "0"
    assert parts.host == {"vm.swappiness": 5}
    assert {change.factor for change in in_force(parts)} == {
        "host.server.cpus",
        "host.server.nofile",
        "host.generator.cpus",
        "host.vm.swappiness",
    }


def test_the_later_of_two_that_exclude_each_other_takes_its_place():
    changes = [
        Change(factor="host.vm.dirty_ratio", level=40),
        Change(factor="host.vm.dirty_bytes", level="256MB"),
    ]
    assert apply_changes(noop(), changes).host == {"vm.dirty_bytes": "256MB"}


@pytest.mark.parametrize(
    ("factor", "level", "needs"),
    [
        ("host.vm.swappiness", 10, NEEDS_HOST),
        ("host.server.cpus", "0", NEEDS_RESTART),
        ("host.server.nofile", 1024, NEEDS_RESTART),
        ("host.generator.cpus", "0", NEEDS_NOTHING),
    ],
)
def test_what_a_setting_needs(factor: str, level: Any, needs: str):
    given = noop(target={"engine": "postgresql"})
    assert examine(given, Change(factor=factor, level=level)).needs == needs


# -- what is refused ---------------------------------------------------------------------------


def test_a_server_option_without_a_server_is_refused():
    given = noop(host={"server.cpus": "0"})
    with pytest.raises(RefusedError, match="target none has no server"):
        refuse_impossible(given, [])


def test_settings_of_this_host_are_none_of_a_server_elsewhere():
    given = noop(
        target={"engine": "postgresql", "server": "postgresql://db1.example/x"},
        host={"vm.swappiness": 1},
    )
    info = examine(given, Change(factor="host.vm.swappiness", level=1))
    assert info.unavailable == "absent: the server runs on db1.example, and this machine is another"


def test_a_cache_that_is_not_flushed_is_unsafe():
    change = {"host.queue.nosuchdisk.write_cache": "write through"}
    given = ladder(("cache", change))
    parts = apply_changes(
        given, [Change(factor=name, level=level) for name, level in change.items()]
    )
    assert unsafe_in(parts) == ["host.queue.nosuchdisk.write_cache=write through"]
    variants = design_of(noop()).variants(noop())
    with pytest.raises(RefusedError, match="write through"):
        refuse_unsafe(
            noop(host={"queue.nosuchdisk.write_cache": "write through"}), variants, allowed=False
        )


@pytest.mark.parametrize(
    "fields",
    [
        {"host": {ABSENT.removeprefix("host."): "none"}},
        {"design": {"kind": "compare", "factor": ABSENT, "levels": ["none", "bfq"]}},
        {"design": {"kind": "sweep", "factors": {ABSENT: ["none"], "profile.users": [1, 2]}}},
        {
            "design": {
                "kind": "ladder",
                "rungs": [{"name": "a", "change": {ABSENT: "none"}}],
            }
        },
    ],
)
def test_what_this_machine_lacks_is_refused_where_nothing_is_left_without_it(
    fields: dict[str, Any],
):
    given = noop(**fields)
    assert check_experiment(given) == []
    design = design_of(given)
    with pytest.raises(RefusedError, match=r"/sys/class/block/nosuchdisk is missing") as caught:
        refuse_unavailable(given, design.variants(given), design.skipped(given))
    assert caught.value.exit_code == ExitCode.REFUSED


# -- what is skipped ---------------------------------------------------------------------------


@pytest.mark.parametrize("keep", ["all", "better"])
def test_a_rung_that_cannot_be_climbed_is_skipped_and_the_rest_builds_on_the_others(keep: str):
    given = ladder(
        ("users", {"profile.users": 2}),
        ("disk", {ABSENT: "none"}),
        ("threads", {"profile.threads": 2}),
    )
    design = given.design.model_copy(update={"keep": keep})
    given = given.model_copy(update={"design": design})
    assert check_experiment(given) == []
    variants = design_of(given).variants(given)
    assert [variant.name for variant in variants] == ["baseline", "users", "threads"]
    assert variants[2].previous == "users"
    assert {change.factor for change in variants[2].changes} == {
        "profile.users",
        "profile.threads",
    }
    stages = stages_of(given)
    (skipped,) = stages.skipped
    assert (skipped.name, skipped.change) == ("disk", {ABSENT: "none"})
    assert skipped.reason.startswith(f"{ABSENT} is absent: ")
    assert skipped.notice().severity == "warning"
    assert trials_of(given) == (3 if keep == "all" else 6)
    refuse_unavailable(given, variants, stages.skipped)


def test_a_rung_is_looked_at_on_top_of_those_before_it():
    given = noop(
        target={"engine": "postgresql"},
        design={
            "kind": "ladder",
            "rungs": [
                {"name": "memory", "change": {"storage.data": "tmpfs"}},
                {"name": "queue", "change": {"host.queue.nomerges": 1}},
            ],
        },
    )
    if examine(given, Change(factor="storage.data", level="tmpfs")).unavailable:
        pytest.skip("tmpfs cannot be mounted here")
    (skipped,) = design_of(given).skipped(given)
    assert skipped.name == "queue"
    assert "the data lie in memory (tmpfs)" in skipped.reason


def test_what_was_skipped_is_in_the_design_of_the_result(tmp_path: Path):
    given = ladder(("users", {"profile.users": 2}), ("disk", {ABSENT: "none"}))
    stages = stages_of(given)
    folder = ExperimentFolder.create(tmp_path, "x")
    folder.write_design(stages.variants, [], "loadstone", None, stages.skipped)
    assert f'"{ABSENT}"' in (folder.path / "design.json").read_text()


# -- the file ----------------------------------------------------------------------------------

FILE = """\
version: 1
name: x
workload: {name: noop}
target: {engine: none}
host:
  vm.swappiness: 300
  vm.dirty_ratio: 30
  vm.dirty_bytes: 1MB
  speed: fast
"""


def test_problems_of_the_host_have_their_lines():
    written = parse_experiment(FILE, "x.yaml")
    problems = check_experiment(written.experiment)
    origins = sorted(written.source.origin(problem.path) for problem in problems)
    assert origins == ["x.yaml:6", "x.yaml:8", "x.yaml:9"]
    assert any("from 0 to 200; given 300" in problem.message for problem in problems)
    assert any("exclude each other" in problem.message for problem in problems)
    assert any("no host setting 'speed'" in problem.message for problem in problems)


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"profile": {"cpus": "x"}}, ("profile", "cpus")),
        (
            {"target": {"engine": "postgresql", "process": {"cpus": "9999"}}},
            ("target", "process", "cpus"),
        ),
        (
            {
                "design": {
                    "kind": "ladder",
                    "rungs": [
                        {
                            "name": "a",
                            "change": {"host.vm.dirty_ratio": 30, "host.vm.dirty_bytes": "1MB"},
                            "several": True,
                        }
                    ],
                }
            },
            ("design", "rungs", 0, "change"),
        ),
        (
            {"host": {"cpu.online": "0", "generator.cpus": "0"}, "profile": {"cpus": "x"}},
            ("profile", "cpus"),
        ),
    ],
)
def test_other_places_are_checked_too(fields: dict[str, Any], path: tuple[str | int, ...]):
    assert path in [problem.path for problem in check_experiment(noop(**fields))]
