"""What is done besides the passes.

Storage that is no folder is written in full first; a few blocks are written and read back at last.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from loadstone.fio.figures import DIRECTIONS, FigureError, jobs_of
from loadstone.fio.job_file import common_options, section, sync_options
from loadstone.fio.output import parse_output
from loadstone.fio.passes import StoppedError, last_note
from loadstone.fio.plan import StoragePlan
from loadstone.fio.process import run_fio
from loadstone.workloads.storage.fio_binary import Fio

_LONGEST_S = 6 * 3600.0
_VERIFY_BYTES = 16 << 20
_VERIFY_BLOCK = 64 << 10
_LAY_OUT_BLOCK = 1 << 20
_DEPTH = 8
_LOOK_S = 0.01
_SYNC_S = 300.0


class BesidesError(Exception):
    """It could not be done; one line says why."""


@dataclass(frozen=True)
class Helper:
    """Runs fio outside of passes.

    Attributes:
        plan: Of the run.
        fio: The program.
        engine: fio's engine.
        must_stop: Asked while fio runs.
    """

    plan: StoragePlan
    fio: Fio
    engine: str
    must_stop: Callable[[], bool]

    def lay_out(self) -> None:
        """Writes each test file in full.

        Raises:
            BesidesError: If it cannot be written.
            StoppedError: If it was stopped.
        """
        for file, size_bytes in self.plan.files.items():
            options = {
                "rw": "write",
                "bs": str(_LAY_OUT_BLOCK),
                "iodepth": str(_DEPTH),
                "size": str(size_bytes),
            }
            self._run(f"lay-out-{file}", file, options)

    def verify(self) -> dict[str, float]:
        """Writes blocks with checksums as the tests write, and reads them back.

        Returns:
            Facts: `verify_written_bytes`, `verify_read_bytes`.

        Raises:
            BesidesError: If what is read is not what was written.
            StoppedError: If it was stopped.
        """
        parameters = self.plan.parameters
        file, size_bytes = next(iter(self.plan.files.items()))
        size = min(_VERIFY_BYTES, size_bytes)
        options = {
            "rw": "write",
            "bs": str(min(_VERIFY_BLOCK, size)),
            "iodepth": str(_DEPTH),
            "size": str(size),
            "verify": "crc32c",
            "verify_fatal": "1",
            **sync_options(parameters.sync),
        }
        moved = self._run("verify", file, options)
        return {"verify_written_bytes": moved["write"], "verify_read_bytes": moved["read"]}

    def bring_to_disk(self) -> None:
        """What earlier tests left in the page cache is written: the next is not to pay for it.

        Raises:
            BesidesError: If that fails, or does not end.
            StoppedError: If it was stopped.
        """
        ground, compressible = self.plan.ground, self.plan.parameters.compressible
        paths = [ground.path(file, compressible) for file in self.plan.files]
        if not ground.has_files:
            paths = [Path(ground.place)] if ground.protocol == "device" else []
        if not paths:
            return
        words = ["sync", *map(str, paths)]
        process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        end_at = time.monotonic() + _SYNC_S
        while process.poll() is None:
            if (stops := self.must_stop()) or time.monotonic() > end_at:
                process.kill()
                raise StoppedError if stops else BesidesError("the disk does not take what it got")
            time.sleep(_LOOK_S)
        _, said = process.communicate()
        if process.returncode:
            raise BesidesError(" ".join(said.split()))

    def _run(self, name: str, file: str, options: Mapping[str, str]) -> dict[str, float]:
        """Bytes that were moved, by direction."""
        folder = self.plan.folder / name
        folder.mkdir(parents=True)
        parameters = self.plan.parameters
        text = section(
            name,
            {
                **common_options(parameters, self.engine, self.plan.seed),
                **self.plan.ground.options(file, parameters.compressible),
                **options,
            },
        )
        (folder / "jobs.fio").write_text(text)
        ended = run_fio(self.fio, ["jobs.fio"], folder, _LONGEST_S, self.must_stop)
        if ended.stopped:
            raise StoppedError
        output = parse_output(ended.text)
        if ended.code != 0 or output.document is None:
            raise BesidesError(f"fio {ended.how}{last_note(output.notes)}")
        try:
            jobs = jobs_of(output.document)
        except FigureError as error:
            raise BesidesError(f"fio's figures cannot be read: {error}") from error
        return {
            direction: float(
                sum(job.directions[direction].bytes for job in jobs if direction in job.directions)
            )
            for direction in DIRECTIONS
        }
