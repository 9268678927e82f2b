"""Every check of every workload says what it holds, where its result goes and on its page."""

from __future__ import annotations

import ast
import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from loadstone.report.terminal_trial import _checks
from loadstone.results.record import CheckResult
from loadstone.workloads.checked import CheckSpec
from loadstone.workloads.registry import WORKLOADS

ROOT = Path(__file__).parent.parent.parent
SOURCES = ROOT / "src" / "loadstone" / "workloads"
CHECKS = [
    pytest.param(name, check, id=f"{name}: {check.name}")
    for name, workload in WORKLOADS.items()
    for check in workload.checks
]


def calls(path: Path, name: str) -> bool:
    """Whether a module calls a function or class of this name."""
    found = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
    return any(isinstance(each.func, ast.Name) and each.func.id == name for each in found)


def rows_of(workload: str) -> dict[str, str]:
    """First cell of the tables of a page: the second."""
    text = (ROOT / "docs" / f"{workload}.md").read_text().replace("`", "")
    return dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", text, re.MULTILINE))


def test_every_workload_makes_checks_and_no_two_of_a_name() -> None:
    for name, workload in WORKLOADS.items():
        names = [check.name for check in workload.checks]
        assert names, name
        assert len(names) == len(set(names)), name


@pytest.mark.parametrize(("workload", "check"), CHECKS)
def test_a_check_has_a_claim_and_its_page_lists_it(workload: str, check: CheckSpec) -> None:
    assert len(check.claim.split()) > 3
    rows = rows_of(workload)
    if check.name.startswith("consistency "):  # Its page has the clause in its own words.
        assert check.name.removeprefix("consistency ") in rows
    else:
        assert rows.get(check.name) == check.claim


def test_no_result_of_a_check_is_made_without_its_claim() -> None:
    """Only a `CheckSpec` makes one, and each that a workload has is among its `checks`."""
    made = [path.name for path in SOURCES.rglob("*.py") if calls(path, "CheckResult")]
    assert made == ["checked.py"]
    for name, workload in WORKLOADS.items():
        folder = SOURCES / name if (SOURCES / name).is_dir() else SOURCES / f"{name}.py"
        written = "".join(
            path.read_text() for path in (folder.rglob("*.py") if folder.is_dir() else [folder])
        )
        declared = re.findall(r"= CheckSpec\(\n    \"([^\"]+)\"", written)
        assert {*declared} <= {check.name for check in workload.checks}, name


def shown(checks: list[CheckResult], *, in_full: bool) -> str:
    console = Console(width=10_000, record=True, file=io.StringIO())
    console.print(_checks(checks, in_full=in_full))
    return "\n".join(line.rstrip() for line in console.export_text().splitlines())


@pytest.mark.parametrize("workload", WORKLOADS)
def test_the_terminal_shows_what_each_check_holds_and_failed_ones_first(workload: str) -> None:
    first, *rest = specs = WORKLOADS[workload].checks
    results = [check.of(passed=True, detail="7 rows") for check in rest]
    results.append(first.of(passed=False, detail="8 rows"))
    begin = f"Checks of the data: 1 of {len(results)} failed\n {first.name}"
    said = shown(results, in_full=True)
    assert said.startswith(begin)
    assert ": 8 rows\n" in said
    assert [check.name for check in specs if f"\n   {check.claim}" not in said] == []
    said = shown(results, in_full=False)
    assert said.startswith(begin)
    assert len(said.splitlines()) == 2


def test_an_older_result_has_checks_without_claims() -> None:
    old = CheckResult.model_validate({"name": "lines", "passed": True, "detail": "3 of 3"})
    assert old.claim == ""
    assert shown([old], in_full=True) == "Checks of the data: the only one passed\n lines"
