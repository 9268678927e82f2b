"""Block devices in compressed memory.

The number of a new zram device is the lowest free one, which is written down before it is asked
for; should the kernel give another one, that is given back at once.
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import Any

from loadstone.errors import TargetError
from loadstone.journal import undoes
from loadstone.placements.device import Changes, Device, journal_words, make_file_system
from loadstone.placements.place import Place

REMOVE = "storage-remove-zram"
CONTROL = Path("/sys/class/zram-control")
_BLOCK = Path("/sys/block")
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_TRIES = 5
_BUSY_S = 10.0
_POLL_S = 0.02


class ZramDevice(Device):
    """A block device whose pages are compressed in memory."""

    def __init__(self, changes: Changes, place: Place, size_bytes: int) -> None:
        self._changes = changes
        self._place = place
        self._asked_bytes = size_bytes
        self._block: Path | None = None

    def make(self) -> Path:
        """Adds a device, sets it up and makes the file system."""
        self._block = self._add()
        if self._place.algorithm is not None:
            self._write("comp_algorithm", self._place.algorithm)
        self._write("disksize", str(self._asked_bytes))
        device = Path("/dev") / self._block.name
        make_file_system(device, str(self._place.file_system), journal_words(self.journal))
        return device

    def facts(self) -> dict[str, Any]:
        """Size, algorithm and memory used."""
        block = self._made()
        stored, compressed, used, *_ = (block / "mm_stat").read_text().split()
        return {
            "device": f"/dev/{block.name}",
            "size_bytes": self.size_bytes,
            "algorithm": algorithm(block),
            "stored_bytes": int(stored),
            "compressed_bytes": int(compressed),
            "memory_bytes": int(used),
        }

    @property
    def size_bytes(self) -> int:
        """As set."""
        return int((self._made() / "disksize").read_text())

    def flush(self) -> None:
        """Does nothing more: memory is all there is."""
        self._made()

    def _add(self) -> Path:
        for _ in range(_TRIES):
            number = _lowest_free()
            self._changes.before(
                f"add the compressed memory device zram{number}",
                REMOVE,
                number=number,
                size_bytes=self._asked_bytes,
                boot=_BOOT.read_text().strip(),
            )
            given = int((CONTROL / "hot_add").read_text())
            if given == number:
                return _BLOCK / f"zram{number}"
            (CONTROL / "hot_remove").write_text(str(given))
        raise TargetError("other programs add zram devices at the same time", advice="try again")

    def _write(self, name: str, value: str) -> None:
        path = self._made() / name
        try:
            path.write_text(value)
        except OSError as error:
            raise TargetError(f"{path} does not take {value!r}: {error.strerror}") from error

    def _made(self) -> Path:
        if self._block is None:
            raise TargetError("the device was not made yet")
        return self._block


def algorithm(block: Path) -> str:
    """The algorithm in use, which the kernel shows in brackets among those it has."""
    shown = (block / "comp_algorithm").read_text().split()
    return next((word.strip("[]") for word in shown if word.startswith("[")), "")


def _lowest_free() -> int:
    used = {path.name for path in _BLOCK.glob("zram*")}
    return next(number for number in range(1 << 16) if f"zram{number}" not in used)


@undoes(REMOVE)
def remove(data: dict[str, Any]) -> None:
    """Removes the device, if it is still the one that was added.

    One of another size, or one found after the machine was started anew, is somebody else's.

    Raises:
        TargetError: If it is still in use.
    """
    block = _BLOCK / f"zram{data['number']}"
    if _BOOT.read_text().strip() != data["boot"] or not block.exists():
        return
    if int((block / "disksize").read_text()) not in (0, data["size_bytes"]):
        return
    deadline = time.monotonic() + _BUSY_S
    while block.exists():
        with contextlib.suppress(OSError):
            (CONTROL / "hot_remove").write_text(str(data["number"]))
            return
        if time.monotonic() > deadline:
            raise TargetError(f"{block.name} is still in use", advice="see who has it mounted")
        time.sleep(_POLL_S)
