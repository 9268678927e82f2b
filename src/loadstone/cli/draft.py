"""An experiment in the making: the fields of a file or none, with the options laid over them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from loadstone.cli.meters import OPTION as METER
from loadstone.cli.meters import read_meter
from loadstone.cli.options import ShortForm
from loadstone.errors import WrongInputError
from loadstone.experiments.file import Written, parse_level, read_fields, validate
from loadstone.experiments.places import place_paths
from loadstone.experiments.preflight.idle import idle_fields
from loadstone.spec.base import Level
from loadstone.spec.model import EXPERIMENT_VERSION
from loadstone.spec.problems import Path, Problem, Source, dotted, refuse


@dataclass
class Draft:
    """Fields, and for each that came from an option the option; a `Source` for errors."""

    data: dict[str, Any]
    file: Source | None = None
    options: dict[Path, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The file, or the command line."""
        return self.file.name if self.file else "command line"

    def put(self, path: tuple[str, ...], value: Any, option: str) -> None:
        """Sets a field, and remembers the option that did."""
        if path in self.options and self.options[path] != "--over":
            other = self.options[path]
            both = f"{option} twice" if other == option else f"{other} and {option}"
            raise WrongInputError(f"{both}: {dotted(path)} can be set once", advice="keep one")
        here: dict[str, Any] = self.data
        for part in path[:-1]:
            if not isinstance(here.get(part), dict):
                here[part] = {}
            here = here[part]
        here[path[-1]] = value
        self.options[path] = option

    def origin(self, path: Path) -> str:
        """The option that set the field or one around it, else the line of the file."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.options:
                return self.options[path[:length]]
        return self.file.origin(path) if self.file else ""

    def position(self, path: Path) -> int:
        """Lines of the file in order; options first."""
        by_option = any(path[:length] in self.options for length in range(len(path), 0, -1))
        return 0 if by_option or self.file is None else self.file.position(path)

    @property
    def workload(self) -> str:
        """Name of the workload, as far as it is known."""
        workload = self.data.get("workload")
        return str(workload.get("name", "")) if isinstance(workload, Mapping) else ""

    def finish(self) -> Written:
        """Validates what was put together.

        Raises:
            WrongInputError: With every error, and the line or option it came from; and with every
                option that would have no effect.
        """
        self._crash_by_design()
        self._usual_profile()
        place_paths(self.data, FilePath.cwd())  # those of a file are whole already
        written = validate(self.data, self)
        idle = [
            Problem(path, f"would have no effect: {why}")
            for path, why in idle_fields(written.experiment).items()
            if path in self.options
        ]
        if idle:
            refuse(self, idle)
        return written

    def _usual_profile(self) -> None:
        """What nobody has said of the load is as the workload's users have it; a file says all."""
        from loadstone.workloads.registry import WORKLOADS

        workload = WORKLOADS.get(self.workload)
        if self.file is not None or workload is None:
            return
        given = self.data.get("profile", {})
        left_out = _CLOSED if given.get("load") == "open" else ()
        usual = {
            name: value for name, value in workload.usual_profile.items() if name not in left_out
        }
        if usual:
            self.data["profile"] = {**usual, **given}

    def _crash_by_design(self) -> None:
        """`--crashes` says how often, whether crashes are the design or follow its trials."""
        design = self.data.get("design")
        crashes = isinstance(design, Mapping) and design.get("kind") == "crash"
        if crashes and ("crashes",) in self.options:
            del self.options["crashes",]
            self.put(("design", "crashes"), self.data.pop("crashes"), "--crashes")


def is_file(what: str) -> bool:
    """Whether a word on the command line means a file rather than a workload."""
    return what.endswith((".yaml", ".yml", ".json")) or "/" in what or FilePath(what).is_file()


