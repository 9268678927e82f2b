"""Users who append lines to small files, and read them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from loadstone.results.record import CheckResult, Fingerprint, MetricValue
from loadstone.workloads.base import LoadRequest, RunDriver, Workload
from loadstone.workloads.durability import Acknowledgement, CommitAudit
from loadstone.workloads.measured import Measured, MetricSpec
from toy.folder import Folder
from toy.lines import BYTES, path_of, read_lines


class FilesParameters(BaseModel):
    """Parameters of `files`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    files: int = Field(default=8, ge=1, le=1000, description="How many there are.")
    read_share: float = Field(default=0.2, ge=0, le=1, description="Of the operations.")


def lines_of(
    target: Folder, parameters: FilesParameters
) -> dict[int, list[tuple[int, int] | None]]:
    """User and number of each line, by file; None for a torn one."""
    folder = target.data_folder()
    return {number: list(read_lines(path_of(folder, number))) for number in range(parameters.files)}


class FilesAudit(CommitAudit[Folder]):
    """What a crash left of the files."""

    parameters: FilesParameters

    def lost(
        self, target: Folder, acknowledged: Sequence[Acknowledgement]
    ) -> list[Acknowledgement]:
        """Lines that were acknowledged and are not there."""
        found = {
            (line[0], file, line[1])
            for file, lines in lines_of(target, self.parameters).items()
            for line in lines
            if line is not None
        }
        return [each for each in acknowledged if (each.user + 1, *each.keys) not in found]

    def consistency(self, target: Folder) -> list[CheckResult]:
        """A crash may tear the last line of a file, and no other."""
        torn = [
            file for file, lines in lines_of(target, self.parameters).items() if None in lines[:-1]
        ]
        return [CheckResult(name="whole", passed=not torn, detail=f"torn lines in files {torn}")]


class Files(Workload[Folder]):
    """Lines appended to small files."""

    name = "files"
    origin = "a test of Loadstone's contracts"
    usual_engine = "folder"
    requires: ClassVar[frozenset[str]] = frozenset({"append"})
    Parameters = FilesParameters
    metrics = (MetricSpec("appends_per_s", "appended lines", "lines/s", True),)
    headline = "appends_per_s"
    Durability = FilesAudit
    parameters: FilesParameters

    def data_key(self) -> dict[str, Any]:
        """How many files."""
        return {"files": self.parameters.files}

    def build(self, target: Folder, run_driver: RunDriver, seed: int) -> dict[str, float]:
        """Makes each file, with one line."""
        request = LoadRequest("load", 1, seed, {"files": self.parameters.files})
        return {"size_bytes": run_driver(request)["bytes"]}

    def observe(self, target: Folder) -> dict[str, float]:
        """Lines in all files."""
        return {"lines": sum(len(lines) for lines in lines_of(target, self.parameters).values())}

    def measure(self, measured: Measured) -> list[MetricValue]:
        """Lines that were appended in a second."""
        appended = measured.operations.get("append", 0)
        return [self.metrics[0].of(appended / measured.duration_s)]

    def check(
        self, target: Folder, before: Mapping[str, float], measured: Measured
    ) -> list[CheckResult]:
        """All lines that were appended are there, and whole."""
        found = self.observe(target)["lines"] - before["lines"]
        told = measured.total_operations.get("append", 0)
        counted = CheckResult(
            name="lines", passed=found == told, detail=f"{found:.0f} of {told} appended lines"
        )
        return [counted, *self.durability.consistency(target)]

    def fingerprint(self, target: Folder) -> Fingerprint:
        """Sizes and sums of the files."""
        folder = target.data_folder()
        contents = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
        sums = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
        return Fingerprint(
            rows={name: len(content) // BYTES for name, content in contents.items()},
            sums=sums,
            size_bytes=sum(map(len, contents.values())),
            digest=hashlib.sha256(repr(sums).encode()).hexdigest(),
        )
