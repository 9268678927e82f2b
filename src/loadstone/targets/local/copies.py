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
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from loadstone.errors import TargetError
from loadstone.placements.account import Account

_FICLONE = 0x40049409
_PIECE_BYTES = 256 * 1024
_THREADS = 4


@dataclass(frozen=True)
class RestoreWork:
    """What a restoration had to do."""

    files: int
    written_bytes: int


def take(data: Path, kept: Path, left_out: Collection[Path] = ()) -> None:
    """Copies the data folder of a cleanly stopped server to `kept`, which must not exist.

    Args:
        data: The data folder.
        kept: Where the copy goes.
        left_out: Files that are not copied, by their paths within the folder.
    """
    kept.mkdir(parents=True, mode=0o700)
    names = [each for each in _files(data) if each not in left_out]
    for folder in _folders(data):
        (kept / folder).mkdir(mode=0o700, exist_ok=True)
    _put_links(data, kept)
    _in_parallel(lambda name: _copy(data / name, kept / name, None), names)


def restore(kept: Path, data: Path, account: Account) -> RestoreWork:
    """Makes the data folder of a stopped server equal to the copy, and has it on the disk."""
    wanted_folders, wanted = _folders(kept), _files(kept)
    _remove_extras(data, set(wanted_folders), set(wanted))
    for folder in wanted_folders:
        if not (data / folder).is_dir():
            (data / folder).mkdir(mode=0o700)
            account.own(data / folder)
    _put_links(kept, data)
    clone = _can_clone(data)

    def put_back(name: Path) -> int:
        if (data / name).exists() and not clone:
            return _patch(kept / name, data / name)
        (data / name).unlink(missing_ok=True)
        return _copy(kept / name, data / name, account)

    written = _in_parallel(put_back, wanted)
    for folder in (Path(), *wanted_folders):
        _sync(data / folder)
    return RestoreWork(len(wanted), sum(written))


def drop_from_page_cache(data: Path) -> int:
    """Asks the kernel to forget the files below a folder; they must be on the disk already.

    Returns:
        Number of files.
    """
    names = _files(data)
    for name in names:
        descriptor = os.open(data / name, os.O_RDONLY)
        try:
            if sys.platform.startswith("linux"):
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)
    return len(names)


def _files(top: Path) -> list[Path]:
    """Files below a folder, also behind a link that leads out of it (a log kept apart)."""
    return [Path(where).relative_to(top) / name for where, _, names in _walk(top) for name in names]


def _folders(top: Path) -> list[Path]:
    return [Path(where).relative_to(top) / name for where, names, _ in _walk(top) for name in names]


def _walk(top: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    for where, folders, files in os.walk(top, followlinks=True):
        folders[:] = [name for name in folders if not _leads_within(Path(where) / name, top)]
        yield where, folders, files


def _links(top: Path) -> dict[Path, Path]:
    """Links between folders below `top`: where they lead, as they say it."""
    return {
        path.relative_to(top): path.readlink()
        for where, _, _ in _walk(top)
        for path in Path(where).iterdir()
        if _leads_within(path, top)
    }


def _leads_within(path: Path, top: Path) -> bool:
    return path.is_symlink() and path.is_dir() and path.resolve().is_relative_to(top.resolve())


def _put_links(source: Path, destination: Path) -> None:
    wanted = _links(source)
    for name, lead in _links(destination).items():
        if wanted.get(name) != lead:
            (destination / name).unlink()
    for name, lead in wanted.items():
        if not (destination / name).is_symlink():
            (destination / name).symlink_to(lead)


def _remove_extras(data: Path, folders: set[Path], files: set[Path]) -> None:
    for name in _files(data):
        if name not in files:
            (data / name).unlink()
    for folder in reversed(_folders(data)):
        if folder not in folders and (data / folder).is_dir():
            shutil.rmtree(data / folder)


def _in_parallel(work: Callable[[Path], int], names: Iterable[Path]) -> list[int]:
    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(work, names))


def _copy(source: Path, destination: Path, account: Account | None) -> int:
    with source.open("rb") as reader, destination.open("xb") as writer:
        os.fchmod(writer.fileno(), 0o600)
        if account is not None:
            account.own(destination)
        if not _clone(reader.fileno(), writer.fileno()):
            shutil.copyfileobj(reader, writer, 1024**2)
            writer.flush()
        if account is not None:
            os.fsync(writer.fileno())
        return os.fstat(writer.fileno()).st_size


def _patch(source: Path, destination: Path) -> int:
    """Overwrites the pieces of a file that differ. Returns the bytes written."""
    written = position = 0
    with source.open("rb", buffering=0) as reader, destination.open("r+b", buffering=0) as writer:
        size = os.fstat(reader.fileno()).st_size
        if os.fstat(writer.fileno()).st_size > size:
            writer.truncate(size)
            written += 1
        while position < size:
            wanted = os.pread(reader.fileno(), _PIECE_BYTES, position)
            if not wanted:
                raise TargetError(f"snapshot file {source} ended early")
            if wanted != os.pread(writer.fileno(), len(wanted), position):
                _write_all(writer.fileno(), wanted, position)
                written += len(wanted)
            position += len(wanted)
        if written:
            _sync_data(writer.fileno())
    return written


def _write_all(descriptor: int, content: bytes, position: int) -> None:
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
