"""What the doctor saw, as frozen values. What could not be seen is None, never a guess."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from loadstone.doctor.facts_superset import SupersetFacts
from loadstone.doctor.server_facts import ServerFacts
from loadstone.spec.base import Level


@dataclass(frozen=True)
class DiskFacts:
    """The disk below a folder."""

    name: str
    rotational: bool | None = None
    virtual: bool = False
    """A disk of a hypervisor, whose `rotational` is the hypervisor's word."""
    scheduler: str | None = None
    schedulers: tuple[str, ...] = ()
    """Those that can be chosen."""
    read_ahead_kb: int | None = None
    write_cache: str | None = None
    """What the kernel believes of its cache: `write back` or `write through`."""
    flushes: int | None = None
    """That the kernel has sent to it since boot."""
    writes: int | None = None
    """Likewise."""


@dataclass(frozen=True)
class PlaceFacts:
    """Where data lies: a folder, its mount and its disk."""

    folder: str
    mounted_at: str = "/"
    file_system: str = "ext4"
    options: tuple[str, ...] = ()
    size_bytes: int | None = None
    free_bytes: int | None = None
    disk: DiskFacts | None = None
    nearest: DiskFacts | None = None
    """The device that its file system lies on, if that is another: a loop device."""
    drops_flushes: str | None = None
    """The word on the command line of a storage server below it, if it says that it drops them."""

    @property
    def solid(self) -> bool:
        """Whether the disk says that it does not rotate."""
        return self.disk is not None and self.disk.rotational is False


@dataclass(frozen=True)
class HostFacts:
    """This machine, within the bounds of the server if there is one, else of this shell."""

    name: str = ""
    cores: int = 1
    """Processors that may be used, or as many as the quota of time is worth if fewer."""
    memory_bytes: int = 0
    """What processes may have: of the machine, or the limit of the control group if smaller."""
    processor_quota: float | None = None
    """So many processors' worth of time, if the control group has a quota."""
    throttled_percent: float = 0.0
    """Of the quota's periods, those in which it was used up."""
    memory_limit_bytes: int | None = None
    """Of the control group."""
    memory_limit_kills: int = 0
    """Processes of the control group that were killed because its limit was met."""
    shared_memory_bytes: int | None = None
    """Size of `/dev/shm` as the server sees it."""
    shared_memory_free_bytes: int | None = None
    available_bytes: int | None = None
    swap_total_bytes: int = 0
    swap_used_bytes: int = 0
    swapped_in_pages: int = 0
    """Since boot."""
    oom_kills: int = 0
    """Processes that the kernel killed for want of memory, since boot."""
    huge_pages: int = 0
    huge_pages_free: int = 0
    """Neither in use nor promised to a process."""
    huge_page_bytes: int = 2 * 1024**2
    transparent_huge_pages: str | None = None
    sysctl: Mapping[str, str] = field(default_factory=dict)
    governor: str | None = None
    energy_preference: str | None = None
    """What the processor leans to, where it chooses its frequency itself."""
    frequency_limit_khz: int | None = None
    """The lowest upper limit of all frequency domains."""
    frequency_most_khz: int | None = None
    """What the hardware of that domain has."""
    prefetchers: str | None = None
    """`on`, `off`, or which of them are off; None: not known here."""
    turbo: bool | None = None
    smt: bool | None = None
    clock_source: str | None = None
    clock_sources: tuple[str, ...] = ()
    virtualisation: str | None = None
    steal_percent: float | None = None
    """Of all CPU time since boot."""
    numa_nodes: int = 1
    mitigations: Mapping[str, str] = field(default_factory=dict)
    """Weakness of the processor: what the kernel does about it."""
    nofile: int | None = None
    """Soft limit of open files of this shell."""
    nofile_hard: int | None = None
    place: PlaceFacts | None = None
    """Where the data of the server, or of experiments, lies."""

    def number(self, sysctl: str) -> int | None:
        """A kernel setting as a number, or None if there is no such setting here."""
        text = self.sysctl.get(sysctl, "")
        return int(text) if text.lstrip("-").isdigit() else None


@dataclass(frozen=True)
class LogMessage:
    """How often a message is in a server's log."""

    count: int
    last: str
    """The last such line, shortened."""


