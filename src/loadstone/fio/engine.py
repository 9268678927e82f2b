"""Which of fio's engines makes the load.

All depths are made by one engine: a curve by depth then shows the disk, and no step where one
engine follows another. io_uring comes first, as it keeps its depth also through the page cache;
libaio where the kernel refuses it; psync, which knows no depth but 1, where nothing else is there.
"""

from __future__ import annotations

import shutil

from loadstone.errors import WrongInputError
from loadstone.fio.output import parse_output
from loadstone.fio.plan import StoragePlan
from loadstone.fio.process import run_fio
from loadstone.workloads.storage.fio_binary import Fio, usable_engines

_TRY_S = 20.0


def choose_engine(fio: Fio, plan: StoragePlan) -> str:
    """The first engine that reads a block of the test file.

    Raises:
        WrongInputError: If none does, or fio lacks the one that is needed.
    """
    needed = plan.ground.engine
    usable = usable_engines(fio, needed)
    if needed:
        return needed
    said = ""
    for engine in usable:
        problem = _problem(fio, plan, engine)
        if problem is None:
            return engine
        said = problem
    raise WrongInputError(f"fio cannot read a block of the test file: {said}")


def _problem(fio: Fio, plan: StoragePlan, engine: str) -> str | None:
    parameters = plan.parameters
    file = plan.phases[0][1].jobs[0].file
    options = {
        **plan.ground.options(file, parameters.compressible),
        "ioengine": engine,
        "rw": "read",
        "bs": "4k",
        "size": "4k",
        "thread": "1",
        "direct": str(int(parameters.direct)),
    }
    folder = plan.folder / "try"
    folder.mkdir()
    arguments = ["--name=try", *(f"--{name}={value}" for name, value in options.items())]
    ended = run_fio(fio, arguments, folder, _TRY_S, lambda: False)
    shutil.rmtree(folder)
    if ended.code == 0:
        return None
    return next(reversed(parse_output(ended.text).notes), f"it {ended.how}")
