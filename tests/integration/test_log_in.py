"""Who is not let in at an address is told so before anything there is touched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from integration.conftest import START, ServerOf

from loadstone.cli.main import run_command
from loadstone.errors import ExitCode
from loadstone.journal import open_journals
from loadstone.targets.mariadb import OwnedMariaDB
from loadstone.targets.mariadb.client import Client as MariaDBClient
from loadstone.targets.postgresql import OwnedPostgreSQL
from loadstone.targets.postgresql.client import Client as PostgreSQLClient

PASSWORD = "s3cret"
OLTP = ["oltp", "--param", "warehouses=1", "--users", "4", "--measure", "1s"]
DSS = ["dss", "--param", "scale=0.01"]


class Said(NamedTuple):
    """How a command ended."""

    code: int
    lines: list[str]


Run = Callable[..., Said]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs a workload at an address as the account `guest`."""
    monkeypatch.setenv("GUEST", PASSWORD)
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))

    def run(engine: str, address: str, load: list[str], *options: str) -> Said:
        at = ["--target", engine, "--server", address, "--password", "env:GUEST"]
        results = ["--results", str(tmp_path / "results")]
        code = run_command(["run", *load, *at, *results, *options])
        assert open_journals() == []
        said = capfd.readouterr().err.splitlines()
        errors = [line for line in said if line.startswith("loadstone: ")]
        return Said(code, errors)

    return run


@pytest.fixture(scope="module")
def postgresql(server_of: ServerOf) -> OwnedPostgreSQL:
    target = server_of("postgresql", "embedded")
    assert isinstance(target, OwnedPostgreSQL)
    target.restore(START, target.spec.with_settings({"fsync": False, "max_connections": 6}))
    return target


@pytest.fixture
def guest(postgresql: OwnedPostgreSQL) -> Iterator[PostgreSQLClient]:
    """A superuser's session; there are a superuser `guest` and its database, which is empty."""
    client = PostgreSQLClient(postgresql.server.connection("postgres"))
    client.query(f"CREATE ROLE guest LOGIN SUPERUSER PASSWORD '{PASSWORD}'")
    client.query("CREATE DATABASE guests OWNER guest")
    before = client.query("SELECT oid, datname FROM pg_database ORDER BY 1")
    yield client
    assert client.query("SELECT oid, datname FROM pg_database ORDER BY 1") == before
    client.query("DROP DATABASE guests WITH (FORCE)")
    client.query("DROP ROLE guest")
    client.close()


@pytest.fixture
def visitor(empty_mariadb: OwnedMariaDB) -> Iterator[MariaDBClient]:
    """A session with all rights; there is an account `guest`, and an empty database."""
    client = MariaDBClient(empty_mariadb.server.connection(""))
    client.query("CREATE DATABASE guests COMMENT 'precious'")
    client.query(
        "GRANT SUPER, RELOAD, PROCESS ON *.* TO guest@localhost IDENTIFIED BY %s", (PASSWORD,)
    )
    client.query("GRANT ALL ON guests.* TO guest@localhost")
    client.query(r"GRANT ALL ON `loadstone\_%`.* TO guest@localhost")
    schemas = "SELECT schema_name, schema_comment FROM information_schema.SCHEMATA ORDER BY 1"
    before = client.query(schemas)
    yield client
    assert client.query(schemas) == before
    client.query("DROP USER guest@localhost")
    client.query("DROP DATABASE guests")
    client.close()


@pytest.mark.xdist_group("postgresql")
@pytest.mark.parametrize(
    ("role", "load", "named"),
    [
        ("SUPERUSER", OLTP, "driver cannot open 7 sessions (4 of the load"),
        ("SUPERUSER", DSS, "runner cannot open 7 sessions (4 of the load"),
        ("CREATEDB NOSUPERUSER", OLTP, "guest lacks rights at"),
    ],
)
def test_who_is_not_let_in_by_postgresql(
    guest: PostgreSQLClient, postgresql: OwnedPostgreSQL, run: Run, role: str, *,
    load: list[str], named: str,
) -> None:  # fmt: skip
    guest.query(f"ALTER ROLE guest {role}")
    address = f"postgresql://guest@/guests?host={postgresql.connection().host}"
    said = run("postgresql", address, load)
    assert (said.code, len(said.lines)) == (ExitCode.TARGET, 1), said
    assert named in said.lines[0]


@pytest.mark.xdist_group("mariadb")
@pytest.mark.parametrize(
    ("spoilt", "named"),
    [
        ("ALTER USER guest@localhost WITH MAX_USER_CONNECTIONS 6", "cannot open 7 sessions"),
        ("ALTER USER guest@localhost REQUIRE SSL", "cannot connect to database 'guests'"),
        ("REVOKE CREATE ON guests.* FROM guest@localhost", "CREATE command denied"),
        (r"REVOKE ALL ON `loadstone\_%`.* FROM guest@localhost", "denied to user 'guest'"),
        ("REVOKE SUPER ON *.* FROM guest@localhost", "SUPER"),
        ("REVOKE RELOAD ON *.* FROM guest@localhost", "RELOAD"),
        ("REVOKE PROCESS ON *.* FROM guest@localhost", "PROCESS"),
    ],
)
def test_who_is_not_let_in_by_mariadb(
    empty_mariadb: OwnedMariaDB, visitor: MariaDBClient, run: Run, spoilt: str, named: str
) -> None:
    visitor.query(spoilt)
    socket = empty_mariadb.server.connection("").host
    said = run("mariadb", f"mysql://guest@/guests?socket={socket}", OLTP)
    assert (said.code, len(said.lines)) == (ExitCode.TARGET, 1), said
    assert named in said.lines[0]


@pytest.mark.xdist_group("mariadb")
def test_a_log_in_that_no_client_here_has(
    empty_mariadb: OwnedMariaDB, visitor: MariaDBClient, run: Run
) -> None:
    visitor.query("INSTALL SONAME 'auth_ed25519'")
    visitor.query(
        "ALTER USER guest@localhost IDENTIFIED VIA ed25519 USING PASSWORD(%s)", (PASSWORD,)
    )
    socket = empty_mariadb.server.connection("").host
    said = run("mariadb", f"mysql://guest@/guests?socket={socket}", OLTP)
    visitor.query("UNINSTALL SONAME 'auth_ed25519'")
    assert (said.code, len(said.lines)) == (ExitCode.TARGET, 1), said
    assert "ed25519" in said.lines[0]


@pytest.mark.long
@pytest.mark.xdist_group("mariadb")
@pytest.mark.usefixtures("visitor")
def test_the_rights_that_are_asked_for_suffice(empty_mariadb: OwnedMariaDB, run: Run) -> None:
    socket = empty_mariadb.server.connection("").host
    at = f"mysql://guest@/guests?socket={socket}"
    assert run("mariadb", at, OLTP, "--set", "sort_buffer_size=3MB") == (ExitCode.OK, [])