@dataclass(frozen=True)
class LogFacts:
    """What a server's log says."""

    path: str
    read_bytes: int
    span_s: float | None
    """From the first to the last time stamp of what was read."""
    messages: Mapping[str, LogMessage] = field(default_factory=dict)
    files: int = 1
    """With those that were rotated away."""
    entries: int = 0
    unreadable: int = 0
    """Entries in a language other than English and without a code."""
    by_code: bool = False
    """It is not in English, and its entries have codes: what has none of its own is not found."""
    strange: str | None = None
    """Why it has no entry of such a server: it is something else."""

    @property
    def readable(self) -> bool:
        """Whether all that it says was understood; an empty one says nothing."""
        return self.entries > 0 and not self.unreadable

    def per_hour(self, message: str) -> float | None:
        """The rate of a message; None below a minute of log, where a rate says nothing."""
        if self.span_s is None or self.span_s < 60:
            return None
        return self.messages[message].count / self.span_s * 3600


@dataclass(frozen=True)
class ProcessFacts:
    """The server's process, where it runs on this machine."""

    pid: int
    nofile: int | None = None
    resident_bytes: int | None = None
    transparent_huge_bytes: int | None = None
    """Of its memory, what lies in transparent huge pages."""


_OF_NOBODY = ("default", "client")
"""Sources of settings that nobody has chosen for the server."""


@dataclass(frozen=True)
class Setting:
    """A setting of a server."""

    text: str
    """As it may be written: `128MB`, `on`."""
    number: float | None = None
    """In bytes, seconds, or as it stands if it has no unit."""
    source: str = "default"
    """`default`, or where it was set."""


@dataclass(frozen=True)
class Settings:
    """All settings of a server, by name."""

    by_name: Mapping[str, Setting] = field(default_factory=dict)

    def text(self, name: str) -> str | None:
        """A setting as it is written; None if the server has none of that name."""
        found = self.by_name.get(name)
        return found.text if found else None

    def number(self, name: str) -> float | None:
        """A setting in bytes, seconds or as it stands."""
        found = self.by_name.get(name)
        return found.number if found else None

    def on(self, name: str) -> bool:
        """Whether a setting is on; False also where there is none of that name."""
        return (self.text(name) or "").lower() in ("on", "1", "true", "yes")

    def off(self, name: str) -> bool:
        """Whether a setting is there and off."""
        return (self.text(name) or "").lower() in ("off", "0", "false", "no")

    def chosen(self, names: Sequence[str]) -> dict[str, Level]:
        """Those of these settings that are not the default, as an experiment takes them."""
        found: dict[str, Level] = {}
        for name in names:
            setting = self.by_name.get(name)
            if setting is None or setting.source in _OF_NOBODY or setting.text in ("", "-1"):
                continue
            whole = setting.number is not None and setting.text.isdigit()
            found[name] = int(setting.text) if whole else setting.text
        return found


@dataclass(frozen=True)
class PostgreSQLActivity:
    """Counters of a running PostgreSQL. None: not allowed to see it, or an older version."""

    uptime_s: float = 0.0
    data_bytes: int = 0
    sessions: int = 0
    idle_in_transaction_s: tuple[float, ...] = ()
    """Age of each session that has a transaction open and does nothing."""
    checkpoints_timed: int = 0
    checkpoints_requested: int = 0
    checkpoints_span_s: float = 0.0
    wal_bytes: int | None = None
    wal_full_pages: int | None = None
    wal_span_s: float = 0.0
    blocks_hit: int = 0
    blocks_read: int = 0
    temp_files: int = 0
    temp_bytes: int = 0
    statistics_span_s: float = 0.0
    oldest_xid_age: int = 0
    archived_failed: int = 0
    archive_fails_now: bool = False
    """The last try to archive failed."""
    inactive_slots: tuple[tuple[str, int], ...] = ()
    """Replication slots without a reader, and the bytes of WAL that each keeps."""
    jit_available: bool = False
    huge_pages_status: str | None = None
    """`on`, `off` or `unknown`: what `huge_pages = try` led to."""


