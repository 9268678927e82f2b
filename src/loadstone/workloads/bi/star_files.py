"""The files of a star at a scale: made once, kept for later experiments, counted and answered."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import duckdb

from loadstone.cache import MANIFEST, cache_folder, locked, made_once, refuse_altered
from loadstone.errors import WrongInputError
from loadstone.spec.dashboards import Chart, Dataset, default_content
from loadstone.spec.dashboards_sql import chart_sql
from loadstone.targets.dialect import Dialect
from loadstone.targets.quoting import quoted, read_by_duckdb
from loadstone.workloads.bi.star import QUERIES, STAR, summed
from loadstone.workloads.dss.data import files_of, generate
from loadstone.workloads.dss.tables import TABLES

_EDITION = 1
"""Of the files: another one when they are made, or described in their manifest, otherwise."""
_BYTES_AT_1 = 2.0e9
"""Free space while they are made: the files of the eight tables, and those of the star."""
_OPTIONS = {"parquet": "FORMAT parquet", "csv": "FORMAT csv, HEADER true"}


@dataclass(frozen=True)
class StarFiles:
    """Files with the rows of all tables of the star, and what is known of them."""

    folder: Path
    of: Mapping[str, object]
    """What they are made from."""
    files: Mapping[str, tuple[Path, ...]]
    """Table: its files."""
    rows: Mapping[str, int]
    sums: Mapping[str, str]
    """Table: sum of `star.summed` over its rows."""
    answers: Mapping[str, Sequence[Sequence[Any]]]
    """Chart: the rows of its answer where nothing is chosen, decimals as texts."""
    generated_s: float
    """How long it took; 0 where they were there."""

    def refuse_altered(self) -> None:
        """Stops before files are loaded that are not what was written.

        Raises:
            WrongInputError: It names the first.
        """
        refuse_altered(self.folder, self.of)


def provide(scale: float, form: str, *, cache: Path | None = None) -> StarFiles:
    """The star of a scale; made if it is not there.

    Args:
        scale: Scale factor of `dss`.
        form: `parquet` or `csv`.
        cache: Folder of all data; default: that of the user.

    Raises:
        WrongInputError: If there is no space for it.
        LoadstoneError: If the generator fails.
    """
    base = (cache or cache_folder()) / "bi" / f"sf{scale:g}-{form}"
    base.mkdir(parents=True, exist_ok=True)
    begin = monotonic()
    content = default_content(1)
    of: dict[str, object] = {"scale": scale, "form": form}
    with locked(base / "lock"):
        folder, made = made_once(
            base / f"star-{_EDITION}-{content.digest}", lambda rough: _make(rough, scale, form), of
        )
    manifest = json.loads((folder / MANIFEST).read_text())
    return StarFiles(
        folder=folder,
        of=of,
        files={table.name: (folder / f"{table.name}.{form}",) for table in STAR},
        rows=manifest["rows"],
        sums=manifest["sums"],
        answers=manifest["answers"],
        generated_s=monotonic() - begin if made else 0.0,
    )


def _make(folder: Path, scale: float, form: str) -> dict[str, object]:
    """Makes the eight tables, the star of them, and what is known of the star."""
    _refuse_without_space(folder, scale)
    base = folder / "dss"
    base.mkdir()
    generate(base, scale, "parquet")
    with duckdb.connect() as connection:
        for each in TABLES:
            names = ", ".join(map(read_by_duckdb, files_of(base, each.name, "parquet")))
            connection.execute(f"CREATE VIEW {each.name} AS SELECT * FROM read_parquet([{names}])")
        for table in STAR:
            to = quoted(folder / f"{table.name}.{form}")
            connection.execute(f"CREATE TABLE {table.name} AS {QUERIES[table.name]}")
            connection.execute(f"COPY {table.name} TO {to} ({_OPTIONS[form]})")
        known = _known(connection)
    shutil.rmtree(base)
    return known


def _known(connection: duckdb.DuckDBPyConnection) -> dict[str, object]:
    rows: dict[str, int] = {}
    sums: dict[str, str] = {}
    for table, expression in summed(Dialect("duckdb")).items():
        found = connection.execute(f"SELECT count(*), sum({expression}) FROM {table}").fetchone()
        assert found is not None  # noqa: S101 - an aggregate has one row
        rows[table], sums[table] = found[0], str(found[1])
    content = default_content(1)
    answers = {each.name: answer_of(connection, content.dataset, each) for each in content.charts}
    return {"rows": rows, "sums": sums, "answers": answers}


def answer_of(
    connection: duckdb.DuckDBPyConnection, dataset: Dataset, chart: Chart
) -> list[list[Any]]:
    """The answer of a chart as JSON has it: decimals as texts."""
    rows = connection.execute(chart_sql(dataset, chart)).fetchall()
    return [[cell if isinstance(cell, str | int) else str(cell) for cell in row] for row in rows]


def _refuse_without_space(folder: Path, scale: float) -> None:
    needed, free = scale * _BYTES_AT_1, shutil.disk_usage(folder).free
    if needed > free:
        raise WrongInputError(
            f"the star of scale {scale:g} needs {needed / 1e9:.1f} GB in {folder}, which has "
            f"{free / 1e9:.1f} GB",
            advice="set LOADSTONE_CACHE to a folder with more space, or lower the scale",
        )
