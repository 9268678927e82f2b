"""Writes a kit: everything that the owner of an Essbase licence needs to run the same benchmark."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from loadstone.workloads.cube.data.provide import CubeData
from loadstone.workloads.cube.essbase.calc import calc_scripts
from loadstone.workloads.cube.essbase.maxl import build_script, cycle_script
from loadstone.workloads.cube.essbase.planning import write_hybrid, write_metadata
from loadstone.workloads.cube.essbase.readme import readme
from loadstone.workloads.cube.essbase.settings import KIT_VERSION, KitSettings
from loadstone.workloads.cube.outline.accounts import ACCOUNT
from loadstone.workloads.cube.outline.exchange import write_dimension
from loadstone.workloads.cube.outline.model import Dimension, Outline
from loadstone.workloads.cube.outline.sparse import ENTITY, LOADED_PERIODS, PRODUCT
from loadstone.workloads.cube.rates import RATE_KINDS, Rates


def write_kit(
    folder: Path, outline: Outline, data: CubeData, rates: Rates, settings: KitSettings
) -> None:
    """Writes all files of a kit.

    Args:
        folder: Empty.
        outline: Of the seed.
        data: Of the scale and the seed; its files are copied.
        rates: Of the seed.
        settings: What the scripts say.

    Raises:
        OSError: If they cannot be written.
    """
    write_outline(folder / "outline", _as_built(outline, settings))
    _write_planning(folder / "planning", outline)
    _take(folder / "data", [*data.native_files, data.cells])
    _write_rates(folder / "rates.csv", rates)
    (folder / "calc").mkdir()
    for name, text in calc_scripts(outline, rates, settings).items():
        (folder / "calc" / f"{name}.csc").write_text(text, encoding="utf-8")
    dimensions = [file_name(own) for own in outline.dimensions]
    (folder / "build.mxl").write_text(build_script(dimensions, settings), encoding="utf-8")
    (folder / "cycle.mxl").write_text(cycle_script(settings), encoding="utf-8")
    (folder / "README.md").write_text(readme(settings, data), encoding="utf-8")
    expected = _expected(data, settings)
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")


def write_outline(folder: Path, outline: Outline) -> list[Path]:
    """Writes each dimension as a file of parents and children.

    Args:
        folder: Made if it is missing.
        outline: With the dimensions.

    Returns:
        The files, in the order of the outline.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for own in outline.dimensions:
        written.append(folder / f"{file_name(own)}.csv")
        write_dimension(own, written[-1])
    return written


def _as_built(outline: Outline, settings: KitSettings) -> Outline:
    """With the parents dynamic in a hybrid kit."""
    for name in (ENTITY, PRODUCT) if settings.hybrid else ():
        outline = outline.with_dimension(outline[name].hybrid())
    return outline


def file_name(dimension: Dimension) -> str:
    """Name of a dimension's file, without `.csv`."""
    return dimension.name.lower()


def _write_planning(folder: Path, outline: Outline) -> None:
    """The dimensions that Planning has not of itself."""
    folder.mkdir()
    for name in (ACCOUNT, ENTITY, PRODUCT):
        write_metadata(outline[name], folder / f"{file_name(outline[name])}.csv")
    for name in (ENTITY, PRODUCT):
        write_hybrid(outline[name], folder / f"hybrid_{file_name(outline[name])}.csv")


def _take(folder: Path, paths: Iterable[Path]) -> None:
    """Copies, and no links: who changes a file of a kit must not change what others load."""
    folder.mkdir()
    for path in paths:
        shutil.copyfile(path, folder / path.name)


def _write_rates(path: Path, rates: Rates) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["Currency", "Rate", "Years", *LOADED_PERIODS])
        for currency in rates.currencies:
            for kind in RATE_KINDS:
                for year in rates.years:
                    own = rates.of(currency, kind, year).tolist()
                    writer.writerow([currency, kind, year, *own])


def _expected(data: CubeData, settings: KitSettings) -> dict[str, object]:
    """What a server should say after it has loaded the files."""
    return {
        "version": KIT_VERSION,
        "scale": settings.scale,
        "seed": settings.seed,
        "native": [{"name": own.name, "cells": own.cells, "sum": own.sum} for own in data.native],
        "cells": {
            "lines": data.lines,
            "right": data.lines - len(data.injected),
            "sum": data.accepted_sum,
            "wrong": [asdict(own) for own in data.injected],
        },
    }
