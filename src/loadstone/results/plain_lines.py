"""Files of a trial that are lines of text, and where one of them is damaged."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from loadstone.results.lines import ENDS_EARLY
from loadstone.results.trial_files import JOURNAL_FILE, LATENCY_FILE

_OF_LATENCY = re.compile(rb'[#"][ -~]*|Tag=[!-+\--~]+,(?:[\d.]+,){3}[A-Za-z0-9+/]+={0,2}')


def _is_of_latency(line: bytes) -> bool:
    return _OF_LATENCY.fullmatch(line) is not None


def _is_of_journal(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


_FORMS: Mapping[str, Callable[[bytes], bool]] = {
    LATENCY_FILE: _is_of_latency,
    JOURNAL_FILE: _is_of_journal,
}


def damaged_lines(trial: Path) -> dict[Path, str]:
    """What is wrong with each of these files that is there; a server's log has no form.

    Args:
        trial: Folder of the trial.
    """
    problems = {trial / name: _problem(trial / name, form) for name, form in _FORMS.items()}
    return {path: problem for path, problem in problems.items() if problem}


def _problem(path: Path, is_whole: Callable[[bytes], bool]) -> str:
    if not path.exists():
        return ""
    read, line = 0, b"\n"
    try:
        with path.open("rb") as file:
            for line in file:
                if line.endswith(b"\n"):
                    if not is_whole(line.rstrip(b"\r\n")):
                        return f"is damaged after {read} lines"
                    read += 1
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return "" if line.endswith(b"\n") else f"{ENDS_EARLY}, after {read} lines"
