"""Runs the benchmarks and writes `docs/benchmarks.md`.

python -m benchmarks                    # all of them
python -m benchmarks loop pgbench       # some of those in `BENCHMARKS`
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from benchmarks import (
    catalogue,
    checking,
    decision_support,
    driver_loop,
    engines,
    event_archive,
    http_cost,
    http_memory,
    order_entry,
    planning_cube,
    point_select,
    pstm,
    ssj_pacing,
    storage,
    verdicts,
)
from benchmarks.page import OUTPUT, put
from benchmarks.server import server
from benchmarks.table import Report


def _on_server(measure: Callable[..., Report], engine: str = "postgresql") -> Callable[[], Report]:
    def run() -> Report:
        with server(engine) as started:
            return measure(started)

    return run


BENCHMARKS: dict[str, Callable[[], Report]] = {
    "loop": driver_loop.measure,
    "pgbench": _on_server(point_select.beside_pgbench),
    "sysbench": _on_server(point_select.beside_sysbench, "mariadb"),
    "orders": _on_server(order_entry.measure),
    "engines": engines.measure,
    "checks": checking.measure,
    "archive": _on_server(event_archive.measure),
    "dss": decision_support.measure,
    "cube": planning_cube.measure,
    "catalogue": catalogue.measure,
    "storage": storage.measure,
    "http": http_cost.measure,
    "http-memory": http_memory.measure,
    "ssj": ssj_pacing.measure,
    "pstm": pstm.measure,
    "verdicts": verdicts.measure,
}


def main() -> int:
    """Prints each section as it is done, and puts it in its place on the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"some of: {', '.join(BENCHMARKS)}")
    names = parser.parse_args().names or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}")
    for name in names:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        put(BENCHMARKS[name]().markdown())
    print(f"written to {OUTPUT}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
