"""`frames.jsonl.zst`: all that the driver said in a trial, as it said it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loadstone.protocol.frames import Frame, FrameError, parse_frame
from loadstone.results.lines import LineWriter, read_lines

FRAMES_FILE = "frames.jsonl.zst"


class FramesWriter(LineWriter):
    """Writes the frames of a trial as they come; `write` takes the decoded JSON objects."""


def read_frames(path: Path) -> Iterator[dict[str, Any]]:
    """Frames as JSON objects: those that are whole, in order.

    Args:
        path: The file, or the trial's folder. A missing file has no frames.
    """
    file = path / FRAMES_FILE if path.is_dir() else path
    if file.exists():
        yield from read_lines(file)


def parsed_frames(path: Path) -> Iterator[Frame]:
    """Frames as values; reading ends at the first that is none (the end of a killed run)."""
    for value in read_frames(path):
        try:
            yield parse_frame(value)
        except FrameError:
            return
