"""One line item changed by hand: does the check of the answers see it?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lengths import LONG
from stepped import shared_cache

from loadstone.experiments.conduct import RunOptions, conduct
from loadstone.experiments.observer import Observer
from loadstone.spec.model import Experiment
from loadstone.targets.database import Database
from loadstone.workloads.dss.workload import DecisionSupport

CHANGE = (
    "UPDATE lineitem SET l_extendedprice = l_extendedprice + 1 "
    "WHERE l_orderkey = 1 AND l_linenumber = 1"
)


@pytest.mark.parametrize(
    "scale",
    [pytest.param(0.01, id="other trials"), pytest.param(1.0, id="published", marks=LONG)],
)
def test_a_row_changed_by_hand_is_caught(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    scale: float,
) -> None:
    prepared: list[Database] = []

    def prepare(_self: DecisionSupport, target: Database) -> None:
        prepared.append(target)
        if len(prepared) == 2:
            target.execute(CHANGE)

    monkeypatch.setattr(DecisionSupport, "prepare", prepare)
    monkeypatch.setenv("LOADSTONE_CACHE", str(shared_cache(tmp_path_factory)))
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    experiment = Experiment.model_validate(
        {
            "name": "wrong-row",
            "workload": {"name": "dss", "parameters": {"scale": scale, "streams": 0}},
            "target": {"engine": "duckdb"},
            "repeats": 2,
            "disturbance": 1000,
        }
    )
    folder = conduct(experiment, RunOptions(tmp_path, "pytest"), Observer())
    right, wrong = (
        json.loads((folder / trial / "result.json").read_text())
        for trial in ("b01-1-baseline", "b02-1-baseline")
    )
    assert right["status"] == "valid"
    assert wrong["status"] == "invalid"
    failed = {check["name"]: check["detail"] for check in wrong["checks"] if not check["passed"]}
    assert "answers equal those of other trials" in failed
    assert "q01 (validation) row" in failed["answers equal those of other trials"]
    if scale == 1.0:
        assert "q01 row" in failed["answers are the published ones"]
