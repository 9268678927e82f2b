"""Runs the benchmarks and writes `docs/benchmarks.md`.

python -m benchmarks                    # all of them
python -m benchmarks loop pgbench       # some of those in `BENCHMARKS`
"""

from __future__ import annotations

import argparse
import platform
import re
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks import (
    checking,
    decision_support,
    driver_loop,
    engines,
    event_archive,
    order_entry,
    planning_cube,
    point_select,
    verdicts,
)
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
    "checks": checking.measure,
    "archive": _on_server(event_archive.measure),
    "dss": decision_support.measure,
    "cube": planning_cube.measure,
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
        section = BENCHMARKS[name]().markdown()
        print(section, flush=True)
        OUTPUT.write_text(with_section(OUTPUT.read_text(encoding="utf-8"), section), "utf-8")
    print(f"written to {OUTPUT}", file=sys.stderr)
    return 0


def with_section(page: str, section: str) -> str:
    """The page with a section in the place of the one of that title, or at its end."""
    head = (
        "# How fast Loadstone itself is\n\n"
        "Written by `make bench`. Peers run interleaved on the same machine in the same run, so "
        "the ratios can be carried elsewhere; the absolute figures are of this machine "
        f"({_machine()}) and drift with it. A section is of the day on which it was last run.\n"
    )
    sections = {_title(each): each for each in re.split(r"(?m)^(?=## )", page)[1:]}
    sections[_title(section)] = section
    return "\n".join([head, *(each.strip() + "\n" for each in sections.values())])


def _title(section: str) -> str:
    return section.partition("\n")[0]


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
