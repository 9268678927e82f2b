"""`loadstone list`."""

from __future__ import annotations

import json as json_module
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from loadstone.cli.console import out, plain_table, say, say_document
from loadstone.cli.options import DEFAULT_RESULTS, Output, Whole, refuse_idle
from loadstone.errors import WrongInputError
from loadstone.spec.meters import MACHINE_ROOT
from loadstone.units import format_duration

What = Literal[
    "results",
    "workloads",
    "targets",
    "designs",
    "factors",
    "host",
    "meters",
    "references",
    "storage",
]

Row = dict[str, Any]


def command(
    what: What = "results",
    /,
    *,
    workload: str | None = None,
    status: str | None = None,
    name: str | None = None,
    limit: Annotated[int | None, Whole] = None,
    meters_root: Path = Path(MACHINE_ROOT),
    output: Output = Output(),  # noqa: B008
) -> None:
    """List results, newest first, or what Loadstone knows.

    * `loadstone list`
    * `loadstone list --workload oltp --status invalid`
    * `loadstone list workloads`
    * `loadstone list host` shows each setting of this machine as it is now
    * `loadstone list meters` shows its power meters, and why the others cannot be read

    Args:
        what: What is listed.
        workload: Only results of this workload.
        status: Only results with a trial of this status.
        name: Only results whose name contains this.
        limit: At most so many results.
        meters_root: Root of a tree that imitates a machine, for its meters.
        output: Where results lie and how to answer.
    """
    if what != "meters" and meters_root != Path(MACHINE_ROOT):
        refuse_idle(["--meters-root"], f"meters lie below it, and {what} are listed")
    known: Callable[[], list[Row]] | None = _KNOWN.get(what)
    if what == "meters":
        known = partial(_meters, meters_root)
    if known:
        filters: dict[str, object] = {
            "workload": workload,
            "status": status,
            "name": name,
            "limit": limit,
        }
        filters["results"] = None if output.results == DEFAULT_RESULTS else output.results
        idle = [f"--{option}" for option, value in filters.items() if value is not None]
        refuse_idle(idle, f"results are chosen by it, and {what} are listed")
    if limit is not None and limit < 1:
        raise WrongInputError(f"--limit: {limit} is less than 1")
    rows = known() if known else _results(output, workload, status, name, limit)
    for reason in _left_out(what):
        say(f"left out: {reason}")
    if output.json:
        say_document(json_module.dumps({"version": 1, what: rows}, indent=2))
    elif not rows:
        say(f"no {what} in {output.results}" if what == "results" else f"no {what}")
    else:
        _print(rows)


_ONLY_IN_JSON = (
    *("title", "parameters", "capabilities", "takes", "unavailable", "source", "time_s"),
    *("what", "missing", "twin_of"),
)
"""Columns that would not leave the others enough room on a terminal of 80 columns."""


def _print(rows: list[Row]) -> None:
    columns = [
        name
        for name in rows[0]
        if (name not in _ONLY_IN_JSON or len(rows[0]) <= 4) and any(row[name] for row in rows)
    ]
    table = plain_table(*columns)
    for row in rows:
        table.add_row(*(_cell(row[name]) for name in columns))
    out().print(table)


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(str(each) for each in value)
    if isinstance(value, dict):
        return ", ".join(f"{count} {name}" for name, count in value.items())
    return "" if value is None or value is False else str(value)


