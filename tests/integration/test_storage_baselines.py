"""Placements measured themselves before a real database on them: as any user, in plain folders."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from packages import needs
from session import Session

from loadstone.results.record import Status
from loadstone.results.trial_files import read_result

needs_fio = needs("fio")
SHORT = "database,file_size=4MB,passes=1,pass_length=200ms,pause=0s"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with Session(tmp_path) as opened:
        yield opened


@needs_fio
@pytest.mark.long
@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_baselines_and_database_come_in_turns(
    session: Session, open_folder: Path, engine: str
) -> None:
    places = []
    for name in "abc":
        (open_folder / name).mkdir()
        places.append(f"folder:{open_folder / name}")
    done = session.run(
        *("compare", "oltp", "--target", engine, "--param", "warehouses=1", "--users", "1"),
        *("--factor", "storage.data", "--levels", ",".join(places), "--baseline", SHORT),
        *("--warm-up", "0s", "--measure", "1s", "--repeats", "1", "--name", "both", "--json"),
    )
    document = json.loads(done.stdout)
    results = [read_result(path.parent) for path in session.results.glob("both/*/plan.json")]
    results.sort(key=lambda result: result.order)
    assert all(each.status in (Status.VALID, Status.DISTURBED) for each in results), done.stderr
    first = [each for each in results if "-again" not in each.trial]
    assert [each.baseline_of is not None for each in first] == [True, False] * 3
    for each in first:
        frames = session.results / "both" / each.trial / "frames.jsonl.zst"
        assert frames.stat().st_size > 0
        assert all(check.passed for check in each.checks)
        assert {reading.factor for reading in each.factors} >= {"storage.data"}
    baseline = document["baseline"]
    assert [each["placement"] for each in baseline["placements"]] == places
    assert len(baseline["tests"]) == 5
    (system,) = baseline["databases"]
    assert not system["shown"]
    assert [list((open_folder / name).iterdir()) for name in "abc"] == [[], [], []]
