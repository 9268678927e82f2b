"""What `loadstone plan` shows, and the files that `plan` and `init` write."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command_line import loadstone, right, wrong
from lengths import long_but
from packages import do_without

from loadstone.errors import ExitCode
from loadstone.experiments.file import parse_experiment
from loadstone.targets.registry import TARGETS

pytestmark = pytest.mark.usefixtures("own_places")

ROOT = Path(__file__).parents[2]
FOR_A_CURVE = {"crash-sqlite"}
"""Examples that repeat less than a verdict takes, and say so."""
LACKING = re.compile("this machine cannot run it|is not available|install the (Debian )?package")
"""Said of what an example needs, and this machine has not."""


def test_a_plan_shows_trials_factors_and_what_they_need():
    text = right("plan", "oltp", "--rung", "shared_buffers=1GB", "--rung", "lax:fsync=off")
    flat = " ".join(text.split())
    assert "target.shared_buffers 1GB restart" in flat
    assert "target.fsync off reload unsafe" in flat
    assert "needs --allow-unsafe" in flat
    assert not Path("results").exists()


def test_a_plan_as_json_is_one_document_in_the_order_of_the_seed():
    first = json.loads(right("plan", "noop", "--vary", "users=1,2", "--repeats", "3", "--json"))
    again = json.loads(right("plan", "noop", "--vary", "users=1,2", "--repeats", "3", "--json"))
    other = json.loads(
        right("plan", "noop", "--vary", "users=1,2", "--repeats", "3", "--seed", "7", "--json")
    )
    assert first["trials"] == again["trials"] != other["trials"]
    assert len(first["trials"]) == first["trials_at_most"] == 6
    assert first["duration_s"] > 6 * 65


def test_a_short_form_becomes_a_file_that_means_the_same():
    options = ["--users", "3", "--measure", "90s", "--factor", "sigma", "--levels", "0.1,0.2"]
    text = right("plan", "noop", *options, "--as-file")
    experiment = parse_experiment(text, "x").experiment
    assert experiment.name == "noop-compare"
    assert (experiment.profile.users, experiment.profile.measure) == (3, 90.0)
    assert experiment.design.model_dump() == {
        "kind": "compare",
        "factor": "workload.sigma",
        "levels": [0.1, 0.2],
        "looks": None,
    }
    Path("x.yaml").write_text(text)
    by_file = json.loads(right("plan", "x.yaml", "--json"))
    by_options = json.loads(right("plan", "noop", *options, "--json"))
    assert by_file["trials"] == by_options["trials"]


def test_a_search_in_options_becomes_a_file_that_means_the_same():
    options = ["--over", "rate", "--from", "50", "--soak", "1h", "--objective", "p99 < 5 ms"]
    text = right("plan", "noop", *options, "--window", "2500ms", "--as-file")
    experiment = parse_experiment(text, "x").experiment
    assert experiment.name == "noop-search"
    assert (experiment.profile.load, experiment.profile.rate_per_s) == ("open", 50)
    assert experiment.design.model_dump(exclude_unset=True) == {
        "kind": "search",
        "over": "rate",
        "from": 50,
        "soak": 3600,
        "window": 2.5,
        "objective": ["p99 < 5 ms"],
    }
    Path("x.yaml").write_text(text)
    by_file = json.loads(right("plan", "x.yaml", "--json"))
    assert by_file["trials_at_most"] > len(by_file["trials"]) == 1
    assert by_file["duration_s"] > 3600


@pytest.mark.parametrize(
    ("words", "soak_s", "said"),
    [
        (["noop", "--over", "users"], 0, "No soak"),
        (["archive", "--over", "rate"], 600, "must hold for 10min"),
        (["archive", "--over", "rate", "--soak", "0s"], 0, "No soak"),
        (["noop", "--users", "2"], None, ""),
    ],
)
def test_a_plan_says_how_long_the_level_found_must_hold(
    words: list[str], soak_s: float | None, said: str
):
    assert json.loads(right("plan", *words, "--json"))["soak_s"] == soak_s
    assert ("oak" in right("plan", *words)) == bool(said)
    assert said in right("plan", *words)


def test_a_curve_in_options_becomes_a_file_that_means_the_same():
    text = right("plan", "noop", "--over", "processors", "--levels", "1-2", "--as-file")
    experiment = parse_experiment(text, "x").experiment
    assert experiment.name == "noop-scale"
    assert experiment.design.model_dump(mode="json") == {
        "kind": "scale",
        "over": "processors",
        "levels": {"from": 1, "to": 2, "step": 1},
        "users_each": None,
    }


def test_users_in_proportion_in_options_are_those_of_the_file():
    words = ("noop", "--over", "workload.sigma", "--levels", "1,2", "--users-each", "4")
    text = right("plan", *words, "--as-file")
    assert "users_each: 4" in text
    Path("curve.yaml").write_text(text)
    assert "sigma=2, users=8" in right("plan", "curve.yaml")
    assert "sigma=2, users=10" in right("plan", "curve.yaml", "--users-each", "5")
    assert "would have no effect" in wrong("plan", *words, "--users", "3")
    assert "there is no curve" in wrong("plan", "noop", "--users-each", "5")


def test_an_option_replaces_what_the_file_says():
    text = right("plan", str(ROOT / "examples" / "noop-open.yaml"), "--rate", "50", "--as-file")
    assert parse_experiment(text, "x").experiment.profile.rate_per_s == 50


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.yaml")), ids=lambda p: p.name)
def test_every_example_can_be_planned_and_show_something(path: Path):
    done = loadstone("plan", str(path))
    if LACKING.search(done.stderr):
        do_without(done.stderr)
    assert done.returncode == ExitCode.OK, done.stderr
    text = done.stdout
    assert re.search(r"\d trials?\b", text)
    assert ("Too few" in text) == (path.stem in FOR_A_CURVE)


@pytest.mark.parametrize(
    ("rungs", "repeats", "least"), [(1, 3, 4), (1, 4, None), (2, 2, 3), (2, 3, None), (7, 2, 3)]
)
def test_a_plan_says_when_its_trials_can_show_nothing(rungs: int, repeats: int, least: int | None):
    options = [
        word for at in range(rungs) for word in ("--rung", f"r{at}:service_time_us={at + 1}")
    ]
    document = json.loads(right("plan", "noop", *options, "--repeats", str(repeats), "--json"))
    said = document["too_few_repeats"]
    assert (said is None) == (least is None)
    assert least is None or f"{least} is the least" in said


@pytest.mark.parametrize(
    ("workload", "target"),
    [("oltp", engine) for engine, cls in TARGETS.items() if "transactions" in cls.capabilities]
    + [("archive", engine) for engine, cls in TARGETS.items() if "bulk" in cls.capabilities]
    + [("dss", engine) for engine, cls in TARGETS.items() if "files" in cls.capabilities]
    + [("noop", engine) for engine in TARGETS if engine != "device"],
)
def test_the_file_of_init_runs_as_it_stands(workload: str, target: str):
    text = right("init", workload, "--target", target)
    assert f"engine: {target}" in text
    assert text.count("#") > 10
    Path("first.yaml").write_text(text)
    done = loadstone("plan", "first.yaml")
    if LACKING.search(done.stderr):
        do_without(done.stderr)
    assert "for 1 trial" in done.stdout, done.stderr


def test_the_file_of_init_does_not_guess_a_device():
    text = right("init", "storage", "--target", "device")
    Path("first.yaml").write_text(text)
    assert "there is no device /dev/NAME" in wrong("plan", "first.yaml")


FILE_ENGINES = [name for name, cls in TARGETS.items() if "files" in cls.capabilities]
QUICK_FILE_ENGINES = [name for name in FILE_ENGINES if name != "spark"]
"""Spark starts a JVM for each level; `test_the_file_of_init_runs_as_it_stands` starts one, too."""


@pytest.mark.parametrize("engine", long_but(QUICK_FILE_ENGINES, FILE_ENGINES))
def test_the_comparison_that_init_suggests_for_decision_support_is_of_a_setting(engine: str):
    lines = right("init", "dss", "--target", engine).splitlines()
    factor, levels = (
        next(line.partition(f"# {name}: ")[2] for line in lines if f"# {name}: " in line)
        for name in ("factor", "levels")
    )
    assert factor.startswith("target.")
    compared = ["--factor", factor, "--levels", levels.strip("[]").replace(" ", "")]
    refreshes = "changes" in TARGETS[engine].capabilities
    given = [] if refreshes else ["--param", "refreshes=false"]
    assert "for 2 trials" in right("plan", "dss", "--target", engine, *given, *compared)
