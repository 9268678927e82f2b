"""The store of recorded experiments: what is kept of each trial, and how it is read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import zstandard

STORE = Path(__file__).parent / "recorded.jsonl.zst"


@dataclass(frozen=True)
class Trial:
    """What is kept of one trial.

    Attributes:
        variant: Its level.
        block: In which it was made.
        order: Among all of its session.
        again: It was made again, because another of its block was called disturbed.
        status: As the rule of the release that made it had it; `by_the_probe` gives all the same.
        figure: By which it is judged.
        ticks: Operations a second in each tick of the measured phase.
        measured_s: Length of the measured phase.
        took_s: The whole trial.
        taken: Cause: the share that was taken from it while it was measured.
        before: The machine's own speed before the load, by name.
        after: The same after it.
    """

    variant: str
    block: int
    order: int
    again: bool
    status: str
    figure: float | None
    ticks: list[float]
    measured_s: float
    took_s: float
    taken: dict[str, float]
    before: dict[str, float] = field(default_factory=dict)
    after: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Session:
    """Trials that were made one after the other.

    Attributes:
        kind: Name of the load.
        noise: Name of the noise maker beside it; empty: the machine was idle.
        seed: Of the experiment.
        up_is_good: Whether more of the figure is better.
        planted: Variant: by how many per cent its operations take longer.
        trials: In their order.
    """

    kind: str
    noise: str
    seed: int
    up_is_good: bool
    planted: dict[str, float]
    trials: list[Trial]


def add(session: Session, path: Path = STORE) -> None:
    """Adds a session to the store."""
    lines = [*_lines(path), json.dumps(_short(asdict(session)), separators=(",", ":"))]
    packed = zstandard.ZstdCompressor(level=19).compress("\n".join(lines).encode())
    path.write_bytes(packed)


def sessions(path: Path = STORE) -> list[Session]:
    """All sessions, in the order in which they were recorded."""
    found = []
    for line in _lines(path):
        values = json.loads(line)
        trials = [Trial(**trial) for trial in values.pop("trials")]
        found.append(Session(**values, trials=trials))
    return found


def _lines(path: Path) -> Iterator[str]:
    if path.exists():
        text = zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes()).decode()
        yield from text.splitlines()


def _short(value: Any) -> Any:
    """With six digits of each number: more are not worth their space."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {name: _short(each) for name, each in value.items()}
    return [_short(each) for each in value] if isinstance(value, list) else value
