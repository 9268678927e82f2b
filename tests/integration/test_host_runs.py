"""A ladder with host settings on this machine: what it records, what it says, what it repeats."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from alone import ON_THE_HOST, host_to_itself
from command_line import loadstone
from listing import host_settings

from loadstone.cli.main import run_command
from loadstone.errors import ExitCode
from loadstone.host.registry import host_setting

pytestmark = [ON_THE_HOST, pytest.mark.skipif(os.geteuid() != 0, reason="needs root")]

FILE = """\
version: 1
name: host
workload: {name: noop, parameters: {service_time_us: 100}}
target: {engine: none}
profile: {users: 1, warm_up: 0s, measure: 1s}
host: {vm.swappiness: 55}
extra_trials: 0
design:
  kind: ladder
  rungs:
    - {name: write-back, change: {host.vm.dirty_expire_centisecs: 1000}}
    - {name: disk, change: {host.queue.nosuchdisk.scheduler: none}}
    - {name: pin, change: {host.generator.cpus: "0"}}
"""


class Climbed(NamedTuple):
    """The ladder of the file, climbed once for all tests."""

    results: Path
    code: int
    out: str
    err: str
    left_as_it_was: bool


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where a user works, on a machine on which the ladder can be climbed."""
    for name in ("vm.swappiness", "vm.dirty_expire_centisecs"):
        reason = host_setting(name).unavailable()
        if reason:
            pytest.skip(f"host.{name} is {reason}")
    made = tmp_path_factory.mktemp("host")
    (made / "host.yaml").write_text(FILE)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        yield made


@pytest.fixture(scope="module")
def climbed(folder: Path) -> Climbed:
    with host_to_itself():
        before = dict(host_settings())
        done = loadstone("ladder", "host.yaml", "--json")
        as_it_was = dict(host_settings()) == before
    return Climbed(folder / "results", *done, as_it_was)


def trials(folder: Path) -> dict[str, dict[str, Any]]:
    """Variant: its result."""
    found = [json.loads(path.read_text()) for path in folder.glob("*/result.json")]
    return {result["variant"]: result for result in found}


def test_a_ladder_records_what_it_set_and_says_what_it_skipped(climbed: Climbed):
    assert climbed.code == 0, climbed.err
    assert climbed.left_as_it_was
    assert 'rung "disk" was skipped' in climbed.err
    document = json.loads(climbed.out)

    made = trials(climbed.results / "host")
    assert set(made) == {"baseline", "write-back", "pin"}
    readings = {reading["factor"]: reading for reading in made["pin"]["factors"]}
    assert readings["host.vm.swappiness"]["read_back"] == "55"
    assert readings["host.vm.dirty_expire_centisecs"]["read_back"] == "1000"
    assert readings["host.generator.cpus"]["read_back"] == "0"
    assert [each["factor"] for each in made["baseline"]["factors"]] == ["host.vm.swappiness"]

    assert [rung["name"] for rung in document["skipped"]] == ["disk"]
    codes = [notice["code"] for notice in document["notices"]]
    assert codes.count("rung-skipped") == 1
    assert "more-than-the-factor-differs" not in codes
    steps = {variant["name"]: variant["step"] for variant in document["variants"]}
    expire = steps["write-back"][0]
    assert expire["before"] == readings["host.vm.dirty_expire_centisecs"]["before"]
    assert "nosuchdisk is missing" in (climbed.results / "host/report.html").read_text()
    assert json.loads((climbed.results / "host/design.json").read_text())["skipped"]


def test_a_trial_is_made_again_under_its_host_settings(
    climbed: Climbed, capsys: pytest.CaptureFixture[str]
):
    (plan,) = (climbed.results / "host").glob("*-pin/plan.json")
    with host_to_itself():
        before = dict(host_settings())
        assert run_command(["run", str(plan), "--quiet"]) == 0
        assert dict(host_settings()) == before
    capsys.readouterr()
    (again,) = trials(climbed.results / "host-again").values()
    assert {each["factor"]: each["read_back"] for each in again["factors"]} == {
        "host.vm.swappiness": "55",
        "host.vm.dirty_expire_centisecs": "1000",
        "host.generator.cpus": "0",
    }


def test_a_level_that_the_kernel_rounds_fails_its_trials_and_leaves_the_host_as_it_was(
    folder: Path, capsys: pytest.CaptureFixture[str]
):
    reason = host_setting("queue.read_ahead_kb").unavailable()
    if reason:
        pytest.skip(f"host.queue.read_ahead_kb is {reason}")
    with host_to_itself():
        before = dict(host_settings())
        words = ["run", "noop", "--host", "queue.read_ahead_kb=13", "--measure", "1s"]
        assert run_command([*words, "--quiet"]) == ExitCode.TARGET
        assert dict(host_settings()) == before
    (failed,) = trials(folder / "results" / "noop-run").values()
    assert "was set to '13', but reads back '12'" in failed["notices"][0]["message"]
    capsys.readouterr()
