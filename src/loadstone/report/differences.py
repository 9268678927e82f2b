"""What differs between the trials of two variants besides the step that they declare."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from loadstone.errors import WrongInputError
from loadstone.factors.target import OTHER_TARGET
from loadstone.host import cpu
from loadstone.host.sysctl import COUNTERPARTS
from loadstone.report.reading import RecordedTrial
from loadstone.report.text import shortened
from loadstone.spec.plans import Variant
from loadstone.targets.part_names import factor_within
from loadstone.targets.registry import target_class

_VOLATILE = re.compile(
    r"(^|[._])(free|available|used|usage|uptime|load_?avg|load_average|pid|time|timestamp|"
    r"started_at|temperature|mhz|frequency|boot|port|socket|path|folder|directory|directories|size|"
    r"size_bytes|image_bytes|bytes_free|dirty|cached|buffers|hit_ratio|seed|trial|name)(_[a-z]+)?"
    r"(\.(value|unit|source))?$"
    r"|_(s|ms|us)$|(^|\.)last_[a-z]+\.",
    re.IGNORECASE,
)
"""Facts of an inventory that change from one minute to the next and say nothing about the
configuration: amounts in use, places, and what took how long."""

_PASSING = re.compile(r"^host\.disks\.(loop|zram)\d+(\.|$)")
"""Devices that come and go with placements, which are told by the plan and by the target."""

_CHANCE = re.compile(
    r"(?<=/dev/loop)\d+|\b7:\d+$|(?<=/loadstone-)[0-9a-f]{12}|(?<=/data-)[0-9a-f]{6}|(?<=/log-)[0-9a-f]{6}"
    r"|(?<=/archive-)[0-9a-f]{6}"
)
"""Parts of names that are drawn anew for each placement: number of a loop device, folders."""

_START, _ENGINE = "start state.digest", "target.engine"
_VERSIONS = "host.versions."
"""Of the programs and libraries that the work needs."""

_ROOM = "target.places.data.total_bytes"
"""A file system whose journal lies elsewhere has more."""

_OF_PART = re.compile(r"target\.parts\.(?P<part>[^.]+)\.(?P<fact>.+)")
"""A fact of a part of a system, in the plan and in the inventory."""

_FACTS_OF = {
    "queue": ("host.disks.",),
    "cpu": ("host.processor.", "host.cpu_governor", "host.cgroup.", "host.limits.cpus_allowed"),
    "transparent_hugepages": ("host.transparent_huge_pages", "host.sysctl.vm.min_free_kbytes"),
    "hugepages": ("host.memory_bytes.HugePages", "host.sysctl.vm.nr_hugepages"),
}
"""Family of host settings: how the facts begin that any of it may decide."""

_IN_PLAN = ("workload", "target", "profile", "cache", "reload", "data_seed")


def differences(
    baseline: Sequence[RecordedTrial],
    candidate: Sequence[RecordedTrial],
    variants: tuple[Variant, Variant],
) -> list[str]:
    """Lists what is not the same, one line each: `host.kernel: 6.1 against 6.8`.

    Trials within a variant may differ from each other too (the kernel was updated half way), so
    the sets of values are compared.

    Args:
        baseline: Valid trials of the first variant.
        candidate: Valid trials of the second.
        variants: The two variants; what they declare to differ is left out.
    """
    declared = _declared(*variants)
    ours, theirs = _facts(baseline), _facts(candidate)
    engines = ours.get(_ENGINE, frozenset()) | theirs.get(_ENGINE, frozenset())
    chosen, explained = _chosen(engines), _explained(engines, declared)
    if _data(baseline) != _data(candidate):  # The parameters that ask for other data are told.
        ours.pop(_START, None)
        theirs.pop(_START, None)
    lines: list[str] = []
    for key in sorted(ours.keys() | theirs.keys()):
        left, right = ours.get(key, frozenset()), theirs.get(key, frozenset())
        if left == right or _is_declared(key, declared) or key.startswith(explained):
            continue
        if key.startswith(_VERSIONS) and not (left and right) and _changes_workload(declared):
            continue  # a program that only the work of one side needs
        if key in chosen:
            line = f"{chosen[key]} changed too ({_text(left)} to {_text(right)}): two variables"
            lines.insert(0, line)
        else:
            lines.append(f"{key}: {_text(left)} against {_text(right)}")
    return lines


def _chosen(engines: Iterable[str]) -> dict[str, str]:
    """Facts that systems of these engines choose by themselves, with what each is called."""
    found: dict[str, str] = {}
    for engine in engines:
        with suppress(WrongInputError):  # a system that this Loadstone does not know
            chosen = target_class(engine).chosen_facts
            found |= {f"target.{fact}": called for fact, called in chosen.items()}
    return found


def _changes_workload(declared: Iterable[str]) -> bool:
    return any(name.startswith("workload.") for name in declared)


def _explained(engines: Iterable[str], declared: Iterable[str]) -> tuple[str, ...]:
    """How the facts begin that follow from the declared settings of systems of these engines."""
    found: list[str] = []
    for engine in engines:
        with suppress(WrongInputError):
            facts = target_class(engine).explained_facts
            settings = [name.removeprefix("target.") for name in declared]
            found += [f"target.{each}" for name in settings for each in facts.get(name, ())]
    return tuple(found)


def _data(trials: Sequence[RecordedTrial]) -> list[dict[str, Any]]:
    """The data that trials ask for, by the parameters that decide them."""
    found: list[dict[str, Any]] = []
    for workload in (trial.workload for trial in trials):
        key = workload.data_key() if workload is not None else {}
        found += [key] if key not in found else []
    return found


def _declared(first: Variant, second: Variant) -> set[str]:
    """Factors whose levels are not the same in both."""
    levels = [{change.factor: change.level for change in v.changes} for v in (first, second)]
    return {
        factor
        for factor in levels[0].keys() | levels[1].keys()
        if levels[0].get(factor) != levels[1].get(factor)
    }


def _is_declared(key: str, declared: Iterable[str]) -> bool:
    """Whether a fact is about a declared factor: the same kind, and the setting's name in it."""
    return any(_is_about(key, factor) for factor in declared)


