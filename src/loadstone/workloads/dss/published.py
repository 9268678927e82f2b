"""The published answers at scale 1, and by which columns each query sorts.

They are those of DuckDB's TPC-H extension, but for queries 2, 10, 13, 15 and 20: these depend on
random texts, which the generator of that extension makes in another way than dbgen. Their answers
are those that come with dbgen.
"""

from __future__ import annotations

import csv
import io
import zipfile
from functools import cache
from importlib import resources

from loadstone.workloads.dss.answers import Row
from loadstone.workloads.dss.queries import operation

TIED: dict[str, tuple[int, ...]] = {
    "q03": (1, 2),
    "q05": (1,),
    "q10": (2,),
    "q11": (1,),
    "q18": (4, 3),
}
"""Query: the columns (from 0) it sorts by, where two rows can be equal in all of them."""


@cache
def published(query: int) -> tuple[Row, ...]:
    """The answer of a query at scale 1 with the parameters of the validation."""
    content = (resources.files(__package__) / "answers-sf1.zip").read_bytes()
    with zipfile.ZipFile(io.BytesIO(content)) as answers:
        text = answers.read(f"{operation(query)}.csv").decode("utf-8")
    _, *rows = csv.reader(io.StringIO(text), delimiter="|", quoting=csv.QUOTE_NONE)
    return tuple(tuple(value.rstrip() for value in row) for row in rows)
