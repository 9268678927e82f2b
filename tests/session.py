"""A user who runs the commands of Loadstone, and a look at what they leave behind."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
from drivers import drivers_of
from listing import unused_shared_memory
from warm import Running, command

from loadstone.results.frames import read_frames

PATIENCE_S = 300.0


def until(what: str, found: Callable[[], Any]) -> Any:
    """Waits until `found` gives something true, and returns it."""
    give_up_at = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up_at:
        value = found()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"waited in vain for {what}")


class Session:
    """A user's folder, with state and results of its own.

    As a context manager it ends, with the block, what still runs, and undoes what that left.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.results = folder / "results"
        self.environment = {
            **os.environ,
            "COLUMNS": "100",
            "LOADSTONE_STATE": str(folder / "state"),
            "LOADSTONE_CACHE": str(folder.parent / "cache"),
        }
        self._started: list[Running] = []
        self._memory = set(unused_shared_memory())

    def start(self, *arguments: str) -> Running:
        """Starts a command, in a session of its own."""
        process = command(arguments, self.folder, self.environment)
        self._started.append(process)
        return process

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs a command to its end."""
        process = self.start(*arguments)
        out, err = process.communicate(timeout=600)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def trial_results(self, *arguments: str) -> list[dict[str, Any]]:
        """The results of the trials of a command, none of which has failed."""
        ended = self.run(*arguments, "--json")
        assert ended.returncode in {0, 3}, ended.stderr
        return [trial["result"] for trial in json.loads(ended.stdout)["trials"]]

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._started:
            if process.poll() is None:
                process.kill()
                process.communicate()
        self.run("recover")

    # -- what a run left -----------------------------------------------------------------------
    def trial(self) -> Path:
        """The folder of the one trial, as soon as it exists."""
        found: Path = until("a trial", lambda: next(self.results.glob("*/*/plan.json"), None))
        return found.parent

    def measuring(self) -> Path:
        """Waits until the measured phase of the one trial runs; returns its folder."""
        trial = self.trial()

        def ticks() -> bool:
            return any(
                frame["frame"] == "tick" and frame["phase_kind"] == "measure"
                for frame in read_frames(trial)
            )

        until("the measured phase", ticks)
        return trial

    def result(self) -> dict[str, Any]:
        """`result.json` of the one trial."""
        value: dict[str, Any] = json.loads((self.trial() / "result.json").read_text())
        return value

    def data_folder(self) -> Path:
        """Where the server that was started keeps its data, from the journal."""
        for journal in self.results.glob("*/journal.jsonl"):
            for line in journal.read_text().splitlines():
                entry = json.loads(line)
                if entry.get("kind") == "postgresql-stop":
                    return Path(entry["data"]["data"])
        raise AssertionError("no server was started")

    def data_made(self) -> bool:
        """Whether the server has begun to run."""
        return any(
            "postgresql-stop" in journal.read_text()
            for journal in self.results.glob("*/journal.jsonl")
        )

    def postmaster(self) -> psutil.Process:
        """The server's first process."""
        pid = (self.data_folder() / "postmaster.pid").read_text().split()[0]
        return psutil.Process(int(pid))

    def driver(self) -> psutil.Process:
        """The driver that runs below one of this session's commands."""
        for process in self._started:
            if process.poll() is None:
                for driver in drivers_of(process.pid):
                    return driver
        raise AssertionError("no driver runs")

    def assert_nothing_left(self) -> None:
        """No process, no folder, no shared memory, no open journal.

        Other tests may run beside this one. Their servers use the memory that they have, but for
        the instant between making it and mapping it, and until those that they kill have recovered.
        """
        for journal in self.results.glob("*/journal.jsonl"):
            folders = [
                Path(entry["data"]["path"])
                for entry in map(json.loads, filter(None, journal.read_text().splitlines()))
                if entry.get("kind") == "remove-tree"
            ]
            assert [folder for folder in folders if folder.exists()] == []
            for folder in folders:
                assert _processes_of(folder) == []
        left = set(unused_shared_memory()) - self._memory
        until(f"an end of {left}", lambda: not left & set(unused_shared_memory()))
        assert list((self.folder / "state").glob("open/*.json")) == []


def _processes_of(folder: Path) -> list[int]:
    """Those that were told of a folder, and those that work in it: PostgreSQL's name no folder."""
    return [
        process.pid
        for process in psutil.process_iter(["cmdline", "cwd"])
        if any(str(folder) in word for word in process.info["cmdline"] or [])
        or str(process.info["cwd"] or "").startswith(str(folder))
    ]
