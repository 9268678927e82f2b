"""Network storage that Loadstone serves on loopback."""

from __future__ import annotations

import contextlib
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar

from loadstone.errors import TargetError, WrongInputError
from loadstone.placements import programs, tree
from loadstone.placements.account import own_account
from loadstone.placements.flushes import ServerFlushes
from loadstone.results.record import FactorReading
from loadstone.spec.base import Level
from loadstone.spec.design import Failure
from loadstone.spec.model import OutageKind
from loadstone.spec.problems import near
from loadstone.spec.target import TargetSpec, default_server
from loadstone.targets import fio_program
from loadstone.targets.base import SettingInfo, Target, TargetContext
from loadstone.targets.local import copies
from loadstone.targets.local.engine_folders import EngineFolders, Stopwatch
from loadstone.targets.network_storage.connection import NetworkStorageConnection
from loadstone.targets.network_storage.server import StorageServer
from loadstone.targets.network_storage.syncing import sync_some
from loadstone.targets.server_outage import server_outage

WRITES = "writes"
"""The setting that says what is durable when a write is answered."""
UNSAFE = {(WRITES, "async"), (WRITES, "claimed")}
"""Settings with the levels under which what was flushed can be lost."""
IMAGE = "disk.img"
_FIRST_BYTES = 1 << 20
"""Of a disk before its test file is laid out: a server must have something to serve."""
_SPARE = 1.25
"""Room of a placement without a size, as a multiple of what lies there."""


