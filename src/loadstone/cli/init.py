"""`loadstone init`."""

from __future__ import annotations

from typing import Any

from pydantic.fields import FieldInfo

from loadstone.errors import WrongInputError
from loadstone.experiments.file import parse_level
from loadstone.experiments.problems import near
from loadstone.factors.target import level_text

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
profile:
  load: closed                  # users begin the next operation when the last is done; or open
  users: 8
  # rate_per_s: 1000            # with load: open: operations that become due each second
  # arrival: poisson            # or uniform
  think_time: none              # or specified (by the workload's origin), or a mean such as 2s
  warm_up: 10s                  # load before the measurement
  measure: 30s                  # the measured stretch

design:
  kind: run                     # one configuration, repeated
  # Levels of one factor, interleaved, each against the first:
  # kind: compare
  # factor: profile.users
  # levels: [4, 8]
{ladder}
repeats: 1                      # five can show a difference, three cannot (docs/method.md)
cache: warm                     # state of the caches at the start of each trial; or cold
seed: 42                        # of the data, the load and the order of trials
"""

_POSTGRESQL = """
target:
  engine: postgresql
  server: embedded              # or local, local:15, postgresql://user@host:port/database
  # password: env:PGPASSWORD    # of an address: where the password is, never itself
  settings:                     # of all trials; any setting of pg_settings
    shared_buffers: 256MB
"""

_NONE = """
target:
  engine: none                  # this workload ends in the load driver
"""

_LADDER = """\
  # Changes on top of each other, each against the one before:
  # kind: ladder
  # rungs:
  #   - name: buffers
  #     change: {target.shared_buffers: 1GB}
  #     because: the working set does not fit into the default of 128MB
"""


def command(workload: str = "oltp", /) -> None:
    """Write a commented experiment file, which runs as it stands, to standard output.

    * `loadstone init oltp > first.yaml`

    Args:
        workload: What the experiment is about: `loadstone list workloads`.
    """
    print(experiment_template(workload), end="")


def experiment_template(name: str) -> str:
    """The commented file for a workload.

    Raises:
        WrongInputError: If there is no such workload.
    """
    from loadstone.workloads.registry import WORKLOADS

    if name not in WORKLOADS:
        raise WrongInputError(f"there is no workload {name!r}; {near(name, WORKLOADS)}")
    cls = WORKLOADS[name]
    server = bool(cls.requires)
    return _TEMPLATE.format(
        workload=name,
        name=f"name: {name}-first".ljust(31),
        parameters=_parameters(cls.Parameters.model_fields),
        target=_POSTGRESQL if server else _NONE,
        ladder=_LADDER if server else "",
    )


def _parameters(fields: dict[str, FieldInfo]) -> str:
    """Each parameter with its default and what it means."""
    lines = []
    for name, field in fields.items():
        default = field.get_default(call_default_factory=True)
        if isinstance(default, dict):
            lines.append(f"    {name}:")
            lines += [
                _line(f"      {key}: {_scalar(value)}", None) for key, value in default.items()
            ]
        else:
            lines.append(_line(f"    {name}: {_scalar(default)}", field.description))
    return "\n".join(lines)


def _line(text: str, comment: str | None) -> str:
    return f"{text:<31} # {comment}" if comment else text


def _scalar(value: Any) -> str:
    text = level_text(value)
    return f'"{text}"' if isinstance(value, str) and parse_level(text) != text else text
