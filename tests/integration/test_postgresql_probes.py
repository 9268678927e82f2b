"""Probes on a real server: what they see, and what they do when it dies."""

import threading

import pytest
from integration.conftest import START, on_each_version

from loadstone.probes.base import Probe
from loadstone.targets.postgresql import OwnedPostgreSQL
from loadstone.targets.postgresql.client import Client
from loadstone.targets.postgresql.statistics import StatisticsProbe
from loadstone.targets.postgresql.waits import WaitsProbe

pytestmark = pytest.mark.xdist_group("postgresql")


@on_each_version
def test_rates_of_the_server(owned_target: OwnedPostgreSQL) -> None:
    owned_target.restore(START, owned_target.spec)
    probe = StatisticsProbe(owned_target.connection())
    probe.start()
    worker = Client(owned_target.connection(), "worker")
    worker.execute("UPDATE item SET quantity = quantity + 1; CHECKPOINT")
    worker.close()
    seen: dict[str, float] = {}
    awaited = ("rows_updated_per_s", "checkpoints_requested_count")
    while not all(seen.get(name) for name in awaited):
        for sample in probe.sample(1.0):
            seen[sample.metric] = max(sample.value, seen.get(sample.metric, 0.0))
            assert sample.metric.endswith(("_per_s", "_percent", "_count"))
    assert seen["wal_bytes_per_s"] > 0
    assert 0 <= seen["cache_hit_percent"] <= 100
    assert {"deadlocks_count", "temp_bytes_per_s", "checkpoint_buffers_per_s"} <= set(seen)
    assert "forced-checkpoints" in {each.code for each in probe.notices()}
    probe.stop()
    assert probe.sample(2.0) == []


@on_each_version
def test_waits_of_blocked_sessions(owned_target: OwnedPostgreSQL) -> None:
    owned_target.restore(START, owned_target.spec)
    holder = Client(owned_target.connection(), "holder")
    blocked = Client(owned_target.connection(), "blocked")
    holder.query("BEGIN")
    holder.query("UPDATE item SET quantity = 0 WHERE id = 1")
    update = "UPDATE item SET quantity = 1 WHERE id = 1"
    thread = threading.Thread(target=blocked.query, args=(update,))
    thread.start()
    waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'transactionid'"
    while not owned_target.query(waiting):
        pass
    probe = WaitsProbe(owned_target.connection())
    probe.start()
    probe.sample(1.0)
    samples = probe.sample(5.0)
    assert ("active_sessions", 1.0) in [(each.metric, each.value) for each in samples]
    holder.query("COMMIT")
    thread.join()
    [wait] = probe.waits(0.0, 99.0)
    assert (wait.kind, wait.event, wait.samples, wait.share) == ("Lock", "transactionid", 2, 1.0)
    assert probe.waits(4.0, 6.0)[0].samples == 1
    assert probe.waits(6.0, 9.0) == []
    assert probe.notices() == []
    for client in (holder, blocked):
        client.close()
    probe.stop()


def test_own_sessions_are_not_load(owned_target: OwnedPostgreSQL) -> None:
    owned_target.restore(START, owned_target.spec)
    probe = WaitsProbe(owned_target.connection())
    probe.start()
    thread = threading.Thread(target=owned_target.query, args=("SELECT pg_sleep(0.2)",))
    thread.start()
    while thread.is_alive():
        assert [each.value for each in probe.sample(0.0)] == [0.0]
    thread.join()
    probe.stop()


def test_probes_survive_the_server(owned_target: OwnedPostgreSQL) -> None:
    owned_target.restore(START, owned_target.spec)
    probes: list[Probe] = owned_target.probes()
    assert {each.interval_s for each in probes} == {1.0, 0.1}
    for probe in probes:
        probe.start()
    owned_target.crash("kill")
    for probe in probes:
        assert probe.sample(1.0) == []
        assert probe.sample(2.0) == []
    owned_target.start()
    for probe in probes:
        assert probe.sample(3.0) != []
        (notice,) = (each for each in probe.notices() if each.code == "probe-lost-server")
        assert "some samples are missing" in notice.advice
        probe.stop()


def test_cpu_and_inventory(owned_target: OwnedPostgreSQL) -> None:
    owned_target.restore(START, owned_target.spec.with_settings({"work_mem": "9MB"}))
    before = owned_target.server_cpu_s()
    owned_target.query("SELECT sum(sqrt(n)) FROM generate_series(1, 1000000) AS n")
    after = owned_target.server_cpu_s()
    assert before is not None
    assert after is not None
    assert after > before
    worker = Client(owned_target.connection(), "worker")
    worker.query("SELECT sum(sqrt(n)) FROM generate_series(1, 1000000) AS n")
    worker.close()
    while (ended := owned_target.server_cpu_s()) is not None and ended <= after:
        pass
    found = owned_target.inventory()
    assert found["settings"]["work_mem"] == {
        "value": "9216",
        "unit": "kB",
        "source": "configuration file",
    }
    assert found["fixed"]["block_size"] == "8192"
    assert found["fixed"]["data_checksums"] == "on"
    assert found["file_system"]["kind"]
    assert found["data_folder_bytes"] > found["size_bytes"] > 0