def begin(what: str, verb: str, short: ShortForm) -> Draft:
    """Begins with a file or a workload, and lays the options of the short form over it.

    Args:
        what: An experiment file, or the name of a workload.
        verb: The command, which gives an unnamed experiment its name.
        short: The options.

    Raises:
        WrongInputError: If there is neither such a file nor such a workload.
    """
    if is_file(what):
        data, source = read_fields(FilePath(what))
        draft = Draft(data, source)
    else:
        draft = Draft(_of_workload(what, verb))
    lay_over(draft, short)
    return draft


def _of_workload(what: str, verb: str) -> dict[str, Any]:
    from loadstone.workloads.registry import WORKLOADS

    if what not in WORKLOADS:
        if reason := WORKLOADS.left_out.get(what):
            raise WrongInputError(reason)
        close = difflib.get_close_matches(what, WORKLOADS, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"workloads: {', '.join(WORKLOADS)}"
        raise WrongInputError(
            f"{what!r} is neither a workload nor a file that is there; {hint}",
            advice="give a workload or an experiment file; loadstone init writes one",
        )
    return {
        "version": EXPERIMENT_VERSION,
        "name": f"{what}-{verb}",
        "workload": {"name": what},
        "target": {"engine": WORKLOADS[what].usual_engine},
    }


_FIELDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("users", ("profile", "users")),
    ("think_time", ("profile", "think_time")),
    ("arrival", ("profile", "arrival")),
    ("sessions", ("profile", "sessions")),
    ("warm_up", ("profile", "warm_up")),
    ("ramp", ("profile", "ramp")),
    ("measure", ("profile", "measure")),
    ("threads", ("profile", "threads")),
    ("scale", ("workload", "parameters", "scale")),
    ("profile", ("workload", "parameters", "profile")),
    ("target", ("target", "engine")),
    ("server", ("target", "server")),
    ("password", ("target", "password")),
    ("data", ("target", "data")),
    ("meters_root", ("meters_root",)),
    ("name", ("name",)),
    ("repeats", ("repeats",)),
    ("durability", ("durability",)),
    ("crashes", ("crashes",)),
    ("cache", ("cache",)),
    ("margin", ("margin",)),
    ("confidence", ("confidence",)),
    ("seed", ("seed",)),
)
"""Option of the short form: the field it sets."""
_CLOSED = ("users", "ramp", "drain")
"""Fields of a profile that an open load does not have."""


def lay_over(draft: Draft, short: ShortForm) -> None:
    """Lays the options of the short form over the fields of a draft.

    Raises:
        WrongInputError: If a `--set` or `--param` cannot be read.
    """
    for option, path in _FIELDS:
        value = getattr(short, option)
        if value is not None:
            draft.put(path, value, "--" + option.replace("_", "-"))
    if short.on is not None:
        _put_place(draft, short.on)
    if short.on is not None or short.server is not None:
        _forget_url(draft)
    if short.rate is not None:
        _put_rate(draft, short.rate)
    if short.baseline is not None:
        _put_baseline(draft, short.baseline)
    _put_lists(draft, short)
    if short.outage is not None:
        _put_outage(draft, short.outage)
    for text in short.part:
        _put_part(draft, text)
    for text in short.set:
        name, level = assignment(text, "--set")
        draft.put(("target", "settings", name), level, "--set")
    for text in short.host:
        name, level = assignment(text, "--host")
        draft.put(("host", name.removeprefix("host.")), level, "--host")
    for text in short.param:
        name, level = assignment(text, "--param")
        draft.put(("workload", "parameters", *name.split(".", 1)), level, "--param")


def _put_lists(draft: Draft, short: ShortForm) -> None:
    """The options that are repeated, and replace a whole list of a file.

    Raises:
        WrongInputError: If a meter cannot be read.
    """
    if short.metric:
        names = list(short.metric)
        draft.put(("metric",), names[0] if len(names) == 1 else names, "--metric")
    if short.meter:
        draft.put(("meters",), [read_meter(text) for text in short.meter], METER)


