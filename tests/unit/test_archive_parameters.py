"""How many stations and users follow from a rate, and what the driver is told of them."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from not_started import not_started
from pydantic import ValidationError

from loadstone.errors import LoadstoneError, WrongInputError
from loadstone.experiments.conduct import examine
from loadstone.experiments.file import parse_experiment, write_experiment
from loadstone.experiments.preflight.check import check_experiment
from loadstone.load.profiles import run_plan
from loadstone.results.record import Fingerprint
from loadstone.spec.model import Experiment
from loadstone.spec.profile import ProfileSpec
from loadstone.targets.connection import NoConnection
from loadstone.targets.database import Database
from loadstone.targets.dialect import Dialect
from loadstone.workloads.archive.parameters import ATTENDANTS, MOST_STATIONS, ArchiveParameters
from loadstone.workloads.archive.replay_file import provide
from loadstone.workloads.archive.workload import EventArchive
from loadstone.workloads.base import LoadContext


@given(st.floats(1.0, 1e6), st.floats(100.0, 1e5))
def test_stations_make_the_rate_and_none_does_more_than_it_is_built_for(
    rate: float, each: float
) -> None:
    own = ArchiveParameters(rate=rate, events_per_s=each, buffer_events=100_000)
    told = own.driver()
    assert told["stations"] * told["events_per_s"] == pytest.approx(rate)
    assert told["events_per_s"] <= each
    assert own.users == ATTENDANTS + told["stations"]


def test_too_many_stations_are_refused_with_what_to_do() -> None:
    with pytest.raises(ValidationError, match="raise events_per_s"):
        ArchiveParameters(rate=2.0 * MOST_STATIONS, events_per_s=1)


def test_a_buffer_that_does_not_bridge_an_interval_is_refused_with_what_to_do() -> None:
    with pytest.raises(ValidationError, match=r"holds back 100,000 .* raise buffer_events"):
        ArchiveParameters(events_per_s=100_000)
    with pytest.raises(ValidationError, match=r"holds back 2,000 .*\(2s\)"):
        ArchiveParameters(interval="2s", buffer_events=1999)
    assert ArchiveParameters(interval="2s", buffer_events=2000).buffer_events == 2000
    assert ArchiveParameters(csv="events.csv", buffer_events=10).buffer_events == 10


@pytest.mark.parametrize(
    "wrong",
    [
        {"late_share": 1.5},
        {"path": "oblique"},
        {"interval": 2},
        {"rate": 0},
    ],
)
def test_wrong_parameters_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ArchiveParameters.model_validate(wrong)


def test_durations_have_units_and_the_driver_is_told_seconds() -> None:
    own = ArchiveParameters.model_validate(
        {"interval": "500ms", "threshold": "2s", "late_by": "1min"}
    )
    told = own.driver()
    assert (told["interval_s"], told["threshold_ms"], told["late_by_s"]) == (0.5, 2000, 60)
    assert own.pacing()["operations"]["insert"]["every_s"] == 0.5


def test_needs_follow_the_parameters() -> None:
    def needs(**parameters: Any) -> set[str]:
        return set(EventArchive(ArchiveParameters(**parameters)).needs())

    assert needs() == {"sql", "bulk"}
    assert needs(path="staged") - needs() == {"procedures"}
    assert needs(compress=True) - needs() == {"table-compression"}
    assert needs(move=True) - needs() == {"second-place"}


def test_only_the_index_decides_the_data() -> None:
    same = EventArchive(ArchiveParameters(rate=1, path="staged", preallocate=False)).data_key()
    other = EventArchive(ArchiveParameters(index="on-close")).data_key()
    assert same == EventArchive(ArchiveParameters()).data_key() != other


def test_the_plan_has_its_users_and_its_grid() -> None:
    workload = EventArchive(ArchiveParameters(rate=3000, operators=4))
    profile = workload.loaded(ProfileSpec(warm_up="1s", measure="5s"))
    context = LoadContext(1, not_started("postgresql"), Path())
    plan = run_plan(profile, workload.plan(context), workload.pacing(), NoConnection(), seed=1)
    assert {phase["load"]["users"]["to"] for phase in plan["phases"]} == {2 + 4 + 3}
    periods = {name: each["every_s"] for name, each in plan["pacing"]["operations"].items()}
    assert periods["insert"] == 1.0
    assert periods["switch"] == 0.1


def test_a_running_load_is_raised_by_whole_stations() -> None:
    workload = EventArchive(ArchiveParameters(rate=15_000, operators=1))
    assert workload.search.raised_to("rate", 30_000) == {"control": "users", "users": 3 + 30}
    assert workload.search.raised_to("rate", 33_300) == {"control": "users", "users": 3 + 34}
    (change,) = workload.search.at_rate(ProfileSpec(), 45_000.0)
    assert (change.factor, change.level) == ("workload.rate", 45_000.0)


@given(st.integers(1, 5000), st.floats(0.1, 5000))
def test_so_many_users_are_so_many_stations_of_the_rate_they_are_built_for(
    users: int, each: float
) -> None:
    workload = EventArchive(ArchiveParameters(events_per_s=each, rate=each))
    (change,) = workload.search.at_users(ProfileSpec(), users)
    assert change.factor == "workload.rate"
    made = ArchiveParameters.model_validate({"events_per_s": each, "rate": change.level})
    assert made.stations == users
    assert made.rate == pytest.approx(users * each)


def test_a_search_over_users_begins_with_one_station() -> None:
    workload = EventArchive(ArchiveParameters())
    assert workload.search.increments("users").first == 1
    assert workload.search.increments("users").method == "bisection"
    assert workload.search.increments("rate").first == 15_000


@pytest.mark.parametrize(
    "design",
    ["{kind: search, over: users}"]
    + [f"{{kind: scale, over: {over}, levels: [1, 2, 8]}}" for over in ("users", "clients")],
)
def test_stations_can_be_searched_and_scaled_though_users_are_decided(design: str) -> None:
    assert problems(rest=f"design: {design}") == []


EXPERIMENT = """\
version: 1
name: archive
workload:
  name: archive
  parameters:
    {parameters}
