"""Copies of the data folder of a stopped server, and their exact restoration.

Where the file system can share blocks (XFS, btrfs, bcachefs), files are cloned. Elsewhere a restore
reads both sides and writes only the pieces that differ: the data lie where they lay, and few pages
have to be written to the disk. Either way the result equals the copy byte for byte, and is on the
disk before the server starts, so that no trial pays for the restoration of its own data.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from loadstone.errors import TargetError
from loadstone.placements.account import Account

_FICLONE = 0x40049409
_PIECE_BYTES = 256 * 1024
_THREADS = min(4, os.cpu_count() or 1)
_FILES_AT_A_TIME = 64


@dataclass(frozen=True)
class RestoreWork:
    """What a restoration had to do."""

    files: int
    written_bytes: int


@dataclass
class _Tree:
    """What lies below a folder, also behind a link that leads out of it (a log kept apart).

    Paths are relative to the folder; each folder comes before those in it.
    """

    folders: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    links: dict[str, str] = field(default_factory=dict)
    """Links between folders within: where they lead, as they say it."""


def take(data: Path, kept: Path, left_out: Collection[Path] = ()) -> None:
    """Copies the data folder of a cleanly stopped server to `kept`, which must not exist.

    Args:
        data: The data folder.
        kept: Where the copy goes.
        left_out: Files that are not copied, by their paths within the folder.
    """
    found, without = _tree(data), {str(each) for each in left_out}
    kept.mkdir(parents=True, mode=0o700)
    for folder in found.folders:
        (kept / folder).mkdir(mode=0o700)
    _put_links(found.links, {}, kept)
    names = [each for each in found.files if each not in without]
    _in_parallel(lambda name: _copy(data / name, kept / name, None), names)


def restore(kept: Path, data: Path, account: Account) -> RestoreWork:
    """Makes the data folder of a stopped server equal to the copy, and has it on the disk."""
    wanted, there = _tree(kept), _tree(data)
    _remove_extras(data, there, wanted)
    for folder in wanted.folders:
        if not (data / folder).is_dir():
            (data / folder).mkdir(mode=0o700)
            account.own(data / folder)
    _put_links(wanted.links, there.links, data)
    clone, old = _can_clone(data), set(there.files)

    def put_back(name: str) -> int:
        if name in old and not clone:
            return _patch(kept / name, data / name)
        (data / name).unlink(missing_ok=True)
        return _copy(kept / name, data / name, account)

    written = _in_parallel(put_back, wanted.files)
    for folder in ("", *wanted.folders):
        _sync(data / folder)
    return RestoreWork(len(wanted.files), sum(written))


def drop_from_page_cache(data: Path) -> int:
    """Asks the kernel to forget the files below a folder; they must be on the disk already.

    Returns:
        Number of files.
    """
    names = _tree(data).files
    for name in names:
        descriptor = os.open(data / name, os.O_RDONLY)
        try:
            if sys.platform.startswith("linux"):
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)
    return len(names)


def _tree(top: Path) -> _Tree:
    found, left, root = _Tree(), [""], os.path.realpath(top)
    while left:
        within = left.pop()
        with os.scandir(top / within) as entries:
            for entry in entries:
                name = os.path.join(within, entry.name)  # noqa: PTH118 - of thousands of files
                if not entry.is_dir():
                    found.files.append(name)
                elif entry.is_symlink() and _is_below(os.path.realpath(entry.path), root):
                    found.links[name] = os.readlink(entry.path)  # noqa: PTH115 - as it says it
                else:
                    found.folders.append(name)
                    left.append(name)
    return found


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(root + os.sep)


def _put_links(wanted: dict[str, str], there: dict[str, str], data: Path) -> None:
    for name, lead in there.items():
        if wanted.get(name) != lead:
            (data / name).unlink(missing_ok=True)  # its folder may be gone
    for name, lead in wanted.items():
        if there.get(name) != lead:
            (data / name).symlink_to(lead)


def _remove_extras(data: Path, there: _Tree, wanted: _Tree) -> None:
    for name in set(there.files) - set(wanted.files):
        (data / name).unlink()
    extra = set(there.folders) - set(wanted.folders)
    for folder in reversed(there.folders):
        if folder in extra:
            shutil.rmtree(data / folder)


def _in_parallel(work: Callable[[str], int], names: Sequence[str]) -> list[int]:
    """Has several threads do the work, each of them many small files at a time."""
    parts = max(_THREADS, len(names) // _FILES_AT_A_TIME)

    def several(part: int) -> list[int]:
        return [work(name) for name in names[part::parts]]

    with ThreadPoolExecutor(_THREADS) as pool:
        return [done for each in pool.map(several, range(parts)) for done in each]


def _copy(source: Path, destination: Path, account: Account | None) -> int:
    with (
        source.open("rb", buffering=0) as reader,
        destination.open("xb", buffering=0) as writer,
    ):
        os.fchmod(writer.fileno(), 0o600)
        if account is not None:
            account.own(destination)
        if not _clone(reader.fileno(), writer.fileno()):
            buffer, position = memoryview(_buffers()[0]), 0
            while count := os.preadv(reader.fileno(), [buffer], position):
                _write_all(writer.fileno(), buffer[:count], position)
                position += count
        if account is not None:
            os.fsync(writer.fileno())
        return os.fstat(writer.fileno()).st_size


def _patch(source: Path, destination: Path) -> int:
    """Overwrites the pieces of a file that differ. Returns the bytes written."""
    written = position = 0
    wanted, there = _buffers()
    with source.open("rb", buffering=0) as reader, destination.open("r+b", buffering=0) as writer:
        size = os.fstat(reader.fileno()).st_size
        if os.fstat(writer.fileno()).st_size > size:
            writer.truncate(size)
            written += 1
        while position < size:
            count = os.preadv(reader.fileno(), [wanted], position)
            if not count:
                raise TargetError(f"snapshot file {source} ended early")
            found = os.preadv(writer.fileno(), [there], position)
            same = wanted == there if count == _PIECE_BYTES else wanted[:count] == there[:count]
            if found < count or not same:
                _write_all(writer.fileno(), memoryview(wanted)[:count], position)
                written += count
            position += count
        if written:
            _sync_data(writer.fileno())
    return written


_of_thread = threading.local()


def _buffers() -> tuple[bytearray, bytearray]:
    """Two of this thread: memory that is new to a process is dear where it has to be mapped."""
    if not hasattr(_of_thread, "buffers"):
        _of_thread.buffers = bytearray(_PIECE_BYTES), bytearray(_PIECE_BYTES)
    buffers: tuple[bytearray, bytearray] = _of_thread.buffers
    return buffers


def _write_all(descriptor: int, content: memoryview, position: int) -> None:
    done = 0
    while done < len(content):
        done += os.pwrite(descriptor, content[done:], position + done)


def _sync_data(descriptor: int) -> None:
    if sys.platform.startswith("linux"):
        os.fdatasync(descriptor)
    else:
        os.fsync(descriptor)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _clone(source: int, destination: int) -> bool:
    if not sys.platform.startswith("linux"):
        return False
    import fcntl

    with contextlib.suppress(OSError):
        fcntl.ioctl(destination, _FICLONE, source)
        return True
    return False


def _can_clone(folder: Path) -> bool:
    """Whether files in this folder can share blocks: tried with two small ones."""
    with (
        tempfile.TemporaryFile(dir=folder) as one,
        tempfile.TemporaryFile(dir=folder) as other,
    ):
        one.write(b"x" * 4096)
        one.flush()
        return _clone(one.fileno(), other.fileno())
