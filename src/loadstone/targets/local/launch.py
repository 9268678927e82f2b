"""How an owned server is started: on which processors, with how many open files.

The options are part of the start command (`prlimit`, `taskset`), so that the server has them from
its first instruction: it sizes its tables by them. Both programs replace themselves by the server,
whose process id and command line are the same as without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadstone.host.process import SERVER_CPUS, affinity, open_files
from loadstone.placements.account import Account
from loadstone.results.record import FactorReading
from loadstone.spec.target import ProcessSpec


@dataclass(frozen=True)
class Launch:
    """A command and the options of `subprocess.Popen` to run it with."""

    command: list[str]
    options: dict[str, Any]


def launch(command: Sequence[str | Path], process: ProcessSpec, account: Account) -> Launch:
    """The start command of a server, with what `process` asks for.

    Only root (CAP_SYS_RESOURCE) may raise a limit above the hard one, so where the account is
    another the programs run as root and the last of them (`setpriv`) changes the account.

    Args:
        command: The server and its arguments.
        process: What the trial wants; nothing changes for what is None.
        account: The account of the server.
    """
    options = account.process_options()
    before: list[str] = []
    if process.nofile is not None:
        before += ["prlimit", f"--nofile={process.nofile}:{process.nofile}", "--"]
    if process.cpus is not None:
        before += ["taskset", "--cpu-list", process.cpus]
    if process.nofile is not None and account.switch:
        for option in ("user", "group", "extra_groups"):
            options.pop(option)
        ids = (f"--reuid={account.uid}", f"--regid={account.gid}", "--clear-groups")
        before += ["setpriv", *ids, "--"]
    return Launch([*before, *map(str, command)], options)


def readings(process: ProcessSpec, pid: int) -> list[FactorReading]:
    """Reads from a running server what its start command asked for.

    Args:
        process: What the trial wants.
        pid: Of the server's first process; the others have what it has.

    Raises:
        TargetError: If the server runs with something else, or is gone.
    """
    found = []
    if process.cpus is not None:
        found.append(affinity(SERVER_CPUS, process.cpus, pid))
    if process.nofile is not None:
        found.append(open_files(process.nofile, pid))
    return found