target:
  engine: {engine}
profile:
  measure: 30s
  {profile}
{rest}
"""


def problems(**parts: str) -> list[str]:
    defaults = {"parameters": "rate: 1000", "engine": "postgresql", "profile": "", "rest": ""}
    text = EXPERIMENT.format(**{**defaults, **parts})
    found = check_experiment(parse_experiment(text, "archive.yaml").experiment)
    return [f"{'.'.join(map(str, each.path))}: {each.message}" for each in found]


def test_a_file_to_replay_must_be_right_before_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOADSTONE_CACHE", str(tmp_path / "cache"))
    present, two = tmp_path / "events.csv", tmp_path / "two.csv"
    wrong, missing = tmp_path / "wrong.csv", tmp_path / "no-such.csv"
    header = "ts,element,value,status,text\n"
    present.write_text(f"{header}2025-01-31 12:00:00.5+00,a,1,192,\n")
    two.write_text(f"{header}0,a,1,192,\n0,b,1,192,\n")
    wrong.write_text(f"{header}2025-02-30T00:00:00Z,a,1,192,\n")
    assert problems(parameters=f"csv: {present}") == []
    for path, told in (
        (missing, f"there is no file {str(missing)!r}"),
        (tmp_path, f"{tmp_path} is a folder, not a file"),
        (wrong, f"{wrong}: line 2: ts '2025-02-30T00:00:00Z' is neither"),
        (two, f"{two} has 2 elements, more than the 1 of a station (give elements: 2 or more)"),
    ):
        (said,) = problems(parameters=f"{{csv: {path}, elements: 1}}")
        assert said.startswith(f"workload.parameters.csv: {told}")
        levels = f"{{kind: compare, factor: workload.csv, levels: [{present}, {path}]}}"
        (said,) = problems(parameters=f"{{csv: {present}, elements: 1}}", rest=f"design: {levels}")
        assert told in said


def test_a_file_that_was_changed_is_another_start_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Tables:
        dialect = Dialect("any")

        def fingerprint(self, _tables: object) -> Fingerprint:
            return Fingerprint(digest="0123456789ab", sums={"archive_segment": "1"})

    def digest(csv: str | None) -> str:
        target = cast(Database, Tables())
        return EventArchive(ArchiveParameters(csv=csv)).fingerprint(target).digest

    monkeypatch.setenv("LOADSTONE_CACHE", str(tmp_path / "cache"))
    path, copy = tmp_path / "events.csv", tmp_path / "copy.csv"
    path.write_text("ts,element,value,status,text\n0,a,1,192,\n")
    copy.write_bytes(path.read_bytes())
    first = digest(str(path))
    assert len({digest(None), first}) == 2
    assert digest(str(copy)) == first
    path.write_text("ts,element,value,status,text\n0,a,2,192,\n")
    assert digest(str(path)) != first


def test_what_was_made_of_a_replayed_file_is_refused_once_it_is_altered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two values swapped: rows, times and sums are kept."""
    monkeypatch.setenv("LOADSTONE_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "events.csv"
    path.write_text("ts,element,value,status,text\n0,a,1,192,\n1,a,2,192,\n")
    made = provide(path).path
    content = bytearray(made.read_bytes())
    one, two = struct.pack("<d", 1.0), struct.pack("<d", 2.0)
    at_one, at_two = content.index(one), content.index(two)
    content[at_one : at_one + 8], content[at_two : at_two + 8] = two, one
    made.write_bytes(content)
    with pytest.raises(WrongInputError, match=f"{made} is not what Loadstone wrote"):
        provide(path)


def test_every_operation_belongs_to_one_group() -> None:
    workload = EventArchive(ArchiveParameters())
    grouped = [name for operations in workload.charts().groups.values() for name in operations]
    assert sorted(grouped) == sorted(workload.pacing()["operations"])


@pytest.mark.parametrize(
    "field", ["users: 8", "think_time: 2s", "load: closed", "sessions: 3", "queue: 10"]
)
def test_a_profile_cannot_say_what_the_workload_decides(field: str) -> None:
    (said,) = problems(profile=field)
    assert said.startswith(f"profile.{field.partition(':')[0]}: is decided by workload archive")


def test_nor_can_a_factor() -> None:
    found = problems(rest="design: {kind: compare, factor: profile.users, levels: [1, 2]}")
    (said,) = found
    assert "is decided by workload archive" in said
    assert "users=1 (and 1 more)" in said


def test_staged_is_refused_where_there_are_no_procedures() -> None:
    (said,) = problems(engine="sqlite", parameters="path: staged")
    assert "sqlite does not offer procedures (stored in the server)" in said


@pytest.mark.parametrize(
    ("engine", "reason"),
    [
        *((name, f"{name} does not offer second-place") for name in ("duckdb", "sqlite")),
        (
            "postgresql\n  server: postgresql://me@db.example/x",
            "postgresql at an address does not offer second-place",
        ),
    ],
)
def test_moving_is_refused_where_there_is_no_second_place(engine: str, reason: str) -> None:
    (said,) = problems(engine=engine, parameters="move: true")
    assert reason in said
    text = EXPERIMENT.format(parameters="move: true", engine=engine, profile="", rest="")
    experiment = parse_experiment(text, "archive.yaml").experiment
    with pytest.raises(WrongInputError, match=reason):
        examine(experiment, allow_unsafe=False)


ARCHIVE = 'postgresql\n  storage: {archive: "folder:/var/tmp"}'


def test_a_placement_to_which_nothing_moves_is_refused() -> None:
    (said,) = problems(engine=ARCHIVE)
    assert said.startswith("target.storage.archive: nothing would lie on storage.archive")
    levels = '[default, "folder:/var/tmp"]'
    (said,) = problems(rest=f"design: {{kind: compare, factor: storage.archive, levels: {levels}}}")
    assert said.startswith("design: nothing would lie on storage.archive")


def test_one_that_some_variant_uses_is_right() -> None:
    moves = "design: {kind: compare, factor: workload.move, levels: [false, true]}"
    assert problems(engine=ARCHIVE, rest=moves) == []
    assert problems(engine=ARCHIVE, parameters="move: true") == []


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"engine": "sqlite"}, "sqlite has no server"),
        ({"outage": "{kind: pause, after: 28s, for: 2s}"}, "ends 30s after"),
        ({"outage": "{kind: full-disk}"}, "a plain folder shares its disk"),
        ({"storage": "volatile:ext4,size=1GB"}, "cannot be filled"),
        ({"storage": "tmpfs"}, "has no size of its own"),
        ({"design": "design: {kind: crash}"}, "ends at its failure"),
    ],
)
def test_impossible_outages_are_refused(parts: dict[str, str], reason: str) -> None:
    outage = parts.get("outage", "{kind: full-disk}" if "storage" in parts else "{kind: pause}")
    engine = parts.get("engine", "postgresql")
    if "storage" in parts:
        engine += f'\n  storage: {{data: "{parts["storage"]}"}}'
    rest = f"outage: {outage}\n{parts.get('design', '')}"
    try:
        found = problems(engine=engine, rest=rest)
    except LoadstoneError as error:
        found = [str(error)]
    assert any(reason in said for said in found), found


