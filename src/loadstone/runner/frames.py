"""Writes frames: one JSON object a line, each at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import IO


class FrameWriter:
    """Writes to a stream that may be closed by the other side."""

    def __init__(self, output: IO[bytes]) -> None:
        self._output = output
        self.is_broken = False
        """Nobody reads the frames any more."""

    def write(self, kind: str, t_s: float, fields: Mapping[str, object]) -> None:
        """Writes one frame; fields that are None are left out."""
        known = {name: value for name, value in fields.items() if value is not None}
        line = json.dumps({"frame": kind, "t_s": t_s, **known}, separators=(",", ":"))
        try:
            self._output.write(line.encode() + b"\n")
            self._output.flush()
        except OSError:
            self.is_broken = True
