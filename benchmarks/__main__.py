"""Runs the benchmarks and writes `docs/benchmarks.md`.

python -m benchmarks                    # all of them
python -m benchmarks loop pgbench       # some: loop, pgbench, sysbench, orders, engines, verdicts
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks import driver_loop, engines, order_entry, point_select, verdicts
from benchmarks.server import server
from benchmarks.table import Report

OUTPUT = Path(__file__).parent.parent / "docs" / "benchmarks.md"


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
    "verdicts": verdicts.measure,
}


def main() -> int:
    """Prints each section as it is done; writes the page when all were run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"some of: {', '.join(BENCHMARKS)}")
    names = parser.parse_args().names or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}")
    sections = []
    for name in names:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        sections.append(BENCHMARKS[name]().markdown())
        print(sections[-1], flush=True)
    if len(names) == len(BENCHMARKS):
        OUTPUT.write_text(_page(sections), encoding="utf-8")
        print(f"written to {OUTPUT}", file=sys.stderr)
    return 0


def _page(sections: list[str]) -> str:
    head = (
        "# How fast Loadstone itself is\n\n"
        "Written by `make bench`. Peers run interleaved on the same machine in the same run, so "
        "the ratios can be carried elsewhere; the absolute figures are of this machine "
        f"({_machine()}) and drift with it.\n"
    )
    return "\n".join([head, *sections])


def _machine() -> str:
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    count = Path("/proc/cpuinfo").read_text(encoding="utf-8").count("processor\t")
    return f"{count} x {model}, Linux {platform.release().split('-')[0]}"


if __name__ == "__main__":
    sys.exit(main())
