"""Whole transactions as a driver tells them, for tests of what is made of them."""

from __future__ import annotations

from typing import Any


def row(request: str, at_s: float, **fields: Any) -> dict[str, Any]:
    """A request on a connection that has served before; times in seconds."""
    return {
        "request": request, "step": 1, "cause": "asked", "at_s": at_s, "connection": "reused",
        "status": 200, "sent_bytes": 120, "received_bytes": 4096, **fields,
    }  # fmt: skip


def trace(took_s: float, key: float = 0.5, *rows: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A transaction; without rows it is one request that took all of its time."""
    return {
        "phase": "measure", "due_s": 12.5, "begun_s": 0.0, "took_s": took_s, "key": key,
        "rows": list(rows) or [row("page", 0.0, wait_s=took_s)], **fields,
    }  # fmt: skip


HOME = trace(
    0.523, 0.5,
    row("home page", 0.004, connect_s=0.001, send_s=0.0005, wait_s=0.1, connection="new",
        status=302),
    row("home page", 0.106, cause="redirect", wait_s=0.02, receive_s=0.004),
    row("style", 0.18, step=3, lane=1, send_s=0.001, wait_s=0.012),
    row("script with a long name of its own", 0.18, step=3, lane=2, resolve_s=0.02,
        connect_s=0.001, tls_s=0.03, send_s=0.001, wait_s=0.28, receive_s=0.011,
        connection="new", received_bytes=812_345),
    row("image", 0.18, step=3, lane=3, blocked_s=0.014, wait_s=0.016, receive_s=0.002,
        error="closed", status=None),
    row("image", 0.212, step=3, lane=3, cause="again", connect_s=0.001, wait_s=0.02,
        connection="new"),
    begun_s=0.004,
)  # fmt: skip
"""A page with what belongs to it: a redirect, parts at the same time, and one sent once more."""


def failing() -> dict[str, Any]:
    """A transaction whose last request failed; further ones were too many to be kept."""
    rows = (
        row("home page", 0.0, wait_s=0.01),
        row("style", 0.011, step=2, wait_s=60.0, status=None, error="first_byte_timeout"),
    )
    return trace(60.011, 0.0, *rows, error="first_byte_timeout", left_out=3)


def traces() -> dict[str, Any]:
    """All that can be kept of an operation."""
    sample = [trace(0.016, 0.1), trace(0.012, 0.2), trace(0.031, 0.3)]
    return {"slowest": HOME, "failed": failing(), "sample": sample}
