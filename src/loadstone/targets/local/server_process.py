"""The process of an owned server: started, waited for until it is ready, and after its end."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from loadstone.errors import TargetError
from loadstone.placements.account import Account
from loadstone.results.record import FactorReading
from loadstone.spec.model import ProcessSpec
from loadstone.targets.local.launch import launch, readings

START_S = 600.0
"""Crash recovery of a long log takes minutes; a server that fails is noticed at once."""
_POLL_S = 0.01


class ServerProcess:
    """One server, as a child of Loadstone. What signals end it is the engine's business."""

    def __init__(self, engine: str, account: Account, log: Path) -> None:
        """Starts nothing yet.

        Args:
            engine: Its name, for errors.
            account: That it runs as.
            log: What it says is appended to this file.
        """
        self.log = log
        self.options = ProcessSpec()
        """How the next start runs it."""
        self._engine = engine
        self._account = account
        self._folder = Path()
        self._log_begin = 0
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, command: Sequence[str | Path], folder: Path) -> None:
        """Starts it, in that folder and a session of its own."""
        self._folder = folder
        starting = launch(command, self.options, self._account)
        self._log_begin = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            self._account.own(self.log)
            self._process = subprocess.Popen(
                starting.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=folder,
                start_new_session=True,
                **starting.options,
            )

    def wait_until(self, ready: Callable[[], bool]) -> bool:
        """Waits for the server to become ready.

        Returns:
            False if it has ended instead.

        Raises:
            TargetError: If it is not ready in time.
        """
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            if self._process is None or self.has_ended():
                return False
            if ready():
                return True
            time.sleep(_POLL_S)
        raise TargetError(
            f"{self._engine} in {self._folder} is not ready after {START_S:g} s",
            advice=f"see {self.log}",
        )

    def has_ended(self) -> bool:
        """Whether it was started and has ended since, unasked."""
        return self._process is not None and self._process.poll() is not None

    def wait(self) -> int | None:
        """Waits for the end that somebody has caused.

        Returns:
            Its exit code, or None if it was not started, or waited for already.
        """
        if self._process is None:
            return None
        code = self._process.wait()
        self._process = None
        return code

    @property
    def pid(self) -> int | None:
        """Its number while it runs, or has ended unasked."""
        return self._process.pid if self._process else None

    def log_lines(self, *, of_this_start: bool) -> list[str]:
        """What the log says, since the last start or at all."""
        with self.log.open("rb") as file:
            file.seek(self._log_begin if of_this_start else 0)
            return file.read().decode(errors="replace").splitlines()

    def readings(self) -> list[FactorReading]:
        """What the running server has of how it was to be started.

        Raises:
            TargetError: If it runs with something else, or not at all.
        """
        if self._process is None:
            raise TargetError(f"the {self._engine} server does not run")
        return readings(self.options, self._process.pid)
