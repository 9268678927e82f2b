"""Settings of DuckDB: names, values and what they risk, as the engine itself says."""

import duckdb
import numpy as np
import pytest

from loadstone.errors import WrongInputError
from loadstone.probes.marks import Samples, SampleTable
from loadstone.targets.duckdb import settings
from loadstone.targets.duckdb.database import ALL, connect
from loadstone.targets.duckdb.happenings import happenings


@pytest.mark.parametrize(
    ("name", "level", "value"),
    [
        ("threads", 2, "2"),
        ("memory_limit", "1GB", "953.6 MiB"),
        ("Checkpoint_Threshold", "1gb", "953.6 MiB"),
        ("preserve_insertion_order", False, "false"),
        ("default_block_size", "16384", "16384"),
    ],
)
def test_a_level_is_spelled_as_duckdb_gives_it_back(name, level, value):
    assert settings.canonical(name, level) == value


@pytest.mark.parametrize(
    ("name", "level", "said"),
    [
        ("threads", 0, "at least 1 thread"),
        ("threads", "many", "threads cannot be 'many'"),
        ("fsync_mode", "often", "FileSyncMode"),
        ("default_block_size", 5000, "power of two"),
        ("memory_limit", "50%", "another size on each machine"),
        ("treads", 2, "no setting 'treads'.*threads"),
        ("threads", "2'; DROP TABLE x; --", "threads cannot be"),
    ],
)
def test_a_wrong_level_is_refused_with_duckdbs_own_words(name, level, said):
    with pytest.raises(WrongInputError, match=said):
        settings.info(name, level)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("schema", "belongs to one connection"),
        ("access_mode", "may reach"),
        ("http_proxy_password", "may reach"),
        ("debug_checkpoint_scan_sleep_ms", "faults"),
        ("enable_logging", "faults"),
    ],
)
def test_some_settings_cannot_be_factors(name, said):
    assert said in str(settings.info(name, "anything").refused)


@pytest.mark.parametrize(
    "name", ["threads", "checkpoint_threshold", "force_compression", "max_vacuum_tasks"]
)
def test_those_of_its_work_can(name):
    assert settings.info(name, settings.default(name)).refused is None


def test_only_unsynchronised_commits_are_unsafe():
    assert settings.info("fsync_mode", "none").unsafe
    assert not settings.info("fsync_mode", "FULL").unsafe
    assert not settings.info("threads", 1).unsafe


def test_only_what_differs_from_the_default_is_told():
    with duckdb.connect(":memory:", config={"threads": "1"}) as connection:
        rows = connection.execute(ALL).fetchall()
    changed = settings.changed({name: value for name, value, _ in rows})
    assert changed["threads"] == "1"
    assert "fsync_mode" not in changed
    assert "operator_memory_limit" not in changed


def test_a_wal_that_becomes_shorter_shows_a_checkpoint():
    lengths = Samples(np.arange(1.0, 6.0), np.array([10.0, 20.0, 5.0, 6.0, 6.0]))
    (mark,) = happenings(SampleTable({"wal_bytes": lengths}))
    assert (mark.kind, mark.from_s, mark.to_s) == ("checkpoint", 2.0, 3.0)
    assert happenings(SampleTable({})) == []


def test_a_setting_that_has_two_names_or_moves_others_is_told_once():
    given = {"threads": "1", "memory_limit": "200MB", "checkpoint_threshold": "1GB"}
    with connect(":memory:", given) as connection:
        rows = connection.execute(ALL).fetchall()
    assert set(settings.changed({name: value for name, value, _ in rows})) == set(given)
