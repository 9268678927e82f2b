"""The application `pattern`: the file I/O of the published study's simulator, without a simulator.

It is a positive control for storage: what slows files down must slow it down. Source of the
figures: the study of ECLIPSE 300 MM8, of which `loadstone.results.references` has the tables.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from loadstone.applications.base import Application, FinishedJob, InputFacts, InputFile
from loadstone.applications.pattern_replay import (
    CONFIGURATION_FILE,
    INPUT_FILE,
    PIECE_BYTES,
    START,
    STEADY,
    Configuration,
    Phase,
    Result,
    part_of,
)
from loadstone.counting import how_many
from loadstone.results.record import CheckResult
from loadstone.spec.base import Spec

COMPLETE, READ, WRITTEN = "pattern-complete", "pattern-read", "pattern-written"
_MB = 1e6
_CLOCK_S = 1.0


class PatternParameters(Spec):
    """How much, and for how long. The study's: 240 MB over 36 s, 32 writes/s of 8 KB."""

    volume_mb: float = Field(
        default=24.0, gt=0, le=1e6, description="Read, and written, at the start (study: 240)."
    )
    start: float = Field(
        default=0.0,
        ge=0,
        le=86400,
        description="Seconds over which the start is spread, as far as the storage keeps up "
        "(study: 36); 0: as fast as it goes.",
    )
    steady: float = Field(
        default=5.0, ge=0, le=86400, description="Seconds of small writes after the start."
    )
    writes_per_s: float = Field(default=32.0, gt=0, le=1e5, description="Small writes of a job.")
    write_kb: float = Field(
        default=8.0, ge=2, le=100, description="Mean size of a small write; sizes are 2 to 100 KB."
    )
    peak_every: float = Field(default=20.0, gt=0, le=86400, description="Seconds between peaks.")
    peak: float = Field(
        default=4.0,
        ge=0,
        le=3600,
        description="A peak writes so many seconds' worth of small writes at once, besides them.",
    )


class Pattern(Application[PatternParameters]):
    """Reads and writes files; each rank does its part of the volume and of the rate."""

    name = "pattern"
    title = "file I/O of a reservoir simulator"
    Parameters = PatternParameters
    claims: ClassVar[Mapping[str, str]] = {
        COMPLETE: "every rank went through all phases within the job's own run, and wrote as much "
        "as it read at the start; over all jobs",
        READ: "what the ranks read of the input has its sum; every byte, over all jobs",
        WRITTEN: "what the ranks read back of their files has the sum of what they wrote; every "
        "byte, over all jobs",
    }
    parameters: PatternParameters

    def physics(self) -> str:
        """The volume and the rate."""
        given = self.parameters
        return (
            f"{given.volume_mb:g} MB read and written, then {given.writes_per_s:g} writes/s of "
            f"{given.write_kb:g} KB for {given.steady:g} s"
        )

    def make_input(self, folder: Path, seed: int) -> InputFacts:
        """A file of random bytes, and what the ranks do."""
        draw = random.Random(seed)
        size, path = int(self.parameters.volume_mb * _MB), folder / INPUT_FILE
        with path.open("wb") as file:
            for at in range(0, size, PIECE_BYTES):
                file.write(draw.randbytes(min(PIECE_BYTES, size - at)))
        configuration = folder / CONFIGURATION_FILE
        configuration.write_text(json.dumps(asdict(self._configuration(seed))))
        return InputFacts.of(
            (InputFile(path, path.name), InputFile(configuration, configuration.name))
        )

    def _configuration(self, seed: int) -> Configuration:
        given = self.parameters
        return Configuration(
            seed=seed,
            start_s=given.start,
            steady_s=given.steady,
            writes_per_s=given.writes_per_s,
            mean_bytes=given.write_kb * 1024,
            peak_every_s=given.peak_every,
            peak_s=given.peak,
        )

    def command(self, ranks: int, python: str) -> list[str]:
        """The program of this package."""
        return [python, "-m", "loadstone.applications.pattern_replay", CONFIGURATION_FILE]

    def bring_back(self) -> tuple[str, ...]:
        """Results of ranks that found no folder of the job on the desk."""
        return ("pattern-*.json",)

    def check(self, job: FinishedJob) -> list[CheckResult]:
        """Complete, and every byte right."""
        try:
            results = [
                read_result(job.output / f"pattern-{rank}.json") for rank in range(job.ranks)
            ]
        except (OSError, ValueError, TypeError, KeyError) as error:
            problem = f"a rank's result cannot be read: {error}"
            return [self.verdict(name, problem, "") for name in self.claims]
        rates = f"{told(results, START)}; {told(results, STEADY)}"
        total_mb = sum(each.read_bytes for rank in results for each in rank.phases) / _MB
        return [
            self.verdict(COMPLETE, self._incomplete(job, results), rates),
            self.verdict(
                READ, _misread(job.given / INPUT_FILE, results), f"{total_mb:.1f} MB were read"
            ),
            self.verdict(
                WRITTEN, _miswritten(results), f"{how_many(len(results), 'file')} as written"
            ),
        ]

    def _incomplete(self, job: FinishedJob, results: Sequence[Result]) -> str:
        least_s = job.record.began_epoch_s - _CLOCK_S
        for rank, result in enumerate(results):
            if (result.rank, result.ranks) != (rank, job.ranks):
                return (
                    f"rank {result.rank} of {result.ranks} wrote what is of {rank} of {job.ranks}"
                )
            if result.began_epoch_s < least_s:
                return f"the result of rank {rank} is older than the job's run"
            start = result.phases[0]
            if start.written_bytes != start.read_bytes:
                return f"rank {rank} read {start.read_bytes} bytes and wrote {start.written_bytes}"
        return ""


