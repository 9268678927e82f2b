"""What a disk of iSCSI says of itself, asked with libiscsi, as fio's engine reaches it.

The library comes with the fio that speaks iSCSI. Calls and structures: iscsi.h and scsi-lowlevel.h
of libiscsi 1.19. The page of caching: SCSI Block Commands, MODE SENSE(6).
"""

from __future__ import annotations

import ctypes
import ctypes.util
from typing import Any

from loadstone.errors import TargetError

_US = b"iqn.2025-01.invalid.loadstone:asking"
_NORMAL_SESSION = 2
_TIMEOUT_S = 10
_CACHING, _WRITE_CACHE = 0x08, 0x04
_DESCRIPTORS, _HEADER_BYTES = 3, 4
"""Where the head of an answer has the bytes of what comes before the page, and its own length."""


class _Sense(ctypes.Structure):
    _fields_ = (
        ("error_type", ctypes.c_ubyte),
        ("key", ctypes.c_int),
        ("ascq", ctypes.c_int),
        ("flags", ctypes.c_ubyte),
        ("bit_pointer", ctypes.c_ubyte),
        ("field_pointer", ctypes.c_uint16),
    )


class _Data(ctypes.Structure):
    _fields_ = (("size", ctypes.c_int), ("data", ctypes.POINTER(ctypes.c_ubyte)))


class _Task(ctypes.Structure):
    """The first fields of `struct scsi_task`."""

    _fields_ = (
        ("status", ctypes.c_int),
        ("cdb_size", ctypes.c_int),
        ("xfer_dir", ctypes.c_int),
        ("expxferlen", ctypes.c_int),
        ("cdb", ctypes.c_ubyte * 16),
        ("residual_status", ctypes.c_int),
        ("residual", ctypes.c_size_t),
        ("sense", _Sense),
        ("datain", _Data),
    )


def has_write_cache(portal: str, target: str, lun: int) -> bool:
    """Whether a disk says that it has a write cache (WCE), so that flushes are of use.

    Args:
        portal: `host:port`.
        target: Its name.
        lun: Of the disk.

    Raises:
        TargetError: If it does not say.
    """
    name = ctypes.util.find_library("iscsi")
    if name is None:
        raise TargetError("libiscsi is missing", advice="install the package libiscsi7")
    iscsi = ctypes.CDLL(name)
    iscsi.iscsi_create_context.restype = ctypes.c_void_p
    iscsi.iscsi_modesense6_sync.restype = ctypes.POINTER(_Task)
    context = ctypes.c_void_p(iscsi.iscsi_create_context(_US))
    try:
        iscsi.iscsi_set_targetname(context, target.encode())
        iscsi.iscsi_set_session_type(context, _NORMAL_SESSION)
        iscsi.iscsi_set_timeout(context, _TIMEOUT_S)
        if iscsi.iscsi_full_connect_sync(context, portal.encode(), lun):
            raise TargetError(f"{target} at {portal} does not let us in")
        page = _page(iscsi, iscsi.iscsi_modesense6_sync(context, lun, 0, 0, _CACHING, 0, 255))
        iscsi.iscsi_logout_sync(context)
    finally:
        iscsi.iscsi_destroy_context(context)
    if len(page) < 3 or page[0] & 0x3F != _CACHING:
        raise TargetError(f"{target} at {portal} does not say whether it has a write cache")
    return bool(page[2] & _WRITE_CACHE)


def _page(iscsi: Any, task: Any) -> bytes:
    """The page of an answer; empty if there was none."""
    if not task:
        return b""
    try:
        status, told = task.contents.status, task.contents.datain
        answer = bytes(told.data[: told.size]) if status == 0 else b""
    finally:
        iscsi.scsi_free_scsi_task(task)
    return answer[_HEADER_BYTES + answer[_DESCRIPTORS] :] if len(answer) >= _HEADER_BYTES else b""
