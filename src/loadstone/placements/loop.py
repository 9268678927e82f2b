"""Loop devices, by the kernel's own interface.

A device carries a name that is chosen before it is attached (`lo_file_name`, 63 bytes), so that it
is found again by whoever must detach it, even when its file has gone. Where the kernel cannot read
the name because the file system of the file has died, the path of the file tells. Layouts:
linux/loop.h.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import struct
import time
from pathlib import Path
from typing import Any

from loadstone.errors import TargetError
from loadstone.journal import undoes

DETACH = "storage-detach-loop"
_CONTROL = Path("/dev/loop-control")
_GET_FREE = 0x4C82
_CONFIGURE = 0x4C0A
_CLR_FD = 0x4C01
_GET_STATUS64 = 0x4C05
_SET_DIRECT_IO = 0x4C08
_INFO = struct.Struct("=QQQQQIIII64s64s32sQQ")
_NAME_FIELD = 9
_NAME_BYTES = 63
_TRIES = 64
_DETACH_S = 3.0
_POLL_S = 0.01
_FLUSHES = 15
"""Field of `/sys/block/X/stat`: Documentation/block/stat.rst, since Linux 5.5."""


def attach(file: Path, name: str) -> Path:
    """Attaches a file to a free loop device, with direct I/O where the file allows it.

    Args:
        file: The file; locked by nobody.
        name: What the device is found by afterwards.

    Returns:
        The device, such as `/dev/loop0`.

    Raises:
        TargetError: If the kernel refuses.
    """
    wanted = name.encode()
    if len(wanted) > _NAME_BYTES:
        raise ValueError(f"the name {name!r} is longer than {_NAME_BYTES} bytes")
    descriptor = os.open(file, os.O_RDWR)
    try:
        for _ in range(_TRIES):
            device = _free_device()
            if _configure(device, descriptor, wanted):
                _use_direct_io(device)
                return device
    except OSError as error:
        raise TargetError(f"{file} cannot be a loop device: {error.strerror}") from error
    finally:
        os.close(descriptor)
    raise TargetError("other programs took every free loop device", advice="try again")


def attached(name: str, file: Path) -> list[Path]:
    """The devices that carry a name, or whose name cannot be read and that lie on this file."""
    found = []
    for entry in Path("/sys/block").glob("loop*/loop"):
        device = Path("/dev") / entry.parent.name
        if _is(device, name, file):
            found.append(device)
    return found


def has_died(device: Path) -> bool:
    """Whether it is a loop device in use whose file no longer answers."""
    in_use = (Path("/sys/block") / device.name / "loop").exists()
    return in_use and _name_of(device) is None


def facts(device: Path) -> dict[str, Any]:
    """What the kernel says of an attached device."""
    block = Path("/sys/block") / device.name
    return {
        "device": str(device),
        "file": (block / "loop" / "backing_file").read_text().strip(),
        "direct_io": (block / "loop" / "dio").read_text().strip() == "1",
        "write_cache": write_cache(device),
        "size_bytes": int((block / "size").read_text()) * 512,
    }


def write_cache(device: Path) -> str:
    """`write back`: flushes are passed on; `write through`: the kernel leaves them out."""
    return (Path("/sys/block") / device.name / "queue" / "write_cache").read_text().strip()


def set_write_cache(device: Path, mode: str) -> None:
    """Sets what `write_cache` reads.

    Raises:
        TargetError: If the kernel does not take it.
    """
    path = Path("/sys/block") / device.name / "queue" / "write_cache"
    try:
        path.write_text(mode)
    except OSError as error:
        raise TargetError(f"{path} does not take {mode!r}: {error.strerror}") from error
    if write_cache(device) != mode:
        raise TargetError(f"{path} reads {write_cache(device)!r} after {mode!r} was written")


def flushes(device: Path) -> int:
    """Flushes that the kernel has sent to a device since boot, or since the module was loaded."""
    return int((Path("/sys/block") / device.name / "stat").read_text().split()[_FLUSHES])


def flush(device: Path) -> None:
    """Has the device write its cache to the medium."""
    descriptor = os.open(device, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@undoes(DETACH)
def detach(data: dict[str, Any]) -> None:
    """Detaches the devices of a name.

    One that somebody still uses (a container that was started meanwhile has a copy of every mount)
    is detached by the kernel itself when its last user goes.

    Raises:
        TargetError: If one is neither detached nor going to be.
    """
    name, file = data["name"], Path(data["file"])
    deadline = time.monotonic() + _DETACH_S
    for device in attached(name, file):
        with contextlib.suppress(TargetError):  # it would stay set for the device's next user
            set_write_cache(device, "write back")
        _clear(device, name, file)
        while _is(device, name, file):
            if time.monotonic() > deadline:
                if _goes_with_its_last_user(device):
                    break
                raise TargetError(f"{device} is still in use", advice="see who has it mounted")
            time.sleep(_POLL_S)


def _free_device() -> Path:
    descriptor = os.open(_CONTROL, os.O_RDWR)
    try:
        return Path(f"/dev/loop{fcntl.ioctl(descriptor, _GET_FREE)}")
    finally:
        os.close(descriptor)


def _configure(device: Path, file: int, name: bytes) -> bool:
    """Attaches; False if somebody else was faster."""
    info = _INFO.pack(0, 0, 0, 0, 0, 0, 0, 0, 0, name, b"", b"", 0, 0)
    config = struct.pack("=II", file, 0) + info + bytes(64)
    descriptor = os.open(device, os.O_RDWR)
    try:
        fcntl.ioctl(descriptor, _CONFIGURE, config)
    except OSError as error:
        if error.errno == errno.EBUSY:
            return False
        raise
    finally:
        os.close(descriptor)
    return True


def _use_direct_io(device: Path) -> None:
    descriptor = os.open(device, os.O_RDWR)
    try:
        # A file system without direct I/O (tmpfs before Linux 6.6) is used with its page cache.
        with contextlib.suppress(OSError):
            fcntl.ioctl(descriptor, _SET_DIRECT_IO, 1)
    finally:
        os.close(descriptor)


def _goes_with_its_last_user(device: Path) -> bool:
    flag = Path("/sys/block") / device.name / "loop" / "autoclear"
    return not flag.exists() or flag.read_text().strip() == "1"


def _is(device: Path, name: str, file: Path) -> bool:
    carried = _name_of(device)
    if carried is not None:
        return carried == name.encode()
    backing = Path("/sys/block") / device.name / "loop" / "backing_file"
    try:
        shown = backing.read_text().rstrip("\n")
    except OSError:
        return False
    # The kernel adds the word once somebody has looked for the file in vain.
    return shown.removesuffix(" (deleted)") == str(file)


def _name_of(device: Path) -> bytes | None:
    """The name that a device carries; None if it is free, or its file does not answer."""
    try:
        descriptor = os.open(device, os.O_RDONLY)
    except OSError:
        return None
    try:
        fields = _INFO.unpack(fcntl.ioctl(descriptor, _GET_STATUS64, bytes(_INFO.size)))
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return bytes(fields[_NAME_FIELD]).split(b"\0")[0]


def _clear(device: Path, name: str, file: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        descriptor = os.open(device, os.O_RDONLY)
        try:
            if _is(device, name, file):
                fcntl.ioctl(descriptor, _CLR_FD, 0)
        except OSError as error:
            if error.errno != errno.ENXIO:  # somebody has detached it already
                raise
        finally:
            os.close(descriptor)
