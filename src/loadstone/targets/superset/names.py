"""What things are called in Superset that Loadstone makes there."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass

from loadstone.spec.dashboards import Account, Chart, Dashboard, Dataset

_MARK = re.compile(r"loadstone-[0-9a-f]{12}")


@dataclass(frozen=True)
class Names:
    """The names of one content. Without a mark they are those of a Superset of Loadstone's own."""

    mark: str = ""
    """In every name, where others have things of theirs beside; nobody else's has it."""

    @classmethod
    def marked(cls) -> Names:
        """With a new mark."""
        return cls(f"loadstone-{secrets.token_hex(6)}")

    @property
    def warehouse(self) -> str:
        """Of the connection to the database with the star."""
        return self._begun("warehouse")

    @property
    def reader(self) -> str:
        """Of the role of every account."""
        return self._begun("Dashboard reader")

    def region(self, region: str) -> str:
        """Of the role that sees the rows of a region alone, and of its rule."""
        return self._begun(f"Region {region}")

    def dataset(self, dataset: Dataset) -> str:
        """Of the virtual dataset.

        No table has that name: Superset would take the rows that may be seen from the table within
        the query, too, which has not the column by which they are chosen.
        """
        return self._begun(f"{dataset.name}_dataset")

    def slug(self, dashboard: Dashboard) -> str:
        """Of a dashboard, in its address."""
        return f"{self.mark}-{dashboard.slug}" if self.mark else dashboard.slug

    def title(self, of: Dashboard | Chart) -> str:
        """Of a dashboard or a chart, as people read it."""
        return f"{of.title} ({self.mark})" if self.mark else of.title

    def login(self, account: Account) -> str:
        """By which a person logs in."""
        return f"{self.mark}-{account.name}" if self.mark else account.name

    def _begun(self, name: str) -> str:
        return f"{self.mark} {name}" if self.mark else name


OWN = Names()
"""In a Superset of Loadstone's own."""


def is_mark(text: str) -> bool:
    """Whether it is a mark that `Names.marked` makes: what has another is not Loadstone's."""
    return _MARK.fullmatch(text) is not None
