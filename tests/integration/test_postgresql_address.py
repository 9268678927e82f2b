"""A server that somebody else runs: refused, borrowed, given back."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil
import pytest
from integration.conftest import (
    POSTGRESQL,
    ROWS,
    START,
    TABLES,
    MakeTarget,
    ServerOf,
    available,
    fill,
)
from integration.test_postgresql_recover import LEFT, recover, run_victim
from lengths import long_but

from loadstone.cli.main import run_command
from loadstone.errors import ExitCode, RefusedError, TargetError, WrongInputError
from loadstone.journal import open_journals
from loadstone.spec.target import TargetSpec
from loadstone.targets import served
from loadstone.targets.postgresql import OwnedPostgreSQL, RemotePostgreSQL
from loadstone.targets.postgresql.client import Client

pytestmark = pytest.mark.xdist_group("postgresql")

DATABASE = "theirs"
PASSWORD = "s3cret"


@dataclass(frozen=True)
class Theirs:
    """Somebody's server, with an empty database `theirs`."""

    address: str
    postgres: Client
    database: Client


@pytest.fixture(scope="module", params=long_but(["embedded"], POSTGRESQL))
def running(request: pytest.FixtureRequest, server_of: ServerOf) -> OwnedPostgreSQL:
    if not available(request.param):
        pytest.skip(f"no PostgreSQL of kind {request.param} here")
    target = server_of("postgresql", request.param)
    assert isinstance(target, OwnedPostgreSQL)
    # Every database that is made or dropped is a checkpoint: on a busy disk they take long.
    target.restore(START, target.spec.with_settings({"fsync": False}))
    return target


@pytest.fixture
def theirs(running: OwnedPostgreSQL) -> Iterator[Theirs]:
    to = running.connection()
    postgres = Client(running.server.connection("postgres"))
    postgres.query(f"CREATE DATABASE {DATABASE}")
    postgres.query(f"ALTER DATABASE {DATABASE} SET work_mem = '7MB'")
    database = Client(running.server.connection(DATABASE))
    yield Theirs(f"postgresql://{to.user}@/{DATABASE}?host={to.host}", postgres, database)
    database.close()
    postgres.query(f"DROP DATABASE {DATABASE} WITH (FORCE)")
    postgres.close()


def databases(theirs: Theirs) -> list[str]:
    return [name for (name,) in theirs.postgres.query("SELECT datname FROM pg_database")]


def identity(theirs: Theirs) -> tuple[object, ...]:
    return theirs.postgres.query("SELECT oid FROM pg_database WHERE datname = %s", (DATABASE,))[0]


def test_trials_start_from_the_snapshot_and_the_database_comes_back(
    theirs: Theirs, make_target: MakeTarget
) -> None:
    before, identity_before = databases(theirs), identity(theirs)
    target = make_target(theirs.address)
    fill(target)
    target.snapshot("k")
    first = target.fingerprint(TABLES)
    assert first.rows == {"item": ROWS}
    for _ in range(2):
        target.execute("DELETE FROM item WHERE id % 2 = 0")
        target.restore("k", target.spec)
        target.settle("warm")
        assert target.fingerprint(TABLES).digest == first.digest
    assert target.server_cpu_s() is None
    assert target.log_path() is None
    target.close()
    assert databases(theirs) == before
    assert identity(theirs) == identity_before
    assert theirs.database.query("SHOW work_mem") == [("7MB",)]
    assert theirs.database.query(
        "SELECT count(*) FROM pg_namespace WHERE nspname = 'loadstone'"
    ) == [(0,)]


def test_settings_go_back_to_what_alter_system_had(theirs: Theirs, make_target: MakeTarget) -> None:
    theirs.postgres.query("ALTER SYSTEM SET checkpoint_timeout = '7min'")
    theirs.postgres.query("SELECT pg_reload_conf()")
    target = make_target(theirs.address)
    target.snapshot("k")
    readings = target.restore(
        "k", target.spec.with_settings({"checkpoint_timeout": "11min", "max_wal_size": "2GB"})
    )
    assert [(each.read_back, each.how) for each in readings] == [
        ("660s", "reload"),
        ("2048MB", "reload"),
    ]
    assert readings[0].before == "420s"
    target.restore("k", target.spec.with_settings({"max_wal_size": "3GB"}))
    assert target.query("SHOW checkpoint_timeout") == [("7min",)]
    assert target.query("SHOW max_wal_size") == [("3GB",)]
    target.close()
    assert theirs.postgres.query(
        "SELECT name, setting FROM pg_file_settings WHERE sourcefile LIKE '%auto.conf'"
    ) == [("checkpoint_timeout", "7min")]
    theirs.postgres.query("ALTER SYSTEM RESET checkpoint_timeout")


