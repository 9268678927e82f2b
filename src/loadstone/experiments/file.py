"""The experiment file: YAML in, a validated experiment out, and back.

Every error names the line and the field. YAML 1.2 is read: `on` and `off` are words, not truth
values, so that `synchronous_commit: off` means what a database administrator means by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path as FilePath
from typing import Any

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import Node
from ruamel.yaml.scalarstring import LiteralScalarString

from loadstone.errors import WrongInputError
from loadstone.experiments.kept_files import KeptFile, WithFiles
from loadstone.experiments.places import place_paths
from loadstone.experiments.secret_fields import secret_problems
from loadstone.secret import ELSEWHERE, HIDDEN, shown
from loadstone.spec.base import Level
from loadstone.spec.durations import durations_as_text
from loadstone.spec.model import EXPERIMENT_VERSION, Experiment
from loadstone.spec.problems import Path, Problem, Source, problems_of, refuse
from loadstone.spec.yaml_lines import line_of
from loadstone.text import read_text
from loadstone.units import format_percent

LARGEST_FILE_BYTES = 1_000_000

_QUOTED = re.compile(r"""(["'])(.{2,}?)\1""")


@dataclass(frozen=True)
class FileSource:
    """An experiment file, with the line of every field."""

    name: str
    root: Node | None

    def origin(self, path: Path) -> str:
        """`file:line` of a field, or of the nearest field around it that is there."""
        return f"{self.name}:{self.position(path)}"

    def position(self, path: Path) -> int:
        """The line, from 1."""
        return line_of(self.root, path)


@dataclass(frozen=True)
class Written:
    """An experiment and where it was written down."""

    experiment: Experiment
    source: Source


def load_experiment(path: FilePath) -> Written:
    """Reads and validates an experiment file.

    Args:
        path: The file.

    Raises:
        WrongInputError: If it cannot be read or is wrong; all errors, with line and field.
    """
    return validate(*read_fields(path))


def parse_experiment(text: str, name: str) -> Written:
    """Validates the text of an experiment file.

    Args:
        text: YAML.
        name: What errors call it.

    Raises:
        WrongInputError: If it is wrong; all errors, with line and field.
    """
    return validate(*parse_fields(text, name))


def read_fields(path: FilePath) -> tuple[dict[str, Any], FileSource]:
    """Reads the fields of a file without judging them; paths that it names are relative to it.

    Raises:
        WrongInputError: If it cannot be read, or is no mapping of fields.
    """
    data, source = parse_fields(read_text(path, at_most_bytes=LARGEST_FILE_BYTES), str(path))
    place_paths(data, path.parent)
    return data, source


def parse_fields(text: str, name: str) -> tuple[dict[str, Any], FileSource]:
    """As `read_fields`, from a text.

    Raises:
        WrongInputError: If it is not YAML, or no mapping of fields.
    """
    root, data = _parse(text, name)
    source = FileSource(name, root)
    if not isinstance(data, dict):
        raise WrongInputError(
            f"{name}:1: is not an experiment: a mapping of fields is wanted",
            advice="loadstone init writes a file to begin with",
        )
    return data, source


def validate(data: dict[str, Any], source: Source) -> Written:
    """Validates an experiment, the parameters of its workload included.

    Files that are kept with it stand in the place of their paths.

    Args:
        data: The fields as written.
        source: Where they were written, for the errors.

    Raises:
        WrongInputError: With every error that was found.
    """
    if secrets := secret_problems(data):
        refuse(source, secrets, advice=ELSEWHERE)
    problems = _version_problems(data)
    experiment = None
    checked = {**data, "version": EXPERIMENT_VERSION} if problems else data
    try:
        experiment = Experiment.model_validate(checked)
    except ValidationError as error:
        problems += problems_of(error, Experiment, checked)
    except RecursionError:
        problems.append(Problem((), "refers to itself: an alias must not lie within its anchor"))
    problems += _parameter_problems(data)
    if problems or experiment is None:
        refuse(source, problems)
    return _with_files(experiment, source)


def _with_files(experiment: Experiment, source: Source) -> Written:
    from loadstone.workloads.registry import workload_of

    workload, kept = workload_of(experiment.workload), dict[Path, KeptFile]()
    for name, file in workload.files().items():
        path: Path = ("workload", "parameters", name)
        try:
            text = workload.file_in_full(name)
        except WrongInputError as error:
            advice = f" ({error.advice})" if error.advice else ""
            refuse(source, [Problem(path, error.message + advice)])
        if text is not None:
            kept[path] = KeptFile(file, text)
    if not kept:
        return Written(experiment, source)
    texts: dict[str, Level] = {str(path[-1]): file.text for path, file in kept.items()}
    parameters = {**experiment.workload.parameters, **texts}
    settled = experiment.workload.model_copy(update={"parameters": parameters})
    return Written(experiment.model_copy(update={"workload": settled}), WithFiles(source, kept))


def write_experiment(experiment: Experiment) -> str:
    """Writes an experiment as a file that `parse_experiment` reads back as an equal one."""
    data = experiment.model_dump(exclude_unset=True, exclude_none=True)
    for part in ("profile", "design", "outage"):
        if part in data:
            data[part] = durations_as_text(data[part])
    if "meters" in data:
        data["meters"] = [durations_as_text(each) for each in data["meters"]]
    if experiment.detect is not None:
        data["detect"] = format_percent(experiment.detect)
    parameters = data.get("workload", {}).get("parameters", {})
    for name, value in parameters.items():
        if isinstance(value, str) and "\n" in value:  # the text of a file that it is kept with
            parameters[name] = LiteralScalarString(value)
    ordered = CommentedMap({"version": EXPERIMENT_VERSION, **data})
    out = StringIO()
    yaml = YAML()
    yaml.default_flow_style = False
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.dump(ordered, out)
    return out.getvalue()


def parse_level(text: str) -> Level:
    """Reads a level from a command line as the same text in a file would be read.

    `8` is an integer, `0.9` a number, `true` a truth value, and `off` or `1GB` a text; `''` and
    `""` are the empty text.
    """
    if text in ("''", '""'):
        return ""
    if text in ("true", "false"):
        return text == "true"
    for number in (int, float):
        try:
            value = number(text)
        except ValueError:
            continue
        return value if text[-1:].isdigit() and "_" not in text else text
    return text


def _parse(text: str, name: str) -> tuple[Node | None, Any]:
    """The node tree, which knows the lines, and the plain data."""
    try:
        root = YAML(typ="safe", pure=True).compose(StringIO(text))
        return root, YAML(typ="safe", pure=True).load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise WrongInputError(
            f"{name}:{line}: the YAML cannot be read: {_what(error.problem or error.context)}",
            advice="look at the indentation and the quotes of that line and the one above it",
        ) from None
    except YAMLError as error:
        raise WrongInputError(f"{name}:1: the YAML cannot be read: {_what(str(error))}") from None
    except RecursionError as error:
        raise WrongInputError(f"{name}:1: is nested too deeply to be an experiment") from error
    except (ValueError, TypeError, AttributeError, KeyError, AssertionError) as error:
        # ruamel lets a few malformed scalars (dates, tags) through to Python's own errors.
        raise WrongInputError(f"{name}:1: a value cannot be read: {_what(str(error))}") from None


def _what(said: str | None) -> str:
    """What the reader of YAML says, without what it quotes: values may be passwords."""
    first = (said or "").strip().partition("\n")[0].partition(" with value ")[0] or "is not YAML"
    return _QUOTED.sub(lambda found: HIDDEN if shown(found[2]) == HIDDEN else found[0], first)


def _version_problems(data: Mapping[str, Any]) -> list[Problem]:
    if "version" not in data:
        return [
            Problem(("version",), f"is missing: begin the file with version: {EXPERIMENT_VERSION}")
        ]
    if data["version"] != EXPERIMENT_VERSION or isinstance(data["version"], bool):
        return [
            Problem(
                ("version",),
                f"this Loadstone reads version {EXPERIMENT_VERSION}; given {data['version']!r}",
            )
        ]
    return []


def _parameter_problems(data: Mapping[str, Any]) -> list[Problem]:
    """What the workload itself and the list of targets have to say."""
    from loadstone.targets.registry import TARGETS, no_target
    from loadstone.workloads.registry import WORKLOADS, no_workload

    target, workload = data.get("target"), data.get("workload")
    problems = [
        Problem(path, no_target(engine))
        for path, engine in _engines(target)
        if engine not in TARGETS
    ]
    if not isinstance(workload, Mapping) or not isinstance(workload.get("name"), str):
        return problems
    name, parameters = workload["name"], workload.get("parameters", {})
    if name not in WORKLOADS:
        return [*problems, Problem(("workload", "name"), no_workload(name))]
    if isinstance(parameters, Mapping):
        model = WORKLOADS[name].Parameters
        try:
            model.model_validate(parameters)
        except ValidationError as error:
            problems += problems_of(error, model, parameters, ("workload", "parameters"))
        except RecursionError:
            problems.append(Problem(("workload", "parameters"), "refer to themselves"))
    return problems


def _engines(target: Any) -> Iterator[tuple[Path, str]]:
    """The engines that a target and its parts name, and where they do."""
    if not isinstance(target, Mapping):
        return
    if isinstance(target.get("engine"), str):
        yield ("target", "engine"), target["engine"]
    parts = target.get("parts")
    for name, part in parts.items() if isinstance(parts, Mapping) else ():
        if isinstance(part, Mapping) and isinstance(part.get("engine"), str):
            yield ("target", "parts", name, "engine"), part["engine"]
