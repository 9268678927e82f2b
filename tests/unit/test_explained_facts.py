"""Facts of a target that follow from a setting that is varied: they are no second variable."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from loadstone.report.differences import differences
from loadstone.spec.base import Level
from loadstone.spec.plans import Change, Variant
from loadstone.targets.registry import target_class

DISK = {"kind": "local", "shared": False, "devices": {"n1": "/dev/loop1"}}
FOLDER = {"kind": "shared", "shared": True}


def trial(**facts: Any) -> Any:
    plan = {"target": {"engine": "slurm", "settings": {}}}
    return SimpleNamespace(
        path=Path("b01"),
        plan=SimpleNamespace(model_dump=lambda **_: plan),
        inventory={"target": facts},
        result=SimpleNamespace(fingerprint=None),
        workload=None,
    )


def variants(factor: str, *levels: Level) -> tuple[Variant, Variant]:
    first, second = (
        Variant(name=str(level), changes=[Change(factor=factor, level=level)], step=[])
        for level in levels
    )
    return first, second


def test_where_working_folders_are_decides_what_disks_there_are() -> None:
    one, other = [trial(storage=DISK)], [trial(storage=FOLDER)]
    assert differences(one, other, variants("target.scratch", "local", "shared")) == []
    found = differences(one, other, variants("target.link_mbit", 10, 100))
    assert [line.partition(":")[0] for line in found] == [
        "target.storage.devices.n1",
        "target.storage.kind",
        "target.storage.shared",
    ]


@pytest.mark.parametrize("factor", ["target.scratch", "target.nodes", "target.slots"])
def test_what_a_factor_does_not_explain_is_told_all_the_same(factor: str) -> None:
    one, other = [trial(scheduler="22.05", shares={"n1": 1.7})], [trial(scheduler="23.11")]
    found = differences(one, other, variants(factor, 1, 2))
    assert found == [
        "target.scheduler: 22.05 against 23.11",
        "target.shares.n1: 1.7 against absent",
    ]


@pytest.mark.parametrize("engine", ["slurm", "gridengine", "local"])
def test_facts_are_explained_by_settings_that_there_are(engine: str) -> None:
    kind: Any = target_class(engine)
    assert kind.explained_facts.keys() <= kind.declared.keys()


def test_a_library_that_only_one_kind_of_work_needs_is_no_second_variable() -> None:
    one, other = trial(), trial()
    one.inventory["host"] = {"versions": {"flow": "2022.10"}}
    other.inventory["host"] = {"versions": {"flow": "2023.04", "numba": "0.68"}}
    told = ["host.versions.flow: 2022.10 against 2023.04"]
    assert differences([one], [other], variants("workload.mix", "flow=1", "flow=1,pstm=1")) == told
    found = differences([one], [other], variants("target.slots", 1, 2))
    assert found == [*told, "host.versions.numba: absent against 0.68"]
