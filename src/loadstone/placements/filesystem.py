"""The file system below a folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import psutil


def of(folder: Path) -> dict[str, str | int]:
    """Device, mount point, kind, mount options and free bytes of the file system of `folder`."""
    mounts = {Path(each.mountpoint): each for each in psutil.disk_partitions(all=True)}
    real = folder.resolve()
    usage = shutil.disk_usage(real)
    sizes: dict[str, str | int] = {"total_bytes": usage.total, "free_bytes": usage.free}
    for place in (real, *real.parents):
        if place in mounts:
            found = mounts[place]
            return {
                "device": found.device,
                "mount_point": found.mountpoint,
                "kind": found.fstype,
                "options": found.opts,
                **sizes,
            }
    return sizes