def read_result(path: Path) -> Result:
    """The result of a rank.

    Raises:
        OSError: If there is none.
        ValueError, TypeError, KeyError: If it cannot be read.
    """
    found = json.loads(path.read_text(encoding="utf-8"))
    result = Result(**{**found, "phases": [Phase(**each) for each in found["phases"]]})
    if [each.name for each in result.phases][:2] != [START, STEADY]:
        raise ValueError(f"{path.name} has other phases")
    return result


def told(results: Sequence[Result], name: str) -> str:
    """What a phase moved, over all ranks, and how fast: bytes by the time within the calls."""
    phases = [each for result in results for each in result.phases if each.name == name]
    read, written = (
        sum(getattr(each, field) for each in phases) for field in ("read_bytes", "written_bytes")
    )
    lasted_s = max(each.duration_s for each in phases)
    slowest_s = max(each.longest_write_s for each in phases)
    rates = f"written at {_rate(written, phases, 'write_s', 'flush_s')}"
    if read:
        rates = f"read at {_rate(read, phases, 'read_s')}, {rates}"
    return f"{name}: {lasted_s:.2f} s, {rates}, slowest write {slowest_s * 1e3:.1f} ms"


def _rate(moved: int, phases: Sequence[Phase], *seconds: str) -> str:
    """Bytes by the mean time that a rank spent in such calls: the ranks work side by side."""
    spent_s = sum(getattr(each, name) for each in phases for name in seconds) / len(phases)
    return f"{moved / _MB / spent_s:.1f} MB/s" if spent_s > 0 else "no measurable time"


def _misread(path: Path, results: Sequence[Result]) -> str:
    """Which rank read other bytes than its part of the input has."""
    size = path.stat().st_size
    with path.open("rb") as file:
        for result in results:
            begin, end = part_of(size, result.rank, result.ranks)
            file.seek(begin)
            if hashlib.sha256(file.read(end - begin)).hexdigest() != result.read_sum:
                return f"rank {result.rank} read other bytes than the input has"
    return ""


def _miswritten(results: Sequence[Result]) -> str:
    for result in results:
        if result.written_sum != result.verified_sum:
            return f"rank {result.rank} read back other bytes than it had written"
    return ""
