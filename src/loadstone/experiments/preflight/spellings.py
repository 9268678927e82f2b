"""Two spellings of one setting: only one of them could have an effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from loadstone.errors import LoadstoneError
from loadstone.factors.base import Parts
from loadstone.factors.registry import factor_kind
from loadstone.spec.design import LadderDesign, SweepDesign
from loadstone.spec.model import Experiment
from loadstone.spec.problems import Path, Problem


def spelling_problems(experiment: Experiment) -> list[Problem]:
    """Every setting that is named again in another spelling, where the two are set together."""
    return [
        Problem((*path, name), f"is another spelling of {first!r}: name the setting once")
        for path, prefix, names in _together(experiment)
        for first, name in _again(experiment, prefix, names)
    ]


def _together(experiment: Experiment) -> Iterator[tuple[Path, str, Iterable[str]]]:
    """Names that are set together: where, what stands before them, and the names."""
    yield ("target", "settings"), "target.", experiment.target.named_settings
    yield ("host",), "host.", experiment.host
    design = experiment.design
    if isinstance(design, SweepDesign):
        yield ("design", "factors"), "", design.factors
    elif isinstance(design, LadderDesign):
        for index, rung in enumerate(design.rungs):
            yield ("design", "rungs", index, "change"), "", rung.change


def _again(experiment: Experiment, prefix: str, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The first spelling, and each further one."""
    seen: dict[str, str] = {}
    for name in names:
        plain = plain_factor(experiment, prefix + name)
        first = seen.setdefault(plain, name)
        if first != name:
            yield first, name


def plain_factor(experiment: Experiment, factor: str) -> str:
    """One spelling for all that a factor may have; of what is no factor its own."""
    try:
        kind, name = factor_kind(factor)
    except LoadstoneError:
        return factor
    return f"{kind.prefix}.{kind.plain(Parts.of(experiment), name)}"
