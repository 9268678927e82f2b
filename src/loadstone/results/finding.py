"""Finds a result by its name: by the folders, whatever an index says or whether there is one."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from loadstone.errors import WrongInputError
from loadstone.results.trial_files import EXPERIMENT_FILE, PLAN_FILE

_NEAR_NAMES = 3


@dataclass(frozen=True)
class Found:
    """What a reference stands for."""

    experiment: Path
    trial: Path | None = None

    @property
    def path(self) -> Path:
        """The folder: of the trial if one was named, else of the experiment."""
        return self.trial or self.experiment


def experiment_folders(results: Path) -> list[Path]:
    """The folders of all experiments, by name."""
    return sorted(path.parent for path in results.glob(f"*/{EXPERIMENT_FILE}"))


def at_path(path: Path) -> Found | None:
    """The experiment or the trial whose folder this is; None if it is neither."""
    if path.name in ("", ".."):  # `.` and the like have no parent in their text
        path = path.resolve()
    if (path / PLAN_FILE).is_file():
        return Found(path.parent, path)
    if (path / EXPERIMENT_FILE).is_file():
        return Found(path)
    return None


def named(results: Path, reference: str) -> Found:
    """What `experiment`, `experiment/trial`, or a unique beginning of them stands for.

    Raises:
        WrongInputError: If nothing or several things are meant, with near names.
    """
    name, _, trial = reference.strip("/").partition("/")
    names = [folder.name for folder in experiment_folders(results)]
    experiment = results / _choose(name, names, f"no result in {results} is named {name!r}")
    if not trial:
        return Found(experiment)
    trials = sorted(path.parent.name for path in experiment.glob(f"*/{PLAN_FILE}"))
    chosen = _choose(trial, trials, f"{experiment.name} has no trial {trial!r}")
    return Found(experiment, experiment / chosen)


def _choose(given: str, names: Sequence[str], nothing: str) -> str:
    if given in names:
        return given
    matching = sorted(name for name in names if given and name.startswith(given))
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise WrongInputError(
            f"{given!r} may be {', '.join(matching[:5])}{' ...' if len(matching) > 5 else ''}",
            advice="write more of the name",
        )
    near = difflib.get_close_matches(given, names, n=_NEAR_NAMES, cutoff=0.4)
    raise WrongInputError(
        nothing,
        advice=f"did you mean {', '.join(near)}?"
        if near
        else "`loadstone list` shows what is there",
    )
