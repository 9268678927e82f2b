"""What storage leaves on the machine, compared; and whether a placement can be tested here."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil
from enclosure import enclosed, inhabitants
from listing import loop_devices, mounts, shared_memory, zram_devices
from packages import do_without

from loadstone.placements import support
from loadstone.placements.place import parse

_PATIENCE_S = 60.0
_POLL_S = 0.05


@contextlib.contextmanager
def apart(folder: Path) -> Iterator[None]:
    """Has tests make mounts, and keep memory and files in `/var/tmp`, that nobody else sees.

    Where nothing may be mounted, `need` skips those that compare a listing.

    Args:
        folder: What they see as `/var/tmp`.
    """
    if support.unavailable(parse("tmpfs")) is not None:
        yield
        return
    folder.chmod(0o1777)
    with enclosed(folder):
        yield


def listing() -> list[str]:
    """Mounts, processes, folders and shared memory of this enclosure, and the machine's devices."""
    found = {"mount": mounts(), "process": _commands(), "folder": Path("/var/tmp").iterdir()}
    lines = [f"{kind} {each}" for kind, every in found.items() for each in every]
    return sorted([*lines, *shared_memory(), *loop_devices(""), *zram_devices()])


def _commands() -> Iterator[str]:
    for process in inhabitants():
        with contextlib.suppress(psutil.Error):  # it has ended
            yield " ".join(process.cmdline())


def changed(before: list[str], folder: Path) -> set[str]:
    """What came or went since an earlier `listing`, and cannot be seen to be somebody else's.

    All is the test's own, but for devices. A loop device is somebody else's if its file lies
    elsewhere, and any device if it was there before and has gone.

    Args:
        before: The earlier listing.
        folder: Below which the test did its work.
    """
    earlier, now = Counter(before), Counter(listing())
    return {
        line
        for line in (now - earlier) + (earlier - now)
        if not _is_device(line) or str(folder) in line or (_of_nobody(line) and line in now)
    }


def assert_as_before(before: list[str], folder: Path) -> None:
    """Compares full listings.

    Nothing is left that is the test's own. What does not show whose it is must go, too: of somebody
    else it does so when they are done.

    Args:
        before: An earlier `listing`.
        folder: Below which the test did its work.
    """
    left = changed(before, folder)
    own = sorted(line for line in left if not _of_nobody(line))
    assert own == [], f"came or went: {own}"
    deadline = time.monotonic() + _PATIENCE_S
    while still := left & changed(before, folder):
        assert time.monotonic() < deadline, f"nobody removes {still}"
        time.sleep(_POLL_S)


def _is_device(line: str) -> bool:
    return line.startswith(("loop", "zram"))


def _of_nobody(line: str) -> bool:
    """A device that shows no folder: compressed memory, or a loop device whose file has died."""
    in_no_folder = Path(line.split(" ", 2)[-1]).parent == Path("/")
    return line.startswith("zram") or (line.startswith("loop") and in_no_folder)


def need(*texts: str) -> None:
    """Does without the test where a placement cannot be made."""
    for text in texts:
        reason = support.unavailable(parse(text))
        if reason is not None:
            do_without(f"{text}: {reason}")
