"""Several devices as one: btrfs with a profile of its own, or a RAID of the kernel's md.

An md array carries a name that is chosen before it is made (`/dev/md/NAME`), by which it is found
again. Its members are new and read as zeros, for which parity and mirrors are right already:
nothing is synchronised while a trial runs. Sources: mkfs.btrfs(8), mdadm(8), md(4).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from loadstone.errors import TargetError
from loadstone.journal import undoes
from loadstone.placements import programs
from loadstone.placements.device import Changes, Device, make_file_system
from loadstone.placements.flushes import ServerFlushes
from loadstone.placements.place import Place

STOP = "storage-stop-md"
ARRAYS = Path("/dev/md")
_BTRFS = Path("/sys/fs/btrfs")


class RaidDevice(Device):
    """Members of one level, with a file system over all of them."""

    def __init__(self, changes: Changes, name: str, place: Place, members: Sequence[Device]):
        self._changes = changes
        self._name = name
        self._place = place
        self._members = members
        self._device: Path | None = None

    def make(self) -> Path:
        """Makes the members one by one, then what joins them. Returns what is mounted."""
        paths = [member.make() for member in self._members]
        level, file_system = str(self._place.level), str(self._place.file_system)
        if file_system == "btrfs":
            make_file_system(paths[0], file_system, ["-d", level, "-m", level], paths[1:])
            self.mount_options = tuple(f"device={path}" for path in paths[1:])
            self._device = paths[0]
            return self._device
        self._changes.before(
            f"make a {level} of {', '.join(map(str, paths))}", STOP, name=self._name
        )
        programs.run("mdadm", create_words(self._name, level, paths), doing=f"making a {level}")
        self._device = ARRAYS / self._name
        make_file_system(self._device, file_system, [])
        return self._device

    def facts(self) -> dict[str, Any]:
        """The level, and each member."""
        return {
            "device": str(self._made()),
            "level": self._place.level,
            "made_by": "btrfs" if self._place.file_system == "btrfs" else "md",
            "overhead_only": self._place.overhead_only,
            "members": [member.facts() for member in self._members],
        }

    @property
    def size_bytes(self) -> int:
        """Of each member: that is what a placement names."""
        return self._members[0].size_bytes

    @property
    def level_in_force(self) -> str | None:
        """As the kernel shows it."""
        device = self._made().resolve().name
        shown = Path(f"/sys/block/{device}/md/level")
        if shown.exists():
            return shown.read_text().strip()
        for file_system in _BTRFS.glob("*"):
            if (file_system / "devices" / device).exists():
                profiles = (file_system / "allocation/data").glob("*/total_bytes")
                return next((each.parent.name for each in profiles), None)
        return None

    @property
    def flushes_counted(self) -> ServerFlushes | None:
        """Of the first member; all are alike."""
        return self._members[0].flushes_counted

    def flush(self) -> None:
        """Flushes each member."""
        for member in self._members:
            member.flush()

    def reap(self) -> None:
        """Takes note that the processes of all members have ended."""
        for member in self._members:
            member.reap()

    def _made(self) -> Path:
        if self._device is None:
            raise TargetError("the device was not made yet")
        return self._device


def create_words(name: str, level: str, members: Sequence[Path]) -> list[str | Path]:
    """What mdadm is told: no bitmap and no synchronisation, which would disturb a trial.

    Args:
        name: Of the array.
        level: As `raid10`.
        members: New devices that read as zeros.
    """
    known = [] if level == "raid0" else ["--assume-clean", "--bitmap=none"]
    words: list[str | Path] = [
        "--create",
        ARRAYS / name,
        "--run",
        "--metadata=1.2",
        "--homehost=any",
    ]
    words += [f"--name={name}", f"--level={level.removeprefix('raid')}"]
    return [*words, *known, f"--raid-devices={len(members)}", *members]


@undoes(STOP)
def stop(data: dict[str, Any]) -> None:
    """Stops the array of that name; none is no failure.

    Raises:
        TargetError: If it is still in use.
    """
    array = ARRAYS / data["name"]
    if array.exists():
        programs.run("mdadm", ["--stop", array], doing=f"stopping {array}")
