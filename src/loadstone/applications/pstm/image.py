"""The image of a migration, as a job writes it, and what it tells of how it was made."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from loadstone.applications.pstm.configuration import Floats

IMAGE_FILE, TOLD_FILE, PROGRESS_FILE = "image.npy", "image.json", "progress.json"


@dataclass(frozen=True)
class Told:
    """What is known of an image."""

    job: str
    """The name of the job that made it; empty: it was made by hand."""
    ranks: int
    traces: int
    """Of the survey that were looked at, dead ones too."""
    skipped: int
    """Traces among them that hold no recorded data."""
    updates: int
    """Samples of the image to which a trace was added."""
    kernel_s: float
    """Within the sum, of all ranks together."""
    compile_s: float
    """Until the sum was compiled, or read from the cache, of the first rank."""
    sha256: str
    """Of the image's file."""
    written_epoch_s: float


@dataclass(frozen=True)
class Image:
    """An image that was read back."""

    values: Floats
    """Shape (columns, samples)."""
    told: Told
    is_whole: bool
    """The file is as it was written."""


def write_image(folder: Path, values: Floats, **told: Any) -> None:
    """Writes an image, and then what is told of it: an image without that is not whole.

    Args:
        folder: Where both go.
        values: Shape (columns, samples).
        told: The fields of `Told` but for its sum.
    """
    beside = folder / f".{IMAGE_FILE}.{os.getpid()}"
    with beside.open("wb") as file:
        np.save(file, values, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())
    sha256 = _sum_of(beside)
    beside.replace(folder / IMAGE_FILE)
    write_whole(folder / TOLD_FILE, asdict(Told(sha256=sha256, **told)))


def read_image(folder: Path) -> Image:
    """The image of a folder.

    Raises:
        OSError: If there is none.
        ValueError: If it cannot be read.
    """
    try:
        told = Told(**json.loads((folder / TOLD_FILE).read_text(encoding="utf-8")))
        values = np.load(folder / IMAGE_FILE, allow_pickle=False)
    except (TypeError, EOFError) as error:
        raise ValueError(str(error)) from error
    if not isinstance(values, np.ndarray) or values.ndim != 2 or values.dtype != np.float64:
        raise ValueError(f"{IMAGE_FILE} holds no image")
    return Image(values, told, _sum_of(folder / IMAGE_FILE) == told.sha256)


def write_progress(folder: Path, done: int, of: int) -> None:
    """Tells how many traces of the first rank's have been summed."""
    write_whole(folder / PROGRESS_FILE, {"done": done, "of": of})


def read_progress(folder: Path) -> float | None:
    """The share that has been summed, 0 to 1; None if nothing tells yet."""
    try:
        told = json.loads((folder / PROGRESS_FILE).read_text(encoding="utf-8"))
        return float(told["done"] / told["of"])
    except (OSError, ValueError, KeyError, TypeError, ZeroDivisionError):
        return None


def write_whole(path: Path, document: dict[str, Any]) -> None:
    """Writes a document under another name and renames it: no reader sees a part of it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(json.dumps(document), encoding="utf-8")
    beside.replace(path)


def _sum_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
