"""How an owned server is started: on which processors, with how many open files, with what quota.

The options are part of the start command (`sh`, `prlimit`, `taskset`), so that the server has them
from its first instruction: it sizes its tables by them. Each program replaces itself by the next,
at last by the server, whose process id and command line are the same as without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadstone.host.process import SERVER_CPUS, affinity, cpu_quota, open_files
from loadstone.placements.account import Account
from loadstone.results.record import FactorReading
from loadstone.spec.target import ProcessSpec

_WITHIN = 'echo $$ > "$0" && exec "$@"'
"""A shell joins a control group, and replaces itself by the command."""


@dataclass(frozen=True)
class Launch:
    """A command and the options of `subprocess.Popen` to run it with."""

    command: list[str]
    options: dict[str, Any]


def launch(
    command: Sequence[str | Path],
    process: ProcessSpec,
    account: Account,
    members: Path | None = None,
) -> Launch:
    """The start command of a server, with what `process` asks for.

    Only root may raise a limit above the hard one (CAP_SYS_RESOURCE) or join a control group, so
    where the account is another the programs run as root and the last of them (`setpriv`) changes
    the account.

    Args:
        command: The server and its arguments.
        process: What the trial wants; nothing changes for what is None.
        account: The account of the server.
        members: A file of the control group with its quota: who writes its number there is in it.
    """
    options = account.process_options()
    before: list[str] = [] if members is None else ["/bin/sh", "-c", _WITHIN, str(members)]
    if process.nofile is not None:
        before += ["prlimit", f"--nofile={process.nofile}:{process.nofile}", "--"]
    if process.cpus is not None:
        before += ["taskset", "--cpu-list", process.cpus]
    if account.switch and (process.nofile is not None or members is not None):
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
    if process.quota is not None:
        found.append(cpu_quota(process.quota, pid))
    return found