@dataclass(frozen=True)
class PostgreSQLFacts(ServerFacts):
    """A PostgreSQL: running, or planned by an experiment file (then without activity)."""

    subject = "postgresql"
    settings: Settings
    version: str = "18.0"
    local: bool = True
    activity: PostgreSQLActivity | None = None
    process: ProcessFacts | None = None
    log: LogFacts | None = None
    expected_bytes: int | None = None
    """Data that an experiment would load."""

    @property
    def major(self) -> int:
        """Its major version."""
        return int(self.version.split(".")[0])

    @property
    def data_bytes(self) -> int | None:
        """Size of all databases, or what an experiment would load."""
        return self.activity.data_bytes if self.activity else self.expected_bytes

    @property
    def title(self) -> str:
        """With its version."""
        return f"PostgreSQL {self.version}"

    @property
    def size_bytes(self) -> int | None:
        """Of all databases."""
        return self.data_bytes

    @property
    def is_planned(self) -> bool:
        """One that runs has counters."""
        return self.activity is None

    def folder(self) -> Path | None:
        """As the server says, if the session may know it."""
        return _folder(self.settings, "data_directory") if self.local else None

    def carried(self, names: Sequence[str]) -> dict[str, Level]:
        """Those that are not the default."""
        return self.settings.chosen(names)


@dataclass(frozen=True)
class MariaDBFacts(ServerFacts):
    """A MariaDB: running, or planned by an experiment file (then without status)."""

    subject = "mariadb"
    settings: Settings
    status: Mapping[str, str] = field(default_factory=dict)
    """`SHOW GLOBAL STATUS`; empty if it does not run."""
    version: str = "10.11"
    local: bool = True
    data_bytes: int | None = None
    crash_unsafe_tables: int | None = None
    """Tables of users in an engine without crash recovery."""
    process: ProcessFacts | None = None
    log: LogFacts | None = None

    @property
    def running(self) -> bool:
        """Whether there is a server to see counters of."""
        return bool(self.status)

    @property
    def title(self) -> str:
        """With its version."""
        return f"MariaDB {self.version}"

    @property
    def size_bytes(self) -> int | None:
        """Of all databases."""
        return self.data_bytes

    @property
    def is_planned(self) -> bool:
        """One that runs has status variables."""
        return not self.running

    def folder(self) -> Path | None:
        """As the server says."""
        return _folder(self.settings, "datadir") if self.local else None

    def carried(self, names: Sequence[str]) -> dict[str, Level]:
        """Those that are not the default."""
        return self.settings.chosen(names)

    def count(self, name: str) -> float:
        """A status counter; 0 if the server has none of that name."""
        try:
            return float(self.status.get(name, "0") or 0)
        except ValueError:
            return 0.0

    @property
    def uptime_s(self) -> float:
        """Seconds since the start, at least 1."""
        return max(self.count("Uptime"), 1.0)


@dataclass(frozen=True)
class SQLiteFacts(ServerFacts):
    """A SQLite database: a file, or planned by an experiment file."""

    subject = "sqlite"
    has_process = False
    path: str
    page_bytes: int | None = None
    pages: int | None = None
    free_pages: int | None = None
    journal_mode: str | None = None
    synchronous: str | None = None
    """Of each connection, so known of an experiment only."""
    wal_bytes: int = 0
    hot_journal: bool = False
    """A rollback journal lies beside the file and nobody uses it: a transaction was cut off."""
    damage: str | None = None
    """What `quick_check` found wrong."""
    checked: str = "not checked"
    """How far the quick look at its integrity went."""

    @property
    def title(self) -> str:
        """With its path."""
        return f"SQLite {self.path}"

    @property
    def size_bytes(self) -> int | None:
        """Of its pages."""
        return (self.pages or 0) * (self.page_bytes or 0) or None

    def folder(self) -> Path:
        """That the file lies in."""
        return Path(self.path).absolute().parent

    def carried(self, names: Sequence[str]) -> dict[str, Level]:
        """What stands in the file; modes that lose data are no base of an experiment."""
        known: dict[str, Level | None] = {
            "journal_mode": self.journal_mode,
            "page_size": self.page_bytes,
        }
        found = {name: level for name in names if (level := known.get(name))}
        return {name: level for name, level in found.items() if level not in ("off", "memory")}

    def doubts(self) -> tuple[str, ...]:
        """That its integrity was not looked at to the end."""
        return () if self.checked == "checked" else (f"integrity: {self.checked}",)


@dataclass(frozen=True)
class Facts:
    """All that the rules look at."""

    host: HostFacts
    server: ServerFacts | None = None
    superset: SupersetFacts | None = None
    """Then `server` is the database of its catalogue, if that is known."""

    @property
    def server_host(self) -> HostFacts | None:
        """The machine that the server runs on, if it is this one."""
        return self.host if self.server is None or self.server.local else None


def _folder(settings: Settings, name: str) -> Path | None:
    text = settings.text(name)
    return Path(text) if text else None