def test_overridden_setting_is_noticed(theirs: Theirs, make_target: MakeTarget) -> None:
    target = make_target(theirs.address)
    target.snapshot("k")
    role = theirs.postgres.value("SELECT current_user")
    theirs.postgres.query(f"ALTER ROLE {role} SET random_page_cost = 3")
    try:
        with pytest.raises(TargetError, match=r"random_page_cost was set to '1.1'.*says '3'"):
            target.restore("k", target.spec.with_settings({"random_page_cost": 1.1}))
    finally:
        theirs.postgres.query(f"ALTER ROLE {role} RESET ALL")


def test_settings_that_need_a_restart_are_refused(theirs: Theirs) -> None:
    spec = TargetSpec(engine="postgresql", server=theirs.address)
    assert "needs a restart" in (
        RemotePostgreSQL.setting(spec, "shared_buffers", "1GB").refused or ""
    )
    assert RemotePostgreSQL.setting(spec, "shared_buffers", "128MB").refused is None
    assert RemotePostgreSQL.setting(spec, "work_mem", "1GB").refused is None
    assert "fixed" in (RemotePostgreSQL.setting(spec, "block_size", "16384").refused or "")
    for name, level in (
        ("no_such", 1),
        ("work_mem", "1 zebra"),
        ("work_mem", "1kB"),
        ("wal_sync_method", "hope"),
    ):
        with pytest.raises(WrongInputError):
            RemotePostgreSQL.setting(spec, name, level)


def test_database_that_is_not_empty_is_refused(theirs: Theirs, make_target: MakeTarget) -> None:
    theirs.database.query("CREATE TABLE precious AS SELECT 42 AS answer")
    theirs.database.close()
    with pytest.raises(RefusedError, match=r"not empty .*public\.precious"):
        make_target(theirs.address)
    target = make_target(theirs.address, force=True)
    fill(target)
    target.close()
    assert theirs.database.query("SELECT answer FROM precious") == [(42,)]


def test_database_in_use_is_refused(theirs: Theirs, make_target: MakeTarget) -> None:
    theirs.database.query("SELECT 1")
    with pytest.raises(TargetError, match="1 other sessions use database"):
        make_target(theirs.address)


@pytest.mark.parametrize(
    "place",
    long_but(
        ["entry 2", "stage settled"],
        [
            *(f"entry {number}" for number in range(1, 5)),
            *(f"stage {name}" for name in ("open", "loaded", "kept", "restored", "settled")),
        ],
    ),
)
def test_owner_killed_at_an_address(
    theirs: Theirs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("VICTIM_SERVER", theirs.address)
    before, identity_before = databases(theirs), identity(theirs)
    victim = run_victim(tmp_path / "journal.jsonl", *place.split())
    assert victim.returncode == -9, victim.stderr
    assert LEFT in recover()
    assert open_journals() == []
    assert databases(theirs) == before
    assert identity(theirs) == identity_before
    assert theirs.postgres.query(
        "SELECT count(*) FROM pg_file_settings WHERE sourcefile LIKE '%auto.conf'"
    ) == [(0,)]


@pytest.fixture
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with the password in the environment."""
    folder = tmp_path / "own"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("LOADSTONE_STATE", str(folder / "state"))
    monkeypatch.setenv("GUEST_PASSWORD", PASSWORD)
    return folder


def _run_and_look(
    theirs: Theirs, address: str, place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A run and a visit of the doctor: the password is in nothing that others can see.

    A setting of the server holds it, too.
    """
    theirs.postgres.query(f"ALTER SYSTEM SET primary_conninfo = 'host=a password={PASSWORD}'")
    theirs.postgres.query("SELECT pg_reload_conf()")
    at = ["--target", "postgresql", "--server", address, "--password", "env:GUEST_PASSWORD"]
    load = [
        "noop", "--users", "1", "--think-time", "10ms", "--measure", "300ms",
        "--warm-up", "0s", "--force",
    ]  # fmt: skip
    capfd.readouterr()
    with process_list() as commands:
        # On a busy machine the generator is late: the password is as safe.
        assert run_command(["run", *load, *at]) in {ExitCode.OK, ExitCode.INVALID_TRIAL}
        assert run_command(["doctor", *at, "--json"]) == ExitCode.OK
    assert "loadstone-driver" in commands()
    said = capfd.readouterr()
    assert "host=a password=***" in said.out
    inventory = next(place.rglob("inventory.json"))
    assert "host=a password=***" in inventory.read_text()
    kept = [path.read_bytes() for path in place.rglob("*") if path.is_file()]
    for text in (said.out, said.err, commands(), str(kept)):
        assert PASSWORD not in text


@contextmanager
def process_list() -> Iterator[Callable[[], str]]:
    """The command lines of this process's children, looked at all the time."""
    seen: set[str] = set()
    done = threading.Event()

    def look() -> None:
        while not done.wait(0.01):
            for child in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):
                    seen.add(" ".join(child.cmdline()))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield lambda: "\n".join(seen)
    finally:
        done.set()
        thread.join()