def _results(
    output: Output, workload: str | None, status: str | None, name: str | None, limit: int | None
) -> list[Row]:
    if not output.results.is_dir():
        return []
    from loadstone.results.listing import listed
    from loadstone.results.record import Status

    try:
        wanted = Status(status) if status is not None else None
    except ValueError:
        raise WrongInputError(
            f"there is no status {status!r}", advice=f"choose one of {', '.join(Status)}"
        ) from None
    entries, left_out = listed(output.results)
    for reason in left_out:
        say(f"left out: {reason}")
    chosen = [
        entry
        for entry in entries
        if workload in (None, entry.workload)
        and (wanted is None or entry.has(wanted))
        and (name or "").lower() in entry.name.lower()
    ]
    return [
        {
            "name": entry.name,
            "workload": entry.workload,
            "target": entry.engine,
            "design": entry.design,
            "started": entry.started_at[:16].replace("T", " "),
            "trials": entry.statuses,
            "crashes": entry.crashes,
            "unsafe": "unsafe" if entry.unsafe else None,
            "title": entry.title,
        }
        for entry in chosen[:limit]
    ]


def _left_out(what: What) -> list[str]:
    """What other packages have registered and cannot be used, each with the reason."""
    if what == "workloads":
        from loadstone.runner.registry import OPENERS
        from loadstone.workloads.registry import WORKLOADS

        return [*WORKLOADS.left_out.values(), *OPENERS.left_out.values()]
    if what == "targets":
        from loadstone.targets.registry import TARGETS

        return list(TARGETS.left_out.values())
    if what == "meters":
        from loadstone.meters.registry import METERS

        return list(METERS.left_out.values())
    return []


def _workloads() -> list[Row]:
    from loadstone.workloads.registry import WORKLOADS

    return [
        {
            "name": name,
            "origin": cls.origin,
            "metric": cls.headline,
            "parameters": list(cls.Parameters.model_fields),
        }
        for name, cls in WORKLOADS.items()
    ]


def _targets() -> list[Row]:
    from loadstone.targets.registry import TARGETS

    return [
        {
            "name": name,
            "about": (cls.__doc__ or "").strip().splitlines()[0],
            "parts": list(cls.part_names),
            "capabilities": sorted(cls.capabilities),
        }
        for name, cls in TARGETS.items()
    ]


def _designs() -> list[Row]:
    from loadstone.experiments.designs import DESIGNS

    return [{"name": name, "about": design.about} for name, design in DESIGNS.items()]


def _factors() -> list[Row]:
    from loadstone.factors.registry import FACTORS

    return [{"prefix": f"{name}.", "about": kind.about} for name, kind in FACTORS.items()]


def _host() -> list[Row]:
    from loadstone.factors.host import listed
    from loadstone.host.registry import all_known

    return [listed(setting) for setting in all_known()]


def _meters(root: Path) -> list[Row]:
    """What there is of each kind of power meter, or why it cannot be read."""
    from loadstone.meters.registry import found_here

    if not root.is_dir():
        raise WrongInputError(f"--meters-root: {root} is not a folder")
    return [
        {
            "kind": each.kind,
            "channel": each.channel,
            "scope": each.scope or "",
            "state": "missing" if each.missing else "twin" if each.twin_of else "there",
            "about": each.missing
            or (f"the same counter as {each.twin_of}: counted once" if each.twin_of else each.what),
            "what": each.what,
            "missing": each.missing,
            "twin_of": each.twin_of,
        }
        for each in found_here(root)
    ]


def _storage() -> list[Row]:
    """The profiles of storage, each as it is where nothing else is said."""
    from loadstone.workloads.storage.listing import listed_profiles

    return [
        {
            "name": each.name,
            "passes": each.passes,
            "time": format_duration(each.seconds),
            "time_s": each.seconds,
            "tests": each.tests,
            "origin": each.origin,
        }
        for each in listed_profiles()
    ]


def _references() -> list[Row]:
    from loadstone.results.references.catalogue import list_references, load_reference

    loaded = [load_reference(name) for name in list_references()]
    return [
        {
            "name": each.name,
            "kind": each.kind,
            "workloads": each.workloads,
            "date": each.date,
            "title": each.title,
        }
        for each in loaded
    ]


_KNOWN: dict[str, Callable[[], list[Row]]] = {
    "workloads": _workloads,
    "targets": _targets,
    "designs": _designs,
    "factors": _factors,
    "host": _host,
    "references": _references,
    "storage": _storage,
}
