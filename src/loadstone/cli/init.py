"""`loadstone init`."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import indent, wrap
from typing import TYPE_CHECKING, Any

from loadstone.cli.console import say_document
from loadstone.errors import WrongInputError
from loadstone.experiments.file import parse_level
from loadstone.factors.target import level_text
from loadstone.targets.first_file import FirstFile
from loadstone.units import format_duration, is_duration

if TYPE_CHECKING:
    from loadstone.workloads.base import AnyWorkload

_TEMPLATE = """\
# An experiment of Loadstone. Run it:       loadstone run FILE
# See what it would do before that:         loadstone plan FILE
# All fields: docs/experiment-file.md. Durations and sizes are written with their unit.

version: 1
{name} # also the name of the folder of results
title: First run of {workload}

workload:
  name: {workload}
  parameters:
{parameters}
{target}
{profile}

design:
  kind: run                     # one configuration, repeated
  # Levels of one factor, interleaved, each against the first:
  # kind: compare
  # factor: {factor}
  # levels: [{levels}]
{ladder}
repeats: 1                      # five can show a difference, three cannot (docs/method.md)
cache: warm                     # state of the caches at the start of each trial; or cold
seed: 42                        # of the data, the load and the order of trials
"""

_PROFILE = {
    "load": "  load: closed                  # users begin the next operation when the last is "
    "done; or open",
    "users": "  users: 8",
    "rate_per_s": "  # rate_per_s: 1000            # with load: open: operations that become due "
    "each second",
    "arrival": "  # arrival: poisson            # or uniform",
    "think_time": "  think_time: none              # or specified (by the workload's origin), or a "
    "mean such as 2s",
    "warm_up": "  warm_up: 10s                  # load before the measurement",
    "measure": "  measure: 30s                  # the measured phase",
}
"""Line of each field that a first profile shows."""
_WIDTH, _COMMENTS = 100, 32
"""Columns of a file, and the one at which its comments begin."""
_NO_PROFILE = "profile: {}                     # the load is the workload's own"


def command(workload: str = "oltp", /, *, target: str | None = None) -> None:
    """Write a commented experiment file, which runs as it stands, to standard output.

    * `loadstone init oltp > first.yaml`
    * `loadstone init oltp --target sqlite > first.yaml`

    Args:
        workload: What the experiment is about: `loadstone list workloads`.
        target: The engine: `loadstone list targets`; default: what is usual for the workload.
    """
    say_document(experiment_template(workload, target))


def experiment_template(name: str, target: str | None = None) -> str:
    """The commented file for a workload on an engine.

    Raises:
        WrongInputError: If there is no such workload or engine, or the two do not fit together.
    """
    from loadstone.workloads.registry import workload_class

    cls = workload_class(name)
    engine = target or cls.usual_engine
    text = _of_target(name, cls.requires, engine)
    factor, levels = cls.first_factor or text.factor
    return _TEMPLATE.format(
        workload=name,
        name=f"name: {name}-first".ljust(31),
        parameters=_parameters(cls, cls.fitting(_offers(engine))),
        target=text.section,
        profile=_profile(cls),
        factor=factor,
        levels=levels,
        ladder=text.ladder,
    )


def _profile(cls: type[AnyWorkload]) -> str:
    usual = {field: f"  {field}: {value}" for field, value in cls.usual_profile.items()}
    lines = [
        line
        for field, line in {**_PROFILE, **usual, **cls.first_profile}.items()
        if field not in cls.decides
    ]
    return "\n".join(["profile:", *lines] if lines else [_NO_PROFILE])


def _offers(engine: str) -> frozenset[str]:
    from loadstone.targets.registry import target_class

    return target_class(engine).capabilities


def _of_target(workload: str, required: frozenset[str], engine: str) -> FirstFile:
    from loadstone.targets.registry import target_class

    lacking = required - _offers(engine)
    if lacking:
        raise WrongInputError(
            f"workload {workload} needs {', '.join(sorted(lacking))} of its target, "
            f"which {engine} does not offer",
            advice="choose another target: loadstone list targets",
        )
    return target_class(engine).first_file or FirstFile(f"\ntarget:\n  engine: {engine}\n")


def _parameters(cls: type[AnyWorkload], fitting: Mapping[str, Any]) -> str:
    """Each parameter with its default, or the level that fits the target, and what it means."""
    lines: list[str] = []
    for name, field in cls.Parameters.model_fields.items():
        if name in cls.first_parameters:
            lines.append(indent(cls.first_parameters[name].rstrip("\n"), "    "))
            continue
        default = fitting.get(name, field.get_default(call_default_factory=True))
        if default is None:
            lines.append(_line(f"    # {name}:", field.description))
        elif is_duration(field.metadata):
            lines.append(_line(f"    {name}: {format_duration(default)}", field.description))
        elif default == {}:
            lines.append(_line(f"    # {name}: {{}}", field.description))
        elif isinstance(default, dict):
            lines.append(_line(f"    {name}:", field.description))
            lines += [
                _line(f"      {key}: {_scalar(value)}", None) for key, value in default.items()
            ]
        else:
            lines.append(_line(f"    {name}: {_scalar(default)}", field.description))
    return "\n".join(lines)


def _line(text: str, comment: str | None) -> str:
    """With its comment beside it, and below that where it is long."""
    if not comment:
        return text
    room = _WIDTH - _COMMENTS - len("# ")
    beside = f"{text:<{_COMMENTS - 1}} # "
    first, *rest = wrap(comment, room, break_long_words=False, break_on_hyphens=False)
    return "\n".join([beside + first, *(" " * _COMMENTS + "# " + line for line in rest)])


def _scalar(value: Any) -> str:
    text = level_text(value)
    return f'"{text}"' if isinstance(value, str) and parse_level(text) != text else text
