"""What is wrong with an experiment, as values: where it was said, what it says, what to do."""

from __future__ import annotations

import difflib
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NoReturn, Protocol, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from loadstone.errors import WrongInputError

Path = tuple[str | int, ...]
"""Way to a field: `("design", "rungs", 0, "change")`."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with one field."""

    path: Path
    message: str


class Source(Protocol):
    """Where an experiment was written down."""

    @property
    def name(self) -> str:
        """What errors call it."""

    def origin(self, path: Path) -> str:
        """The place at which a field was given: `file.yaml:12`, or `--users`."""

    def position(self, path: Path) -> int:
        """Where that place comes among all: problems are listed in this order."""


def dotted(path: Path) -> str:
    """Writes a path as people do: `design.rungs[0].change`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def refuse(source: Source, problems: Sequence[Problem], advice: str | None = None) -> NoReturn:
    """Raises one error that lists every problem, a line each.

    Raises:
        WrongInputError: Always.
    """
    lines = []
    for problem in sorted(problems, key=lambda each: source.position(each.path)):
        field = dotted(problem.path)
        parts = [source.origin(problem.path), field, problem.message]
        lines.append(": ".join(part for part in parts if part))
    if len(lines) == 1:
        raise WrongInputError(lines[0], advice=advice)
    heading = f"{source.name}: {len(lines)} things are wrong"
    raise WrongInputError("\n".join([heading, *(f"  {line}" for line in lines)]), advice=advice)


def near(word: str, known: Iterable[str]) -> str:
    """A hint at the known word that is nearest, or the list of all: the end of a message."""
    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"choose one of {', '.join(names)}" if names else "it takes none"


def problems_of(
    error: ValidationError, model: type[BaseModel], given: Any, prefix: Path = ()
) -> list[Problem]:
    """Turns a validation error into problems, one per field, in the order of the fields.

    Args:
        error: As raised by `model`.
        model: The model that refused.
        given: The data that it was given.
        prefix: Where that data lies in the experiment.
    """
    found: dict[Path, list[ErrorDetails]] = {}
    for detail in error.errors(include_url=False):
        path = _path_in_data(detail, given)
        found.setdefault(path, []).append(detail)
    return [
        Problem(prefix + path, _message(path, details, model, given))
        for path, details in found.items()
    ]


def _path_in_data(detail: ErrorDetails, given: Any) -> Path:
    """The error's path without the names of union members that pydantic puts into it."""
    path: list[str | int] = []
    here, parts = given, detail["loc"]
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        is_tag = isinstance(here, Mapping) and _of_kinds(parts[:index]) and part == here.get("kind")
        if is_tag and not (last and detail["type"] == "missing"):
            continue
        if _holds(here, part):
            path.append(part)
            here = here[part]
        elif last and detail["type"] in ("missing", "extra_forbidden"):
            path.append(part)
    return tuple(path)


def _of_kinds(parts: Sequence[str | int]) -> bool:
    """Whether what lies there has a kind, whose name pydantic puts next: the design, a meter."""
    return parts[-1:] == ("design",) or (parts[-2:-1] == ("meters",) and isinstance(parts[-1], int))


def _holds(data: Any, part: str | int) -> bool:
    if isinstance(data, list):
        return isinstance(part, int) and part < len(data)
    return isinstance(data, Mapping) and part in data


def _message(path: Path, details: list[ErrorDetails], model: type[BaseModel], given: Any) -> str:
    if len(details) > 1:
        return _with_given(_any_reason(details), details[0])
    detail = details[0]
    kind = detail["type"]
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return f"there is no such field; {near(str(path[-1]), _fields_at(model, path[:-1], given))}"
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        tags = (detail.get("ctx") or {}).get("expected_tags", "")
        return f"needs a kind: one of {tags}; given {_shown(detail['input'])}"
    reason = _reason(detail)
    if path[-1:] == ("password",) or isinstance(detail["input"], Mapping):
        return reason
    return _with_given(reason, detail)


def _with_given(reason: str, detail: ErrorDetails) -> str:
    shown = _shown(detail["input"])
    return reason if shown in reason else f"{reason}; given {shown}"


def _any_reason(details: list[ErrorDetails]) -> str:
    """The reasons of all members of a union."""
    infinite = [each for each in details if each["type"] == "finite_number"]
    if infinite:
        return _reason(infinite[0])
    if {each["type"] for each in details} >= {"bool_type", "int_type", "float_type", "string_type"}:
        return "should be one value: a number, a text, true or false"
    return " or ".join(dict.fromkeys(_reason(each) for each in details))


_PLAIN = {
    "model_type": "should be a mapping of fields",
    "dict_type": "should be a mapping of names to values",
    "list_type": "should be a list",
    "string_type": "should be a text",
    "int_type": "should be a whole number",
    "float_type": "should be a number",
    "bool_type": "should be true or false",
    "bool_parsing": "should be true or false",
    "int_parsing": "should be a whole number",
    "int_from_float": "should be a whole number",
    "float_parsing": "should be a number",
    "string_pattern_mismatch": "should be lower-case letters, digits, dots, dashes and "
    "underscores, a letter or digit first",
}
"""Our own words for pydantic's types of error."""


def _reason(detail: ErrorDetails) -> str:
    message = detail["msg"].removeprefix("Value error, ")
    if detail["type"] in _PLAIN:
        return _PLAIN[detail["type"]]
    for begin in ("Input should be ", "Field ", "List ", "Dictionary "):
        if message.startswith(begin):
            said = message.removeprefix(begin).removeprefix("should ")
            if said.startswith("have "):
                return "should " + said.partition(" after validation")[0]
            return "should be " + said
    return message


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _fields_at(model: type[BaseModel], path: Path, given: Any) -> list[str]:
    """The fields that the model allows at a path."""
    here: Any = model
    for part in path:
        given = _descend(given, part)
        if isinstance(part, int):
            here = next(iter(get_args(_bare(here))), None)
        elif isinstance(here, type) and issubclass(here, BaseModel):
            field = here.model_fields.get(part)
            here = field.annotation if field else None
        here = _member(here, given)
    if isinstance(here, type) and issubclass(here, BaseModel):
        return list(here.model_fields)
    return []


def _member(annotation: Any, given: Any) -> Any:
    """The member of a union that the data means: by its kind, else the first that is a model."""
    annotation = _bare(annotation)
    if get_origin(annotation) not in (Union, types.UnionType):
        return annotation
    members = [_bare(member) for member in get_args(annotation)]
    models = [
        member for member in members if isinstance(member, type) and issubclass(member, BaseModel)
    ]
    kind = given.get("kind") if isinstance(given, Mapping) else None
    for member in models:
        if "kind" in member.model_fields and member.model_fields["kind"].default == kind:
            return member
    return models[0] if models else None


def _bare(annotation: Any) -> Any:
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation


def _descend(given: Any, part: str | int) -> Any:
    try:
        return given[part]
    except (KeyError, IndexError, TypeError):
        return None
