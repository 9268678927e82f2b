"""A block device that is Loadstone's for a while: looked at, then held, and never mistaken."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

from loadstone.errors import RefusedError, TargetError, WrongInputError
from loadstone.host.block import BlockIdentity, identify, number_in, number_of
from loadstone.host.block_users import users_of
from loadstone.placements import programs


def examined(path: Path, *, empty: bool) -> BlockIdentity:
    """Looks at a device without changing it.

    Args:
        path: The device, or a link to it.
        empty: Refuse one that holds anything: it will be written over.

    Raises:
        WrongInputError: If there is no such device, or it may not be used.
        RefusedError: If somebody uses it, or something is on it.
    """
    if not path.exists():
        raise WrongInputError(f"there is no device {path}", advice="lsblk shows those there are")
    number = number_of(path)
    if number is None:
        raise WrongInputError(
            f"{path} is no block device", advice="measure a folder by target folder"
        )
    if not os.access(path, os.R_OK | (os.W_OK if empty else 0)):
        raise WrongInputError(f"{path} may not be opened by this user", advice="run as root")
    device = identify(number)
    if device.size_bytes == 0:
        raise WrongInputError(f"{path} has no medium: it holds 0 bytes")
    if users := users_of(device):
        raise in_use(path, users)
    if empty and (found := contents(path)):
        raise RefusedError(
            f"{path} is not empty: it holds {', '.join(found)}",
            advice=f"if all of it may go, empty the device first: wipefs --all {path}",
        )
    return device


def in_use(path: Path, users: list[str]) -> RefusedError:
    """For a device that somebody has."""
    return RefusedError(f"{path} is in use: {'; '.join(users)}", advice="name one that is free")


def contents(path: Path) -> list[str]:
    """Kinds of what begins on a device: file systems, partition tables, members of arrays.

    Raises:
        TargetError: If it cannot be read.
    """
    told = programs.run("wipefs", ["--no-act", "--json", path], doing=f"looking what {path} holds")
    found = json.loads(told)["signatures"] if told.strip() else []
    return list(dict.fromkeys(str(each["type"]) for each in found))


class Claim:
    """A device held with O_EXCL: nobody else can mount it, or hold it, meanwhile."""

    def __init__(self, path: Path, *, writing: bool) -> None:
        """Looks at the device, holds it, and looks again: what came between is seen.

        Raises:
            LoadstoneError: As `examined`.
        """
        self.path = path
        before = examined(path, empty=writing)
        mode = os.O_RDWR if writing else os.O_RDONLY
        try:
            self._descriptor = os.open(path, mode | os.O_EXCL | os.O_CLOEXEC)
        except OSError as error:
            if error.errno == errno.EBUSY:
                raise in_use(path, users_of(before) or ["the kernel holds it"]) from error
            raise TargetError(f"{path} cannot be opened: {error.strerror}") from error
        try:
            self.device = examined(path, empty=writing)
            self._refuse_other(before)
        except BaseException:
            self.release()
            raise

    def confirm(self) -> None:
        """Looks whether the name still leads to the device that is held.

        Raises:
            RefusedError: If not; then nothing may be written by that name.
        """
        if number_of(self.path) != number_in(os.fstat(self._descriptor)):
            raise RefusedError(f"{self.path} is another device now than the one that was examined")
        try:
            self._refuse_other(identify(self.device.number))
        except OSError as error:
            raise TargetError(f"{self.path} has gone: {error.strerror}") from error

    def settle(self) -> None:
        """Brings what was written to the medium, and has the kernel forget what it keeps of it.

        Raises:
            TargetError: If the device fails.
        """
        try:
            os.fsync(self._descriptor)
            os.posix_fadvise(self._descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        except OSError as error:
            raise TargetError(f"{self.path} cannot be flushed: {error.strerror}") from error

    def release(self) -> None:
        """Lets it go."""
        os.close(self._descriptor)

    def _refuse_other(self, found: BlockIdentity) -> None:
        if found != self.device:
            raise RefusedError(
                f"{self.path} is not the device that was examined: it was {self.device.text()}, "
                f"and is {found.text()}"
            )
