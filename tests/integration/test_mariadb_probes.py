"""Probes on a real MariaDB: what they see, and what they do when it dies."""

import threading

import pytest
from integration.conftest import START

from loadstone.probes.base import Probe
from loadstone.targets.mariadb import OwnedMariaDB
from loadstone.targets.mariadb.client import connect
from loadstone.targets.mariadb.statistics import StatisticsProbe

pytestmark = pytest.mark.xdist_group("mariadb")

TURN_ON = (
    "UPDATE performance_schema.setup_consumers SET enabled = 'YES' "
    "WHERE name = 'events_waits_current'; "
    "UPDATE performance_schema.setup_instruments SET enabled = 'YES', timed = 'YES' "
    "WHERE name LIKE 'wait/%'"
)


def test_rates_and_levels_of_the_server(mariadb_target: OwnedMariaDB) -> None:
    mariadb_target.restore(START, mariadb_target.spec)
    probe = StatisticsProbe(mariadb_target.connection())
    probe.start()
    mariadb_target.execute("UPDATE item SET quantity = quantity + 1; BEGIN; COMMIT")
    seen = {each.metric: each.value for each in probe.sample(1.0)}
    assert all(
        each.endswith(("_per_s", "_percent", "_count", "_bytes")) or "innodb_" in each
        for each in seen
    )
    assert seen["rows_updated_per_s"] > 0
    assert seen["wal_bytes_per_s"] > 0
    assert seen["commits_per_s"] > 0
    assert 0 <= seen["cache_hit_percent"] <= 100
    assert seen["dirty_bytes"] > 0
    assert seen["checkpoint_age_bytes"] > 0
    assert {"deadlocks_count", "row_lock_wait_ms_per_s", "running_threads_count"} <= set(seen)
    assert probe.notices() == []
    probe.stop()
    assert probe.sample(2.0) == []


def test_metrics_of_innodb_where_they_are_enabled(mariadb_target: OwnedMariaDB) -> None:
    wanted = {"innodb_monitor_enable": "module_trx"}
    mariadb_target.restore(START, mariadb_target.spec)
    mariadb_target.execute("SET GLOBAL innodb_monitor_enable = 'module_trx'")
    probe = StatisticsProbe(mariadb_target.connection())
    probe.start()
    mariadb_target.execute("UPDATE item SET quantity = quantity + 1")
    seen = {each.metric for each in probe.sample(1.0)}
    assert "innodb_trx_rw_commits_per_s" in seen, wanted
    probe.stop()


@pytest.mark.parametrize("events", [False, True], ids=["process list", "performance schema"])
def test_waits_of_blocked_sessions(mariadb_target: OwnedMariaDB, events: bool) -> None:
    settings = {"performance_schema": True} if events else {}
    mariadb_target.restore(START, mariadb_target.spec.with_settings(settings))
    if events:
        mariadb_target.execute(TURN_ON)
    to = mariadb_target.connection()
    holder, blocked = connect(to), connect(to)
    holder.begin()
    holder.query("UPDATE item SET quantity = 0 WHERE id = 1")
    thread = threading.Thread(
        target=blocked.query, args=("UPDATE item SET quantity = 1 WHERE id = 1",)
    )
    thread.start()
    waiting = "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'"
    while mariadb_target.query(waiting)[0][1] != "1":
        pass
    probe = mariadb_target.probes()[1]
    probe.start()
    while not probe.waits(0.0, 99.0):
        probe.sample(1.0)
    samples = probe.sample(5.0)
    assert ("active_sessions", 1.0) in [(each.metric, each.value) for each in samples]
    holder.commit()
    thread.join()
    wait = probe.waits(4.0, 6.0)[0]
    assert (wait.kind, wait.event, wait.samples, wait.share) == ("Lock", "row", 1, 1.0)
    assert probe.waits(6.0, 9.0) == []
    assert probe.notices() == []
    for client in (holder, blocked):
        client.close()
    probe.stop()


@pytest.mark.parametrize("events", [False, True], ids=["process list", "performance schema"])
def test_what_running_sessions_do(mariadb_target: OwnedMariaDB, events: bool) -> None:
    settings = {"performance_schema": True} if events else {}
    mariadb_target.restore(START, mariadb_target.spec.with_settings(settings))
    if events:
        mariadb_target.execute(TURN_ON)
    worker = connect(mariadb_target.connection())
    probe = mariadb_target.probes()[1]
    probe.start()
    sql = "SELECT count(*) FROM item a, item b WHERE a.quantity < b.quantity"
    thread = threading.Thread(target=worker.query, args=(sql,))
    thread.start()
    while thread.is_alive() and "CPU" not in {each.kind for each in probe.waits(0.0, 2.0)}:
        probe.sample(1.0)
    assert "CPU" in {each.kind for each in probe.waits(0.0, 2.0)}
    thread.join()
    worker.close()
    probe.stop()


def test_own_sessions_are_not_load(mariadb_target: OwnedMariaDB) -> None:
    mariadb_target.restore(START, mariadb_target.spec)
    # The statements of a connection's beginning bear no mark.
    mariadb_target.query("SELECT 1")
    probe = mariadb_target.probes()[1]
    probe.start()
    thread = threading.Thread(target=mariadb_target.query, args=("SELECT sleep(0.2)",))
    thread.start()
    while thread.is_alive():
        assert [each.value for each in probe.sample(0.0)] == [0.0]
    thread.join()
    probe.stop()


def test_probes_survive_the_server(mariadb_target: OwnedMariaDB) -> None:
    mariadb_target.restore(START, mariadb_target.spec)
    probes: list[Probe] = mariadb_target.probes()
    assert {each.interval_s for each in probes} == {1.0, 0.1}
    for probe in probes:
        probe.start()
    mariadb_target.crash("kill")
    for probe in probes:
        assert probe.sample(1.0) == []
        assert probe.sample(2.0) == []
    mariadb_target.start()
    for probe in probes:
        assert probe.sample(3.0) != []
        (notice,) = (each for each in probe.notices() if each.code == "probe-lost-server")
        assert "some samples are missing" in notice.advice
        probe.stop()