class ServedStorage(Target):
    """A server of a disk, or of a folder, that lies in a folder of its own or on a placement."""

    serves = True
    storage_roles = ("data",)
    fio_engine: ClassVar[str]
    """fio's for this protocol."""
    needed_programs: ClassVar[tuple[str, ...]]
    needed_libraries: ClassVar[dict[str, str]] = {}
    """What they load, and the package of each."""
    levels: ClassVar[dict[str, tuple[str, ...]]] = {WRITES: ("cached", "sync")}
    """Setting: its levels, the default first."""
    kept_socket: ClassVar[str] = "server"
    """The longest name that a socket of the server has."""

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        super().__init__(spec, context)
        self._folders = EngineFolders(spec, context, own_account())
        self._server: StorageServer | None = None
        self._settings: dict[str, Level] = {}
        self._counted: dict[str, ServerFlushes | None] = {}
        self._flushes: ServerFlushes | None = None

    # -- what a protocol says ------------------------------------------------------------------
    @abstractmethod
    def make_server(self, folder: Path, log: Path) -> StorageServer:
        """The server, which is not started yet."""

    @abstractmethod
    def configure(self, shared: Path, settings: dict[str, str]) -> None:
        """Has the stopped server serve what is in a folder, in the way that is wanted."""

    @abstractmethod
    def url(self) -> str:
        """Where it is served."""

    @abstractmethod
    def files(self, shared: Path, names: Sequence[str]) -> list[Path]:
        """The files in the folder behind test files of these names."""

    def clear(self) -> None:
        """Removes all that nobody serves now; a disk stays: what it holds is written over."""

    def read_back(self) -> dict[str, Level]:
        """The settings of the running server."""
        return {WRITES: self.server.writes()}

    # -- before anything runs ------------------------------------------------------------------
    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """The server that would be used.

        Raises:
            WrongInputError: If it names a server that is neither ours nor at an address.
            TargetError: If this machine lacks one of them, with the package.
        """
        if spec.server != default_server(spec.engine):
            raise WrongInputError(
                f"target {cls.engine} has no such server",
                advice=f"leave server out, or write an address: {cls.engine}://HOST/...",
            )
        if reason := cls.unavailable():
            raise TargetError(f"target {cls.engine} is not available: {reason}")
        return {"engine": cls.engine, "server": " ".join(cls.needed_programs), "on": "loopback"}

    @classmethod
    def unavailable(cls) -> str | None:
        """Why this machine cannot serve it; None if it can."""
        reasons = [programs.absent(name) for name in cls.needed_programs]
        reasons += [programs.absent_library(*each) for each in cls.needed_libraries.items()]
        return next((each for each in reasons if each), None)

    @classmethod
    def plain_name(cls, name: str) -> str:
        """`write-delay` is `write_delay`."""
        return name.lower().replace("-", "_")

    @classmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """One of `levels`."""
        plain = cls.plain_name(name)
        if plain not in cls.levels:
            raise WrongInputError(
                f"target {cls.engine} has no setting {name!r}; {near(plain, cls.levels)}"
            )
        known = cls.levels[plain]
        if known and str(level) not in known:
            raise WrongInputError(
                f"{cls.engine}: {name} is one of {', '.join(known)}; given {level!r}"
            )
        unsafe = (plain, level) in UNSAFE
        return SettingInfo(plain, "restart", unsafe=unsafe, default=known[0] if known else "")

    # -- life ----------------------------------------------------------------------------------
    @property
    def server(self) -> StorageServer:
        """Its processes.

        Raises:
            TargetError: If the target is not open.
        """
        if self._server is None:
            raise TargetError(f"the {self.engine} target is not open")
        return self._server

    def open(self) -> None:
        """Makes its folder; starts it with little to serve."""
        if reason := self.unavailable():
            raise TargetError(f"target {self.engine} is not available: {reason}")
        self._folders.open()
        log = self._folders.make_folder("log") / "server.log"
        work = self._folders.make_socket_folder(self.kept_socket)
        self._server = self.make_server(work, log)
        self._serve(self.spec, anew=True)

    def close(self) -> None:
        """Ends the server whatever state it is in, and removes its folders."""
        if self._server is not None:
            self._server.end()
            self._server = None
        self._folders.close()

    def start(self) -> None:
        """Starts it with the settings in force; does nothing if it runs."""
        self._folders.places.recover()
        if not self.server.runs:
            self.configure(self.shared, {name: str(each) for name, each in self._settings.items()})
            self.server.start({})
            self.server.publish()

    def stop(self) -> None:
        """Ends it: what it was told to write is in the files, or in the page cache of them."""
        if self._server is not None:
            self._server.end()

    def crash(self, failure: Failure) -> None:
        """Kills it, after what its disks had not flushed was thrown away."""
        if failure == "power-loss":
            self._folders.places.power_loss()
        self.server.crash(failure)

    def outage(self, kind: OutageKind) -> AbstractContextManager[None]:
        """Pauses, stops or kills it for as long as the block lasts."""
        if kind == "full-disk":
            return super().outage(kind)
        return server_outage(self, self.server, kind)

    def check_alive(self) -> None:
        """Looks at the process."""
        self.server.check_alive()

    # -- state ---------------------------------------------------------------------------------
    @property
    def shared(self) -> Path:
        """The folder of what is served; another one on another placement."""
        return self._folders.places.layout.data

    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        """Serves the placement, with no files in its folder."""
        readings = self._serve(spec, anew=True)
        self._count_flushes(spec)
        return readings

    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """Serves what lies on the placement: test files are kept there from trial to trial."""
        readings = self._serve(spec, anew=False)
        self._count_flushes(spec)
        return readings

    def _count_flushes(self, spec: TargetSpec) -> None:
        """Once for each way in which it serves."""
        served = f"{spec.settings} {spec.storage}"
        if served not in self._counted:
            self._counted[served] = self.server.count_flushes(
                lambda: sync_some(
                    fio_program.fio_with(self.fio_engine), self.fio_engine, self.url()
                )
            )
        self._flushes = self._counted[served]

    def _serve(self, spec: TargetSpec, *, anew: bool) -> list[FactorReading]:
        stopwatch = Stopwatch()
        held = tree.size_bytes(self.shared) if self.shared.exists() else 0
        self.server.end()
        self._folders.places.use(spec.storage, int(held * _SPARE))
        if anew:
            self.clear()
        self._settings = {self.plain_name(name): each for name, each in spec.settings.items()}
        self.server.options = spec.process
        self.server.log.unlink(missing_ok=True)
        for path in self.files(self.shared, ()):
            if not path.exists():
                path.write_bytes(b"")
                _grow(path, _FIRST_BYTES)
        self.start()
        self._folders.last_reset = stopwatch.seconds
        stopwatch.lap("start_s")
        return [*self._readings(), *self._folders.places.readings(), *self.server.readings()]

    @contextlib.contextmanager
    def laying_out(self, names: Sequence[str]) -> Iterator[list[Path]]:
        """The files behind; a disk whose file was made anew is served anew afterwards."""
        paths = self.files(self.shared, names)
        before = [_state(each) for each in paths]
        yield paths
        if [_state(each) for each in paths] != before:
            self.server.end()
            self.start()

    def settle(self, cache: str) -> None:
        """Brings all to the medium; the server's own cache of it is dropped where that is asked."""
        self._folders.places.make_durable()
        if cache == "cold":
            count = copies.drop_from_page_cache(self.shared)
            self._folders.last_reset |= {"cache": f"{count} files dropped from the page cache"}

    # -- use -----------------------------------------------------------------------------------
    def connection(self) -> NetworkStorageConnection:
        """On loopback."""
        return NetworkStorageConnection(self.engine, self.url())

    # -- observation ---------------------------------------------------------------------------
    def inventory(self) -> dict[str, Any]:
        """The server as it runs, and where the files lie."""
        return {
            "engine": self.engine,
            "url": self.url(),
            "settings": self.read_back(),
            "flushes": self._flushes.facts() if self._flushes else None,
            "server": [each.cmdline() for each in self.server.processes()],
            **self._folders.inventory(self.shared),
        }

    def log_path(self) -> Path | None:
        """The log since the last start state."""
        return self._server.log if self._server else None

    def flushes_counted(self) -> ServerFlushes | None:
        """Counted when it was first served so."""
        return self._flushes

    def data_folder(self) -> Path:
        """What is served."""
        return self.shared

    def server_pid(self) -> int | None:
        """The first process."""
        return self.server.pid

    def server_cpu_s(self) -> float | None:
        """CPU of all its processes."""
        return self.server.cpu_s()

    # -- inside --------------------------------------------------------------------------------
    def _readings(self) -> list[FactorReading]:
        found = self.read_back()
        readings = []
        for name, level in self._settings.items():
            if str(found[name]) != str(level):
                raise TargetError(f"{self.engine}: {name} reads {found[name]!r} after {level!r}")
            readings.append(
                FactorReading(
                    factor=f"target.{name}",
                    requested=level,
                    read_back=found[name],
                    unsafe=(name, found[name]) in UNSAFE,
                    how="restart",
                )
            )
        return readings


class ServedDisk(ServedStorage):
    """One image."""

    def files(self, shared: Path, names: Sequence[str]) -> list[Path]:
        """All test files are the one disk."""
        return [shared / IMAGE]


def _grow(path: Path, size_bytes: int) -> None:
    with path.open("r+b") as file:
        file.truncate(size_bytes)


def _state(path: Path) -> tuple[int, int] | None:
    """Which file it is, and how large."""
    if not path.exists():
        return None
    found = path.stat()
    return found.st_ino, found.st_size
