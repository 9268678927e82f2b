"""What is named when a system does not start: the settings that this start changed, and cures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from loadstone.errors import TargetError
from loadstone.spec.base import Level

Cures = Sequence[tuple[re.Pattern[str], str]]
"""Words of a system that does not start, and what helps."""


class Chosen(int):
    """A level that nobody asked for: Loadstone has chosen it."""


class AskedSettings:
    """The settings that somebody asked for, and what the last start that worked had of them."""

    def __init__(self) -> None:
        self._asked: dict[str, Level] = {}
        self._worked: dict[str, Level] = {}

    def ask(self, settings: Mapping[str, Level]) -> None:
        """The next start has these, besides those of Loadstone's own."""
        self._asked = {
            name: level for name, level in settings.items() if not isinstance(level, Chosen)
        }

    def worked(self) -> None:
        """The system has started with them."""
        self._worked = dict(self._asked)

    def changed(self) -> dict[str, str]:
        """Those that the last start which worked had not, as they are shown."""
        return {
            name: ("on" if level else "off") if isinstance(level, bool) else str(level)
            for name, level in self._asked.items()
            if self._worked.get(name) != level
        }


def not_started(
    title: str, said: str, changed: Mapping[str, str], cures: Cures = (), otherwise: str = ""
) -> TargetError:
    """The error of a system that does not start.

    Args:
        title: Of the system.
        said: Its own words.
        changed: Settings that this start changed; those that it names count before the others.
        cures: Known ones.
        otherwise: Advice where nothing is known.
    """
    named = [name for name in changed if _speaks_of(said, name)] or list(changed)
    cure = next((cure for words, cure in cures if words.search(said)), None)
    of = ", ".join(f"{name} = {changed[name]}" for name in named)
    other = f"choose another level of {' or '.join(named)}" if named else None
    advice = "; or ".join(each for each in (cure, other) if each) or otherwise or None
    with_them = f" with {of}" if of else ""
    return TargetError(f"{title} does not start{with_them}; it says: {said}", advice=advice)


def _speaks_of(said: str, name: str) -> bool:
    """Whether a text names a setting: with dashes, underscores or blanks, in whatever case."""
    words = r"[\s_-]+".join(map(re.escape, re.split("[_-]", name)))
    return re.search(rf"(?<![A-Za-z0-9_]){words}(?![A-Za-z0-9_])", said, re.IGNORECASE) is not None
