"""Programs of the system that storage is made with."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from loadstone.errors import TargetError

_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")
"""Where administrators' programs are, which are not on every user's path."""
_LIBRARIES = (Path("/usr/lib"), Path("/usr"))
"""Whose subfolders (`x86_64-linux-gnu`, `lib64`) hold what programs load."""
PACKAGES = {
    "mkfs.ext4": "e2fsprogs",
    "mkfs.xfs": "xfsprogs",
    "mkfs.btrfs": "btrfs-progs",
    "nbdkit": "nbdkit",
    "nbdfuse": "libnbd-bin",
    "mount": "mount",
    "umount": "mount",
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "ip": "iproute2",
    "ganesha.nfsd": "nfs-ganesha",
    "rpcbind": "rpcbind",
    "tgtd": "tgt",
    "tgtadm": "tgt",
    "qemu-nbd": "qemu-utils",
    "mdadm": "mdadm",
    "qemu-img": "qemu-utils",
    "wipefs": "util-linux",
    "mountpoint": "util-linux",
    "tc": "iproute2",
    "glusterd": "glusterfs-server",
    "gluster": "glusterfs-cli",
    "glusterfs": "glusterfs-client",
}
"""The Debian package of each program."""


def find(name: str) -> Path | None:
    """The program, if this machine has it."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *_FOLDERS])
    found = shutil.which(name, path=path)
    return Path(found) if found else None


def absent(name: str) -> str | None:
    """Why a program cannot be used, or None."""
    if find(name) is not None:
        return None
    return f"{name} is missing: install the package {PACKAGES.get(name, name)}"


def absent_library(name: str, package: str) -> str | None:
    """Why a part of a program, which it loads when it is used, is not there, or None.

    Args:
        name: Its folder and file, below those of the libraries.
        package: That brings it.
    """
    if any(next(folder.glob(f"*/{name}"), None) for folder in _LIBRARIES):
        return None
    return f"{Path(name).name} is missing: install the package {package}"


def needed(name: str) -> Path:
    """The program.

    Raises:
        TargetError: If it is not installed.
    """
    found = find(name)
    if found is None:
        raise TargetError(str(absent(name)))
    return found


def run(name: str, arguments: Sequence[str | Path], *, doing: str) -> str:
    """Runs a program to its end.

    Args:
        name: The program.
        arguments: What it is given.
        doing: What it is to do, for the message when it fails.

    Returns:
        Its standard output.

    Raises:
        TargetError: If it is missing or ends badly, with what it said.
    """
    done = subprocess.run(
        [str(needed(name)), *(str(each) for each in arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LC_ALL": "C"},
    )
    if done.returncode != 0:
        told = (done.stderr or done.stdout).partition("Usage:")[0]
        said = " ".join(told.split()) or f"exit code {done.returncode}"
        raise TargetError(f"{doing} failed: {said}")
    return done.stdout
