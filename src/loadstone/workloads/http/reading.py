"""A scenario as YAML: a file that people write, or the text that is kept with an experiment."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from io import StringIO
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node

from loadstone.errors import WrongInputError
from loadstone.spec.paths import place, whole
from loadstone.spec.problems import Path as Way
from loadstone.spec.problems import dotted, problems_of
from loadstone.spec.yaml_lines import line_of
from loadstone.text import read_text
from loadstone.workloads.http.places import paths_in
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
    return _judged(*fields_of(text, name), name)


@lru_cache(maxsize=4)
def kept_scenario(text: str) -> Scenario | None:
    """The scenario that is kept with an experiment, which asks for it many times.

    Returns:
        None if something is wrong with it.
    """
    try:
        return parse_scenario(text, "scenario")
    except WrongInputError:
        return None


def read_scenario(path: Path) -> Scenario:
    """Reads the file of a scenario; the files that it names lie beside it.

    Raises:
        WrongInputError: If it cannot be read, or is wrong.
    """
    data, root = fields_of(_text_of(path), str(path))
    place(data, paths_in(data), path.parent)
    return _judged(data, root, str(path))


def in_full(path: Path) -> str:
    """The file of a scenario as it is kept with an experiment.

    Returns:
        YAML, in which the files that lie beside it are named by their whole paths.

    Raises:
        WrongInputError: As `read_scenario`.
    """
    text = _text_of(path).rstrip("\n")
    data, root = fields_of(text, str(path))
    _judged(data, root, str(path))
    written = {}
    for way in paths_in(data):
        node = _node_at(root, way)
        if node is None:
            raise WrongInputError(
                f"{path}: {dotted(way)} comes from an anchor that is merged in",
                advice="write it where it belongs: its path is kept whole with the experiment",
            )
        anchor = f"&{node.anchor} " if node.anchor else ""
        named = json.dumps(whole(node.value, path.parent), ensure_ascii=False)
        written[node.start_mark.index] = node.end_mark.index, anchor + named
    for begin, (end, named) in sorted(written.items(), reverse=True):
        text = f"{text[:begin]}{named}{text[end:]}"
    return f"{text}\n"


def _judged(data: dict[str, Any], root: MappingNode, name: str) -> Scenario:
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


def _text_of(path: Path) -> str:
    return read_text(path, at_most_bytes=LARGEST_FILE_BYTES)


def _what(said: str | None) -> str:
    """What the reader of YAML says, without what it quotes: values may be passwords."""
    first = (said or "").strip().partition("\n")[0].partition(" with value ")[0] or "is not YAML"
    return _QUOTED.sub("***", first)


def _node_at(root: Node, way: Way) -> Node | None:
    """Where a value stands in the text; None if it stands elsewhere."""
    here: Node | None = root
    for part in way:
        if here is not None:
            here = next((value for name, value in here.value if name.value == part), None)
    return here
