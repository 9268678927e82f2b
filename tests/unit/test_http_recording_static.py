"""Static files of a recording: fetched on a first visit, and then as a browser asks for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recordings import Recorded

from loadstone.errors import WrongInputError
from loadstone.workloads.http.har import keeping
from loadstone.workloads.http.har.choosing import choose
from loadstone.workloads.http.har.composing import Composed, compose
from loadstone.workloads.http.har.entries import Answer
from loadstone.workloads.http.har.reading import read_har
from loadstone.workloads.http.scenario import Scenario

FOR_LONG = {"Cache-Control": "public, max-age=31536000, immutable"}


def composed(recorded: Recorded, folder: Path, *, keep_static: bool = True) -> Composed:
    recording = read_har(recorded.write(folder / "r.har"))
    found = compose(choose(recording, (), keep_static=keep_static), recording.entries, 1.0)
    Scenario.model_validate(found.scenario)
    return found


def addresses(found: Composed) -> list[str]:
    """Those of the transactions, in their order."""
    steps = [step for each in found.scenario["transactions"] for step in each["steps"]]
    return [each["get"] for step in steps for each in step.get("parallel", [step])]


def file(name: str, path: str) -> dict[str, Any]:
    return {"request": f"get {name}", "get": path, "cache": True}


def test_static_files_are_a_first_visit(tmp_path: Path) -> None:
    recorded = Recorded().page("/")
    for name in "ab":
        recorded.add("GET", f"/{name}.js?v=1", kind="script", answer_headers=FOR_LONG)
    recorded.pause(5).page("/again")
    recorded.add("GET", "/a.js?v=1", kind="script", answer_headers=FOR_LONG, _fromCache="memory")
    found = composed(recorded, tmp_path)
    both = [file("a", "/a.js?v=1"), file("b", "/b.js?v=1")]
    assert found.scenario["first_visit"] == {"steps": [{"parallel": both}]}
    assert addresses(found) == ["/", "/again"]
    assert Scenario.model_validate(found.scenario).operations[0] == "first-visit"
    without = composed(Recorded().page("/"), tmp_path)
    assert without.left_out == ()
    assert "first_visit" not in without.scenario


def test_a_file_that_a_browser_asks_about_again_is_asked_about_where_it_was(tmp_path: Path) -> None:
    often = {"Cache-Control": "no-cache", "ETag": '"v1"'}
    recorded = Recorded().page("/")
    recorded.add("GET", "/a.css", kind="stylesheet", answer_headers=often)
    recorded.add("GET", "/b.js", kind="script", answer_headers=FOR_LONG, at_once=True)
    recorded.pause(5).add("GET", "/api/items", answer={})
    recorded.add("GET", "/api/me", answer={}, at_once=True)
    recorded.add("GET", "/a.css", kind="stylesheet", status=304, at_once=True, answer_headers=often)
    found = composed(recorded, tmp_path)
    again = file("a", "/a.css")
    first, then = found.scenario["transactions"]
    assert [next(iter(step)) for step in first["steps"]] == ["request", "request"]
    assert first["steps"][1] == again
    (step,) = then["steps"]
    assert [each["get"] for each in step["parallel"]] == ["/api/items", "/api/me", "/a.css"]
    assert step["parallel"][2] == again
    visit = found.scenario["first_visit"]["steps"][0]["parallel"]
    assert visit == [again, file("b", "/b.js")]
    assert "a.css" not in str(composed(recorded, tmp_path, keep_static=False).scenario)


@pytest.mark.parametrize(
    ("headers", "lifetime_s"),
    [
        ({"Cache-Control": "max-age=600"}, 600),
        ({"Cache-Control": 'Public, Max-Age="600"'}, 600),
        ({"Cache-Control": "max-age=soon"}, 0),
        ({"Cache-Control": "no-cache, max-age=600"}, 0),
        ({"Cache-Control": "no-store, max-age=600"}, 0),
        ({"Expires": "Mon, 05 Jan 2026 10:00:00 GMT"}, 3600),
        ({"Expires": "Mon, 05 Jan 2026 08:00:00 GMT"}, 0),
        ({"Expires": "-1", "Last-Modified": "Mon, 05 Jan 2026 08:00:00 GMT"}, 0),
        ({"Last-Modified": "Mon, 05 Jan 2026 08:00:00 GMT"}, 360),
        (
            {
                "Cache-Control": "must-revalidate",
                "Last-Modified": "Mon, 05 Jan 2026 08:00:00 GMT",
            },
            0,
        ),
        ({}, 0),
    ],
)
def test_an_answer_is_fresh_as_long_as_its_header_says(
    headers: dict[str, str], lifetime_s: float
) -> None:
    date = ("date", "Mon, 05 Jan 2026 09:00:00 GMT")
    pairs = (date, *((name.lower(), value) for name, value in headers.items()))
    answer = Answer(200, pairs, (), "text/css", None, "", "")
    assert keeping.lifetime_s(answer) == pytest.approx(lifetime_s)


def test_a_first_visit_alone_is_nothing_that_users_do(tmp_path: Path) -> None:
    form = {"username": "ada", "password": "s3cret-enough"}
    recorded = Recorded().add("POST", "/login", form=form, answer={})
    recorded.add("GET", "/a.css", kind="stylesheet")
    with pytest.raises(WrongInputError, match="nothing but a log-in"):
        composed(recorded, tmp_path)
