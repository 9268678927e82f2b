"""Which mount and which block device a folder lies on."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from loadstone.host.proc import parse_mountinfo

_NO_DISKS = ("loop", "ram", "zram", "dm-", "md", "sr", "fd")
"""Not disks of their own, or layers over disks that are counted already."""


def mount_of(folder: Path, proc: Path = Path("/proc")) -> dict[str, str] | None:
    """The mount that a folder lies on, or None where that cannot be told."""
    try:
        mounts = parse_mountinfo((proc / "self" / "mountinfo").read_text())
    except (OSError, ValueError):
        return None
    path = _nearest(folder).resolve()
    holding = [mount for mount in mounts if path.is_relative_to(mount["folder"])]
    return max(holding, key=lambda mount: len(mount["folder"]), default=None)


def block_device(folder: Path, proc: Path = Path("/proc")) -> str | None:
    """`major:minor` of the block device under a folder, or of the device that it is.

    File systems with devices of their own numbering (btrfs, overlay) are asked for their source;
    None for those that lie on no block device (tmpfs, NFS).
    """
    found = os.stat(_nearest(folder))  # noqa: PTH116 - Path.stat follows the same way
    number = found.st_rdev if stat.S_ISBLK(found.st_mode) else found.st_dev
    if os.major(number) != 0:
        return f"{os.major(number)}:{os.minor(number)}"
    mount = mount_of(folder, proc)
    if mount is None or not mount["source"].startswith("/dev/"):
        return None
    try:
        source = Path(mount["source"]).stat()
    except OSError:
        return None
    if not stat.S_ISBLK(source.st_mode):  # /dev/fuse
        return None
    device = source.st_rdev
    return f"{os.major(device)}:{os.minor(device)}"


def whole_disks(sys: Path = Path("/sys")) -> set[str]:
    """Names of the disks whose sum is all traffic: no partitions, no layers."""
    try:
        names = {path.name for path in (sys / "block").iterdir()}
    except OSError:
        return set()
    return {name for name in names if not name.startswith(_NO_DISKS)}


def _nearest(folder: Path) -> Path:
    """The folder, or the nearest one above it that exists."""
    path = folder.absolute()
    while not path.exists():
        path = path.parent
    return path