def _is_about(key: str, factor: str) -> bool:
    if found := _OF_PART.match(key):
        inner = factor_within(found["part"], factor)
        if inner and _is_about(f"target.{found['fact']}", inner):
            return True
    words, (kind, _, name) = key.split("."), factor.partition(".")
    if factor == OTHER_TARGET and kind == words[0]:
        return True
    if kind == "host" and key.startswith(_host_facts(name)):
        return True
    if kind == "storage" and key.startswith((f"target.places.{name}", "target.file_system")):
        return True
    if factor == "storage.log" and key == _ROOM:
        return True
    named = f".{name}." in f".{key}."
    return named and (kind in words or words[0] not in _IN_PLAN)


def _host_facts(name: str) -> tuple[str, ...]:
    """How the facts begin that a host setting decides."""
    family, _, option = name.partition(".")
    if family == "server":
        return (f"target.process.{option}",)
    if family == "generator":
        return (f"profile.{option}",)
    if family == "cpu":
        moved = (f"host.processor_settings.{each}" for each in cpu.moved_with(name))
        return (*_FACTS_OF["cpu"], *moved)
    if family in _FACTS_OF:
        return _FACTS_OF[family]
    other = COUNTERPARTS.get(name, name)
    return (f"host.sysctl.{name}", f"host.sysctl.{other}", "host.memory_bytes.HugePages")


def _facts(trials: Sequence[RecordedTrial]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for trial in trials:
        plan = trial.plan.model_dump(mode="json", include=set(_IN_PLAN))
        inventory = flatten(trial.inventory)
        facts = flatten(plan) | {k: v for k, v in inventory.items() if not _passing(k)}
        own_folder = re.compile(rf"/[^\s,:]*{re.escape(trial.path.name)}")
        if trial.result.fingerprint is not None:
            facts[_START] = trial.result.fingerprint.digest
        for key, value in facts.items():
            place = own_folder.sub("<trial>", key)
            plain = _CHANCE.sub("*", own_folder.sub("<trial>", value))
            found.setdefault(place, set()).add(plain)
    return {key: frozenset(values) for key, values in found.items()}


def _passing(key: str) -> bool:
    return bool(_VOLATILE.search(key) or _PASSING.match(key))


def flatten(value: object, prefix: str = "") -> dict[str, str]:
    """A nested document as `a.b.c: text`.

    A list of plain values is one value; things in a list are told apart by their name or place.
    """
    if isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
        value = {str(each.get("name", place)): each for place, each in enumerate(value)}
    if isinstance(value, Mapping):
        flat: dict[str, str] = {}
        for key, inner in value.items():
            flat |= flatten(inner, f"{prefix}.{key}" if prefix else str(key))
        return flat
    return {prefix: _plain(value)}


def _plain(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(_plain(inner) for inner in value)
    return str(value)


def _text(values: frozenset[str]) -> str:
    if not values:
        return "absent"
    return shortened(" or ".join(sorted(values)))
