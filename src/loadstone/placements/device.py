"""What a file system is put on, and the journalled changes that make it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from loadstone.errors import TargetError
from loadstone.journal import Entry, Journal
from loadstone.placements import loop, mounts, programs
from loadstone.placements.flushes import ServerFlushes
from loadstone.placements.place import Place

IMAGE = "disk.img"
JOURNAL = "journal"
"""Made in the place of a file system: an external journal of ext4."""
BLOCK_BYTES = "4096"
_ZEROS = bytes(1 << 20)
_MAKE = {
    # The image reads as zeros, so nothing is left for ext4 to initialise while a trial runs.
    "ext4": ["-q", "-F", "-E", "assume_storage_prezeroed=1,nodiscard"],
    "xfs": ["-q", "-f", "-K"],
    "btrfs": ["-q", "-f", "-K"],
    JOURNAL: ["-q", "-F", "-b", BLOCK_BYTES, "-O", "journal_dev"],
}


class Changes:
    """The changes of the machine that one placement made, undone last first."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._entries: list[Entry] = []

    def before(self, what: str, kind: str, **data: Any) -> None:
        """Writes a change into the journal, before it is made."""
        self._entries.append(self.journal.before(what, kind, **data))

    def add(self, entry: Entry) -> None:
        """Takes over a change that was written already."""
        self._entries.append(entry)

    def undo(self) -> None:
        """Undoes all, with the functions that `loadstone recover` would use.

        Raises:
            LoadstoneError: If one cannot be undone; it and those before it are left to be undone.
        """
        while self._entries:
            self.journal.undo(self._entries[-1])
            self._entries.pop()


class Device(ABC):
    """A block device that Loadstone makes, with a fresh file system."""

    mount_options: tuple[str, ...] = ()
    """That its file system needs to be mounted, beside those that were asked for."""
    journal: Path | None = None
    """The device that holds the journal of its file system, if that is another one."""

    @property
    def flushes_counted(self) -> ServerFlushes | None:
        """What a server below does with flushes; None without one, or if nobody counted."""
        return None

    def reap(self) -> None:  # noqa: B027 - most have no processes
        """Takes note that its processes have ended, so that none stays as a zombie."""

    @abstractmethod
    def make(self) -> Path:
        """Makes it, journalled. Returns the block device to mount."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """What the kernel and the processes below it show, for the inventory."""

    @property
    @abstractmethod
    def size_bytes(self) -> int:
        """Its size, as the kernel shows it."""

    @property
    def served_by(self) -> str | None:
        """An argument that only the processes have which serve it; None: there are none."""
        return None

    @abstractmethod
    def flush(self) -> None:
        """Has all that was written to it brought to the medium, whatever the placement does."""

    def cut_power(self) -> None:
        """Throws away what was written and not flushed.

        Raises:
            TargetError: If it is not volatile.
        """
        raise TargetError(
            "the power of this device cannot be cut",
            advice="put the data on a volatile placement, for example volatile:ext4",
        )

    def restore_power(self) -> Path:
        """Brings it back after `cut_power`, once it is not mounted. Returns the block device."""
        raise TargetError("the power of this device was never cut")


def make_image(path: Path, place: Place, size_bytes: int, journal: Path | None = None) -> None:
    """Makes a file with a fresh file system, if the placement names one: sparse, or in full.

    Args:
        path: The file.
        place: Its placement.
        size_bytes: Of the file.
        journal: The device that is to hold the journal, if that is another one.

    Raises:
        TargetError: If the program fails or the disk is full.
    """
    try:
        with path.open("xb") as image:
            if place.full:
                for _ in range(size_bytes // len(_ZEROS)):
                    image.write(_ZEROS)
            image.truncate(size_bytes)
            image.flush()
    except OSError as error:
        raise TargetError(
            f"the image {path} cannot be written: {error.strerror}",
            advice="free some space, or give the placement a smaller size=",
        ) from error
    if place.file_system is not None:
        make_file_system(path, place.file_system, journal_words(journal))


def journal_words(journal: Path | None) -> list[str]:
    """What mkfs.ext4 is told of an external journal, whose blocks must be as large as its own."""
    return [] if journal is None else ["-b", BLOCK_BYTES, "-J", f"device={journal}"]


def make_file_system(
    where: Path, file_system: str, words: Sequence[str] = (), others: Sequence[Path] = ()
) -> None:
    """Makes a file system on an empty image or device.

    Args:
        where: The image or device.
        file_system: Its kind, or `JOURNAL`.
        words: Further options of its program.
        others: Further devices of the same file system.

    Raises:
        TargetError: With what the program said.
    """
    program = "mkfs.ext4" if file_system == JOURNAL else f"mkfs.{file_system}"
    arguments: list[str | Path] = [*_MAKE[file_system], *words, where, *others]
    doing = f"making {file_system} on {where}"
    # mkfs.btrfs does nothing while any mount of its table lies on a device that has died.
    if file_system == "btrfs" and (dead := mounts.dead()):
        mounts.run_without(dead, program, arguments, doing=doing)
    else:
        programs.run(program, arguments, doing=doing)


def tell_write_cache(device: Path, place: Place) -> None:
    """Tells the kernel what the placement says of the cache of its device."""
    if place.write_cache is not None:
        loop.set_write_cache(device, f"write {place.write_cache}")


def flush_for_good(device: Path, place: Place) -> None:
    """Flushes a device, also one to which the kernel sends no flushes."""
    if place.write_cache == "through":
        loop.set_write_cache(device, "write back")
    loop.flush(device)
    tell_write_cache(device, place)


class LoopDevice(Device):
    """A file, as a block device."""

    def __init__(self, changes: Changes, work: Path, name: str, place: Place, size_bytes: int):
        self._changes = changes
        self._work = work
        self._name = name
        self._place = place
        self._asked_bytes = size_bytes
        self.device: Path | None = None

    def make(self) -> Path:
        """Makes the image and attaches it."""
        image = self._work / IMAGE
        make_image(image, self._place, self._asked_bytes, self.journal)
        self._changes.before(
            f"attach {image} to a loop device", loop.DETACH, name=self._name, file=str(image)
        )
        self.device = loop.attach(image, self._name)
        tell_write_cache(self.device, self._place)
        return self.device

    def facts(self) -> dict[str, Any]:
        """Of the loop device, and how much of the image is on the disk."""
        image = self._work / IMAGE
        return {
            **loop.facts(self._made()),
            "image": str(image),
            "image_bytes": image.stat().st_blocks * 512,
        }

    @property
    def size_bytes(self) -> int:
        """Of the loop device."""
        return int(loop.facts(self._made())["size_bytes"])

    def flush(self) -> None:
        """Flushes the loop device, and with it the file."""
        flush_for_good(self._made(), self._place)

    def _made(self) -> Path:
        if self.device is None:
            raise TargetError("the device was not made yet")
        return self.device
