"""`loadstone import har` as people call it: what it writes, what it says, what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import loadstone, right, wrong
from recordings import ORIGIN, Recorded, logged_in

from loadstone.errors import ExitCode
from loadstone.workloads.http.reading import read_scenario

pytestmark = pytest.mark.usefixtures("own_places")


@pytest.fixture
def recording(own_places: None) -> None:  # noqa: ARG001 - the working folder must be the test's
    """A recording in the working folder: `shop.har`."""
    recorded = logged_in().page("/items").add("GET", "/app.js", kind="script")
    recorded.add("GET", "https://api.example/v1").add("POST", "/logout")
    recorded.write(Path("shop.har"))


@pytest.mark.usefixtures("recording")
def test_a_recording_becomes_a_scenario_with_its_people() -> None:
    done = loadstone("import", "har", "shop.har", "--output", "shop.yaml")
    assert done.returncode == ExitCode.OK, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "4 requests: log-in, items, log-out"
    assert lines[1:] == [
        "Left out, entry 3: GET app.example/home: a redirect leads here from entry 2, and is "
        "followed by itself",
        "Left out, entry 5: GET app.example/app.js: a static file: --keep-static takes it",
        "Left out, entry 6: GET api.example/v1: of another host: --host api.example takes it",
    ]
    assert f"the scenario is in shop.yaml, for the target {ORIGIN}" in done.stderr
    assert "put the users into shop-people.csv" in done.stderr
    assert "a run needs LOADSTONE_PASSWORD in its environment" in done.stderr
    assert f"loadstone run http --on {ORIGIN} --param scenario=shop.yaml --users 1" in done.stderr
    scenario = read_scenario(Path("shop.yaml"))
    assert scenario.names == ("items",)
    assert scenario.people == str(Path.cwd() / "shop-people.csv")
    text = Path("shop.yaml").read_text()
    assert text.startswith("# A scenario of the workload http, made of shop.har.")
    assert f"#   target: {{engine: http, url: {ORIGIN}}}" in text
    for line in lines[1:]:
        number, reason = line.removeprefix("Left out, entry ").split(": ", 1)
        assert f"#   entry {number}: {reason}" in text


@pytest.mark.usefixtures("recording")
def test_what_is_wanted_besides_is_taken() -> None:
    options = ["--keep-static", "--host", "api.example", "--think-gap", "10s"]
    said = right("import", "har", "shop.har", "--output", "shop.yaml", *options)
    assert said.splitlines()[0] == "7 requests: log-in, first-visit, items, log-out"
    assert read_scenario(Path("shop.yaml")).hosts == ["https://api.example"]


@pytest.mark.usefixtures("recording")
def test_the_answer_for_programs_is_one_document() -> None:
    said = right("import", "har", "shop.har", "--output", "shop.yaml", "--json")
    document = json.loads(said)
    assert document["version"] == 1
    assert (document["scenario"], document["people"]) == ("shop.yaml", "shop-people.csv")
    assert document["url"] == ORIGIN
    assert document["secrets"] == ["LOADSTONE_PASSWORD"]
    assert [each["number"] for each in document["left_out"]] == [3, 5, 6]


def test_a_recording_without_a_log_in_needs_no_people() -> None:
    Recorded().page("/items").write(Path("shop.har"))
    said = right("import", "har", "shop.har", "--output", "shop.yaml")
    assert said.splitlines()[0] == "1 request: items"
    assert not Path("shop-people.csv").exists()
    assert read_scenario(Path("shop.yaml")).people is None


@pytest.mark.usefixtures("recording")
@pytest.mark.parametrize("there", ["shop.yaml", "shop-people.csv"])
def test_nothing_is_written_over(there: str) -> None:
    Path(there).write_text("mine")
    said = wrong("import", "har", "shop.har", "--output", "shop.yaml")
    assert f"{there} is there already, and nothing is overwritten" in said
    assert Path(there).read_text() == "mine"


@pytest.mark.usefixtures("recording")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["none.har"], "there is no file 'none.har'"),
        (["."], ". is a folder, not a file"),
        (["shop.har", "--think-gap", "5"], "--think-gap: '5' is not a duration"),
        (["shop.har", "--think-gap", "0s"], "--think-gap: a pause is longer than 0s"),
        (["shop.har", "--host", "nowhere"], "--host 'nowhere': the recording asks no such host"),
        (["shop.har", "--output", "no/folder.yaml"], "cannot be written: No such file"),
    ],
)
def test_wrong_input_is_answered_in_a_line(options: list[str], message: str) -> None:
    words = options if "--output" in options else [*options, "--output", "shop.yaml"]
    assert message in wrong("import", "har", *words)
    assert {each.name for each in Path().glob("*.*")} == {"shop.har"}


def test_a_scenario_that_no_experiment_would_take_is_not_written() -> None:
    recorded = Recorded()
    for number in range(1001):
        recorded.add("GET", f"/a{'x' * (number % 7)}")
    recorded.write(Path("shop.har"))
    said = wrong("import", "har", "shop.har", "--output", "shop.yaml")
    assert "this recording makes no scenario: transactions[0].steps" in said
    assert not Path("shop.yaml").exists()


def test_help_says_what_it_takes() -> None:
    said = " ".join(right("import", "har", "--help").split())
    for word in ("--output", "--host", "--keep-static", "--think-gap", "--json", "512 MB"):
        assert word in said
