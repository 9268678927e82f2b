"""Jobs held against a reference that is named: a sweep and a search, on plain processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import loadstone
from lengths import LONG

from loadstone.errors import ExitCode

PARAMETERS = {"application": "command", "command": "sleep 0.1", "jobs": 1, "poll": "100ms"}
TERM = "throughput >= 0.01 of reference"
SWEEP = {
    "version": 1,
    "name": "relative",
    "workload": {"name": "jobs", "parameters": PARAMETERS},
    "target": {"engine": "local"},
    "design": {
        "kind": "sweep",
        "factors": {"workload.inputs": ["separate", "shared"]},
        "relative_to": {"command": {"workload.inputs": "shared"}},
    },
}


pytestmark = pytest.mark.usefixtures("own_places", "own_cache")


def document(*words: str) -> dict[str, Any]:
    """The report of an experiment that ran to its end, valid or not."""
    done = loadstone(*words, "--json", "--quiet")
    assert done.returncode in {ExitCode.OK, ExitCode.INVALID_TRIAL}, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_sweep_holds_each_cell_against_the_one_that_its_file_names(tmp_path: Path) -> None:
    (tmp_path / "relative.yaml").write_text(json.dumps(SWEEP))
    found = document("run", "relative.yaml")
    assert found["judged"] == ["throughput_per_job_command"]
    valid = {trial["result"]["variant"] for trial in found["trials"] if _is_valid(trial)}
    if len(valid) < 2:
        pytest.skip("the machine is so busy that a trial does not count")
    (row,) = found["jobs"]["table"]["rows"]
    separate, shared = row["cells"]
    assert (shared["value"], shared["reference"]) == (1.0, "inputs=shared")
    assert separate["reference"] == "inputs=shared"
    assert separate["value"] > 0
    assert separate["low"] is None, "one block tells nothing of its scatter"
    (gantt,) = {len(trial["gantt"]["bars"]) for trial in found["trials"]}
    assert gantt == 1


def _is_valid(trial: dict[str, Any]) -> bool:
    return bool(trial["result"]["status"] == "valid")


@LONG
def test_a_search_measures_its_first_level_again_before_each_stage() -> None:
    given = [word for name, value in PARAMETERS.items() for word in ("--param", f"{name}={value}")]
    options = ["--objective", TERM, "--at-most", "2", "--confirm", "1"]
    found = document("search", "jobs", *given, *options)
    levels = found["search"]["levels"]
    assert [each["level"] for each in levels[:3]] == [1, 2, 1]
    assert found["search"]["unit"] == "jobs"
    held = {(each["level"], worst["term"]) for each in levels for worst in each["worst"]}
    assert (1, TERM) not in held
    if all(each["holds"] for each in levels):
        assert (2, TERM) in held
