"""A placement that is in use: its device, its mount, and what the kernel says of both."""

from __future__ import annotations

import secrets
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from loadstone.errors import TargetError
from loadstone.journal import Journal
from loadstone.placements import mounts, options, tree
from loadstone.placements.account import Account
from loadstone.placements.device import IMAGE, Changes, Device, LoopDevice
from loadstone.placements.exported import IscsiDevice, NfsDevice
from loadstone.placements.flushes import ServerFlushes
from loadstone.placements.memory import ZramDevice
from loadstone.placements.network import SOCKET, SOCKET_PATH_LIMIT, NetworkDevice
from loadstone.placements.place import LEAST_BYTES, Place, size_text
from loadstone.placements.raid import RaidDevice
from loadstone.placements.volatile import VolatileDevice
from loadstone.results.record import FactorReading

_LEAST_BYTES = 16 << 30
_SPARE_BYTES = 2 << 30
_GIB = 1 << 30
_FREE_SHARE = 0.8
"""Of what is free, that a placement without a size of its own may take."""
_NETWORK = {
    "nbd": NetworkDevice,
    "volatile": VolatileDevice,
    "nfs": NfsDevice,
    "iscsi": IscsiDevice,
}


def size_for(data_bytes: int) -> int:
    """Size of a placement that names none: four times the data and 2 GB, 16 GB at least.

    An image takes space only where it was written, so this is a limit rather than a cost.
    """
    return max(_LEAST_BYTES, -(-(4 * data_bytes + _SPARE_BYTES) // _GIB) * _GIB)


def default_size(free_bytes: int, data_bytes: int = 0) -> int:
    """Size of a placement that names none, as far as so much space or memory is free."""
    return min(size_for(data_bytes), int(free_bytes * _FREE_SHARE) >> 20 << 20)


class MountedPlace:
    """One placement. Every change is journalled before it is made.

    Life: `open`, then any number of `power_loss` with `recover_mount` after each, then `close`.
    """

    def __init__(self, journal: Journal, place: Place, account: Account) -> None:
        self.place = place
        self._account = account
        self._changes = Changes(journal)
        self._device: Device | None = None
        self._work: Path | None = None
        self._folder: Path | None = None
        self._powerless = False
        self.journal: Path | None = None
        """The device that is to hold the journal, if that is another one; set before `open`."""

    @property
    def folder(self) -> Path:
        """Where data go: the root of the mounted file system, or the folder made.

        Raises:
            TargetError: If it is not open.
        """
        if self._folder is None:
            raise TargetError(f"the placement {self.place.text} is not open")
        return self._folder

    @property
    def powerless(self) -> bool:
        """Whether its power was cut and not restored."""
        return self._powerless

    @property
    def flushes_counted(self) -> ServerFlushes | None:
        """What the server below does with flushes, if there is one that was counted."""
        return self._device.flushes_counted if self._device is not None else None

    @property
    def has_image(self) -> bool:
        """Whether it takes space in the work folder."""
        return self._work is not None and next(self._work.glob(f"**/{IMAGE}"), None) is not None

    def open(self, work: Path, owner: str, size_bytes: int) -> Path:
        """Makes the device and the file system, mounts it, and reads back what is in force.

        Args:
            work: A folder of its own, which exists, for the image, the socket and the mount point.
            owner: Mark of a folder that is made outside it.
            size_bytes: Size, if the placement names none.

        Returns:
            The folder for the data, given to the account.

        Raises:
            TargetError: If it cannot be made, or an option is not in force.
        """
        if self.place.kind == "folder":
            path, entry = tree.make(
                self._changes.journal, Path(str(self.place.path)), self._account, owner
            )
            self._changes.add(entry)
            self._folder = path
            return path
        self._work = work
        mount_point = work / "mount"
        mount_point.mkdir()
        size_bytes = self.place.size_bytes or size_bytes
        least = LEAST_BYTES[str(self.place.file_system)]
        if size_bytes < least:
            raise TargetError(
                f"{self.place.text} needs {size_text(least)}, for which there is no space",
                advice="free some space, or name another data folder",
            )
        source = self._make_device(work, owner, size_bytes)
        self._changes.before(
            f"mount {self.place.text} at {mount_point}",
            mounts.UNMOUNT,
            folder=str(mount_point),
            served_by=self._device.served_by if self._device is not None else None,
        )
        self._folder = mount_point
        self._mount(source, size_bytes)
        mounts.own_root(mount_point, self._account.uid, self._account.gid)
        self.make_durable()
        return mount_point

    def close(self) -> None:
        """Unmounts and removes everything. Works after any failure, and twice."""
        self._changes.undo()
        if self._device is not None:
            self._device.reap()
        if self._work is not None and self._work.exists():
            shutil.rmtree(self._work)
        self._device = self._folder = None

    def make_durable(self) -> None:
        """Brings all that was written so far to the medium, even where flushes are ignored.

        So that a later power loss takes only what was written since.
        """
        if self._device is not None:
            mounts.write_back(self.folder)
            self._device.flush()

    def freeze(self) -> None:
        """Stops a volatile device in its tracks, so that several lose their power at once."""
        if isinstance(self._device, VolatileDevice):
            self._device.freeze()

    def power_loss(self) -> None:
        """Throws away what was not flushed. Nothing below the folder answers from now on.

        Raises:
            TargetError: If the device is not volatile.
        """
        if self._device is None:
            raise TargetError(
                f"{self.place.text}: the power of this placement cannot be cut",
                advice="use a volatile one, for example volatile:ext4",
            )
        self._device.cut_power()
        self._powerless = True

    def recover_mount(self) -> None:
        """Brings the device back after a power loss and mounts it: the file system recovers.

        No process may use it any more.

        Raises:
            TargetError: If the file system cannot be mounted: the power loss broke it.
        """
        if not self._powerless or self._device is None:
            return
        mounts.unmount({"folder": str(self.folder)})
        source = self._device.restore_power()
        self._mount(str(source), self._device.size_bytes, again=True)
        self._powerless = False

    def reading(self, factor: str) -> FactorReading:
        """The placement as asked for and as the kernel shows it.

        Args:
            factor: `storage.data`, `storage.log` or `storage.archive`.
        """
        found = self.place
        if self._folder is not None and self.place.kind != "folder":
            shown = mounts.at(self.folder)
            found = replace(
                self.place,
                file_system=shown["file_system"] if shown else None,
                mount_options=tuple(self._options_in_force()),
                size_bytes=self._shown_bytes(),
            )
        if isinstance(self._device, RaidDevice):
            found = replace(found, level=self._device.level_in_force)
        return FactorReading(
            factor=factor,
            requested=self.place.text,
            read_back=found.text,
            unsafe=self.place.unsafe is not None,
            how="mount",
        )

    def inventory(self) -> dict[str, Any]:
        """Device, mount, server and free space, as they are now."""
        if self._folder is None:
            return {"placement": self.place.text}
        usage = shutil.disk_usage(self.folder)
        return {
            "placement": self.place.text,
            "unsafe": self.place.unsafe,
            "folder": str(self.folder),
            "mount": mounts.at(self.folder),
            "device": self._device.facts() if self._device is not None else None,
            "total_bytes": usage.total,
            "free_bytes": usage.free,
        }

    def _make_device(self, work: Path, owner: str, size_bytes: int) -> str:
        """Makes what is mounted. Returns its name for mount."""
        place = self._of_device()
        name = f"loadstone-{secrets.token_hex(6)}"
        if self.place.kind == "tmpfs":
            return name
        if place.kind != "zram":
            tree.check_space(work, size_bytes * place.members, self.place.text)
        if place.level is None:
            self._device = self._one_device(place, work, name, owner, size_bytes)
        else:
            self._device = self._of_members(work, name, owner, size_bytes)
        self._device.journal = self.journal
        return str(self._device.make())

    def _of_device(self) -> Place:
        """What the device is made as."""
        return self.place

    def _of_members(self, work: Path, name: str, owner: str, size_bytes: int) -> Device:
        member = replace(self.place, file_system=None, level=None, members=1)
        devices = []
        for number in range(self.place.members):
            folder = work / f"member{number}"
            folder.mkdir()
            of_it = f"{name}-{number}"
            devices.append(self._one_device(member, folder, of_it, owner, size_bytes))
        return RaidDevice(self._changes, name, self.place, devices)

    def _one_device(
        self, place: Place, work: Path, name: str, owner: str, size_bytes: int
    ) -> Device:
        if place.kind == "zram":
            return ZramDevice(self._changes, place, size_bytes)
        if place.kind == "loop":
            return LoopDevice(self._changes, work, name, place, size_bytes)
        network, socket = _NETWORK[place.kind], self._socket(work, owner)
        return network(self._changes, work, socket, name, place=place, size_bytes=size_bytes)

    def _socket(self, work: Path, owner: str) -> Path:
        """Path of a socket; elsewhere if it would be too long for the kernel."""
        if len(str(work / SOCKET).encode()) <= SOCKET_PATH_LIMIT:
            return work / SOCKET
        folder, entry = tree.make(self._changes.journal, tree.DEFAULT_PARENT, self._account, owner)
        self._changes.add(entry)
        return folder / SOCKET

    def _mount(self, source: str, size_bytes: int, *, again: bool = False) -> None:
        file_system = str(self.place.file_system)
        needed = self._device.mount_options if self._device is not None else ()
        chosen = [*self.place.mount_options, *needed]
        if again and file_system == "xfs":
            # A container may still hold a copy of the mount that lost its power.
            chosen.append("nouuid")
        if file_system == "tmpfs":
            chosen.append(f"size={size_bytes}")
        mounts.mount(source, self.folder, file_system, chosen)
        shown = mounts.shown_options(self.folder)
        for option in self.place.mount_options:
            if not options.in_force(file_system, option, shown):
                raise TargetError(
                    f"{self.place.text}: {option} is not in force; the kernel shows "
                    f"{','.join(shown)}",
                    advice="leave the option out, or see what this kernel makes of it",
                )

    def _options_in_force(self) -> list[str]:
        shown = mounts.shown_options(self.folder)
        file_system = str(self.place.file_system)
        return [
            option
            for option in self.place.mount_options
            if options.in_force(file_system, option, shown)
        ]

    def _shown_bytes(self) -> int:
        if self._device is not None:
            return self._device.size_bytes
        return shutil.disk_usage(self.folder).total
