"""A server that Loadstone starts, waits for, stops, kills and finds again by the journal."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar

import psutil

from loadstone.errors import TargetError
from loadstone.host import processes as of_host
from loadstone.host.cpu_group import QuotaGroup
from loadstone.host.processes import kill_all, signal_all, wait_ended
from loadstone.journal import Entry, Journal, undoes
from loadstone.placements.account import Account
from loadstone.results.record import FactorReading
from loadstone.spec.design import Failure
from loadstone.spec.target import ProcessSpec
from loadstone.targets.blame import Cures, not_started
from loadstone.targets.local.launch import launch, readings
from loadstone.targets.local.pause import paused

_POLL_S = 0.01
_CITED_LINES = 5


class OwnedServer(ABC):
    """One process in the foreground, with its children, that works in a folder of its own.

    The journal knows it by that folder. A subclass names it, says how it is started, when it is
    ready, and how its processes are found.
    """

    title: ClassVar[str]
    """Its name, for people."""
    undo_name: ClassVar[str]
    """What the journal calls its end: `postgresql-stop`. It is registered with the class."""
    stop_signal: ClassVar[signal.Signals] = signal.SIGTERM
    stop_s: ClassVar[float] = 60.0
    start_s: ClassVar[float] = 600.0
    """Recovery of a long log takes minutes; a server that fails is noticed at once."""
    stamp: ClassVar[re.Pattern[str]] = re.compile("")
    """What its log writes before a message: time, process."""
    cause: ClassVar[re.Pattern[str]] = re.compile("")
    """Found in the messages that tell why it has ended."""
    cures: ClassVar[Cures] = ()
    """What helps where it does not start, by its own words."""

    def __init__(
        self, folder: Path, *, log: Path, account: Account, journal: Journal, version: str = ""
    ) -> None:
        """Starts nothing yet.

        Args:
            folder: That it works in, and is found by; it may be another at the next start.
            log: What it says is appended to this file.
            account: That it runs as.
            journal: Told before it is started.
            version: For the journal.
        """
        self.folder = folder
        self.log = log
        self.account = account
        self.options = ProcessSpec()
        """How the next start runs it."""
        self._journal = journal
        self._version = version
        self._entry: Entry | None = None
        self._group = QuotaGroup(journal)
        self._process: subprocess.Popen[bytes] | None = None
        self._log_begin = 0

    def __init_subclass__(cls, **options: Any) -> None:
        """Registers how the journal ends servers of this class."""
        super().__init_subclass__(**options)
        if "undo_name" in vars(cls):
            undoes(cls.undo_name)(lambda data: cls.end_in(Path(os.path.realpath(data["data"]))))

    # -- what a subclass says ------------------------------------------------------------------
    @abstractmethod
    def command(self) -> Sequence[str | Path]:
        """The command line of the next start."""

    @abstractmethod
    def is_ready(self) -> bool:
        """Whether the server that was just started serves already."""

    @classmethod
    @abstractmethod
    def processes_of(cls, folder: Path) -> list[psutil.Process]:
        """All processes of the server in a folder, the one that starts the others first.

        Of one that a killed run left, too: its first process may be gone.
        """

    @classmethod
    def end_in(cls, folder: Path) -> None:
        """Ends the server in a folder by all means, whatever state it is in, and what it left.

        Raises:
            TargetError: If processes survive SIGKILL.
        """
        kill_all(lambda: cls.processes_of(folder), f"{cls.title} in {folder}")

    # -- life ----------------------------------------------------------------------------------
    def start(self, changed: Mapping[str, str]) -> None:
        """Starts it, in its folder and a session of its own, and waits until it is ready.

        Args:
            changed: Settings that the last start had not, to be named if this one fails.

        Raises:
            TargetError: If it does not start, with what its log says, or is not ready in time.
        """
        # The group is noted before the processes in it: they are ended first.
        members = None if self.options.quota is None else self._group.bound(self.options.quota)
        self._note()
        self._launch(members)
        deadline = time.monotonic() + self.start_s
        while not self._has_ended():
            if self.is_ready():
                return
            if time.monotonic() > deadline:
                raise TargetError(
                    f"{self.name} is not ready after {self.start_s:g} s", advice=f"see {self.log}"
                )
            time.sleep(_POLL_S)
        said = self._last_words(self._log_begin)
        raise not_started(self.title, said, changed, self.cures, otherwise=f"see {self.log}")

    def stop(self) -> int | None:
        """Stops it cleanly; one that somebody else has killed counts as stopped.

        Returns:
            Its exit code, or None if it did not run.

        Raises:
            TargetError: If it does not stop in time.
        """
        main, code = self._main(), None
        if main is not None:
            signal_all([main], self.stop_signal)
            if not wait_ended([main], self.stop_s):
                raise TargetError(
                    f"{self.name} does not stop within {self.stop_s:g} s", advice=f"see {self.log}"
                )
            code = self._wait()
        self.end()
        return code

    def crash(self, failure: Failure) -> None:
        """Kills all its processes at once. It stays journalled: it is to come back.

        Args:
            failure: In a power loss nothing of its memory is left, whoever else holds it.
        """
        kill_all(self.processes, self.name)
        self._wait()

    def end(self) -> None:
        """Ends it by all means, for data that are thrown away."""
        self.end_in(self.folder)
        self._wait()
        if self._entry is not None:
            self._journal.undone(self._entry)
            self._entry = None
        self._group.remove()

    def paused(self) -> AbstractContextManager[None]:
        """Has it stand still for a while: it keeps its connections and answers nobody.

        Raises:
            TargetError: If one of its processes goes on.
        """
        return paused(self.name, self.processes, self._journal)

    # -- observation ---------------------------------------------------------------------------
    @property
    def name(self) -> str:
        """For people: `PostgreSQL in /var/tmp/...`."""
        return f"{self.title} in {self.folder}"

    @property
    def runs(self) -> bool:
        """Whether it was started and has not ended since."""
        return self.pid is not None

    @property
    def pid(self) -> int | None:
        """Of its first process, while it runs."""
        process = self._process  # another thread may see its end meanwhile
        return process.pid if process is not None and process.poll() is None else None

    def processes(self) -> list[psutil.Process]:
        """All of its processes that there are now."""
        return self.processes_of(self.folder)

    def cpu_s(self) -> float | None:
        """User and system seconds of all its processes so far; None if it is down."""
        main = self._main()
        return None if main is None else of_host.cpu_s(main)

    def check_alive(self) -> None:
        """Raises a TargetError, with what its log says, if it has ended unasked."""
        if self._has_ended():
            raise TargetError(
                f"{self.title} has ended; its log says: {self._last_words(0)}",
                advice=f"see {self.log}",
            )

    def readings(self) -> list[FactorReading]:
        """What the running server has of how it was to be started.

        Raises:
            TargetError: If it runs with something else, or not at all.
        """
        if self._process is None:
            raise TargetError(f"the {self.title} server does not run")
        return readings(self.options, self._process.pid)

    # -- inside --------------------------------------------------------------------------------
    def _note(self) -> None:
        """Tells the journal that there will be processes in the folder."""
        if self._entry is None:
            what = f"{self.title} {self._version}".strip()
            self._entry = self._journal.before(
                f"run {what} in {self.folder}", self.undo_name, data=str(self.folder)
            )

    def _launch(self, members: Path | None) -> None:
        starting = launch(self.command(), self.options, self.account, members)
        self._log_begin = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            self.account.own(self.log)
            self._process = subprocess.Popen(
                starting.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
                **starting.options,
            )

    def _main(self) -> psutil.Process | None:
        with contextlib.suppress(psutil.NoSuchProcess):
            pid = self.pid
            return None if pid is None else psutil.Process(pid)
        return None

    def _has_ended(self) -> bool:
        """Whether it was started and has ended since, unasked."""
        process = self._process
        return process is not None and process.poll() is not None

    def _wait(self) -> int | None:
        """Waits for the end that somebody has caused. Returns the exit code of one that ran."""
        if self._process is None:
            return None
        code = self._process.wait()
        self._process = None
        return code

    def _last_words(self, begin: int) -> str:
        """What its log says last of why it has ended, from a place in it."""
        with self.log.open("rb") as file:
            file.seek(begin)
            lines = file.read().decode(errors="replace").splitlines()
        told = [self.stamp.sub("", line, count=1) for line in lines if line.strip()]
        causes = [line for line in told if self.cause.search(line)]
        said = list(dict.fromkeys(causes or told))  # several processes may say the same
        return " | ".join(said[-_CITED_LINES:]) or "nothing"
