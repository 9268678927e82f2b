"""A system of several parts: what is said of each, the order of its life, and its factors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest

from loadstone.cli.main import run_command
from loadstone.errors import TargetError, WrongInputError
from loadstone.experiments.file import parse_experiment
from loadstone.experiments.preflight.check import check_experiment
from loadstone.factors.in_force import in_force
from loadstone.factors.registry import apply_changes, base_parts, examine
from loadstone.host.locality import data_folder
from loadstone.host.machine import Absent
from loadstone.journal import Journal
from loadstone.report.differences import _is_declared
from loadstone.results.record import FactorReading
from loadstone.spec.base import Level
from loadstone.spec.model import Experiment, OutageKind
from loadstone.spec.plans import Change
from loadstone.spec.target import PartSpec, ProcessSpec, StorageSpec, TargetSpec
from loadstone.targets.base import SettingInfo, Target, TargetContext
from loadstone.targets.blame import Chosen
from loadstone.targets.part_names import factor_of_part, factor_within
from loadstone.targets.registry import TARGETS, target_class
from loadstone.targets.system import SystemOfParts
from loadstone.targets.walk import all_parts, each_in, owner_of, part_in, part_of

EVENTS: list[str] = []
"""What parts were told, in order."""
BROKEN: set[str] = set()
"""What fails: `back.close`."""


class Piece(Target):
    """Notes what it is told."""

    engine = "piece"
    serves = True
    storage_roles = ("data",)

    @property
    def name(self) -> str:
        return str(self.spec.settings.get("name", self.engine))

    def _note(self, what: str) -> None:
        EVENTS.append(f"{self.name}.{what}")
        if EVENTS[-1] in BROKEN:
            raise TargetError(f"{EVENTS[-1]} fails")

    @classmethod
    def describe(cls, spec: TargetSpec) -> dict[str, str]:
        return {"engine": cls.engine}

    @classmethod
    def setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        if name.lower() not in ("colour", "name", "auto.wash"):
            return super().setting(spec, name, level)
        return SettingInfo(name.lower(), "reload", unsafe=level == "see-through")

    @classmethod
    def plain_name(cls, name: str) -> str:
        return name.lower()

    @classmethod
    def for_sessions(cls, spec: TargetSpec, sessions: int) -> dict[str, Level]:
        return {"seats": sessions}

    @classmethod
    def layout(cls, spec: TargetSpec) -> dict[str, Level]:
        return {name: level for name, level in spec.settings.items() if name == "colour"}

    def open(self) -> None:
        self._note("open")

    def close(self) -> None:
        self._note("close")

    def start(self) -> None:
        self._note("start")

    def stop(self) -> None:
        self._note("stop")

    def empty(self, spec: TargetSpec) -> list[FactorReading]:
        self._note("empty")
        return []

    def snapshot(self, key: str) -> None:
        self._note("snapshot")

    def restore(self, key: str, spec: TargetSpec) -> list[FactorReading]:
        self._note("restore")
        return [
            FactorReading(factor=f"target.{name}", requested=level, read_back=level)
            for name, level in spec.settings.items()
            if name != "name"
        ]

    def settle(self, cache: str) -> None:
        self._note("settle")

    @contextmanager
    def outage(self, kind: OutageKind) -> Iterator[None]:
        self._note(kind)
        yield
        self._note("back")


class Rows(SystemOfParts):
    """Equal pieces, as many as the setting says."""

    engine = "rows"
    equal = True

    @classmethod
    def named_parts(cls, spec: TargetSpec) -> tuple[str, ...]:
        return tuple(str(each + 1) for each in range(int(spec.settings.get("count", 1))))

    @classmethod
    def part_class(cls, spec: TargetSpec, part: str) -> type[Target]:
        return Piece

    @classmethod
    def part_spec(cls, spec: TargetSpec, part: str) -> TargetSpec:
        kept = {name: level for name, level in spec.settings.items() if name != "count"}
        settings = {**kept, "name": f"rows.{part}"}
        return TargetSpec(engine="piece", settings=settings, process=spec.process)

    @classmethod
    def own_setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        return Piece.setting(spec, name, level)


class House(SystemOfParts):
    """Two pieces and some rows between them."""

    engine = "house"
    part_names = ("back", "rows", "door")
    part_engines: ClassVar[dict[str, str]] = {"back": "piece", "rows": "rows", "door": "piece"}
    front = "door"

    @classmethod
    def part_class(cls, spec: TargetSpec, part: str) -> type[Target]:
        return {"back": Piece, "rows": Rows, "door": Piece}[part]

    @classmethod
    def part_spec(cls, spec: TargetSpec, part: str) -> TargetSpec:
        found = super().part_spec(spec, part)
        if part == "rows":
            return found.with_settings({"count": spec.settings.get("rows", 1)})
        return found.with_settings({"name": part})

    @classmethod
    def own_setting(cls, spec: TargetSpec, name: str, level: Level) -> SettingInfo:
        if name != "rows":
            return super().own_setting(spec, name, level)
        return SettingInfo(name, "restart")

    def own_readings(self, spec: TargetSpec) -> list[FactorReading]:
        asked = {name: level for name, level in spec.settings.items() if name == "rows"}
        found = len(self.part("rows").parts())
        return [
            FactorReading(factor=f"target.{name}", requested=level, read_back=found)
            for name, level in asked.items()
        ]


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LOADSTONE_STATE", str(tmp_path / "state"))
    monkeypatch.setitem(TARGETS._places, "house", f"{__name__}:House")
    EVENTS.clear()
    BROKEN.clear()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with Journal(tmp_path / "journal.jsonl", "pytest") as journal:
        spec = TargetSpec(engine="house", settings={"rows": 2})
        yield House(spec, TargetContext(journal=journal, owner="pytest"))


def experiment(**target: Any) -> Experiment:
    return Experiment.model_validate(
        {
            "version": 1,
            "name": "x",
            "workload": {"name": "noop"},
            "target": {"engine": "house", **target},
        }
    )


def problems(text: str) -> list[tuple[tuple[str | int, ...], str]]:
    head = "version: 1\nname: x\nworkload: {name: noop}\n"
    found = check_experiment(parse_experiment(head + text, "x.yaml").experiment)
    return [(each.path, each.message) for each in found]


# -- life --------------------------------------------------------------------------------------
def test_parts_are_opened_in_order_and_closed_in_reverse(house: House) -> None:
    house.open()
    house.close()
    pieces = ["back", "rows.1", "rows.2", "door"]
    assert [
        *(f"{name}.open" for name in pieces),
        *(f"{name}.close" for name in reversed(pieces)),
    ] == EVENTS


def test_all_parts_are_closed_though_some_fail_and_others_were_never_opened(house: House) -> None:
    BROKEN.update({"rows.1.open", "rows.2.close", "back.close"})
    with pytest.raises(TargetError, match=r"rows\.1\.open fails"):
        house.open()
    with pytest.raises(ExceptionGroup) as caught:
        house.close()
    assert [str(each) for each in caught.value.exceptions] == [
        "rows.2.close fails",
        "back.close fails",
    ]
    assert EVENTS[-4:] == ["door.close", "rows.2.close", "rows.1.close", "back.close"]


def test_what_stands_on_the_first_part_is_stopped_while_that_is_restored(house: House) -> None:
    house.open()
    EVENTS.clear()
    readings = house.restore("k", house.spec)
    assert [
        *("door.stop", "rows.2.stop", "rows.1.stop", "back.restore"),
        *("rows.2.stop", "rows.1.restore", "rows.2.restore", "door.restore"),
    ] == EVENTS
    assert [(each.factor, each.read_back) for each in readings] == [("target.rows", 2)]


def test_a_snapshot_is_of_one_part_after_the_other(house: House) -> None:
    house.open()
    EVENTS.clear()
    house.snapshot("k")
    assert EVENTS[:5] == ["door.stop", "rows.2.stop", "rows.1.stop", "back.start", "back.snapshot"]
    assert EVENTS[-2:] == ["door.start", "door.snapshot"]


def test_only_a_cold_start_stops_what_runs(house: House) -> None:
    house.open()
    EVENTS.clear()
    house.settle("warm")
    assert {each.partition(".")[2].rpartition(".")[2] for each in EVENTS} == {"settle"}
    house.settle("cold")
    assert "door.stop" in EVENTS
    assert EVENTS[-2:] == ["door.start", "door.settle"]


def test_the_number_of_members_follows_the_trial(house: House) -> None:
    house.open()
    assert list(all_parts(house)) == ["back", "rows", "rows.1", "rows.2", "door"]
    EVENTS.clear()
    house.restore("k", house.spec.with_settings({"rows": 3}))
    assert EVENTS.index("rows.3.open") < EVENTS.index("rows.1.restore")
    assert list(part_of(house, "rows").parts()) == ["1", "2", "3"]
    house.restore("k", house.spec.with_settings({"rows": 1}))
    assert list(part_of(house, "rows").parts()) == ["1"]
    assert EVENTS.index("rows.3.close") < EVENTS.index("rows.2.close")
    with pytest.raises(TargetError, match="no part '2' now"):
        part_of(house, "rows.2")


def test_an_outage_of_all_ends_in_the_order_of_the_start(house: House) -> None:
    with house.outage("kill"):
        pass
    pieces = ["back", "rows.1", "rows.2", "door"]
    assert [
        *(f"{name}.kill" for name in reversed(pieces)),
        *(f"{name}.back" for name in pieces),
    ] == EVENTS
    with pytest.raises(TargetError, match="no disk of its own"), house.outage("full-disk"):
        pass


# -- what is said of parts ---------------------------------------------------------------------
def test_what_a_system_says_holds_for_its_parts_unless_they_say_it_themselves() -> None:
    spec = TargetSpec(
        engine="house",
        data="/srv",
        process=ProcessSpec(cpus="0", nofile=512),
        settings={"back.colour": "red", "back.auto.wash": "on", "rows": 4, "seats": 3},
        parts={
            "back": PartSpec(settings={"colour": "blue"}, process=ProcessSpec(quota=0.5)),
            "door": PartSpec(server="postgresql://me@elsewhere/db", data="/mnt"),
        },
    )
    back, door = House.part_spec(spec, "back"), House.part_spec(spec, "door")
    assert back.settings == {"colour": "red", "auto.wash": "on", "name": "back"}
    assert back.process == ProcessSpec(cpus="0", nofile=512, quota=0.5)
    assert (back.data, door.data) == ("/srv", "/mnt")
    assert door.process == ProcessSpec()  # nobody starts it here
    assert House.part_spec(spec, "rows").settings == {"count": 4}


def test_a_level_that_loadstone_chose_stays_one_in_the_part() -> None:
    spec = TargetSpec(engine="house").with_settings({"back.colour": Chosen(3)})
    assert isinstance(House.part_spec(spec, "back").settings["colour"], Chosen)


def test_a_system_delegates_by_the_name_of_the_part() -> None:
    spec = TargetSpec(engine="house", settings={"back.colour": "red"})
    assert House.setting(spec, "back.auto.wash", "on").name == "back.auto.wash"
    assert House.setting(spec, "rows.colour", "see-through").unsafe
    assert House.layout(spec) == {"back.colour": "red"}
    assert House.for_sessions(spec, 9) == {"door.seats": 9}
    with pytest.raises(WrongInputError, match="no setting 'colour'"):
        House.setting(spec, "colour", "red")
    assert owner_of(spec, "rows.colour")[0].kind is Rows
    assert owner_of(spec, "rows.1.colour")[0].name == "rows.1"


def test_the_description_names_each_part_and_refuses_what_only_parts_have() -> None:
    assert House.describe(TargetSpec(engine="house"))["rows.1.engine"] == "piece"
    with pytest.raises(WrongInputError, match="has its data in its parts"):
        House.describe(TargetSpec(engine="house", storage=StorageSpec(data="tmpfs")))
    with pytest.raises(WrongInputError, match="has a server for each part"):
        House.describe(TargetSpec(engine="house", server="http://a"))


def test_places_of_parts_make_another_system_and_their_settings_do_not() -> None:
    plain = TargetSpec(engine="house")
    other = TargetSpec(engine="house", parts={"back": PartSpec(engine="duckdb")})
    same = TargetSpec(engine="house", parts={"back": PartSpec(settings={"colour": "red"})})
    assert plain.site == same.site != other.site


# -- factors -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("factor", "level", "needs"),
    [
        ("target.back.colour", "red", "reload"),
        ("target.back.auto.wash", "on", "reload"),
        ("target.rows.1.colour", "red", "reload"),
        ("target.rows", 3, "restart"),
        ("storage.door.data", "tmpfs", "restart"),
        ("host.server.rows.cpus", "0", "restart"),
        ("host.server.cpus", "0", "restart"),
    ],
)
def test_a_factor_of_a_part_has_its_name_behind_the_family(
    factor: str, level: Level, needs: str
) -> None:
    info = examine(experiment(), Change(factor=factor, level=level))
    assert (info.needs, info.refused) == (needs, None)
    parts = apply_changes(experiment(), [Change(factor=factor, level=level)])
    assert Change(factor=factor, level=level) in list(in_force(parts))


def test_the_last_spelling_of_a_setting_of_a_part_counts() -> None:
    base = experiment(
        settings={"back.COLOUR": "red"},
        parts={"back": {"settings": {"Auto.Wash": "off"}}},
    )
    changes = [
        Change(factor="target.back.colour", level="blue"),
        Change(factor="target.back.auto.wash", level="on"),
    ]
    target = apply_changes(base, changes).target
    assert House.part_spec(target, "back").settings == {
        "colour": "blue",
        "auto.wash": "on",
        "name": "back",
    }
    assert base_parts(base).target.settings == {"back.Auto.Wash": "off", "back.COLOUR": "red"}


def test_an_unsafe_level_of_a_part_is_one_of_the_system() -> None:
    assert examine(experiment(), Change(factor="target.back.colour", level="see-through")).unsafe


@pytest.mark.parametrize(
    ("factor", "own"),
    [
        ("target.back.colour", "target.colour"),
        ("storage.back.data", "storage.data"),
        ("host.server.back.quota", "host.server.quota"),
        ("target.backup.colour", ""),
        ("host.vm.swappiness", ""),
        ("profile.users", ""),
    ],
)
def test_the_name_of_a_factor_within_a_part(factor: str, own: str) -> None:
    assert factor_within("back", factor) == own
    if own:
        assert factor_of_part("back", own) == factor


@pytest.mark.parametrize(
    ("key", "factor"),
    [
        ("target.settings.back.colour", "target.back.colour"),
        ("target.parts.back.settings.colour.value", "target.back.colour"),
        ("target.parts.back.settings.auto.wash.value", "target.back.auto.wash"),
        ("target.settings.auto_explain.log_min_duration", "target.auto_explain.log_min_duration"),
        ("target.parts.back.process.quota", "host.server.back.quota"),
        ("target.parts.back.storage.data", "storage.back.data"),
        ("target.parts.back.places.data.kind", "storage.back.data"),
        ("target.parts.rows.parts.3.engine", "target.rows"),
    ],
)
def test_a_fact_of_a_part_is_about_the_factor_of_that_part(key: str, factor: str) -> None:
    assert _is_declared(key, [factor])
    assert not _is_declared(key, ["target.door.colour", "host.server.door.quota"])


# -- what is refused ---------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "path", "said"),
    [
        (
            "target: {engine: house, parts: {bak: {}}}",
            ("target", "parts", "bak"),
            "did you mean 'back'",
        ),
        (
            "target: {engine: sqlite, parts: {a: {}}}",
            ("target", "parts", "a"),
            "leave parts out",
        ),
        (
            "target: {engine: house, parts: {back: {settings: {size: 3}}}}",
            ("target", "parts", "back", "settings", "size"),
            "no setting 'size'",
        ),
        (
            "target: {engine: house, parts: {back: {password: 'env:NOT_SET_ANYWHERE'}}}",
            ("target", "parts", "back", "password"),
            "password",
        ),
        (
            "target: {engine: house, parts: {back: {storage: {log: tmpfs}}}}",
            ("target", "parts", "back", "storage", "log"),
            "back: target piece has no storage.log",
        ),
        (
            "target: {engine: house, parts: {door: {process: {quota: 0.25, cpus: '99'}}}}",
            ("target", "parts", "door", "process", "cpus"),
            "takes a list of processors",
        ),
        (
            "target: {engine: house, parts: {back: {settings: {colour: a, COLOUR: b}}}}",
            ("target", "settings", "back.COLOUR"),
            "another spelling",
        ),
        (
            "target: {engine: house}\noutage: {kind: stop, part: rows.7}",
            ("outage",),
            "no part 'rows.7'",
        ),
        (
            "target: {engine: house}\noutage: {kind: full-disk}",
            ("outage",),
            "a full disk is that of one part",
        ),
        (
            "target: {engine: house}\noutage: {kind: full-disk, part: back}",
            ("outage",),
            "parts.back.storage.data: loop:ext4",
        ),
        (
            "target: {engine: house, parts: {back: {server: 'postgresql://a@b/c'}}}\n"
            "outage: {kind: kill, part: back}",
            ("outage",),
            "is not Loadstone's",
        ),
    ],
)
def test_what_is_wrong_of_a_part_is_said_where_it_stands(
    text: str, path: tuple[str | int, ...], said: str
) -> None:
    text += "\nprofile: {measure: 60s}"
    found = problems(text)
    assert [each for each in found if each[0] == path and said in each[1]], found


def test_a_plan_shows_each_part_and_what_is_said_of_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["plan", "noop", "--target", "house", "--set", "back.colour=red", "--set", "rows=2"]
    assert run_command([*words, "--host", "server.rows.nofile=512"]) == 0
    said = capsys.readouterr().out
    for each in ("back: piece", "rows.2: piece", "target.back.colour", "host.server.rows.nofile"):
        assert each in said
    assert run_command([*words, "--outage", "stop:rows.2,after=2s,for=1s", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in document["parts"]] == [
        "back", "rows", "rows.1", "rows.2", "door",
    ]  # fmt: skip


def test_options_say_what_a_part_is_and_which_is_out_of_service(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["plan", "noop", "--target", "sql-dashboards", "--as-file"]
    assert run_command([*words, "--part", "database=mariadb", "--outage", "kill:database"]) == 0
    spec = parse_experiment(capsys.readouterr().out, "x.yaml").experiment
    assert spec.target.parts == {"database": PartSpec(engine="mariadb")}
    assert spec.outage is not None
    assert (spec.outage.kind, spec.outage.part) == ("kill", "database")
    assert run_command([*words, "--part", "database=mysql://me@h/shop"]) == 0
    spec = parse_experiment(capsys.readouterr().out, "x.yaml").experiment
    assert spec.target.parts["database"] == PartSpec(engine="mariadb", server="mysql://me@h/shop")
    assert run_command([*words, "--part", "database"]) == 2
    assert "--part" in capsys.readouterr().err


def test_an_engine_of_a_part_that_is_none_is_named_in_its_place() -> None:
    text = (
        "version: 1\nname: x\nworkload: {name: noop}\n"
        "target: {engine: house, parts: {back: {engine: oracle}}}"
    )
    with pytest.raises(WrongInputError, match=r"target\.parts\.back\.engine: there is no target"):
        parse_experiment(text, "x.yaml")


def test_a_password_of_a_part_is_a_reference() -> None:
    part = {"password": "env:LOADSTONE_PART", "server": "postgresql://a@b/c"}
    text = (
        "version: 1\nname: x\nworkload: {name: noop}\n"
        f"target: {{engine: house, parts: {{back: {part}}}}}"
    )
    spec = parse_experiment(text, "x.yaml").experiment.target
    assert House.part_spec(spec, "back").password == "env:LOADSTONE_PART"
    with pytest.raises(WrongInputError, match="a password is a reference") as caught:
        parse_experiment(text.replace("env:LOADSTONE_PART", "hunter2"), "x.yaml")
    assert "hunter2" not in str(caught.value)


# -- every registered target -------------------------------------------------------------------
@pytest.mark.parametrize("engine", sorted(TARGETS))
def test_every_target_knows_its_parts_or_says_that_it_has_none(engine: str) -> None:
    kind, spec = target_class(engine), TargetSpec(engine=engine)
    if not kind.part_names:
        assert [each.name for each in each_in(spec)] == [""]
        with pytest.raises(WrongInputError, match="has no parts"):
            kind.part_spec(spec, "a")
        with pytest.raises(WrongInputError, match="no part 'a'"):
            part_in(spec, "a")
        return
    names = [each.name for each in each_in(spec)]
    assert len(set(names)) == len(names)
    for name in kind.part_names:
        part = part_in(spec, name)
        assert issubclass(part.kind, Target)
        assert part.spec.engine
        with pytest.raises(WrongInputError):
            kind.setting(spec, f"{name}.no_such_setting", 1)


def test_the_disk_of_a_system_is_that_of_the_part_that_says_one() -> None:
    parts = {"back": PartSpec(), "door": PartSpec(data="/mnt/door")}
    assert data_folder(TargetSpec(engine="house", parts=parts)) == Path("/mnt/door")
    assert data_folder(TargetSpec(engine="house", parts=parts, data="/srv")) == Path("/srv")
    parts["back"] = PartSpec(storage=StorageSpec(data="tmpfs"))
    assert isinstance(data_folder(TargetSpec(engine="house", parts=parts)), Absent)
