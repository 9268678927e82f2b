"""Writes a scenario and its people, once no secret of the recording is found in them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from loadstone.errors import RefusedError, WrongInputError
from loadstone.spec.problems import dotted, problems_of
from loadstone.units import format_size
from loadstone.workloads.http.har.composing import Composed
from loadstone.workloads.http.har.hiding import Hidden
from loadstone.workloads.http.har.names import USER_NAME
from loadstone.workloads.http.reading import LARGEST_FILE_BYTES
from loadstone.workloads.http.scenario import Scenario

_Way = tuple[str | int, ...]
_WIDE = 1 << 20
"""Characters of a line: none is folded."""
_REFERENCE = re.compile(r"\$\{\w+\}")
_SIGNS = re.compile(r"[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]+")
"""Signs that no comment may hold: those that end its line among them."""
_BROKEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
"""Signs that YAML takes for the end of a line, or that are not seen."""


def people_of(output: Path) -> Path:
    """Where the people of a scenario are written: beside it."""
    return output.with_name(f"{output.stem}-people.csv")


def refuse_existing(*paths: Path) -> None:
    """Stops where a file would be written over.

    Raises:
        WrongInputError: If one of them is there.
    """
    for path in paths:
        if path.exists():
            raise WrongInputError(
                f"{path} is there already, and nothing is overwritten",
                advice="name another file with --output, or remove it",
            )


def write(composed: Composed, source: Path, output: Path) -> Path | None:
    """Writes the files of a scenario.

    Args:
        composed: The scenario.
        source: The recording, whose name is told.
        output: The file of the scenario; that of its people lies beside it.

    Returns:
        The file of the people, if somebody logs in.

    Raises:
        RefusedError: If a secret of the recording would be in one of them.
        WrongInputError: If one cannot be written, or is there already.
    """
    people = people_of(output) if composed.user_name else None
    scenario = {**({"people": people.name} if people else {}), **composed.scenario}
    text = _text(composed, scenario, source, output)
    rows = _people(composed)
    _refuse_secrets(composed, scenario, text, rows, output)
    _refuse_unusable(scenario, text)
    if people is not None:
        _create(people, rows)
    _create(output, text)
    return people


def _create(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
    except FileExistsError:
        refuse_existing(path)
    except OSError as error:
        raise WrongInputError(f"{path} cannot be written: {error.strerror or error}") from error


def _refuse_unusable(scenario: Mapping[str, Any], text: str) -> None:
    """Stops where no experiment would take the scenario, as where it is too long."""
    if len(text.encode()) > LARGEST_FILE_BYTES:
        raise WrongInputError(
            f"the scenario of this recording is larger than {format_size(LARGEST_FILE_BYTES)}",
            advice="record less, or leave out what sends large bodies",
        )
    try:
        Scenario.model_validate(scenario)
    except ValidationError as error:
        first = problems_of(error, Scenario, scenario)[0]
        raise WrongInputError(
            f"this recording makes no scenario: {dotted(first.path)}: {first.message}",
            advice="record less at a time, or set --think-gap",
        ) from None


# -- the scenario ----------------------------------------------------------------------------------


def _text(composed: Composed, scenario: Mapping[str, Any], source: Path, output: Path) -> str:
    out = StringIO()
    yaml = YAML()
    yaml.default_flow_style = False
    yaml.width = _WIDE
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.dump(_plain(scenario), out)
    lines = [*_head(composed, source, output), "", out.getvalue().rstrip("\n"), *_tail(composed)]
    return "\n".join(lines) + "\n"


def _plain(data: Any) -> Any:
    """The same for the writer of YAML: texts with signs that are not seen are quoted."""
    if isinstance(data, Mapping):
        return CommentedMap({_plain(name): _plain(each) for name, each in data.items()})
    if isinstance(data, list):
        return [_plain(each) for each in data]
    if isinstance(data, str) and _BROKEN.search(data):
        return DoubleQuotedScalarString(data)
    return data


def _head(composed: Composed, source: Path, output: Path) -> Iterator[str]:
    yield f"# A scenario of the workload http, made of {_line(source.name)}. An experiment has:"
    yield f"#   workload: {{name: http, parameters: {{scenario: {_line(output.name)}}}}}"
    yield f"#   target: {{engine: http, url: {composed.origin}}}"
    for name, variable in composed.secrets.items():
        yield f"# The secret {name} is read from the environment variable {variable}."
    if composed.user_name:
        yield f"# Users: a row of {_line(people_of(output).name)} each; columns are values."


def _tail(composed: Composed) -> Iterator[str]:
    if composed.notes:
        yield from ("", "# Notes:")
        yield from (f"#   {_line(each)}" for each in composed.notes)
    if composed.untraced:
        yield from ("", "# Looks like a token, and no earlier answer holds it:")
        for each in composed.untraced:
            yield f"#   entry {each.number}: {_line(f'{each.what}: {each.where}: {each.becomes}')}"
    if composed.left_out:
        yield from ("", "# Left out of the recording:")
        for own in composed.left_out:
            yield f"#   entry {own.number}: {_line(f'{own.what}: {own.reason}')}"


def _line(text: str) -> str:
    """A text that can stand in a comment."""
    return _SIGNS.sub("?", text)


# -- people ----------------------------------------------------------------------------------------


def _people(composed: Composed) -> str:
    """A header and one row as an example."""
    leaks = Hidden(composed.hidden).pattern_in(composed.user_name)
    out = StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow([USER_NAME])
    table.writerow([composed.user_name if leaks is None else "user-1"])
    return out.getvalue()


# -- secrets ---------------------------------------------------------------------------------------


def _refuse_secrets(
    composed: Composed, scenario: Mapping[str, Any], text: str, rows: str, output: Path
) -> None:
    """Looks for passwords, cookies and credentials in all that is to be written.

    Names of fields are no values: a password may be a word that the application calls a field by.
    """
    names = {str(part) for path, _ in _texts(scenario) for part in path}
    fields = {*names, *(word for name in names for word in re.findall(r"\w+", name))}
    places = [
        (f"{people_of(output)}, line {number}", line)
        for number, line in enumerate(rows.splitlines(), start=1)
        if number > 1
    ]
    places += [(dotted(path), value) for path, value in _texts(scenario)]
    hidden = Hidden(composed.hidden)
    whole = "\n".join(value for _, value in places)
    if (pattern := hidden.pattern_in(_REFERENCE.sub("", whole))) is not None:
        for place, value in places:
            if pattern.search(_REFERENCE.sub("", value)):
                raise _refusal(place, output)
    # The files themselves, comments and all.
    others = Hidden(each for each in composed.hidden if each not in fields)
    for place, written in ((str(output), text), (str(people_of(output)), rows)):
        if others.pattern_in(_REFERENCE.sub("", written)) is not None:
            raise _refusal(place, output)


def _refusal(place: str, output: Path) -> RefusedError:
    return RefusedError(
        f"a password, a cookie or a credential of the recording would stand in {place}: "
        f"{output} is not written",
        advice="record again with a password that is no other word of the application, or leave "
        "out what sends it",
    )


def _texts(data: Any, path: _Way = ()) -> Iterator[tuple[_Way, str]]:
    """The values of a scenario as texts, with the way to each."""
    if isinstance(data, Mapping):
        for name, each in data.items():
            yield from _texts(each, (*path, name))
    elif isinstance(data, list):
        for index, each in enumerate(data):
            yield from _texts(each, (*path, index))
    elif data is not None and not isinstance(data, bool):
        yield path, str(data)
