"""The form of a SEG-Y file, read from its headers with the standard library alone.

Source: SEG Technical Standards Committee, "SEG-Y revision 2.0 Data Exchange Format" (2017), tables
2 and 3. Byte numbers count from 1, as there.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass, replace
from pathlib import Path

from loadstone.errors import WrongInputError

TEXT_BYTES, BINARY_BYTES, TRACE_HEADER_BYTES = 3200, 400, 240
FORMATS = {1: "IBM float", 5: "IEEE float"}
"""Of samples, that are read; both have 4 bytes."""
OTHER_FORMATS = {
    2: "4-byte integers",
    3: "2-byte integers",
    4: "fixed point with gain",
    6: "8-byte IEEE floats",
    8: "1-byte integers",
}
SAMPLE_BYTES = 4
_INTERVAL_AT, _SAMPLES_AT, _FORMAT_AT, _SYSTEM_AT, _EXTENDED_AT = 3217, 3221, 3225, 3255, 3505
_FEET = 2
METRES_OF_FOOT = 0.3048


@dataclass(frozen=True)
class Form:
    """How the samples of a file are stored."""

    traces: int
    samples: int
    """Of each trace."""
    interval_s: float
    format: int
    metres: float
    """Of the file's unit of length."""
    begin_bytes: int
    """Where the first trace begins."""

    @property
    def trace_bytes(self) -> int:
        """Of a trace with its header."""
        return TRACE_HEADER_BYTES + SAMPLE_BYTES * self.samples


def form_of(path: Path) -> Form:
    """The form of a file that holds whole traces.

    Raises:
        WrongInputError: If it is no SEG-Y, has a form that is not read, or was cut off.
    """
    begin = TEXT_BYTES + BINARY_BYTES
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            file.seek(TEXT_BYTES, os.SEEK_SET)
            header = file.read(BINARY_BYTES)
    except OSError as error:
        raise WrongInputError(f"{path} cannot be read: {error.strerror}") from error
    if len(header) < BINARY_BYTES:
        raise WrongInputError(f"{path} is truncated: {size} bytes, and SEG-Y headers have {begin}")
    format_ = _format(path, _two(header, _FORMAT_AT))
    samples, interval_us = _two(header, _SAMPLES_AT), _two(header, _INTERVAL_AT)
    if samples == 0 or interval_us == 0:
        raise WrongInputError(
            f"{path} is no SEG-Y that can be migrated: its header tells {samples} samples of "
            f"{interval_us} us"
        )
    extended = _two(header, _EXTENDED_AT)
    if extended > 0x7FFF:
        raise WrongInputError(f"{path} has a variable number of textual headers: not read")
    form = Form(
        traces=0,
        samples=samples,
        interval_s=interval_us * 1e-6,
        format=format_,
        metres=METRES_OF_FOOT if _two(header, _SYSTEM_AT) == _FEET else 1.0,
        begin_bytes=begin + TEXT_BYTES * extended,
    )
    return _with_traces(path, form, size)


def _with_traces(path: Path, form: Form, size: int) -> Form:
    traces, rest = divmod(size - form.begin_bytes, form.trace_bytes)
    if traces < 0 or rest:
        raise WrongInputError(
            f"{path} is truncated: {max(0, traces)} whole traces of {form.trace_bytes} bytes, and "
            f"{rest} bytes of another",
            advice="copy it again from where it is whole",
        )
    if traces == 0:
        raise WrongInputError(f"{path} holds no traces")
    return replace(form, traces=traces)


def _format(path: Path, found: int) -> int:
    if found in FORMATS:
        return found
    if found in OTHER_FORMATS:
        told = f"its samples are {OTHER_FORMATS[found]}"
    elif found % 256 == 0 and found >> 8 in {*FORMATS, *OTHER_FORMATS}:
        told = "its bytes are in little-endian order"
    else:
        told = f"format {found} of its header is unknown"
    raise WrongInputError(
        f"{path} is not read: {told}; IBM and IEEE floats of 4 bytes are, in big-endian order"
    )


def _two(header: bytes, at: int) -> int:
    """The number in two bytes of the binary header."""
    (found,) = struct.unpack_from(">H", header, at - TEXT_BYTES - 1)
    return int(found)
