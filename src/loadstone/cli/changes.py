"""The factors, levels and rungs that are given on the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from loadstone.cli.draft import Draft, assignment
from loadstone.cli.options import GraduatedForm, SearchForm, option_of, refuse_idle
from loadstone.errors import WrongInputError
from loadstone.experiments.designs.scale import SCALED
from loadstone.experiments.file import parse_level
from loadstone.factors.registry import FACTORS, factor_kind, full_name
from loadstone.spec.base import Level
from loadstone.workloads.registry import WORKLOADS

_RANGE = re.compile(r"(\d+)\s*-\s*(\d+)")
_MEASURE = ("profile", "measure")
_RUNG = re.compile(r"(?:(?P<name>[^:=,]+):)?(?P<changes>.+=.*)")


def levels(factor: str, text: str) -> list[Level]:
    """Reads the levels of a factor, given with its prefix: `128MB,1GB`."""
    parts = factor_kind(factor)[0].split(text)
    return [parse_level(part.strip()) for part in parts if part.strip()]


def put_compare(draft: Draft, factor: str | None, given: Sequence[str]) -> None:
    """Makes the draft a comparison, as `--factor` and `--levels` say.

    Raises:
        WrongInputError: If one is given without the other, or there is nothing to compare.
    """
    if factor is None and not given:
        _need(draft, "compare", "--factor NAME --levels A,B")
        return
    if factor is None or not given:
        raise WrongInputError(
            "a comparison needs a factor and its levels",
            advice="write for example --factor shared_buffers --levels 128MB,1GB",
        )
    full = full_name(draft.workload, factor)
    design = {
        "kind": "compare",
        "factor": full,
        "levels": [level for text in given for level in levels(full, text)],
    }
    draft.put(("design",), design, "--levels")
    draft.options["design", "factor"] = "--factor"


def put_sweep(draft: Draft, vary: Sequence[str], matrix: str | None) -> None:
    """Makes the draft a sweep, as `--vary` says.

    Raises:
        WrongInputError: If nothing is varied, or a `--vary` cannot be read.
    """
    if not vary:
        _need(draft, "sweep", "--vary NAME=A,B,C")
    else:
        factors = {}
        for text in vary:
            name, equals, given = text.partition("=")
            if not equals or not name.strip() or not given.strip(" ,"):
                raise WrongInputError(
                    f"--vary {text!r} is not of the form NAME=A,B,C",
                    advice="write for example --vary users=1,2,4",
                )
            factor = full_name(draft.workload, name.strip())
            if factor in factors:
                raise WrongInputError(
                    f"--vary {text!r}: {factor} is varied already",
                    advice="write one list of levels",
                )
            factors[factor] = levels(factor, given)
        draft.put(("design",), {"kind": "sweep", "factors": factors}, "--vary")
    if matrix is not None:
        draft.put(("design", "matrix"), matrix, "--matrix")


def put_ladder(
    draft: Draft, rungs: Sequence[str], *, several: bool, keep: str | None, reference: str | None
) -> None:
    """Makes the draft a ladder, as `--rung` says.

    Raises:
        WrongInputError: If there is no rung, or one cannot be read.
    """
    if not rungs:
        _need(draft, "ladder", "--rung NAME=LEVEL")
        refuse_idle(["--several"] if several else [], "it is about rungs given with --rung")
    else:
        read = [_rung(draft, text, several) for text in rungs]
        draft.put(("design",), {"kind": "ladder", "rungs": read}, "--rung")
    if keep is not None:
        draft.put(("design", "keep"), keep, "--keep")
    if reference is not None:
        draft.put(("design", "reference"), reference, "--reference")


def put_looks(draft: Draft, looks: str | None) -> None:
    """Lets a comparison or a ladder stop at looks, as `--looks` says.

    Raises:
        WrongInputError: If they are no whole numbers, or the draft is neither.
    """
    if looks is None:
        return
    if _kind(draft) not in ("compare", "ladder"):
        raise WrongInputError(
            f"--looks {looks}: only a comparison or a ladder can stop at a look",
            advice="say what is compared: --factor with --levels, or --rung",
        )
    words = [word.strip() for word in looks.split(",")]
    if not all(word.isdecimal() for word in words):
        raise WrongInputError(
            f"--looks {looks!r}: looks are whole numbers of blocks",
            advice="write for example --looks 4,6,8,12",
        )
    if ("repeats",) not in draft.options:
        draft.data.pop("repeats", None)  # the last look replaces what the file says
    draft.put(("design", "looks"), [int(word) for word in words], "--looks")


def put_crash(draft: Draft, failure: str | None) -> None:
    """Makes the draft a crash experiment, as `--failure` says.

    Raises:
        WrongInputError: If a file is given that is none, and no failure.
    """
    if failure is None and draft.file is None:
        failure = "kill"
    if failure is None:
        _need(draft, "crash", "--failure kill")
    else:
        draft.put(("design",), {"kind": "crash", "failure": failure}, "--failure")


def put_search(draft: Draft, form: SearchForm) -> None:
    """Makes the draft a search, as its options say.

    Raises:
        WrongInputError: If a file is given that is none, and no option.
    """
    given = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(form).items()
        if value not in (None, ())
    }
    if _kind(draft) != "search":
        if draft.file is not None and not given:
            _need(draft, "search", "--over rate or --over users")
        draft.put(("design",), {"kind": "search"}, "--over")
    for name, value in given.items():
        field = "from" if name == "first" else name
        draft.put(("design", field), value, option_of(name))
    if form.over == "rate" and form.first is not None:
        _open_load(draft, form.first)


def _open_load(draft: Draft, rate: float) -> None:
    """A search over the rate of a workload that has none of its own needs an open load."""
    workload, profile = WORKLOADS.get(draft.workload), draft.data.get("profile")
    closed = not isinstance(profile, dict) or profile.get("load", "closed") == "closed"
    if workload is not None and workload.Search.over != "rate" and closed:
        draft.put(("profile", "load"), "open", "--over")
        draft.put(("profile", "rate_per_s"), rate, "--from")


def put_graduated(draft: Draft, form: GraduatedForm) -> None:
    """Makes the draft a graduated load, as its options say.

    The length of a level is what `--measure` says.

    Raises:
        WrongInputError: If levels are no numbers.
    """
    if _kind(draft) != "graduate" and not _is_graduated(draft):
        draft.put(("design",), {"kind": "graduate"}, "graduate")
    for name, value in asdict(form).items():
        if value is not None:
            told = _percents(value) if name == "levels" else value
            draft.put(("profile", "graduated", name), told, option_of(name))
    if draft.options.pop(_MEASURE, None):
        draft.put(
            ("profile", "graduated", "measure"), draft.data["profile"].pop("measure"), "--measure"
        )


def _is_graduated(draft: Draft) -> bool:
    profile = draft.data.get("profile")
    return isinstance(profile, dict) and profile.get("graduated") is not None


def put_scale(
    draft: Draft, over: str | None, given: Sequence[str], users_each: float | None
) -> None:
    """Makes the draft a curve of scalability, as `--over`, `--levels` and `--users-each` say.

    Raises:
        WrongInputError: If one of the first two is given alone, or the levels are no numbers.
    """
    if over is not None or given:
        _put_levels(draft, over, given)
    elif users_each is not None and _kind(draft) != "scale":
        raise WrongInputError(
            f"--users-each {users_each:g}: there is no curve whose users it could say",
            advice="say what is scaled: --over with --levels",
        )
    else:
        _need(draft, "scale", "--over users --levels 1,2,4,8")
    if users_each is not None:
        draft.put(("design", "users_each"), users_each, "--users-each")


def _put_levels(draft: Draft, over: str | None, given: Sequence[str]) -> None:
    if over is None or not given:
        raise WrongInputError(
            "a curve needs what is scaled and its levels",
            advice="write for example --over users --levels 1,2,4,8 or --over processors "
            "--levels 1-4",
        )
    name = over if over in SCALED else full_name(draft.workload, over)
    design = {"kind": "scale", "over": name, "levels": _numbers(given)}
    draft.put(("design",), design, "--levels")
    draft.options["design", "over"] = "--over"


def _numbers(given: Sequence[str]) -> list[float] | dict[str, float]:
    """Reads `1,2,4` or the range `1-8`."""
    if len(given) == 1 and (match := _RANGE.fullmatch(given[0].strip())):
        return {"from": float(match[1]), "to": float(match[2])}
    words = [word.strip() for text in given for word in text.split(",") if word.strip()]
    try:
        return [float(word) for word in words]
    except ValueError as error:
        raise WrongInputError(
            f"--levels {','.join(words)!r}: the levels of a curve are numbers",
            advice="write for example --levels 1,2,4,8 or --levels 1-8",
        ) from error


def _percents(text: str) -> list[float]:
    """Reads `100,50,0`, with signs of percent or without."""
    words = [word.strip().removesuffix("%").strip() for word in text.split(",") if word.strip()]
    try:
        return [float(word) for word in words]
    except ValueError as error:
        raise WrongInputError(
            f"--levels {text!r}: the levels of a load are percent",
            advice="write for example --levels 100,50,0",
        ) from error


def _kind(draft: Draft) -> str:
    design = draft.data.get("design")
    return str(design.get("kind", "")) if isinstance(design, dict) else "run"


def _rung(draft: Draft, text: str, several: bool) -> dict[str, Any]:
    match = _RUNG.fullmatch(text)
    if match is None:
        raise WrongInputError(
            f"--rung {text!r} is not of the form [NAME:]FACTOR=LEVEL",
            advice="write for example --rung shared_buffers=1GB or --rung wal:max_wal_size=4GB",
        )
    changes = list(_changes(draft, match["changes"]))
    change = dict(changes)
    if len(change) < len(changes):
        raise WrongInputError(f"--rung {text!r} sets a factor twice", advice="keep one")
    name = match["name"] or match["changes"]
    return {"name": name.strip(), "change": change, "several": several and len(change) > 1}


def _changes(draft: Draft, text: str) -> Iterator[tuple[str, Level]]:
    """Reads `FACTOR=LEVEL,FACTOR=LEVEL`, where a level may hold commas of its own."""
    written = ""
    for part in text.split(","):
        if written and not _goes_on(draft, written, part):
            yield _change(draft, written)
            written = part
        else:
            written = f"{written},{part}" if written else part
    yield _change(draft, written)


def _change(draft: Draft, text: str) -> tuple[str, Level]:
    name, level = assignment(text, "--rung")
    return full_name(draft.workload, name), level


def _goes_on(draft: Draft, written: str, part: str) -> bool:
    """Whether what comes after a comma still belongs to the level before it."""
    name, equals, level = written.partition("=")
    if not equals or part.strip().partition(".")[0] in FACTORS:
        return False
    kind, _ = factor_kind(full_name(draft.workload, name.strip()))
    return len(kind.split(f"{level},{part}")) == 1


def _need(draft: Draft, kind: str, form: str) -> None:
    """A file must say the design itself when no option does."""
    design = draft.data.get("design")
    given = design.get("kind") if isinstance(design, dict) else "run"
    if draft.file is None:
        raise WrongInputError(f"nothing to {kind}: {form} is missing")
    if given != kind:
        raise WrongInputError(
            f"{draft.name} is a {given}, not a {kind}",
            advice=f"use loadstone {given} {draft.name}, or add {form}",
        )
