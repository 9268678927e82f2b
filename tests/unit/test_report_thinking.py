"""That users who think all the time decide the rate, and not the system."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_report_published import document

from loadstone.results.record import Notice

COMPARE = {"kind": "compare", "factor": "profile.threads", "levels": [1, 2]}


def thinking(results: Path, profile: dict[str, Any], **fields: Any) -> list[Notice]:
    """Of answers that take 0.15 s."""
    found = document(results, {}, profile=profile, repeats=5, **fields)
    return [each for each in found.notices if each.code == "thinking"]


def test_a_verdict_on_a_rate_that_thinking_decides_is_warned_of(tmp_path: Path) -> None:
    (notice,) = thinking(tmp_path, {"think_time": "15s"}, design=COMPARE)
    assert notice.message == (
        "users thought for 99.01% of their time: a system that answered at once would raise the "
        "rate of transactions by 1.00%"
    )
    assert "--metric response_p95_ms" in notice.advice


@pytest.mark.parametrize(
    ("profile", "fields"),
    [
        pytest.param({"think_time": "1s"}, {"design": COMPARE}, id="they wait, too"),
        pytest.param({}, {"design": COMPARE}, id="nobody thinks"),
        pytest.param({"think_time": "15s"}, {}, id="nothing is compared"),
        pytest.param(
            {"think_time": "15s"},
            {"design": COMPARE, "metric": "response_mean_ms"},
            id="of response times",
        ),
        pytest.param({"load": "open", "rate_per_s": 10.0}, {"design": COMPARE}, id="open load"),
    ],
)
def test_no_other_verdict_is(
    tmp_path: Path, profile: dict[str, Any], fields: dict[str, Any]
) -> None:
    assert thinking(tmp_path, profile, **fields) == []
