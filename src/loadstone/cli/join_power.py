"""`loadstone join-power`."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from loadstone.cli.console import say
from loadstone.cli.options import Flag, Output, Words
from loadstone.errors import WrongInputError

TABLE = Group.create_ordered("The log")
METER = Group.create_ordered("The meter")
Unit = Literal["W", "kW", "mW", "J", "kJ", "Wh", "kWh"]
Scope = Literal["wall", "platform", "package", "dram", "gpu", "board"]
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,59}")


def command(
    result: str,
    log: Path,
    /,
    *,
    time: Annotated[str, Parameter(group=TABLE, metavar="COLUMN", show_default=False)] = "",
    value: Annotated[tuple[str, ...], Parameter(group=TABLE, metavar="COLUMN"), Words] = (),
    unit: Annotated[Unit | None, Parameter(group=TABLE)] = None,
    time_format: Annotated[str, Parameter(group=TABLE, show_default=False)] = "",
    time_zone: Annotated[str, Parameter(group=TABLE, metavar="ZONE", show_default=False)] = "",
    offset: Annotated[str, Parameter(group=TABLE, metavar="TIME")] = "0s",
    mean_over: Annotated[str, Parameter(group=TABLE, metavar="TIME")] = "0s",
    meter: Annotated[str, Parameter(group=METER, metavar="NAME")] = "pdu",
    scope: Annotated[Scope, Parameter(group=METER)] = "wall",
    accuracy: Annotated[str | None, Parameter(group=METER, metavar="PERCENT")] = None,
    main: Annotated[bool, Parameter(group=METER), Flag] = False,
    name: str | None = None,
    output: Output = Output(),  # noqa: B008
) -> None:
    """Join the log of a power meter to a result, as a new result; the old one stays as it is.

    The log is a table with a header. Its stamps are placed on the clock of each trial, and each
    measured phase gets its watts. Figures per watt are by the log where the result has no meter of
    its own, or with `--main`.

    * `loadstone join-power oltp-graduate pdu.csv --time-zone Europe/Berlin`
    * `loadstone join-power oltp outlets.csv --value "Outlet 1 (W)" --value "Outlet 2 (W)"`

    Args:
        result: An experiment, as `loadstone list` names it, or its folder.
        log: The table: columns with commas, semicolons or tabs between them.
        time: Its column of stamps; default: what its header calls so.
        value: Its column of watts or energy; may be repeated: the parts of one thing are added.
        unit: Of those columns; default: what the header says.
        time_format: Of the stamps, as `%d.%m.%Y %H:%M:%S`; default: ISO 8601, or seconds since
            1970.
        time_zone: Of stamps that do not say it: `UTC`, `+02:00`, `Europe/Berlin`.
        offset: Added to each stamp: the log's clock is behind by so much, as `1.5s`; `-1h`: ahead.
        mean_over: Each figure is the mean of so long before its stamp, as `60s`.
        meter: What the results call the meter.
        scope: What its figures are of.
        accuracy: Of the meter, as its maker states it: `1%`.
        main: Figures per watt are by this meter, also where the result has one.
        name: Of the new result; default: that of the old one with `-power`.
        output: Where results lie and how to answer.
    """
    from loadstone.cli.answer import answer
    from loadstone.cli.find import find_result
    from loadstone.experiments.joining import JoinedMeter, join
    from loadstone.load.interrupted import finish_interrupted
    from loadstone.meters.log_file import LogForm, read_log
    from loadstone.results.store import index_experiment

    if not _NAME.fullmatch(meter):
        raise WrongInputError(
            "--meter is no name of a meter",
            advice="small letters, digits, dots, dashes and underscores, as rack-pdu",
        )
    source = find_result(output, result).experiment
    form = LogForm(
        time=time,
        values=value,
        unit=unit,
        time_format=time_format,
        time_zone=time_zone,
        offset_s=_seconds("--offset", offset),
        mean_over_s=_seconds("--mean-over", mean_over, least=0.0),
        scope=scope,
        accuracy_percent=None if accuracy is None else _percent(accuracy),
    )
    joined = join(
        source,
        output.results,
        name or f"{source.name}-power",
        JoinedMeter(read_log(log, form), meter, log.name, main),
        shlex.join(["loadstone", *sys.argv[1:]]),
    )
    index_experiment(joined.folder.path, finish_interrupted)
    answer(joined.folder.path, as_json=output.json)
    say(
        f"the log has watts of {joined.with_watts} of {joined.trials} trials; the result is "
        f"{joined.folder.name}, in {joined.folder.path}"
    )


def _seconds(option: str, text: str, least: float | None = None) -> float:
    from loadstone.units import parse_duration

    negative = text.startswith("-")
    try:
        seconds = parse_duration(text.removeprefix("-"))
    except ValueError as error:
        raise WrongInputError(f"{option}: {error}") from None
    found = -seconds if negative else seconds
    if least is not None and found < least:
        raise WrongInputError(f"{option}: a duration is 0 or more")
    return found


def _percent(text: str) -> float:
    from loadstone.units import parse_percent

    try:
        return parse_percent(text)
    except ValueError as error:
        raise WrongInputError(f"--accuracy: {error}") from None
