"""Frames of several driver processes, added up to one of all: counts and histograms, exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from loadstone.load import traces
from loadstone.results.latency import added

Frame = dict[str, Any]
"""The JSON object of a frame."""

HIGHEST_OF = ("deepest", "fullest")
"""Gauges and facts with such names are extremes: the highest counts, not the sum."""
_SUMS = ("late_starts", "dropped", "due", "reconnects", "cpu_user_s", "cpu_system_s")
_LEVELS = ("users", "in_flight", "queued", "rss_bytes")


def merged_hello(hellos: Sequence[Frame]) -> Frame:
    """The hello of all, in the order of the processes; who and when are those of the first."""
    return {
        **hellos[0],
        "threads": sum(hello["threads"] for hello in hellos),
        "nofile": min(hello["nofile"] for hello in hellos),
        "processes": [
            {name: hello[name] for name in ("pid", "threads", "nofile")} for hello in hellos
        ],
    }


def merged_tick(frames: Sequence[Frame], levels: Sequence[Mapping[str, Any]]) -> Frame:
    """One tick of several; times are left to the caller.

    Args:
        frames: Of the same part of the phase, at least one.
        levels: The last tick of each process that runs.
    """
    merged = dict(frames[0])
    merged |= {name: sum(frame.get(name, 0) for frame in frames) for name in _SUMS}
    merged |= _of_engines(frames)
    merged |= {name: sum(frame.get(name, 0) for frame in levels) for name in _LEVELS}
    names = dict.fromkeys(name for frame in frames for name in frame["operations"])
    merged["operations"] = {
        name: _merged_operation([f["operations"][name] for f in frames if name in f["operations"]])
        for name in names
    }
    merged.pop("lag", None)
    lag = added([frame["lag"] for frame in frames if frame.get("lag")])
    merged |= {"lag": lag} if lag else {}
    if any("counters" in frame for frame in frames):
        merged["counters"] = _summed(frame.get("counters") for frame in frames)
    if any("gauges" in frame for frame in levels):
        merged["gauges"] = _by_name(frame.get("gauges") for frame in levels)
    return merged


def _merged_operation(parts: Sequence[Frame]) -> Frame:
    merged: Frame = {
        "count": sum(part["count"] for part in parts),
        "rolled_back": sum(part.get("rolled_back", 0) for part in parts),
        "errors": _summed(part.get("errors") for part in parts),
        "retries": _summed(part.get("retries") for part in parts),
    }
    for name in ("response", "service"):
        histogram = added([part[name] for part in parts if part.get(name)])
        merged |= {name: histogram} if histogram else {}
    requests = {name: _merged_request(made) for name, made in _by_request(parts).items()}
    return merged | ({"requests": requests} if requests else {})


def _merged_request(parts: Sequence[Frame]) -> Frame:
    service = added([part["service"] for part in parts if part.get("service")])
    further = {name: _summed(part.get(name) for part in parts) for name in ("retried", "marks")}
    return {
        "count": sum(part["count"] for part in parts),
        "errors": _summed(part.get("errors") for part in parts),
        "resent": _summed(part.get("resent") for part in parts),
        **{name: counts for name, counts in further.items() if counts},
        **({"service": service} if service else {}),
    }


def _by_request(parts: Sequence[Frame]) -> dict[str, list[Frame]]:
    """What each part of an operation says of its requests, by their names."""
    found: dict[str, list[Frame]] = {}
    for part in parts:
        for name, made in (part.get("requests") or {}).items():
            found.setdefault(name, []).append(made)
    return found


def merged_end(ends: Sequence[Frame]) -> Frame:
    """The end of all: the worst reason, the sums, and the highest of what is an extreme."""
    reasons = {end["reason"] for end in ends}
    worst = next(reason for reason in ("failed", "stopped", "completed") if reason in reasons)
    errors = [end["error"] for end in ends if end.get("error")]
    names = dict.fromkeys(name for end in ends for name in end["operations"])
    totals = {name: [e["operations"][name] for e in ends if name in e["operations"]]
              for name in names}  # fmt: skip
    kept = traces.merged(end.get("traces") or {} for end in ends)
    return {
        **ends[0],
        "t_s": max(end["t_s"] for end in ends),
        "reason": worst,
        "error": errors[0] if errors else None,
        "operations": {name: _merged_total(of_name) for name, of_name in totals.items()},
        **{
            name: sum(end.get(name, 0) for end in ends)
            for name in ("cpu_user_s", "cpu_system_s", "max_rss_bytes")
        },
        "facts": _by_name(end.get("facts") for end in ends),
        **_of_engines(ends),
        **({"traces": kept} if kept else {}),
    }


def _merged_total(parts: Sequence[Frame]) -> Frame:
    requests = {name: _merged_total(made) for name, made in _by_request(parts).items()}
    return {
        "count": sum(part["count"] for part in parts),
        "errors": _summed(part.get("errors") for part in parts),
        **({"requests": requests} if requests else {}),
    }


def own_share(number: int, frame: Frame) -> Frame:
    """What a process said of itself in a tick: sums would hide the one that had too much to do.

    The time of an engine within it is not the generator's.
    """
    own = {
        "process": number,
        "cpu_s": frame.get("cpu_user_s", 0.0)
        + frame.get("cpu_system_s", 0.0)
        - frame.get("engine_cpu_s", 0.0),
    }
    return own | ({"lag": frame["lag"]} if frame.get("lag") else {})


def _of_engines(frames: Sequence[Frame]) -> Frame:
    """The processor time of engines within the processes, if they have any."""
    found = [frame["engine_cpu_s"] for frame in frames if frame.get("engine_cpu_s") is not None]
    return {"engine_cpu_s": sum(found)} if found else {}


def _summed(parts: Iterable[Mapping[str, Any] | None]) -> dict[str, Any]:
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part or {})
    return dict(sorted(total.items()))


def _by_name(parts: Iterable[Mapping[str, float] | None]) -> dict[str, float]:
    """Sums, and the highest of what is an extreme by its name."""
    found: dict[str, list[float]] = {}
    for part in parts:
        for name, value in (part or {}).items():
            found.setdefault(name, []).append(value)
    return {name: _combine(name)(values) for name, values in found.items()}


def _combine(name: str) -> Callable[[Sequence[float]], float]:
    return max if name.startswith(HIGHEST_OF) else sum
