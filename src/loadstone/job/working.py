"""The working folder of a job: made fresh, filled with its input, its output brought back, removed.

Where each node has a scratch of its own, every rank makes the folder, and the first one on a node
wins: it is made under another name and renamed, so that it appears with its mark.
"""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from loadstone.job.record import ARRIVED_FILE, OUTPUT_FOLDER, read_object
from loadstone.job.task import JOB_FILE, LINK, JobTask, Staged, read_task, work_folder

MARK = ".loadstone-job"
"""In the working folder: which start of which job it belongs to."""
REMOVE = "remove"


class WorkingError(Exception):
    """The working folder cannot be made or filled; its text is one line."""


def token_of(desk: Path) -> str:
    """What tells this start of the job from another of its name."""
    return str(read_object(desk / ARRIVED_FILE)["token"])


def prepare(task: JobTask, desk: Path) -> bool:
    """Makes the working folder and fills it.

    Args:
        task: Of the job.
        desk: The job's folder on the desk.

    Returns:
        Whether this call made it; otherwise another rank of this start has.

    Raises:
        WorkingError: If there is one that is not this job's, or a file cannot be staged.
    """
    work, token = work_folder(task, desk), token_of(desk)
    beside = work.with_name(f".{task.name}.{socket.gethostname()}.{os.getpid()}")
    try:
        beside.mkdir()  # the scratch of a run that is over is not made again
        (beside / MARK).write_text(token, encoding="utf-8")
        try:
            # It fails where there is a folder with files, and that has a mark at least.
            beside.rename(work)
        except OSError:
            shutil.rmtree(beside)
            if _mark(work) == token:
                return False
            raise WorkingError(f"the working folder {work} is there already") from None
        for each in task.stage:
            _stage(each, work)
    except OSError as error:
        raise WorkingError(f"cannot prepare {work}: {error}") from error
    return True


def bring_back(task: JobTask, desk: Path) -> None:
    """Copies what the globs of the task name to the desk, keeping the folders below the work.

    Raises:
        OSError: If one cannot be copied.
    """
    work, output = work_folder(task, desk), desk / OUTPUT_FOLDER
    output.mkdir(exist_ok=True)
    for path in _named(task, work):
        to = output / path.relative_to(work)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, to)


def remove(task: JobTask, desk: Path) -> None:
    """Removes the working folder of this node, if it is this start's own."""
    work = work_folder(task, desk)
    with suppress(OSError, ValueError, KeyError):
        if _mark(work) == token_of(desk):
            shutil.rmtree(work)


def main(words: list[str]) -> int:
    """One rank's part on its node: `python -m loadstone.job.working DESK [remove]`.

    Returns:
        0, or 1 with one line on standard error.
    """
    desk = Path(words[0])
    task = read_task(desk / JOB_FILE)
    if words[1:] == [REMOVE]:
        remove(task, desk)
        return 0
    try:
        prepare(task, desk)
    except WorkingError as error:
        sys.stderr.write(f"{socket.gethostname()}: {error}\n")
        return 1
    return 0


def _named(task: JobTask, work: Path) -> Iterator[Path]:
    for pattern in task.bring_back:
        for path in work.glob(pattern):
            if path.is_file() and path.name != MARK:
                yield path


def _mark(work: Path) -> str | None:
    try:
        return (work / MARK).read_text(encoding="utf-8")
    except OSError:
        return None


def _stage(each: Staged, work: Path) -> None:
    source, to = Path(each.source), work / each.target
    to.parent.mkdir(parents=True, exist_ok=True)
    if each.how == LINK:
        source.stat()  # a link to nothing would only be found by the application
        to.symlink_to(source)
    elif source.is_dir():
        shutil.copytree(source, to, dirs_exist_ok=True)
    else:
        shutil.copyfile(source, to)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
