"""What a check of a workload holds: declared once, and carried by every result of it."""

from __future__ import annotations

from dataclasses import dataclass

from loadstone.results.record import CheckResult


@dataclass(frozen=True)
class CheckSpec:
    """A check that the workload makes.

    `docs/<workload>.md` has a row of name and claim for each, and reports show both.
    """

    name: str
    claim: str
    """What it holds, and over what: every row, a sample, sums only. A planted fault of each kind
    that the words cover must be seen."""
    source: str = ""
    """Clause of the specification."""

    def of(self, *, passed: bool, detail: str) -> CheckResult:
        """What came out of it.

        Args:
            passed: Whether the data are so.
            detail: What was compared, with its figures.
        """
        return CheckResult(
            name=self.name, passed=passed, detail=detail, source=self.source, claim=self.claim
        )
