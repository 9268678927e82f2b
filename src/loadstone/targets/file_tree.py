"""Files below a folder of a target, for whoever looks at them when nothing else uses them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol


class Inodes(NamedTuple):
    """Of a file system."""

    total: int
    """0 where files and folders take space as they come, as on btrfs."""
    free: int


class FileTree(Protocol):
    """Paths are relative to the folder. Failures are OSErrors or TargetErrors."""

    def shown(self, path: str) -> str:
        """A path as people know it."""

    def names(self, path: str) -> set[str] | None:
        """What lies in a folder; None if there is no such folder."""

    def read(self, path: str) -> bytes:
        """What a file holds."""

    def write(self, path: str, content: bytes) -> None:
        """Makes a file, in the place of one that is there."""

    def sizes(self, path: str) -> Iterator[tuple[str, int]]:
        """Every file below a folder with its bytes, in an order that follows from the names."""

    def inodes(self) -> Inodes:
        """Of the file system of the folder."""


class LocalTree:
    """A folder of this machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def shown(self, path: str) -> str:
        """With the folder before it."""
        return str(self._folder / path)

    def names(self, path: str) -> set[str] | None:
        """What lies in a folder; None if there is no such folder."""
        try:
            return {each.name for each in os.scandir(self._folder / path)}
        except (FileNotFoundError, NotADirectoryError):
            return None

    def read(self, path: str) -> bytes:
        """What a file holds."""
        return (self._folder / path).read_bytes()

    def write(self, path: str, content: bytes) -> None:
        """Makes a file, in the place of one that is there."""
        (self._folder / path).write_bytes(content)

    def sizes(self, path: str) -> Iterator[tuple[str, int]]:
        """Every file below a folder with its bytes, in an order that follows from the names."""
        pending, above = [str(self._folder / path)], len(str(self._folder)) + 1
        while pending:
            with os.scandir(pending.pop()) as entries:
                for entry in sorted(entries, key=lambda entry: entry.name):
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    else:
                        yield entry.path[above:], entry.stat(follow_symlinks=False).st_size

    def inodes(self) -> Inodes:
        """Of the file system of the folder."""
        room = os.statvfs(self._folder)
        return Inodes(room.f_files, room.f_favail)
