"""The data of a scale: made once by tpchgen-cli, kept for later experiments, counted and summed."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sysconfig
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import duckdb
import pyarrow as pa

from loadstone.cache import MANIFEST, cache_folder, locked, made_once, refuse_altered
from loadstone.errors import LoadstoneError, WrongInputError
from loadstone.targets.dialect import Dialect
from loadstone.targets.quoting import quoted, read_by_duckdb
from loadstone.targets.schema import Table
from loadstone.workloads.dss import refresh
from loadstone.workloads.dss.sums import summed
from loadstone.workloads.dss.tables import LINEITEM, ORDERS, TABLES, rows_of

PROGRAM = "tpchgen-cli"
_WHOLE = ("region", "nation", "supplier")
"""Tables too small to be cut into parts."""
_BYTES_OF_PART = 256e6
_EDITION = 2
"""Of the files: another one when they are made, or described in their manifest, otherwise."""
_BYTES_AT_1 = {"parquet": 0.4e9, "csv": 1.1e9}


@dataclass(frozen=True)
class DataSet:
    """Files with the rows of all tables."""

    folders: Mapping[Path, Mapping[str, object]]
    """Where they lie, and what they are made from."""
    files: Mapping[str, tuple[Path, ...]]
    """Table: its files."""
    rows: Mapping[str, int]
    sums: Mapping[str, str]
    """Table: sum of `sums.summed` over its rows."""
    bytes: int
    generated_s: float
    """How long it took; 0 where it was there."""


def provide(
    scale: float, form: str, *, pairs: int, seed: int, cache: Path | None = None
) -> DataSet:
    """The data of a scale, with the rows of refreshes; made if they are not there.

    Args:
        scale: Scale factor.
        form: `parquet` or `csv`.
        pairs: Pairs of refreshes.
        seed: Of the orders that refreshes insert.
        cache: Folder of all data; default: that of the user.

    Raises:
        WrongInputError: If there is no space for it.
        LoadstoneError: If the generator fails, or its rows are not those of the scale.
    """
    base = (cache or cache_folder()) / "dss" / f"sf{scale:g}-{form}"
    base.mkdir(parents=True, exist_ok=True)
    begin = monotonic()
    of_tables: dict[str, object] = {"scale": scale, "form": form}
    of_staged: dict[str, object] = {**of_tables, "pairs": pairs, "seed": seed}
    with locked(base / "lock"):
        tables, made = made_once(
            base / f"tables-{_EDITION}",
            lambda folder: _counted_anew(folder, scale, form),
            of_tables,
        )
        staged, also = made_once(
            base / f"refresh-{pairs}-{seed}-{_EDITION}",
            lambda folder: _stage(folder, tables, scale, form, pairs=pairs, seed=seed),
            of_staged,
        )
    manifest = json.loads((tables / MANIFEST).read_text())
    files = {table.name: files_of(tables, table.name, form) for table in TABLES}
    files |= {table.name: files_of(staged, table.name, form) for table in refresh.STAGED}
    return DataSet(
        folders={tables: of_tables, staged: of_staged},
        files=files,
        rows=manifest["rows"],
        sums=manifest["sums"],
        bytes=sum(path.stat().st_size for table in TABLES for path in files[table.name]),
        generated_s=monotonic() - begin if made or also else 0.0,
    )


def refuse_altered_files(data: DataSet) -> None:
    """Stops before files are loaded that are not what was written.

    Raises:
        WrongInputError: It names the first.
    """
    for folder, of in data.folders.items():
        refuse_altered(folder, of)


def source_of(table: Table, data: DataSet) -> str:
    """What DuckDB reads a table from."""
    files = data.files[table.name]
    return _source(table, files, files[0].suffix.removeprefix("."))


def files_of(folder: Path, table: str, form: str) -> tuple[Path, ...]:
    """The files of a table that `generate` made: one, or a folder with several."""
    if (single := folder / f"{table}.{form}").is_file():
        return (single,)
    return tuple(sorted((folder / table).glob(f"{table}.*.{form}")))


def generate(folder: Path, scale: float, form: str) -> None:
    """Makes the eight tables in an empty folder, without counting anything.

    Args:
        folder: Where files and folders of the tables are made.
        scale: Scale factor.
        form: `parquet` or `csv`.

    Raises:
        LoadstoneError: If the generator fails.
    """
    parts = max(os.cpu_count() or 1, round(scale * _BYTES_AT_1[form] / _BYTES_OF_PART))
    large = [table.name for table in TABLES if table.name not in _WHOLE]
    given = ("-s", f"{scale:g}", "-o", str(folder), "-T")
    _run_all(
        (form, *given, ",".join(_WHOLE)),
        (form, *given, ",".join(large), "--parts", str(parts)),
    )


def _counted_anew(folder: Path, scale: float, form: str) -> dict[str, object]:
    _refuse_without_space(folder, scale, form)
    generate(folder, scale, form)
    return _counted(folder, scale, form)


def _run_all(*calls: Sequence[str]) -> None:
    """At the same time: the short ones are done while the long one goes on."""
    with ThreadPoolExecutor(len(calls)) as pool:
        for _ in pool.map(_run, calls):
            pass


def _run(arguments: Sequence[str]) -> None:
    program = Path(sysconfig.get_path("scripts")) / PROGRAM
    command = [str(program), *arguments, "--quiet"]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise LoadstoneError(
            f"{PROGRAM} does not run: {error}", advice="install it: `uv sync` in a checkout does"
        ) from error
    if ended.returncode != 0:
        said = (ended.stderr or ended.stdout).strip()[-300:]
        raise LoadstoneError(f"{' '.join(command)} ended with {ended.returncode}: {said}")


def _refuse_without_space(folder: Path, scale: float, form: str) -> None:
    needed, free = scale * _BYTES_AT_1[form], shutil.disk_usage(folder).free
    if needed > free:
        raise WrongInputError(
            f"the data of scale {scale:g} need {needed / 1e9:.1f} GB in {folder}, which has "
            f"{free / 1e9:.1f} GB",
            advice="set LOADSTONE_CACHE to a folder with more space, or lower the scale",
        )


def _counted(folder: Path, scale: float, form: str) -> dict[str, object]:
    """Rows and sums of all tables; the rows are those of the scale."""
    expressions = summed(Dialect("duckdb"))
    rows: dict[str, int] = {}
    sums: dict[str, str] = {}
    with duckdb.connect() as connection:
        for table in TABLES:
            source = _source(table, files_of(folder, table.name, form), form)
            found = connection.execute(
                f"SELECT count(*), sum({expressions[table.name]}) FROM {source}"
            ).fetchone()
            assert found is not None  # noqa: S101 - an aggregate has one row
            rows[table.name], sums[table.name] = found[0], str(found[1])
    for name, expected in rows_of(scale).items():
        if rows[name] != expected:
            raise LoadstoneError(
                f"{PROGRAM} made {rows[name]:,} rows of {name} at scale {scale:g}, not {expected:,}"
            )
    return {"rows": rows, "sums": sums}


def _source(table: Table, files: Sequence[Path], form: str) -> str:
    names = ", ".join(map(read_by_duckdb, files))
    if form == "parquet":
        return f"read_parquet([{names}])"
    types = ", ".join(f"'{column.name}': '{column.type.sql}'" for column in table.columns)
    return f"read_csv([{names}], header = true, columns = {{{types}}})"


def _stage(
    folder: Path, tables: Path, scale: float, form: str, *, pairs: int, seed: int
) -> dict[str, object]:
    """Makes the rows of `refresh.STAGED`: orders of the load, drawn by seed, with new keys."""
    per_pair = refresh.orders_of(scale)
    total = rows_of(scale)["orders"]
    drawn = random.Random(f"refresh {seed}").choices(range(1, total + 1), k=pairs * per_pair)
    renamed = pa.table(
        {
            "pair": [place // per_pair + 1 for place in range(len(drawn))],
            "old": [refresh.loaded_key(old) for old in drawn],
            "new": [refresh.new_key(place + 1) for place in range(len(drawn))],
        }
    )
    options = "FORMAT parquet" if form == "parquet" else "FORMAT csv, HEADER true"
    with duckdb.connect() as connection:
        connection.register("renamed", renamed)
        for table in (ORDERS, LINEITEM):
            source = _source(table, files_of(tables, table.name, form), form)
            key = table.primary_key[0]
            connection.execute(
                f"COPY (SELECT pair::integer AS pair, new AS {key}, {_but_key(table)} "
                f"FROM {source} JOIN renamed ON {key} = old ORDER BY new) "
                f"TO {quoted(folder / f'refresh_{table.name}.{form}')} ({options})"
            )
        # What is deleted was loaded first: the orders 1 to `pairs * per_pair`.
        connection.execute(
            "CREATE TABLE deleted AS SELECT (i // ?)::integer + 1 AS pair, "
            "((i + 1) >> 3 << 5) | ((i + 1) & 7) AS o_orderkey FROM range(?) AS _(i)",
            [per_pair, pairs * per_pair],
        )
        sums = summed(Dialect("duckdb"))
        orders, lineitem = (
            _source(table, files_of(tables, table.name, form), form) for table in (ORDERS, LINEITEM)
        )
        connection.execute(
            f"COPY (SELECT pair, o_orderkey, o_sum, l_lines, l_sum FROM deleted "
            f"JOIN (SELECT o_orderkey, ({sums['orders']})::bigint AS o_sum FROM {orders}) "
            f"USING (o_orderkey) JOIN (SELECT l_orderkey, count(*)::integer AS l_lines, "
            f"sum({sums['lineitem']})::bigint AS l_sum FROM {lineitem} GROUP BY ALL) "
            f"ON l_orderkey = o_orderkey ORDER BY o_orderkey) "
            f"TO {quoted(folder / f'refresh_delete.{form}')} ({options})"
        )
    return {}


def _but_key(table: Table) -> str:
    return ", ".join(column.name for column in table.columns[1:])
