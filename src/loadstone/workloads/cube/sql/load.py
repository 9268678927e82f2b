"""Steps 1 to 3: an empty cube, the native files, the file of cells by rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from loadstone.targets.quoting import quoted, read_by_duckdb
from loadstone.workloads.cube.data.provide import KEY_DIMENSIONS
from loadstone.workloads.cube.outline.model import Dimension, Outline
from loadstone.workloads.cube.outline.sparse import LOADED_PERIODS, PERIOD
from loadstone.workloads.cube.sql.aggregate import levels
from loadstone.workloads.cube.sql.flavours import Flavour
from loadstone.workloads.cube.sql.tables import AMOUNTS, BASE, KEYS, LOADED, UPPER
from loadstone.workloads.cube.sql.work import CellLoad, Job, Work, at_once, one_by_one

NEW = {BASE: f"{BASE}_new", UPPER: f"{UPPER}_new"}
"""Tables of a restructure, while it goes on."""
_REJECTED, _SCANNED = "cube_rejected", "cube_scanned"


def emptied(flavour: Flavour) -> Work:
    """Drops all cells, with what a cycle that was broken off has left; the outline stays."""
    there = [BASE, UPPER, LOADED, *NEW.values(), *levels()]
    made = [flavour.cells(BASE), flavour.cells(UPPER)]
    return one_by_one(*map(flavour.dropped, there), *made, *flavour.checkpoint)


def native_loaded(flavour: Flavour, files: Sequence[Path], names: Path, threads: int) -> Work:
    """Loads the native files, so many at once.

    Args:
        flavour: The engine's way.
        files: Native ones.
        names: Numbers of members.
        threads: `load_threads`.
    """
    many = min(threads, len(files))
    actions = [CellLoad(str(file), "native", str(names), BASE) for file in files]
    jobs: list[Job] = [(*flavour.threads(threads), *actions[job::many]) for job in range(many)]
    return at_once(jobs) + one_by_one(*flavour.analysed(BASE), *flavour.checkpoint)


def lines_loaded(
    flavour: Flavour, files: Sequence[Path], names: Path, rejects: Path, threads: int
) -> Work:
    """Loads the cells of lines: names to members, texts to numbers, wrong lines to a file.

    Args:
        flavour: The engine's way.
        files: One, or the parts of one.
        names: Numbers of members.
        rejects: File for the wrong lines; each part has one of its own if the driver parses them.
        threads: `load_threads`.
    """
    if flavour.reads_lines:
        statements = _read_by_engine(files, rejects)
        return one_by_one(*flavour.threads(threads), *statements, *flavour.checkpoint)
    many = min(threads, len(files))
    actions = [
        CellLoad(str(file), "lines", str(names), LOADED, str(rejected(rejects, part)))
        for part, file in enumerate(files)
    ]
    jobs: list[Job] = [(*flavour.threads(threads), *actions[job::many]) for job in range(many)]
    sums = ", ".join(f"max({amount}) AS {amount}" for amount in AMOUNTS)

    def together(part: str) -> str:
        return (
            f"INSERT INTO {BASE} SELECT {KEYS}, {sums} FROM {LOADED} c WHERE TRUE{part} "
            f"GROUP BY {KEYS}"
        )

    return (
        one_by_one(flavour.cells(LOADED, scratch=True))
        + at_once(jobs)
        + flavour.spread(together, "c.entity", threads)
        + one_by_one(flavour.dropped(LOADED), *flavour.analysed(BASE), *flavour.checkpoint)
    )


def rejected(rejects: Path, part: int) -> Path:
    """The file for the wrong lines of a part."""
    return rejects.with_name(f"{rejects.stem}-{part + 1}{rejects.suffix}")


def types(outline: Outline) -> Iterator[str]:
    """Makes a type for each dimension, whose values have the numbers of its members.

    A member that may hold no data has a text in its place that is no name.
    """
    for name in KEY_DIMENSIONS:
        yield _type(name, _texts(outline[name]))
    yield _type(PERIOD, list(LOADED_PERIODS))


def _type(name: str, texts: Sequence[str]) -> str:
    values = ", ".join(map(quoted, texts))
    return f"CREATE TYPE {_type_name(name)} AS ENUM ({values})"


def _type_name(dimension: str) -> str:
    return f"cube_{dimension.lower()}_name"


def _texts(dimension: Dimension) -> list[str]:
    texts = [f"#{number}" for number in range(len(dimension))]
    for leaf in dimension.leaves():
        texts[leaf] = dimension.members[leaf].name
    return texts


def _read_by_engine(files: Sequence[Path], rejects: Path) -> list[str]:
    """By DuckDB's reader: a text that is not in a column's type is a wrong line."""
    columns = [f"'{name}': '{_type_name(name)}'" for name in (*KEY_DIMENSIONS, PERIOD)]
    source = (
        f"read_csv([{', '.join(map(read_by_duckdb, files))}], "
        "header = true, delim = ',', quote = '\"', "
        f"auto_detect = false, columns = {{{', '.join([*columns, _DATA])}}}, "
        f"store_rejects = true, rejects_table = '{_REJECTED}', rejects_scan = '{_SCANNED}')"
    )
    codes = ", ".join(f'enum_code("{name}")::SMALLINT' for name in KEY_DIMENSIONS)
    sums = ", ".join(
        f'max("Data") FILTER (WHERE "{PERIOD}" = \'{period}\')' for period in LOADED_PERIODS
    )
    keys = ", ".join(f'"{name}"' for name in KEY_DIMENSIONS)
    return [
        f"DROP TABLE IF EXISTS {_REJECTED}",
        f"DROP TABLE IF EXISTS {_SCANNED}",
        f"INSERT INTO {BASE} SELECT {codes}, {sums} FROM {source} GROUP BY {keys}",
        f"COPY (SELECT s.file_path AS file, r.line, r.column_name AS field, {_TEXT} AS text "
        f"FROM {_REJECTED} r JOIN {_SCANNED} s USING (scan_id, file_id) "
        f"ORDER BY ALL) TO {quoted(rejects)} (FORMAT csv, HEADER true)",
    ]


_DATA = "'Data': 'DOUBLE'"
_CONVERTED = """'string "(.*)" to .(ENUM|DOUBLE)'"""
_TEXT = f"coalesce(nullif(regexp_extract(r.error_message, {_CONVERTED}, 1, 's'), ''), r.csv_line)"
"""What stands in the wrong column, or in all; DuckDB also says every name that may stand there."""
