"""The benchmark of the verdicts goes on where it stood, and its peer is the test that it says."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats


def benchmark(name: str) -> Any:
    return importlib.import_module(f"benchmarks.{name}")


@pytest.mark.parametrize("blocks", [3, 5])
def test_the_peer_deals_labels_over_all_trials(blocks: int) -> None:
    logs = np.random.default_rng(blocks).normal(size=(4, blocks, 2))
    mine = benchmark("verdict_peers").free_dealing_p(logs)
    for own, p in zip(logs, mine, strict=True):
        theirs = stats.permutation_test(
            (own[:, 1], own[:, 0]),
            lambda x, y, axis: np.mean(x, axis=axis) - np.mean(y, axis=axis),
            vectorized=True,
            n_resamples=np.inf,
        )
        assert p == pytest.approx(theirs.pvalue, abs=1e-12)


def test_real_trials_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trials = benchmark("verdict_trials")
    made: list[tuple[str, float, int]] = []

    def trial(load: str, service_time_us: float, seed: int) -> dict[str, float]:
        made.append((load, service_time_us, seed))
        return {"mean_response_s": service_time_us, "operations_per_s": 1.0 / service_time_us}

    monkeypatch.setattr(trials, "_trial", trial)
    records = tmp_path / "trials.jsonl"

    def run(seeds: range) -> Any:
        return trials.make(trials.wanted(["open"], [0.0, 5.0], seeds), 4, records)

    assert len(run(range(1))) == 2
    assert len(made) == 16
    per_block = {made[at : at + 2][0][2] == made[at : at + 2][1][2] for at in range(0, 16, 2)}
    assert per_block == {True}, "both trials of a block have its seed"
    assert len({seed for _, _, seed in made}) == 4
    records.write_text(records.read_text()[:-20])
    again = run(range(1))
    assert [each.slower_percent for each in again] == [0.0, 5.0]
    assert len(made) == 24, "the experiment whose line was cut off, and no other"
    assert again[1].pairs[0] == (2000.0, pytest.approx(2100.0))


def test_cells_are_made_once(tmp_path: Path) -> None:
    tables = benchmark("verdict_tables")
    seeds: list[int] = []

    def make(runs: int, seed: int) -> list[float]:
        assert runs == tables.BATCH
        seeds.append(seed)
        return [float(len(seeds))]

    records = tmp_path / "cells.jsonl"
    assert tables.Cells(2, records).of("a", make) == [1.5]
    assert tables.Cells(3, records).of("a", make) == [2.0]
    assert len(set(seeds)) == 3


def test_it_can_be_started() -> None:
    options = benchmark("verdicts").options_of(["driver", "--seeds", "20:400"])
    assert options.seeds == range(20, 400)
