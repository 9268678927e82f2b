"""An external journal: a device that holds the journal of an ext4 which lies elsewhere.

It is a placement without a file system of its own. ext4 writes its metadata there, and with
`data=journal` all data first: see ext4(5) and mke2fs(8), `-O journal_dev` and `-J device=`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from loadstone.errors import TargetError, WrongInputError
from loadstone.placements.device import JOURNAL
from loadstone.placements.mounted import MountedPlace
from loadstone.placements.place import Place
from loadstone.results.record import FactorReading

SIZE_BYTES = 1 << 30
"""Of one that names none: as large as that which ext4 makes on a large disk."""
KINDS = ("loop", "zram", "nbd")
_IN_USE = Path("/proc/fs/jbd2")


class JournalPlace(MountedPlace):
    """A device that is made, and mounted by nobody."""

    def open(self, work: Path, owner: str, size_bytes: int) -> Path:
        """Makes the device. Returns it.

        Args:
            work: As of any placement.
            owner: As of any placement.
            size_bytes: Its size at most, if the placement names none.
        """
        self._work = work
        own_bytes = self.place.size_bytes or min(size_bytes, SIZE_BYTES)
        self._source = Path(self._make_device(work, owner, own_bytes))
        return self._source

    @property
    def device(self) -> Path:
        """The block device.

        Raises:
            TargetError: If it is not open.
        """
        if self._device is None:
            raise TargetError(f"the placement {self.place.text} is not open")
        return self._source

    def make_durable(self) -> None:
        """What is in it is brought to the medium."""
        if self._device is not None:
            self._device.flush()

    def reading(self, factor: str) -> FactorReading:
        """The placement, if the kernel says that it is a journal in use."""
        size_bytes = self.place.size_bytes and self._shown_bytes()
        found = replace(self.place, size_bytes=size_bytes).text
        in_use = self._device is not None and (_IN_USE / self.device.name).exists()
        return FactorReading(
            factor=factor,
            requested=self.place.text,
            read_back=found if in_use else "no journal in use",
            unsafe=self.place.unsafe is not None,
            how="mount",
        )

    def inventory(self) -> dict[str, Any]:
        """The device."""
        facts = self._device.facts() if self._device is not None else None
        return {"placement": self.place.text, "unsafe": self.place.unsafe, "device": facts}

    def _of_device(self) -> Place:
        return replace(self.place, file_system=JOURNAL)


def refuse_unfit(data: Place | None, log: Place) -> None:
    """Stops where a placement cannot hold the journal of another.

    Args:
        data: Of the file system; None: a plain folder.
        log: Of its journal.

    Raises:
        WrongInputError: With the reason.
    """
    if data is None or data.file_system != "ext4" or data.kind not in KINDS:
        given = "a plain folder" if data is None else data.text
        raise WrongInputError(
            f"storage.log is the journal of an ext4 that Loadstone makes; the data lie on {given}",
            advice="write for example storage.data: loop:ext4,data=journal",
        )
    if log.kind not in KINDS or log.file_system != "ext4" or log.mount_options or log.level:
        raise WrongInputError(
            f"{log.text} cannot hold a journal: it is a device of its own, which nobody mounts",
            advice=f"write one of {', '.join(KINDS)}, without another file system, level or mount "
            "option",
        )
    if data.level is not None:
        raise WrongInputError(f"{data.text} has several devices: its journal lies within")
