"""`frames.jsonl.zst`: all that the driver said in a trial, as it said it."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

from loadstone.protocol.frames import Frame, FrameError, parse_frame
from loadstone.results.lines import LineWriter, read_lines

FRAMES_FILE = "frames.jsonl.zst"
CALIBRATION_FILE = "calibration.jsonl.zst"
"""Those of a load at full speed that came before, by which the rate of a trial was found."""


class FramesWriter(LineWriter):
    """Writes the frames of a trial as they come; `write` takes the decoded JSON objects."""


def read_frames(path: Path) -> Generator[dict[str, Any], None, str]:
    """Frames as JSON objects: those that are whole, in order.

    Args:
        path: The file, or the trial's folder. A missing file has no frames.

    Returns:
        What is wrong with the file, as `read_lines` says it.
    """
    file = path / FRAMES_FILE if path.is_dir() else path
    return (yield from read_lines(file)) if file.exists() else "is missing"


def parsed_frames(path: Path) -> Generator[Frame, None, str]:
    """Frames as values; reading ends at the first that is none (the end of a killed run).

    Returns:
        What is wrong with the file.
    """
    frames, read = read_frames(path), 0
    while True:
        try:
            frame = parse_frame(next(frames))
        except StopIteration as end:
            return str(end.value)
        except FrameError:
            return f"is damaged after {read} lines"
        read += 1
        yield frame
