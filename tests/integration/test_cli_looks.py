"""A comparison that may stop at looks, with the real driver and the workload without a server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import loadstone

from loadstone.errors import ExitCode
from loadstone.load import health


@pytest.mark.long
def test_a_planted_change_under_open_load_ends_it_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    options = (
        "--factor service_time_us --levels 100000,300000 --looks 4,6,8 --rate 40 --measure 500ms "
        "--warm-up 20ms"
    )
    code, file, err = loadstone(
        "plan", "noop", *options.split(), "--metric", "noop p50", "--as-file"
    )
    assert code == ExitCode.OK, err
    # Other programs of this machine are no business of this test, though they make the driver late.
    monkeypatch.setattr(health, "LAG_ERROR_S", 10.0)
    Path("x.yaml").write_text(f"{file}disturbance: 1000\n")
    code, out, err = loadstone("compare", "x.yaml", "--json", "--quiet")
    assert code == ExitCode.OK, err
    document = json.loads(out)
    assert document["status"] == "complete"
    assert len(document["trials"]) < 16
    (comparison,) = document["comparisons"]
    assert (comparison["verdict"], comparison["look"]["early"]) == ("worse", True)
    assert comparison["n_candidate"] == len(document["trials"]) // 2
    assert "decided-early" in [notice["code"] for notice in document["notices"]]
    _, text, _ = loadstone("show", "noop-compare")
    assert f"{comparison['look']['after']} of 8 blocks" in text
