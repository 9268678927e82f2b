"""The files by which the kernel is read and set, below a root that tests can choose."""

from __future__ import annotations

import errno
import os
import re
from dataclasses import dataclass
from pathlib import Path

_CHOSEN = re.compile(r"\[([^\]]*)\]")
CAP_SYS_ADMIN, CAP_SYS_RESOURCE = 21, 24
"""Numbers of capabilities(7): to set the kernel, to raise hard limits."""


@dataclass(frozen=True)
class Absent:
    """The machine has no such setting; `reason` says which file is missing."""

    reason: str


@dataclass(frozen=True)
class Denied:
    """The machine has it, and Loadstone may not use it."""

    reason: str


Reading = str | Absent | Denied
"""The present value, or why there is none."""


@dataclass(frozen=True)
class Machine:
    """This machine; `root` is `/` but in tests."""

    root: Path = Path("/")

    def at(self, path: str) -> Path:
        """A path below the root, given as `/proc/...` or `/sys/...`."""
        return self.root / path.lstrip("/")

    def cpus(self, which: str) -> frozenset[int]:
        """Processors that are `present` or `online`; empty if it cannot be told."""
        from loadstone.host import cpulist

        try:
            return cpulist.parse(self.at(f"/sys/devices/system/cpu/{which}").read_text().strip())
        except (OSError, ValueError):
            return frozenset()


THIS_MACHINE = Machine()


def read(path: Path) -> Reading:
    """The text of a file of the kernel, without the line's end."""
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape").strip()
    except FileNotFoundError:
        return Absent(f"{path} is missing")
    except PermissionError:
        return Denied(f"{path} may not be read")
    except OSError as error:
        return Denied(f"{path} cannot be read: {error.strerror}")


def chosen(text: str) -> str:
    """The word in brackets, as in `always [madvise] never`; a text without any as it is."""
    match = _CHOSEN.search(text)
    return match[1] if match else text


def write(path: Path, text: str) -> None:
    """Writes a file of the kernel with one `write(2)`, opened as a shell's `>` would.

    Raises:
        OSError: If the kernel takes it not.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC)
    try:
        os.write(descriptor, f"{text}\n".encode(errors="surrogateescape"))
    finally:
        os.close(descriptor)


def denied(path: Path, present: str | None) -> str | None:
    """Why a file of the kernel may not be written, or None if it may.

    It is opened for writing. A process that lacks CAP_SYS_ADMIN may be let in and refused at the
    write, so such a process also writes the value that is there.

    Args:
        path: The file.
        present: The value that is there; None where even writing that would change something.
    """
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CLOEXEC))
        if present is not None and not has_capability(CAP_SYS_ADMIN):
            write(path, present)
    except OSError as error:
        return _why(path, error)
    return None


def _why(path: Path, error: OSError) -> str:
    if error.errno == errno.EROFS:
        return f"{path} lies on a file system that is mounted read-only"
    if error.errno in (errno.EACCES, errno.EPERM):
        who = "Loadstone is not root" if os.geteuid() != 0 else "the kernel refuses it even to root"
        return f"{path} may not be written: {who}"
    if error.errno == errno.ENOENT:
        return f"{path} is missing"
    return f"{path} cannot be written: {error.strerror}"


def has_capability(number: int) -> bool:
    """Whether this process has a capability in force; root in a container may lack some."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return False
    effective = re.search(r"^CapEff:\s*([0-9a-f]+)$", status, re.MULTILINE)
    return effective is not None and bool(int(effective[1], 16) >> number & 1)
