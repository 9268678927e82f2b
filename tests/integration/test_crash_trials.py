"""Crash trials on a real server: a safe one survives kills, and a planted loss is found by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from lengths import LONG, long_but

from loadstone.errors import LoadstoneError
from loadstone.experiments.conduct import RunOptions, conduct
from loadstone.experiments.crash import ACKNOWLEDGEMENTS_FILE
from loadstone.experiments.designs import crash as design
from loadstone.experiments.observer import Observer
from loadstone.load.acknowledgements import read_acknowledgements
from loadstone.placements import support
from loadstone.placements.place import parse
from loadstone.results.folder import read_result
from loadstone.results.record import DurabilityRecord, TrialResult
from loadstone.spec.design import Failure
from loadstone.spec.model import Experiment
from loadstone.spec.target import TargetSpec
from loadstone.targets.database import Database
from loadstone.targets.registry import TARGETS, target_for
from loadstone.workloads.durability import Acknowledgement
from loadstone.workloads.oltp.durability import OrderAudit

NO_POWER_LOSS = support.unavailable(parse("volatile:ext4"))
needs_power_loss = pytest.mark.skipif(NO_POWER_LOSS is not None, reason=str(NO_POWER_LOSS))

UNSAFE = {
    "postgresql": {"fsync": "off"},
    "mariadb": {"innodb_flush_log_at_trx_commit": 0},
    "sqlite": {"synchronous": "off"},
}
"""Settings under which a power loss after some seconds of load must lose commits."""
SAFE: dict[str, dict[str, str | int]] = {"sqlite": {"journal_mode": "wal", "synchronous": "full"}}
"""Where the defaults are not: SQLite's rollback journal needs `synchronous: extra`."""
ENGINES = [engine for engine in TARGETS if engine in UNSAFE]
SOON_S = (1.0, 2.0)
"""Seconds of load before a failure, in a quick run."""


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config) -> None:
    """In a quick run the failure comes early."""
    if not pytestconfig.getoption("--long"):
        monkeypatch.setattr(design, "LEAST_AFTER_S", SOON_S[0])
        monkeypatch.setattr(design, "MOST_AFTER_S", SOON_S[1])


def crash(
    folder: Path,
    engine: str = "postgresql",
    failure: Failure = "kill",
    crashes: int = 1,
    settings: dict[str, str | int] | None = None,
) -> list[TrialResult]:
    """Runs a crash experiment; its trials in order."""
    experiment = Experiment.model_validate(
        {
            "version": 1,
            "name": "crash",
            "workload": {"name": "oltp", "parameters": {"warehouses": 1}},
            "target": {"engine": engine, "settings": settings or {}},
            "profile": {"users": 3, "warm_up": "0s"},
            "design": {"kind": "crash", "failure": failure, "crashes": crashes},
        }
    )
    options = RunOptions(results=folder / "results", command="pytest", allow_unsafe=True)
    path = conduct(experiment, options, Observer())
    return [read_result(each.parent) for each in sorted(path.glob("*/result.json"))]


def record_of(result: TrialResult) -> DurabilityRecord:
    assert result.durability is not None, result.notices
    return result.durability


@LONG
@pytest.mark.parametrize("kills", [2, 3])
def test_kills_are_survived_and_the_planted_loss_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kills: int
) -> None:
    whole = OrderAudit.lost
    planted: list[Acknowledgement] = []

    def lost(
        self: OrderAudit, target: Database, acknowledged: Sequence[Acknowledgement]
    ) -> list[Acknowledgement]:
        """Before the last look, somebody deletes an order that was acknowledged.

        It is the last but one, which no delivery can have reached on however fast a machine.
        """
        looks.append(1)
        if len(looks) == kills:
            order = [each for each in acknowledged if each.operation == "new-order"][-2]
            w, d, o = order.keys
            keys = {"order_line": "ol_{}", "new_order": "no_{}", "orders": "o_{}"}
            for table, name in keys.items():
                order_id = "o_id" if table == "orders" else name.format("o_id")
                target.execute(
                    f"DELETE FROM {table} WHERE {name.format('w_id')} = {w} "
                    f"AND {name.format('d_id')} = {d} AND {order_id} = {o}"
                )
            planted.append(order)
        return whole(self, target, acknowledged)

    looks: list[int] = []
    monkeypatch.setattr(OrderAudit, "lost", lost)
    results = crash(tmp_path, crashes=kills)
    *others, last = map(record_of, results)
    for record in others:
        assert record.outcome == "survived"
        assert record.acknowledged > 100
        assert record.recovery_s is not None
    assert last.lost == 1
    assert last.examples[0].startswith(str(planted[0]))
    assert last.outcome == "corrupt", "the district's counter says that an order is missing"
    assert [result.status.value for result in results] == ["valid"] * kills
    notes = next((tmp_path / "results").glob(f"*/c01-*/{ACKNOWLEDGEMENTS_FILE}"))
    assert len(read_acknowledgements(notes)) >= others[0].acknowledged


@LONG
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_survives_a_kill(tmp_path: Path, engine: str) -> None:
    _skip_without(engine)
    record = record_of(*crash(tmp_path, engine))
    assert record.outcome == "survived", record
    assert record.acknowledged > 0


@needs_power_loss
@pytest.mark.parametrize("engine", long_but(["sqlite"], ENGINES))
def test_every_engine_survives_a_power_loss_with_safe_settings(tmp_path: Path, engine: str) -> None:
    _skip_without(engine)
    record = record_of(*crash(tmp_path, engine, "power-loss", settings=SAFE.get(engine)))
    assert record.outcome == "survived", record
    assert record.acknowledged > 0
    assert record.storage == "volatile:ext4, in place of a plain folder"


@needs_power_loss
@pytest.mark.parametrize("engine", long_but(["sqlite"], ENGINES))
def test_a_power_loss_takes_what_was_never_flushed(tmp_path: Path, engine: str) -> None:
    _skip_without(engine)
    (result,) = crash(tmp_path, engine, "power-loss", settings=UNSAFE[engine])
    record = record_of(result)
    assert record.outcome != "survived", record
    assert record.lost > 0 or record.problem
    assert [notice.severity for notice in result.notices if notice.code.startswith("crash")] == [
        "warning"
    ]


def _skip_without(engine: str) -> None:
    try:
        spec = TargetSpec(engine=engine)
        target_for(spec).describe(spec)
    except LoadstoneError as error:
        pytest.skip(f"no {engine} here: {error}")
