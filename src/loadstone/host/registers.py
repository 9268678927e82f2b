"""Model-specific registers of processors, by the kernel's devices `/dev/cpu/*/msr` (msr(4))."""

from __future__ import annotations

import os
from pathlib import Path

from loadstone.host.machine import Absent, Denied, Reading

_BYTES = 8


def register_of(path: Path, register: int) -> int:
    """The value of a register.

    Args:
        path: The device of a processor.
        register: Its number, as `0x1a4`.

    Raises:
        OSError: If the processor has it not, or it may not be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        raw = os.pread(descriptor, _BYTES, register)
    finally:
        os.close(descriptor)
    if len(raw) != _BYTES:
        raise OSError(0, f"register {register:#x} has {len(raw)} bytes instead of {_BYTES}")
    return int.from_bytes(raw, "little")


def read_register(path: Path, register: int) -> Reading:
    """The value of a register in hexadecimal, or why there is none."""
    try:
        return f"{register_of(path, register):#x}"
    except FileNotFoundError:
        return Absent(f"{path} is missing: the kernel's module msr is not loaded (modprobe msr)")
    except PermissionError:
        return Denied(f"{path} may not be read: it takes root with CAP_SYS_RAWIO")
    except OSError as error:
        return Denied(f"register {register:#x} of {path} cannot be read: {error.strerror}")


def write_register(path: Path, register: int, value: int) -> None:
    """Writes a register.

    Raises:
        OSError: If the processor or the kernel refuses it.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.pwrite(descriptor, value.to_bytes(_BYTES, "little"), register)
    finally:
        os.close(descriptor)
