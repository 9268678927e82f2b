"""Mounting, and unmounting whatever holds the mount."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from loadstone.errors import TargetError
from loadstone.host.proc import parse_mountinfo
from loadstone.journal import undoes
from loadstone.placements import loop, processes, programs

UNMOUNT = "storage-unmount"
_BUSY_S = 5.0
_SILENT_S = 30.0
"""After which a server below a file system that is to go counts as one that never answers."""
_POLL_S = 0.02
_EXT4 = Path("/proc/fs/ext4")
_WITHOUT = """
while [ "$1" != -- ]; do umount --lazy "$1"; shift; done
shift
exec "$@"
"""


def at(folder: Path) -> dict[str, str] | None:
    """The topmost mount at exactly this folder, as `/proc/self/mountinfo` shows it."""
    return next((each for each in reversed(_table()) if each["folder"] == str(folder)), None)


def dead() -> list[Path]:
    """Where file systems are mounted whose loop device has lost its file, the topmost first."""
    return [
        Path(each["folder"]) for each in reversed(_table()) if loop.has_died(Path(each["source"]))
    ]


def run_without(
    folders: Sequence[Path], name: str, arguments: Sequence[str | Path], *, doing: str
) -> None:
    """Runs a program in a mount table of its own, in which some mounts are not.

    Args:
        folders: Where these are mounted. They stay as they are for everybody else.
        name: The program.
        arguments: What it is given.
        doing: What it is to do, for the message when it fails.

    Raises:
        TargetError: If it is missing or ends badly, with what it said.
    """
    command = [*folders, "--", programs.needed(name), *arguments]
    programs.run("unshare", ["--mount", "sh", "-c", _WITHOUT, "sh", *command], doing=doing)


def mount(source: str, folder: Path, file_system: str, options: Sequence[str]) -> None:
    """Mounts a file system.

    Raises:
        TargetError: With the kernel's reason, as far as it gives one.
    """
    chosen = ["-o", ",".join(options)] if options else []
    try:
        programs.run(
            "mount", ["-t", file_system, *chosen, source, folder], doing=f"mounting {file_system}"
        )
    except TargetError as error:
        with_ = f" with {','.join(options)}" if options else ""
        raise TargetError(
            f"{file_system} cannot be mounted{with_}: {error.message}",
            advice="the kernel's own log (dmesg) may say more",
        ) from error


def shown_options(folder: Path) -> list[str]:
    """Every option that the kernel shows of the mount and its file system, ext4's defaults too."""
    found = at(folder)
    if found is None:
        raise TargetError(f"nothing is mounted at {folder}")
    words = [*found["options"].split(","), *found["file_system_options"].split(",")]
    listing = _EXT4 / Path(found["source"]).name / "options"
    if found["file_system"] == "ext4" and listing.exists():
        words += listing.read_text().split()
    return list(dict.fromkeys(word for word in words if word))


def write_back(folder: Path) -> None:
    """Has everything of the file system written to its device."""
    programs.run("sync", ["--file-system", folder], doing=f"writing {folder} to its device")


@undoes(UNMOUNT)
def unmount(data: dict[str, Any]) -> None:
    """Unmounts everything at a folder; detaches it if processes hold it for long.

    Where a server that is ours is below and does not answer, it is ended first: nobody could end
    what waits for it.

    Raises:
        TargetError: If it stays mounted.
    """
    folder = Path(data["folder"])
    if data.get("served_by") and not _answers(folder):
        processes.end_marked(data["served_by"])
    deadline = time.monotonic() + _BUSY_S
    while at(folder) is not None:
        try:
            programs.run("umount", [folder], doing=f"unmounting {folder}")
        except TargetError:
            if time.monotonic() > deadline:
                programs.run("umount", ["--lazy", folder], doing=f"detaching {folder}")
            else:
                time.sleep(_POLL_S)


def _answers(folder: Path) -> bool:
    """Whether what is mounted there takes what was written, within a time."""
    writing = subprocess.Popen(
        [str(programs.needed("sync")), "--file-system", str(folder)],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        writing.wait(_SILENT_S)
    except subprocess.TimeoutExpired:
        return False
    return True


def _table() -> list[dict[str, str]]:
    return parse_mountinfo(Path("/proc/self/mountinfo").read_text())


def own_root(folder: Path, uid: int, gid: int) -> None:
    """Gives the root of a mounted file system to an account, and to nobody else."""
    os.chown(folder, uid, gid)
    folder.chmod(0o700)
