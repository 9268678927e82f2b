"""Texts and names of files, as the SQL of engines has them."""

from __future__ import annotations

import re
from pathlib import Path

_PATTERN = re.compile(r"[*?\[]")


def quoted(value: object) -> str:
    """A text in standard SQL, where a quote is doubled."""
    return "'" + str(value).replace("'", "''") + "'"


def escaped(value: object) -> str:
    """A text where a backslash escapes, as in ClickHouse and Spark."""
    return "'" + str(value).replace("\\", "\\\\").replace("'", "\\'") + "'"


def read_by_duckdb(path: Path) -> str:
    """A file that DuckDB reads: no sign of its name means a pattern."""
    return quoted(_PATTERN.sub(lambda sign: f"[{sign[0]}]", str(path)))
