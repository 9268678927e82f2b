"""How often are the verdicts right? Simulated, beside other programs, and with the real driver.

    python -m benchmarks verdicts              # the real driver, a short run
    python -m benchmarks.verdicts simulate     # error, power and coverage of drawn experiments
    python -m benchmarks.verdicts oracles      # p-values of statsmodels and SciPy
    python -m benchmarks.verdicts driver       # equal levels and planted slowdowns, as many as told
                                               # (with --loads also of order entry on PostgreSQL)

`--page` puts the sections on `docs/benchmarks.md`. What `simulate` and `driver` have made is in the
file of `--records`: a run that was ended goes on where it stood.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.page import put
from benchmarks.table import Report
from benchmarks.verdict_looks import early
from benchmarks.verdict_oracles import beside_others
from benchmarks.verdict_tables import BATCH, Cells, tables
from benchmarks.verdict_trials import LOADS, OF_DRIVER, make, wanted
from benchmarks.verdict_truth import equal_levels, slowdowns

BLOCKS = 5


def options_of(arguments: list[str]) -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.verdicts",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--page", action="store_true", help="write docs/benchmarks.md")
    kinds = parser.add_subparsers(dest="kind", required=True)
    simulate = kinds.add_parser("simulate")
    simulate.add_argument(
        "--batches", type=int, default=12, help=f"of {BATCH} experiments, for each cell"
    )
    simulate.add_argument("--records", type=Path, default=Path("verdict-cells.jsonl"))
    oracles = kinds.add_parser("oracles")
    oracles.add_argument("--sets", type=int, default=1000, help="data sets that are drawn")
    oracles.add_argument("--seed", type=int, default=1)
    driver = kinds.add_parser("driver")
    driver.add_argument("--loads", nargs="+", choices=LOADS, default=list(OF_DRIVER))
    driver.add_argument(
        "--slower", type=float, nargs="+", default=[0.0], help="per cent; 0: equal levels"
    )
    driver.add_argument("--seeds", type=_seeds, default=range(20), help="FIRST:BEYOND")
    driver.add_argument("--blocks", type=int, default=BLOCKS, help="of each experiment")
    driver.add_argument("--records", type=Path, default=Path("verdict-trials.jsonl"))
    return parser.parse_args(arguments)


def _seeds(text: str) -> range:
    first, _, beyond = text.partition(":")
    return range(int(first), int(beyond))


def simulated(batches: int, records: Path) -> list[Report]:
    """All tables of one batch before the next, so that a part of the run is a fair part."""
    reports: list[Report] = []
    for count in range(1, batches + 1):
        cells = Cells(count, records)
        reports = [*tables(cells), early(cells)]
        print(f"{count} of {batches} batches", file=sys.stderr, flush=True)
    return reports


def measure() -> Report:
    """Asks the real driver for equal levels, a few times of each load."""
    with tempfile.TemporaryDirectory() as folder:
        experiments = wanted(list(OF_DRIVER), [0.0], range(20))
        return equal_levels(make(experiments, BLOCKS, Path(folder) / "trials.jsonl"))


def main(arguments: list[str]) -> int:
    """Prints the sections of one kind."""
    options = options_of(arguments)
    if options.kind == "simulate":
        reports = simulated(options.batches, options.records)
    elif options.kind == "oracles":
        reports = [beside_others(options.sets, options.seed)]
    else:
        experiments = wanted(options.loads, options.slower, options.seeds)
        made = make(experiments, options.blocks, options.records)
        reports = [equal_levels(made), slowdowns(made)]
    for report in reports:
        section = report.markdown()
        if options.page and report.rows:
            put(section)
        elif report.rows:
            print(section)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
