"""The files of a scale and a seed, made once, and what was written into them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic

from loadstone.cache import (
    MANIFEST,
    altered,
    cache_folder,
    locked,
    made_once,
    refuse_altered,
)
from loadstone.errors import WrongInputError
from loadstone.workloads.cube.data.cells import Injected, write_cells
from loadstone.workloads.cube.data.native import NativeFile, write_native
from loadstone.workloads.cube.data.split import split
from loadstone.workloads.cube.data.volume import volume_of
from loadstone.workloads.cube.outline.accounts import ACCOUNT
from loadstone.workloads.cube.outline.model import Outline
from loadstone.workloads.cube.outline.sparse import (
    CURRENCY,
    ENTITY,
    LOADED_PERIODS,
    PRODUCT,
    SCENARIO,
    VERSION,
    YEARS,
)

CELLS, NAMES = "cells.csv", "names.json"
KEY_DIMENSIONS = (ENTITY, PRODUCT, YEARS, SCENARIO, VERSION, CURRENCY, ACCOUNT)
"""Of a cell but its period, in the order of a key."""
_BYTES_AT_1 = 0.7e9
_EDITION = 3
"""Of the files of a seed: another one when they are drawn or written otherwise."""


@dataclass(frozen=True)
class CubeData:
    """The files that a cube is loaded from, and what is in them."""

    folder: Path
    of: Mapping[str, object]
    """What its files are made from."""
    native: tuple[NativeFile, ...]
    lines: int
    """Of the file of cells, without its header."""
    injected: tuple[Injected, ...]
    """Its wrong lines."""
    accepted_sum: int
    """Of the cells of its right lines."""
    placed_sum: int
    """`placed.placed_sum` of them."""
    bytes: int
    generated_s: float
    """How long it took; 0 where it was there."""

    @property
    def cells(self) -> Path:
        """The file of cells."""
        return self.folder / CELLS

    @property
    def names(self) -> Path:
        """The numbers of the members that may hold data, for the parser."""
        return self.folder / NAMES

    def parts(self, many: int) -> tuple[Path, ...]:
        """The file of cells in so many parts; `split_into` makes them."""
        if many == 1:
            return (self.cells,)
        return tuple(sorted(_parts_folder(self.folder, many).glob("*.csv"), key=_place))

    @property
    def native_files(self) -> tuple[Path, ...]:
        """The native files."""
        return tuple(self.folder / own.name for own in self.native)


def provide(outline: Outline, scale: float, seed: int, cache: Path | None = None) -> CubeData:
    """The files of a scale; made if they are not there.

    Args:
        outline: Of the seed.
        scale: It multiplies rows, and never members.
        seed: Of all draws.
        cache: Folder of all data; default: that of the user.

    Raises:
        WrongInputError: If there is no space for them.
    """
    base = (cache or cache_folder()) / "cube"
    base.mkdir(parents=True, exist_ok=True)
    begin = monotonic()
    with locked(base / "lock"):
        folder, made = made_once(
            base / f"scale{scale:g}-seed{seed}-{_EDITION}",
            lambda rough: write_files(rough, outline, scale, seed),
            _of(scale, seed),
        )
    manifest = json.loads((folder / MANIFEST).read_text())
    return CubeData(
        folder=folder,
        of=_of(scale, seed),
        native=tuple(NativeFile(**own) for own in manifest["native"]),
        lines=manifest["cells"]["lines"],
        injected=tuple(Injected(**own) for own in manifest["cells"]["injected"]),
        accepted_sum=manifest["cells"]["accepted_sum"],
        placed_sum=manifest["cells"]["placed_sum"],
        bytes=sum(path.stat().st_size for path in folder.iterdir() if path.name != MANIFEST),
        generated_s=monotonic() - begin if made else 0.0,
    )


def altered_files(data: CubeData, parts: int) -> list[Path]:
    """Files that are not what was written into them.

    Args:
        data: The files.
        parts: In which the file of cells is loaded.
    """
    return [path for folder in _folders(data, parts) for path in altered(folder)]


def refuse_altered_files(data: CubeData, parts: int) -> None:
    """Stops before files are loaded that are not what was written.

    Raises:
        WrongInputError: It names the first of `altered_files`.
    """
    for folder in _folders(data, parts):
        refuse_altered(folder, data.of)


def _folders(data: CubeData, parts: int) -> list[Path]:
    return [data.folder, *([_parts_folder(data.folder, parts)] if parts > 1 else [])]


def _of(scale: float, seed: int) -> dict[str, object]:
    return {"scale": scale, "seed": seed}


def split_into(data: CubeData, many: int) -> None:
    """Splits the file of cells into parts, which are kept beside it; once."""
    if many > 1:
        with locked(data.folder.parent / "lock"):
            made_once(
                _parts_folder(data.folder, many), lambda rough: _split(data, many, rough), data.of
            )


def _split(data: CubeData, many: int, folder: Path) -> Mapping[str, object]:
    parts = split(data.cells, many, folder)
    return {"first_lines": [part.first_line for part in parts]}


def first_lines(data: CubeData, many: int) -> list[int]:
    """Number in the whole file of the line after the header of each part."""
    if many == 1:
        return [2]
    manifest = json.loads((_parts_folder(data.folder, many) / MANIFEST).read_text())
    return list(map(int, manifest["first_lines"]))


def _parts_folder(folder: Path, many: int) -> Path:
    return folder.with_name(f"{folder.name}-parts{many}")


def _place(part: Path) -> int:
    """Its place among the parts: `STEM.PLACE.csv`."""
    return int(part.suffixes[-2].removeprefix("."))


def names_of(outline: Outline) -> dict[str, dict[str, int]]:
    """Dimension: the members that may hold data, each with its number."""
    return {
        name: {outline[name].members[leaf].name: leaf for leaf in outline[name].leaves()}
        for name in KEY_DIMENSIONS
    }


def write_files(folder: Path, outline: Outline, scale: float, seed: int) -> Mapping[str, object]:
    """Writes all files of a scale into an empty folder.

    Returns:
        What was written: of the native files and of the file of cells.

    Raises:
        WrongInputError: If there is no space for them.
    """
    needed, free = scale * _BYTES_AT_1, shutil.disk_usage(folder).free
    if needed > free:
        raise WrongInputError(
            f"the data of scale {scale:g} need {needed / 1e9:.1f} GB in {folder}, which has "
            f"{free / 1e9:.1f} GB",
            advice="set LOADSTONE_CACHE to a folder with more space, or lower the scale",
        )
    periods = list(LOADED_PERIODS)
    names = {"dimensions": names_of(outline), "periods": periods}
    (folder / NAMES).write_text(json.dumps(names), encoding="utf-8")
    volume = volume_of(outline, scale, seed)
    cells = write_cells(folder / CELLS, outline, volume, seed)
    native = write_native(folder, outline, volume, seed)
    return {"cells": asdict(cells), "native": [asdict(own) for own in native]}