def test_a_possible_outage_is_read_and_written_back() -> None:
    rest = "outage: {kind: pause, after: 3s, for: 500ms}"
    text = EXPERIMENT.format(parameters="rate: 1", engine="postgresql", profile="", rest=rest)
    experiment = parse_experiment(text, "archive.yaml").experiment
    assert problems(rest=rest) == []
    again = parse_experiment(write_experiment(experiment), "again.yaml").experiment
    assert again == experiment
    assert experiment.outage is not None
    assert (experiment.outage.after, experiment.outage.lasts) == (3.0, 0.5)


def test_a_replayed_file_has_the_rate_of_its_own_times(tmp_path: Path) -> None:
    workload = EventArchive(ArchiveParameters(csv="events.csv", rate=3000))
    told = workload.arrival(ProfileSpec())
    assert told.startswith("events.csv replayed by 3 stations")
    assert "events/s" not in told
    file = tmp_path / "events.csv"
    file.write_text("ts,element,value\n0,1,2.5\n")
    text = {
        "version": 1,
        "name": "replay",
        "workload": {"name": "archive", "parameters": {"csv": str(file)}},
        "target": {"engine": "postgresql"},
        "design": {"kind": "search"},
    }
    with pytest.raises(WrongInputError, match="no rate can be searched for with csv"):
        examine(Experiment.model_validate(text), allow_unsafe=False)
