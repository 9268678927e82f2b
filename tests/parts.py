"""Parts of the tests, long ones too, that can be chosen.

    python tests/parts.py                     every part, one after the other
    python tests/parts.py cube dss            these parts
    python tests/parts.py --quick cube dss    what `make test` runs of them

Each test belongs to one part: by its file, or by its mark `part` where a file serves several.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
TESTS = ROOT / "tests"
EXAMPLES = "e2e/test_examples.py"
"""Its tests are marked, each with the part of what it is an example of."""

FILES: dict[str, tuple[str, ...]] = {
    "unit": ("unit/*.py",),
    "driver": (
        "integration/test_driver_group.py",
        "integration/test_driver_noop.py",
        "integration/test_launch.py",
        "integration/test_measured_phases.py",
    ),
    "web": ("e2e/test_report_page*.py",),
    "oltp": ("integration/test_oltp_*.py",),
    "archive": (
        "integration/test_archive_*.py",
        "integration/test_runner_archive.py",
        "integration/test_stalls.py",
        "e2e/test_archive.py",
    ),
    "dss": ("integration/test_dss_*.py", "e2e/test_dss.py"),
    "cube": ("integration/test_cube_*.py", "e2e/test_cube.py"),
    "postgresql": (
        "integration/test_postgresql_*.py",
        "integration/test_store_postgresql.py",
        "integration/test_servers.py",
    ),
    "mariadb": ("integration/test_mariadb_*.py",),
    "engines": (
        "integration/test_duckdb_target.py",
        "integration/test_unsafe_levels.py",
        "integration/test_log_in.py",
        "integration/test_own_sessions.py",
        "integration/test_owned_server.py",
        "integration/test_spark_*.py",
        "integration/test_sqlite_target.py",
        "integration/test_system_servers.py",
    ),
    "search": ("integration/test_search.py",),
    "crash": (
        "integration/test_crash_*.py",
        "integration/test_outages.py",
        "e2e/test_crash.py",
        "e2e/test_unplugged.py",
    ),
    "storage": (
        "integration/test_catalogue.py",
        "integration/test_catalogue_nfs.py",
        "integration/test_storage_*.py",
        "integration/test_disk_full.py",
        "e2e/test_storage_killed.py",
    ),
    "jobs": (
        "integration/test_jobs_*.py",
        "integration/test_runner_jobs*.py",
        "integration/test_schedulers*.py",
        "integration/test_slurm_*.py",
        "integration/test_gridengine_*.py",
        "integration/test_cluster_*.py",
        "integration/test_applications_*.py",
        "integration/test_flow_*.py",
        "integration/test_pstm_*.py",
        "e2e/test_jobs*.py",
    ),
    "power": ("integration/test_graduated*.py", "integration/test_power_*.py"),
    "ssj": ("integration/test_ssj_*.py",),
    "http": ("integration/test_http_*.py",),
    "bi": ("integration/test_bi_*.py",),
    "superset": ("integration/test_superset_*.py",),
    "host": ("integration/test_host_*.py", "e2e/test_leaves_no_trace.py"),
    "faults": ("faults/test_planted_faults.py",),
    "outside": ("integration/test_outside.py",),
    "cli": ("integration/test_cli_*.py", "integration/test_doctor_*.py"),
}
"""Part: its test files, below this folder."""
COMMANDS = {
    "driver": (ROOT / "driver", ("cargo", "test", "--release", "--locked")),
    "web": (ROOT / "web", ("npm", "run", "--silent", "test")),
}
"""Part: what it runs beside its Python tests, and where."""
NO_TESTS = 5
"""Exit code of pytest where a part has no test of the kind that was asked for."""
LONG = {"driver": ("--", "--include-ignored")}
"""Part: how that runs its long tests, too."""
EXAMPLES_OF = (
    *("oltp", "archive", "dss", "cube", "search", "crash", "driver", "storage", "http", "bi"),
    "jobs",
)


@cache
def part_of_file(path: Path) -> str | None:
    """The part that a test file belongs to, or None where its tests are marked.

    Raises:
        LookupError: If it belongs to no part, or to several.
    """
    name = path.relative_to(TESTS)
    if name == Path(EXAMPLES):
        return None
    found = [part for part, globs in FILES.items() if any(name.match(glob) for glob in globs)]
    if len(found) != 1:
        raise LookupError(f"{name} belongs to {found or 'no part'}: see tests/parts.py")
    return found[0]


def commands_of(part: str, *, quick: bool) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Each command of a part with the folder that it runs in."""
    files = [str(path) for glob in FILES[part] for path in sorted(TESTS.glob(glob))]
    examples = [str(TESTS / EXAMPLES)] if part in EXAMPLES_OF else []
    options = ("--part", part, "--numprocesses", "4", "--dist", "loadgroup")
    long = () if quick else ("--long",)
    yield ROOT, (sys.executable, "-m", "pytest", *long, *options, *files, *examples)
    if part in COMMANDS:
        at, words = COMMANDS[part]
        yield at, (*words, *(() if quick else LONG.get(part, ())))


def run(part: str, *, quick: bool) -> bool:
    """Runs a part to its end; returns whether all of it passed."""
    codes = [
        subprocess.run(words, cwd=at, check=False).returncode
        for at, words in commands_of(part, quick=quick)
    ]
    return all(code == 0 or (quick and code == NO_TESTS) for code in codes)


def main(arguments: Sequence[str]) -> int:
    """Runs parts, then says how long each took.

    Returns:
        0 if all passed, 1 if one failed, 2 for an unknown part.
    """
    parser = argparse.ArgumentParser(description="Runs parts of the tests.")
    parser.add_argument("--quick", action="store_true", help="without those that are marked long")
    parser.add_argument("part", nargs="*", help=f"default: all, which are {', '.join(FILES)}")
    options = parser.parse_args(arguments)
    name = "test" if options.quick else "test-long"
    unknown = [part for part in options.part if part not in FILES]
    if unknown:
        print(f"{name}: no part {unknown[0]!r}; there are {', '.join(FILES)}", file=sys.stderr)
        return 2
    ended: dict[str, tuple[bool, float]] = {}
    for part in options.part or FILES:
        print(f"\n== {name}: {part}", flush=True)
        began = time.monotonic()
        ended[part] = (run(part, quick=options.quick), time.monotonic() - began)
    print(f"\n{name}")
    for part, (passed, took_s) in ended.items():
        print(f"  {part:<12}{took_s:7.0f} s  {'passed' if passed else 'FAILED'}")
    print(f"  {'all':<12}{sum(took_s for _, took_s in ended.values()):7.0f} s")
    return 0 if all(passed for passed, _ in ended.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