def _put_place(draft: Draft, place: str) -> None:
    """A place as the system under test: what it is, its name says or the file system.

    A web application, or storage.
    """
    from loadstone.targets.registry import engine_of_scheme

    scheme, is_address, _ = place.partition("://")
    if not is_address and _wants_web(draft.workload):
        raise WrongInputError(
            "--on: a web application is named by an address that begins with http:// or https://",
            advice="write it in full, as --on http://localhost:8080",
        )
    if is_address:
        engine, field = engine_of_scheme(scheme), "server"
    else:
        engine, field = "device" if FilePath(place).is_block_device() else "folder", "data"
    draft.put(("target", "engine"), engine, "--on")
    draft.put(("target", field), place, "--on")


def _wants_web(workload: str) -> bool:
    from loadstone.targets.capabilities import WEB
    from loadstone.workloads.registry import WORKLOADS

    return workload in WORKLOADS and WEB in WORKLOADS[workload].requires


def _put_part(draft: Draft, text: str) -> None:
    """The engine of a part of a system, or its address, which says the engine.

    Raises:
        WrongInputError: If it cannot be read.
    """
    from loadstone.targets.registry import engine_of_scheme

    name, place = assignment(text, "--part")
    scheme, is_address, _ = str(place).partition("://")
    if is_address:
        draft.put(("target", "parts", name, "server"), place, "--part")
    draft.put(("target", "parts", name, "engine"), engine_of_scheme(scheme), "--part")


def _put_outage(draft: Draft, text: str) -> None:
    """The kind of an outage, the part that it is of, when it begins and how long it lasts.

    Raises:
        WrongInputError: If it cannot be read.
    """
    what, *times = text.split(",")
    kind, _, part = what.strip().partition(":")
    draft.put(("outage", "kind"), kind, "--outage")
    draft.options["outage",] = "--outage"
    if part:
        draft.put(("outage", "part"), part, "--outage")
    for each in times:
        name, level = assignment(each, "--outage")
        draft.put(("outage", name), level, "--outage")


def _forget_url(draft: Draft) -> None:
    """The other name of `server`: an option that gives an address takes its place, too."""
    target = draft.data.get("target")
    if isinstance(target, dict):
        target.pop("url", None)


def _put_baseline(draft: Draft, text: str) -> None:
    """The profile with which placements are measured, and its parameters; a value may hold commas.

    Raises:
        WrongInputError: If it cannot be read.
    """
    profile, *rest = text.split(",")
    draft.put(("baseline", "profile"), profile.strip(), "--baseline")
    draft.options["baseline",] = "--baseline"
    given: list[str] = []
    for part in rest:
        if "=" in part or not given:
            given.append(part)
        else:
            given[-1] += f",{part}"
    for each in given:
        name, level = assignment(each, "--baseline")
        draft.put(("baseline", name), level, "--baseline")


def _put_rate(draft: Draft, rate: float) -> None:
    """The rate of an open load, or the parameter of a workload that makes its own arrivals."""
    from loadstone.workloads.registry import WORKLOADS

    workload = WORKLOADS.get(draft.workload)
    if workload is not None and "rate" in workload.Parameters.model_fields:
        draft.put(("workload", "parameters", "rate"), rate, "--rate")
        return
    draft.put(("profile", "load"), "open", "--rate")
    draft.put(("profile", "rate_per_s"), rate, "--rate")


def assignment(text: str, option: str) -> tuple[str, Level]:
    """Reads `NAME=LEVEL`, where the level may be empty.

    Raises:
        WrongInputError: If it is not of that form.
    """
    name, equals, level = text.partition("=")
    if not equals or not name.strip():
        raise WrongInputError(
            f"{option} {text!r} is not of the form NAME=LEVEL",
            advice=f"write for example {option} shared_buffers=1GB",
        )
    return name.strip(), parse_level(level.strip())
