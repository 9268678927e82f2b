"""What cannot be compared or read is told in the field's words, never in those of the code."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample_results import Sample, compare, write_results

from loadstone.cli.main import run_command
from loadstone.errors import ExitCode, TargetError
from loadstone.probes.base import Probe
from loadstone.probes.sampler import Sampler
from loadstone.report.document import build_document
from loadstone.results.sample import Sample as Value

INSIDE = re.compile(
    r"array|expected|candidate:|baseline:|ndarray|float64|got \[|Error\b|alpha|None"
)
"""Words of the code."""
METRIC = "new_orders_per_min"


def all_invalid(result: dict[str, Any]) -> None:
    result["status"] = "invalid"


def without_figure(result: dict[str, Any]) -> None:
    result["metrics"] = [each for each in result["metrics"] if each["name"] != METRIC]


def nothing_done(result: dict[str, Any]) -> None:
    for metric in result["metrics"]:
        metric["value"] = 0.0


@pytest.fixture
def changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """A comparison whose second level was changed after it ran."""
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    folder = write_results(tmp_path / "results", compare(repeats=2), Sample(tick_s=10.0))

    def change(by: Callable[[dict[str, Any]], None]) -> Path:
        design = json.loads((folder / "design.json").read_text())
        second = design["variants"][1]["name"]
        for path in folder.glob("*/result.json"):
            result = json.loads(path.read_text())
            if result["variant"] == second:
                by(result)
                path.write_text(json.dumps(result))
        return folder

    return change


@pytest.mark.parametrize(
    ("by", "why"),
    [
        (all_invalid, "has no valid trial"),
        (without_figure, "has a figure of new-orders"),
        (nothing_done, "is 0 new-orders/min: a ratio needs figures above 0"),
    ],
)
def test_what_cannot_be_compared_is_told_in_plain_words(
    by: Callable[[dict[str, Any]], None],
    why: str,
    changed: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = changed(by)
    (notice,) = (n for n in build_document(folder).notices if n.code == "not-compared")
    assert why in notice.message
    assert not INSIDE.search(notice.message)
    first, second = (
        v["name"] for v in json.loads((folder / "design.json").read_text())["variants"]
    )
    code = run_command(["compare", f"{folder}:{first}", f"{folder}:{second}"])
    said = capsys.readouterr()
    assert not INSIDE.search(said.out + said.err)
    if by is without_figure:
        assert code == ExitCode.OK
        assert f"the two do not both have {METRIC}" in " ".join(said.out.split())
    else:
        assert code == ExitCode.WRONG_INPUT


class Broken(Probe):
    name = "broken"

    def __init__(self, error: Exception) -> None:
        self._error = error

    def start(self) -> None:
        raise self._error

    def sample(self, t_s: float) -> list[Value]:
        return []

    def stop(self) -> None:
        pass


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (TargetError("the server is gone", advice="look"), "could not go on: the server is gone"),
        (OSError(5, "Input/output error"), "could not go on: [Errno 5] Input/output error"),
        (KeyError("cpu"), "could not go on: this is an error in it (KeyError: 'cpu'): please"),
    ],
)
def test_a_probe_that_fails_says_what_a_person_can_read(error: Exception, text: str) -> None:
    with Sampler([Broken(error)], lambda: 0.0, lambda _: None) as sampler:
        pass
    (notice,) = sampler.notices()
    assert text in notice.message
