"""The checks of a catalogue: its files against their names, the seed, and the driver's account."""

from __future__ import annotations

from collections.abc import Mapping

from loadstone.results.record import CheckResult
from loadstone.workloads.checked import CheckSpec
from loadstone.workloads.storage.catalogue_files import Found, Homes, some

WHOLE = CheckSpec(
    "files are whole",
    "every file of a catalogue holds the bytes that its name, its version and the seed say, and "
    "nothing half-written lies beside it, but what as many operations that failed may have left",
)
THERE = CheckSpec(
    "no file is missing",
    "every file of a catalogue that a home began with is there",
)
ACCOUNT = CheckSpec(
    "files against the account",
    "the files of a catalogue beyond the first ones are as many as the load generator created less "
    "those that it deleted, and the versions of the first ones add up to its replacements; an "
    "operation that failed may have been done",
)
CHECKS = (WHOLE, THERE, ACCOUNT)


def checked(
    found: Found, homes: Homes, operations: Mapping[str, int], errors: int
) -> list[CheckResult]:
    """The three checks.

    Args:
        found: What is in the homes.
        homes: What should be.
        operations: That the driver counted, over all phases.
        errors: Operations that failed.
    """
    wrong = found.wrong + found.others
    if len(found.unfinished) > errors:
        wrong += found.unfinished
    expected = homes.count * homes.files
    created = operations.get("create", 0) - operations.get("delete", 0)
    replaced = operations.get("write-fsync-rename", 0)
    agree = abs(found.created - created) <= errors and 0 <= found.replaced - replaced <= errors
    return [
        WHOLE.of(
            passed=not wrong,
            detail=f"wrong: {some(wrong)}"
            if wrong
            else f"{found.files:,} files are whole, {len(found.unfinished):,} unfinished",
        ),
        THERE.of(
            passed=not found.missing,
            detail=f"missing: {some(found.missing)}"
            if found.missing
            else f"all {expected:,} files of {homes.count:,} homes are there",
        ),
        ACCOUNT.of(
            passed=agree,
            detail=f"{found.created:,} more files, created less deleted {created:,}; versions add "
            f"up to {found.replaced:,}, replaced {replaced:,}; {errors:,} errors",
        ),
    ]
