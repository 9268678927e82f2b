"""The system under test, as workloads and the conductor see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from loadstone.errors import TargetError, WrongInputError
from loadstone.journal import Journal
from loadstone.placements.flushes import ServerFlushes
from loadstone.probes.base import Probe
from loadstone.protocol.programs import DRIVER, Program
from loadstone.results.record import FactorReading, Notice
from loadstone.spec.base import Level
from loadstone.spec.design import Failure
from loadstone.spec.model import OutageKind
from loadstone.spec.profile import ProfileSpec
from loadstone.spec.target import ProcessSpec, TargetSpec, default_server
from loadstone.targets.connection import Connection, NoConnection
from loadstone.targets.file_tree import FileTree, LocalTree
from loadstone.targets.first_file import FirstFile
from loadstone.targets.risks import Risks

if TYPE_CHECKING:
    from loadstone.probes.marks import Mark, SampleTable
    from loadstone.targets.happenings import ServerLog


@dataclass(frozen=True)
class SettingInfo:
    """What is known of a setting of the target before it is set."""

    name: str
    needs: str
    """`reload`, `restart`, or `new data` if it is fixed when data is made."""
    unsafe: bool = False
    """What the system makes of the level can lose acknowledged commits, or hide damage."""
    default: str = ""
    unit: str = ""
    refused: str | None = None
    """Why it cannot be a factor, if it cannot."""


@dataclass(frozen=True)
class TargetContext:
    """What a target is given to work with."""

    journal: Journal
    owner: str
    """Mark written into what Loadstone creates (the experiment's name)."""
    force: bool = False
    """The user allowed the use of a database that is not marked as Loadstone's."""


class Target:
    """A system under test.

    Life: `open`, `empty`, the workload's `build`, `snapshot`, then for each trial `restore` and
    load; finally `close`. What is defined here is right for a system that nobody starts, that keeps
    nothing and has no settings: a subclass says in what its own differs. Adding one is a module and
    a line in `targets.registry`.
    """

    engine: ClassVar[str]
    first_file: ClassVar[FirstFile | None] = None
    """What the file that `loadstone init` writes shows of it; None: its name alone."""
    capabilities: ClassVar[frozenset[str]] = frozenset()
    """Names of `targets.capabilities`."""
    storage_roles: ClassVar[tuple[str, ...]] = ()
    """What of an owned system can lie on a placement: `data`, and what can lie apart from it."""
    in_process: ClassVar[bool] = False
    """The engine runs within the driver: its CPU is part of the driver's."""
    generator: ClassVar[Program] = DRIVER
    """What makes load on it, unless the workload says otherwise."""

    chosen_facts: ClassVar[Mapping[str, str]] = {}
    """Facts of its inventory that the system chooses by itself where nobody holds them, with what
    each is called: two configurations that differ in one differ in two variables."""

    explained_facts: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Setting: how the facts of its inventory begin that follow from its level and from nothing
    else that may be changed: where it is what is varied, they are no second variable."""

    risks: ClassVar[Risks] = {}
    """Its settings that have unsafe levels."""

    data_is_folder: ClassVar[bool] = True
    """What `data` of its spec names is a folder, or becomes one."""

    fields: ClassVar[frozenset[str]] = frozenset()
    """Of its spec, those that only some targets have: `reset`, `ca`, `sources`."""

    empty_bytes: ClassVar[int] = 0
    """Free space without which it is not made, before there are any data."""

    serves: ClassVar[bool] = False
    """It is a server, with processes of its own, unless it is at an address of somebody else's."""

    part_names: ClassVar[tuple[str, ...]] = ()
    """Of a system of several parts (`targets.system`), in the order in which they are started."""

    def __init__(self, spec: TargetSpec, context: TargetContext) -> None:
        self.spec = spec
        self.context = context

    @classmethod
    def for_spec(cls, spec: TargetSpec) -> type[Target]:
        """The class of a target as `spec` has it, where an engine has several."""
        return cls

    # -- parts ---------------------------------------------------------------------------------
    @classmethod
    def named_parts(cls, spec: TargetSpec) -> tuple[str, ...]:
        """The names of the parts that a system has as `spec` wants it, first started first."""
        return cls.part_names

    @classmethod
    def part_spec(cls, spec: TargetSpec, part: str) -> TargetSpec:
        """A part as a target of its own.

        Args:
            spec: Of the system.
            part: One of `named_parts`.

        Raises:
            WrongInputError: If there is no such part.
        """
        raise WrongInputError(f"target {cls.engine} has no parts", advice="leave parts out")

    @classmethod
    def part_class(cls, spec: TargetSpec, part: str) -> type[Target]:
        """What a part is, as `spec` of the system has it.

        Raises:
            WrongInputError: If there is no such part, or no target of its engine.
        """
        raise WrongInputError(f"target {cls.engine} has no parts", advice="leave parts out")

    def parts(self) -> Mapping[str, Target]:
        """The parts that it has now, by name, first started first."""
        return {}

    def entrance(self) -> Target:
        """What load arrives at: one of its parts, or the system itself."""
        return self

    # -- before anything runs ------------------------------------------------------------------
    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        """What would be used (version, binaries, address), without starting anything.

        Raises:
            WrongInputError: If the spec cannot work, with the reason.
        """
        if spec.data is not None:
            raise WrongInputError(f"target {cls.engine} keeps no data", advice="leave data out")
        if spec.server != default_server(spec.engine) or spec.process != ProcessSpec():
            raise WrongInputError(
                f"target {cls.engine} has no server", advice="leave server and process out"
            )
        return {"engine": cls.engine}

    @classmethod
    def reached(cls, spec: TargetSpec) -> Connection | None:
        """How a load generator reaches it, without its password, before anything is started.

        Returns:
            None where that is not known before it is open.

        Raises:
            WrongInputError: If the address of `spec` cannot be read.
        """
        return None

    @classmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        """What setting `name` to `level` would need, without starting anything where possible.

        Raises:
            WrongInputError: If there is no such setting, or the level is not one of its values.
        """
        raise WrongInputError(
            f"target {cls.engine} has no setting {name!r}",
            advice="vary workload.… or profile.… instead",
        )

    @classmethod
    def plain_name(cls, name: str) -> str:
        """One spelling for all that a setting's name may have: its case, its dashes, its aliases.

        Args:
            name: Of a setting that may not exist.
        """
        return name

    @classmethod
    def for_sessions(cls, spec: TargetSpec, sessions: int) -> dict[str, Level]:
        """The settings by which an owned server lets so many sessions in.

        Args:
            spec: Its own settings stay as they are.
            sessions: Open at a time at most.

        Returns:
            Nothing where its defaults are enough, and for a server at an address.
        """
        return {}

    @classmethod
    def layout(cls, spec: TargetSpec) -> dict[str, Level]:
        """The settings of `spec` that are fixed when data is made, such as the block size.

        Data of one layout cannot be restored into another.
        """
        return {}

    @classmethod
    def cautions(cls, spec: TargetSpec, profile: ProfileSpec) -> list[Notice]:
        """What a reader of figures should know of a target as `spec` has it, under this load."""
        return []

    @classmethod
    def exhaustions(cls, spec: TargetSpec) -> Mapping[str, str]:
        """Classes of errors of the load that say that something ran out.

        Returns:
            Class: the resource (`results.limits`).
        """
        return {}

    # -- life ----------------------------------------------------------------------------------
    def check_access(self) -> None:
        """Tries, before anything is touched, what Loadstone must be allowed at an address.

        Raises:
            LoadstoneError: If it is not let in, or may not do it.
        """

    def open(self) -> None:
        """Starts the system (owned) or connects (address); refuses data that are not ours."""

    def close(self) -> None:
        """Stops what it started and removes what it made. Works after any failure."""

    def start(self) -> None:
        """Starts an owned system with the settings in force."""

    def stop(self) -> None:
        """Stops an owned system cleanly."""

    def check_ready(self) -> None:
        """Asks the system for something that each user would need: does it answer?

        Raises:
            TargetError: If it does not.
        """

    def crash(self, failure: Failure) -> None:
        """Lets an owned system fail; `start` afterwards brings it back.

        Args:
            failure: `kill`: SIGKILL to all its processes at once. `power-loss`: what the volatile
                devices below its data were not asked to flush is thrown away first.

        Raises:
            TargetError: If there is nothing to fail: no owned system, no volatile device.
        """
        raise TargetError(
            f"target {self.engine} cannot fail", advice="choose one that Loadstone starts"
        )

    def crash_under_load(self, failure: Failure, kill_load: Callable[[], None]) -> None:
        """As `crash`, while a generator makes load: an engine that lives in it fails with it.

        Args:
            failure: `kill` or `power-loss`.
            kill_load: Ends the generator at once.
        """
        self.crash(failure)
        if self.in_process:
            kill_load()

    def outage(self, kind: OutageKind) -> AbstractContextManager[None]:
        """Puts an owned system out of service for as long as the block lasts.

        Args:
            kind: `pause`, `stop`, `kill` or `full-disk`.

        Raises:
            TargetError: If it is not Loadstone's own, or its disk cannot be filled.
        """
        raise TargetError(f"{self.engine} has no server that could be out of service")

    def check_alive(self) -> None:
        """Looks whether the system still runs; cheap enough for once a second.

        Raises:
            TargetError: If what Loadstone started has ended.
        """

    # -- state ---------------------------------------------------------------------------------
    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        """Makes the target empty, in the layout of `spec`, and starts it as `spec` says.

        Returns:
            As `restore`.
        """
        return []

    def snapshot(self, key: str) -> None:
        """Keeps the present data under `key`, ready for use, to be restored."""

    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        """Puts the kept data back where `spec` wants it and starts the system as `spec` says.

        Args:
            key: Of an earlier `snapshot`, of the same layout.
            spec: Of a trial: settings, storage and process are followed; engine, server and data
                are those of the experiment.

        Returns:
            One reading for each setting, placement and process option that `spec` names, read back
            from the running system.

        Raises:
            TargetError: If the system refuses a setting or reads back another value.
        """
        return []

    def recall(self, key: str) -> dict[str, float] | None:
        """Looks for data of an earlier run that are kept under `key`, ready to be restored.

        Returns:
            The facts of their load; None if there are none, as in most targets.
        """
        return None

    def retain(self, key: str, facts: Mapping[str, float]) -> None:
        """Keeps the snapshot under `key` for later runs, where making it anew takes long.

        Args:
            key: Of a `snapshot` that was just taken.
            facts: Of its load.
        """

    def reading_all(self) -> AbstractContextManager[None]:
        """While it lasts, all the data are read to check them: by all means the system has.

        The settings under test do not slow it down; they are in force again at its end.
        """
        return nullcontext()

    def laying_out(self, names: Sequence[str]) -> AbstractContextManager[Sequence[Path]]:
        """Files of this machine behind the test files of these names, to be written in full.

        What serves them goes on with them when the block is left. None: there are no such files.
        """
        return nullcontext(())

    def disk_bytes(self) -> int | None:
        """How large the disk is that is all of the test files; None: they are files."""
        return None

    @classmethod
    def keeps_caches(cls, spec: TargetSpec) -> str | None:
        """Why no trial can begin with cold caches; None if one can."""
        return None

    def settle(self, cache: str) -> None:
        """The last change before load: caches, statistics and checkpoint in their declared state.

        It comes after `restore`, the workload's `prepare` and `fingerprint`, which read the data
        and would spoil a cold cache. The system runs afterwards, its statistics are reset, a
        checkpoint was just made and its housekeeping is in its declared state.

        Args:
            cache: `warm` (all data read) or `cold` (the system restarted and the data dropped
                from the page cache, where allowed).
        """

    def make_way(self) -> None:
        """The load comes next: an engine that lives in its process is left to it alone."""

    # -- use -----------------------------------------------------------------------------------
    def connection(self) -> Connection:
        """For the load generator."""
        return NoConnection()

    # -- observation ---------------------------------------------------------------------------
    def probes(self) -> list[Probe]:
        """Samplers of this system."""
        return []

    @classmethod
    def happenings(cls, samples: SampleTable, log: ServerLog) -> list[Mark]:
        """What the system did in the background during a trial: checkpoints, log switches, waits.

        Args:
            samples: Of its probes, of the interval that is asked about.
            log: Of the trial.
        """
        return []

    def inventory(self) -> dict[str, Any]:
        """Version, and every setting that is not the default."""
        return {"engine": self.engine}

    def identity(self) -> str:
        """What tells it from another of its kind (a disk's serial number); empty: nothing does."""
        return ""

    def log_path(self) -> Path | None:
        """The system's own log, if it can be read from here."""
        return None

    def data_folder(self) -> Path | None:
        """Where the data lie; None if that is not on this machine, or not known."""
        return None

    def file_tree(self) -> AbstractContextManager[FileTree]:
        """The files that a load generator works with itself, for whoever reads them back.

        Raises:
            TargetError: If there are none that can be reached from here.
        """
        folder = self.data_folder()
        if folder is None:
            raise TargetError(f"target {self.engine} has no folder with files")
        return nullcontext(LocalTree(folder))

    def flushes_counted(self) -> ServerFlushes | None:
        """What a server of Loadstone's below the data does with flushes; None without one."""
        return None

    def server_pid(self) -> int | None:
        """The first process of Loadstone's own server; None of any other, or if it is down."""
        return None

    def server_pids(self) -> list[int]:
        """The first process of each server of Loadstone's own that runs now."""
        pid = self.server_pid()
        return [] if pid is None else [pid]

    def server_cpu_s(self) -> float | None:
        """CPU seconds used so far by the system's processes, if it runs on this machine."""
        return None

    def most_processors(self) -> float | None:
        """So many processors its processes can use at a time, as they are built or set.

        Returns:
            None where only the machine bounds them.
        """
        return None
