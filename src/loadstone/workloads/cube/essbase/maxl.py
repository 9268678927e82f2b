"""The scripts of a kit for the MaxL shell: build the cube, run the cycles.

The log of the cycles is what `essbase.log` reads: each step stands between two marks, and the shell
writes a time stamp after each statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loadstone.workloads.cube.cycle import LINES as CSV_LOAD
from loadstone.workloads.cube.cycle import NATIVE as NATIVE_LOAD
from loadstone.workloads.cube.cycle import RESET, RESTRUCTURE, steps_of_cycle
from loadstone.workloads.cube.data.provide import CELLS
from loadstone.workloads.cube.essbase.settings import KIT_VERSION, SCRIPTS, KitSettings

LOG = "cycle.log"
NATIVE_FILES = "native_*.txt"
RULE = "cells"
"""Name of the rule by which the file of cells is loaded."""
_FAILED = "failed"


def build_script(dimensions: Sequence[str], settings: KitSettings) -> str:
    """Makes the application and builds its dimensions, by a rule each.

    Args:
        dimensions: Names of their files, without `.csv`, in the order of the outline.
        settings: With the names.
    """
    lines = [
        "/* Makes the cube. Never validated on a server: read README.md first. */",
        "spool on to 'build.log';",
        f"create application '{settings.application}';",
        _unless_failed(),
        f"create database {settings.cube};",
        _unless_failed(),
    ]
    lines += [
        f"import database {settings.cube} dimensions from server text data_file '{name}.csv' "
        f"using server rules_file '{name}' on error write to '{name}.err';"
        for name in dimensions
    ]
    return "\n".join([*lines, *_ending()]) + "\n"


def cycle_script(settings: KitSettings) -> str:
    """Runs all cycles, with a time for each step in its log."""
    lines = [
        "/* The cycles. Never validated on a server: read README.md first. */",
        f"spool on to '{LOG}';",
        "set timestamp on;",
        "version;",
        f'echo "{told(settings)}";',
        "/* The application starts now, and not in the first step: an error says that it runs. */",
        f"alter system load application '{settings.application}';",
        f"display database {settings.cube};",
        _unless_failed(),
    ]
    for cycle in range(1, settings.cycles + 1):
        lines += ["", *_cycle(cycle, settings)]
    return "\n".join([*lines, "", *_ending()]) + "\n"


def told(settings: KitSettings) -> str:
    """The line of a log that says what the kit was made for."""
    return (
        f"loadstone: kit {KIT_VERSION}, scale {settings.scale!r}, seed {settings.seed}, "
        f"load_threads {settings.load_threads}, calc_threads {settings.calc_threads}, "
        f"alloc_tasks {settings.alloc_tasks}, cycles {settings.cycles}, "
        f"hybrid {int(settings.hybrid)}"
    )


def mark(cycle: int, step: str, border: str) -> str:
    """The line of a log at which a step begins or ends."""
    return f"loadstone: cycle {cycle} step {step} {border}"


def _cycle(cycle: int, settings: KitSettings) -> Iterator[str]:
    for step in steps_of_cycle(hybrid=settings.hybrid):
        yield f'echo "{mark(cycle, step, "begins")}";'
        yield _statement(step, settings)
        # The wrong lines of the file of cells are no reason to end: their rejection is measured.
        if step != CSV_LOAD:
            yield _unless_failed()
        yield f'echo "{mark(cycle, step, "ends")}";'


def _statement(step: str, settings: KitSettings) -> str:
    cube = settings.cube
    if step in SCRIPTS:
        return f"execute calculation {cube}.'{SCRIPTS[step]}';"
    return {
        RESET: f"alter database {cube} reset;",
        NATIVE_LOAD: f"import database {cube} using max_threads {settings.load_threads} "
        f"data from server text data_file '{NATIVE_FILES}' on error write to 'native.err';",
        CSV_LOAD: f"import database {cube} data from server text data_file '{CELLS}' "
        f"using server rules_file '{RULE}' on error write to 'cells.err';",
        RESTRUCTURE: f"alter database {cube} force restructure;",
    }[step]


def _unless_failed() -> str:
    return f"iferror '{_FAILED}';"


def _ending() -> list[str]:
    return [
        'echo "loadstone: done";',
        "spool off;",
        "logout;",
        "exit 0;",
        "",
        f"define label '{_FAILED}';",
        'echo "loadstone: failed";',
        "spool off;",
        "logout;",
        "exit 1;",
    ]
