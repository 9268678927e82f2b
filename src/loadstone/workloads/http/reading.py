"""A scenario as YAML: a file that people write, or the text that is kept with an experiment."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode

from loadstone.errors import WrongInputError
from loadstone.spec.problems import dotted, problems_of
from loadstone.spec.yaml_lines import line_of
from loadstone.text import read_text
from loadstone.workloads.http.scenario import Scenario

LARGEST_FILE_BYTES = 10_000_000
_QUOTED = re.compile(r"""(["']).*?\1""")


def is_text(scenario: str) -> bool:
    """Whether a parameter is a scenario itself rather than the path of one."""
    return "\n" in scenario


def fields_of(text: str, name: str) -> tuple[dict[str, Any], MappingNode]:
    """The fields of a scenario, which nobody has judged yet, and where each stands.

    Args:
        text: YAML 1.2.
        name: What errors call it.

    Raises:
        WrongInputError: If it is not YAML, or no mapping of fields.
    """
    try:
        root = YAML(typ="safe", pure=True).compose(StringIO(text))
        data = YAML(typ="safe", pure=True).load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        said = _what(error.problem or error.context)
        raise WrongInputError(f"{name}:{line}: the YAML cannot be read: {said}") from None
    except (YAMLError, ValueError, TypeError, AttributeError, KeyError, AssertionError) as error:
        # ruamel lets a few malformed scalars (dates, tags) through to Python's own errors.
        raise WrongInputError(f"{name}:1: the YAML cannot be read: {_what(str(error))}") from None
    except RecursionError as error:
        raise WrongInputError(f"{name}:1: is nested too deeply to be a scenario") from error
    if not isinstance(data, dict) or not isinstance(root, MappingNode):
        raise WrongInputError(
            f"{name}:1: is not a scenario: a mapping of fields is wanted, with transactions"
        )
    return data, root


def parse_scenario(text: str, name: str) -> Scenario:
    """Reads a scenario.

    Args:
        text: YAML 1.2.
        name: What errors call it.

    Raises:
        WrongInputError: With everything that is wrong, each with its line and field.
    """
    data, root = fields_of(text, name)
    try:
        return Scenario.model_validate(data)
    except ValidationError as error:
        problems = [
            (line_of(root, each.path), f"{dotted(each.path)}: {each.message}".removeprefix(": "))
            for each in problems_of(error, Scenario, data)
        ]
    except RecursionError:
        problems = [(1, "refers to itself: an alias must not lie within its anchor")]
    lines = [f"{name}:{line}: {said}" for line, said in sorted(problems)]
    if len(lines) > 1:
        lines = [f"{name}: {len(lines)} things are wrong", *(f"  {line}" for line in lines)]
    raise WrongInputError("\n".join(lines))


def read_scenario(path: Path) -> Scenario:
    """Reads the file of a scenario.

    Raises:
        WrongInputError: If it cannot be read, or is wrong.
    """
    return parse_scenario(_text_of(path), str(path))


def in_full(path: Path) -> str:
    """The file of a scenario as it is kept with an experiment.

    Returns:
        YAML, in which the file of people is named by its whole path.

    Raises:
        WrongInputError: As `read_scenario`.
    """
    text = _text_of(path).rstrip("\n")
    scenario = parse_scenario(text, str(path))
    if scenario.people is None:
        return f"{text}\n"
    _, root = fields_of(text, str(path))
    begin, end = _extent(root, "people")
    whole = json.dumps(str(beside(scenario.people, path.parent)), ensure_ascii=False)
    return f"{text[:begin]}{whole}{text[end:]}\n"


def beside(file: str, folder: Path) -> Path:
    """The whole path of a file that is named by what lies in a folder."""
    return (folder / Path(file).expanduser()).absolute()


def _text_of(path: Path) -> str:
    return read_text(path, at_most_bytes=LARGEST_FILE_BYTES)


def _what(said: str | None) -> str:
    """What the reader of YAML says, without what it quotes: values may be passwords."""
    first = (said or "").strip().partition("\n")[0].partition(" with value ")[0] or "is not YAML"
    return _QUOTED.sub("***", first)


def _extent(root: MappingNode, field: str) -> tuple[int, int]:
    """Where the value of a field stands in the text: its first character, and that after it."""
    value = next(value for name, value in root.value if name.value == field)
    return value.start_mark.index, value.end_mark.index
