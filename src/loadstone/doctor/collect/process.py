"""The server's process on this machine, as `/proc` shows it."""

from __future__ import annotations

from pathlib import Path

import psutil

from loadstone.doctor.facts import ProcessFacts
from loadstone.host.proc import parse_meminfo


def process_facts(pid: int | None, program: str) -> ProcessFacts | None:
    """A server's process.

    Args:
        pid: What the server says its process is.
        program: Beginning of the name it must have: another would be a process of the same number
            in another container.
    """
    if pid is None:
        return None
    folder = Path("/proc") / str(pid)
    try:
        if not (folder / "comm").read_text().strip().startswith(program):
            return None
        nofile = _nofile((folder / "limits").read_text())
    except OSError:
        return None
    memory = _memory(folder / "smaps_rollup")
    return ProcessFacts(pid, nofile, memory.get("Rss"), memory.get("AnonHugePages"))


def standard_error_file(pid: int) -> Path | None:
    """The file that a process writes its standard error to, if that is one and may be seen."""
    try:
        path = Path(f"/proc/{pid}/fd/2").resolve(strict=True)
    except OSError:
        return None
    return path if path.is_file() else None


def parent_of(pid: int) -> int | None:
    """The parent of a process, if it is one of this machine."""
    try:
        return psutil.Process(pid).ppid()
    except psutil.Error:
        return None


def _nofile(limits: str) -> int | None:
    for line in limits.splitlines():
        if line.startswith("Max open files"):
            soft = line.split()[3]
            return int(soft) if soft.isdigit() else None
    return None


def _memory(path: Path) -> dict[str, int]:
    """What the kernel adds up of a process's memory; nothing where this user may not see it."""
    try:
        return parse_meminfo("\n".join(path.read_text().splitlines()[1:]))
    except (OSError, ValueError):
        return {}
