"""Real servers for the tests, always cleaned up: what a killed run left, the next one removes."""

import contextlib
import functools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from lengths import long_but
from once import once
from target_context import context_in

from loadstone.errors import TargetError
from loadstone.journal import open_journals
from loadstone.spec.base import Level
from loadstone.spec.target import TargetSpec, default_server
from loadstone.targets.database import Database
from loadstone.targets.mariadb import OwnedMariaDB
from loadstone.targets.mariadb.binaries import find as find_mariadb
from loadstone.targets.postgresql import OwnedPostgreSQL, binaries
from loadstone.targets.registry import register_undoing, target_for
from loadstone.targets.spark.jvm import check_installed
from loadstone.workloads.dss.data import DataSet, provide

MakeTarget = Callable[..., Any]
ServerOf = Callable[[str, str], Database]
_Target = TypeVar("_Target", bound=Database)

POSTGRESQL = ["embedded", "local:15"]
"""The newest version, and an older one."""

ROWS = 5_000
START = "start"


def available(server: str) -> bool:
    try:
        binaries.find(server)
    except TargetError:
        return False
    return True


def need_mariadb() -> None:
    """Skips where there is no MariaDB, but for continuous integration, which must have it."""
    try:
        find_mariadb("local")
    except TargetError:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip("no MariaDB is installed here (Debian: mariadb-server-core)")


@pytest.fixture(scope="session")
def spark() -> None:
    """Skips where there is no PySpark or no Java, but for continuous integration."""
    try:
        check_installed()
    except TargetError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(error.message)


@pytest.fixture(scope="session")
def few_rows(tmp_path_factory: pytest.TempPathFactory) -> DataSet:
    """The eight tables of decision support at scale 0.01."""

    def make(cache: Path) -> DataSet:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LOADSTONE_CACHE", str(cache))
            return provide(0.01, "parquet", pairs=1, seed=1)

    return make(once(tmp_path_factory, "few-rows", make))


def recover_all() -> None:
    register_undoing()
    for journal in open_journals():
        if not journal.alive:
            journal.recover(lambda _entry, _error: None)


@pytest.fixture(scope="session", autouse=True)
def _state() -> Iterator[None]:
    """Journals of tests are found by the next test run, not by the user's own commands.

    Nor by a process beside this one: it would undo what a test here has yet to look at.
    """
    before = os.environ.get("LOADSTONE_STATE")
    name = f"loadstone-test-state-{os.getuid()}-{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"
    os.environ["LOADSTONE_STATE"] = str(Path(tempfile.gettempdir()) / name)
    recover_all()
    yield
    recover_all()
    if before is None:
        del os.environ["LOADSTONE_STATE"]
    else:
        os.environ["LOADSTONE_STATE"] = before


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every account may enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="loadstone-test-", dir="/var/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def make_target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MakeTarget]:
    """Opens targets; what they changed is undone at the end by their journals."""
    contexts = []

    def make(
        server: str | None = None,
        *,
        engine: str = "postgresql",
        settings: dict[str, Level] | None = None,
        data: Path | None = None,
        password: str | None = None,
        force: bool = False,
    ) -> Database:
        spec = TargetSpec(
            engine=engine,
            **({} if server is None else {"server": server}),
            settings=settings or {},
            data=str(data) if data else None,
            password=password,
        )
        contexts.append(context_in(tmp_path_factory.mktemp("target"), force=force))
        target = target_for(spec)(spec, contexts[-1])
        target.open()
        return target

    yield make
    for context in reversed(contexts):
        context.journal.close()


@contextlib.contextmanager
def filled(kind: type[_Target], spec: TargetSpec, folder: Path) -> Iterator[_Target]:
    """A target with a table `item` and a snapshot of it."""
    context = context_in(folder)
    with context.journal:
        target = kind(spec, context)
        target.open()
        fill(target)
        target.snapshot(START)
        yield target
        target.close()


@pytest.fixture(scope="session")
def server_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerOf]:
    """Servers that Loadstone owns: one of each kind for all tests of a process.

    Each has a table `item` and a snapshot of it, with which a test begins.
    """
    with contextlib.ExitStack() as servers:

        @functools.cache
        def started(engine: str, server: str) -> Database:
            folder = tmp_path_factory.mktemp(engine)
            spec = TargetSpec(engine=engine, server=server)
            return servers.enter_context(filled(target_for(spec), spec, folder))

        yield started


@pytest.fixture(params=long_but(["embedded"], POSTGRESQL))
def owned_target(request: pytest.FixtureRequest, server_of: ServerOf) -> OwnedPostgreSQL:
    """A PostgreSQL of `server_of`, of each kind this machine has."""
    if not available(request.param):
        pytest.skip(f"no PostgreSQL of kind {request.param} here")
    target = server_of("postgresql", request.param)
    assert isinstance(target, OwnedPostgreSQL)
    return target


on_each_version = pytest.mark.parametrize("owned_target", POSTGRESQL, indirect=True)
"""Of tests about what is not alike in all versions of PostgreSQL: never left out."""


@pytest.fixture(scope="module")
def empty_mariadb(server_of: ServerOf) -> OwnedMariaDB:
    """The MariaDB of `server_of`, once for a module, started and with nothing in it."""
    need_mariadb()
    target = server_of("mariadb", "local")
    assert isinstance(target, OwnedMariaDB)
    target.restore(START, target.spec)
    return target


@pytest.fixture
def mariadb_target(server_of: ServerOf) -> OwnedMariaDB:
    """The MariaDB of `server_of`."""
    need_mariadb()
    target = server_of("mariadb", "local")
    assert isinstance(target, OwnedMariaDB)
    return target


@pytest.fixture(
    params=[
        pytest.param(each, marks=pytest.mark.xdist_group(each))
        for each in ("postgresql", "mariadb")
    ]
)
def engine(request: pytest.FixtureRequest) -> str:
    """Each engine that is a server; its tests run where others use the same."""
    if request.param == "mariadb":
        need_mariadb()
    return str(request.param)


@pytest.fixture
def any_server(engine: str, server_of: ServerOf) -> Database:
    """The server of each such engine, of `server_of`."""
    return server_of(engine, default_server(engine))


_ROWS_FROM = {
    "postgresql": f"generate_series(1, {ROWS}) AS row(n)",
    "mariadb": f"(SELECT seq AS n FROM seq_1_to_{ROWS}) AS numbers",
}


def fill(target: Database) -> None:
    target.execute(
        f"""
        CREATE TABLE item (id integer PRIMARY KEY, quantity integer NOT NULL, name varchar(100));
        INSERT INTO item SELECT n, n % 100, repeat('x', 100) FROM {_ROWS_FROM[target.engine]};
        CREATE INDEX item_quantity ON item (quantity DESC, id);
        """
    )


TABLES = {"item": "id * 7 + quantity"}