def test_password_is_checked_and_written_nowhere(
    running: OwnedPostgreSQL,
    theirs: Theirs,
    make_target: MakeTarget,
    own_place: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    data = Path(running.inventory()["data_folder"])
    hba = data / "pg_hba.conf"
    original = hba.read_text()
    theirs.postgres.query(f"CREATE ROLE guest SUPERUSER LOGIN PASSWORD '{PASSWORD}'")
    hba.write_text("local all guest scram-sha-256\n" + original)
    theirs.postgres.query("SELECT pg_reload_conf()")
    address = theirs.address.replace("loadstone@", "guest@")
    secret = own_place.parent / "secret"
    secret.write_text("wrong\n")
    try:
        with pytest.raises(TargetError, match="password authentication failed"):
            make_target(address, password=f"file:{secret}")
        with pytest.raises(WrongInputError, match="hold the password is not set"):
            make_target(address, password="env:NO_SUCH")
        target = make_target(address, password="env:GUEST_PASSWORD")
        target.snapshot("k")
        target.restore("k", target.spec.with_settings({"work_mem": "9MB"}))
        assert target.connection().password == PASSWORD
        assert PASSWORD not in repr(target.connection())
        assert PASSWORD not in target.context.journal.path.read_text()
        assert PASSWORD not in str(target.inventory())
        target.close()
        _run_and_look(theirs, address, own_place, capfd)
    finally:
        theirs.postgres.query("ALTER SYSTEM RESET primary_conninfo")
        hba.write_text(original)
        os.chown(hba, data.stat().st_uid, data.stat().st_gid)
        theirs.postgres.query("SELECT pg_reload_conf()")
        theirs.postgres.query("REASSIGN OWNED BY guest TO CURRENT_USER")
        theirs.postgres.query("DROP ROLE guest")


def test_server_at_an_address_is_not_stopped(theirs: Theirs, make_target: MakeTarget) -> None:
    target = make_target(theirs.address)
    for act in (target.start, target.stop, partial(target.crash, "kill")):
        with pytest.raises(TargetError, match="from here"):
            act()
    with pytest.raises(TargetError, match="cannot be emptied"):
        target.settle("cold")


def test_address_without_a_server(make_target: MakeTarget, tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="cannot connect to database 'd'"):
        make_target(f"postgresql://u@/d?host={tmp_path}")


@pytest.mark.long
def test_a_silent_server_holds_no_query_for_ever(
    theirs: Theirs, running: OwnedPostgreSQL, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert theirs.database.value("SELECT 1") == 1
    monkeypatch.setattr(served, "ANSWER_S", 0.5)
    monkeypatch.setattr(served, "_QUIET_S", 0.0)
    with running.outage("pause"), pytest.raises(TargetError, match="timeout expired"):
        theirs.database.query("SELECT 1")
    assert theirs.database.value("SELECT 1") == 1
