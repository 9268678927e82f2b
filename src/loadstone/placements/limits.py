"""The limits of file systems that many small files meet, in plain words."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def said(error: OSError, folder: Path) -> str:
    """What a file system ran out of.

    Args:
        error: Of a call that makes a file or a folder.
        folder: Where it was to be, if the error does not say.
    """
    named = Path(os.fsdecode(error.filename)).absolute().parents if error.filename else ()
    place = next((each for each in named if each.is_dir()), folder)
    if error.errno == errno.EMLINK:
        # A folder has two links of its own, and one more for each folder in it.
        count = place.stat().st_nlink - 2
        return (
            f"{place} has {count:,} folders in it, and its file system takes no more: each is a "
            "link (ext4 without dir_nlink ends at 64,998)"
        )
    room = os.statvfs(place)
    if error.errno == errno.ENOSPC and room.f_files > 0 and room.f_favail == 0:
        free = room.f_bavail * room.f_frsize
        return (
            f"the file system of {place} has no inode left: all {room.f_files:,} are files and "
            f"folders, while {free:,} bytes are free; make it with more of them (mkfs.ext4 -N)"
        )
    return str(error.strerror)


def missing_inodes(folder: str, total: int, free: int, files: int) -> str | None:
    """Why so many files and folders do not fit, or None.

    Args:
        folder: Where they are to be.
        total: Inodes of its file system; 0 where files and folders take space as they come, as on
            btrfs: there is no such number.
        free: Those that are left.
        files: How many are needed, folders too.
    """
    if total == 0 or files <= free:
        return None
    return (
        f"{files:,} files and folders need an inode each, and the file system of {folder} has "
        f"{free:,} left of {total:,}"
    )
