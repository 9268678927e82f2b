"""Users who append lines to small files, and read them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from loadstone.results.record import CheckResult, Fingerprint, MetricValue
from loadstone.workloads.base import LoadRequest, RunDriver, Workload
from loadstone.workloads.checked import CheckSpec
from loadstone.workloads.durability import Acknowledgement, CommitAudit
from loadstone.workloads.measured import Measured, MetricSpec
from toy.folder import Folder
from toy.lines import BYTES, path_of, read_lines

LINES = CheckSpec(
    "lines",
    "each user's lines are numbered from 1, in rising order in each file, each once, and are as "
    "many as the load generator counted",
)
WHOLE = CheckSpec("whole", "no line of a file but its last is torn")


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


def _next_of_user(lines: Sequence[tuple[int, int] | None]) -> Iterator[tuple[int, int]]:
    """The numbers of two lines of a user that follow on each other in a file."""
    last: dict[int, int] = {}
    for user, number in filter(None, lines):
        yield last.get(user, -1), number
        last[user] = number


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
        return [WHOLE.of(passed=not torn, detail=f"torn lines in files {torn}")]


class Files(Workload[Folder]):
    """Lines appended to small files."""

    name = "files"
    origin = "a test of Loadstone's contracts"
    usual_engine = "toy-folder"
    requires: ClassVar[frozenset[str]] = frozenset({"append"})
    Parameters = FilesParameters
    metrics = (MetricSpec("appends_per_s", "appended lines", "lines/s", True),)
    headline = "appends_per_s"
    checks = (LINES, WHOLE)
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
        """All lines that were appended are there once, in their order, and whole."""
        told = measured.total_operations.get("append", 0)
        files = lines_of(target, self.parameters).values()
        found = Counter(line for lines in files for line in lines if line and line != (0, 0))
        last = {user: max(n for other, n in found if other == user) for user, _ in found}
        once = found == Counter((user, n + 1) for user in last for n in range(last[user]))
        rises = all(one < other for lines in files for one, other in _next_of_user(lines))
        counted = LINES.of(
            passed=once and rises and found.total() == told,
            detail=f"{found.total()} of {told} appended lines",
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
