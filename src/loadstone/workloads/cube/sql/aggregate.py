"""Steps 4, 6 and the second half of 7: the cells of stored parents, level after level.

Products are rolled up first, for the entities of level 0; then entities, for all products. Rolling
up one dimension and one level at a time touches each row once a level; what lies on a ragged branch
joins where its parent is.
"""

from __future__ import annotations

from collections.abc import Sequence

from loadstone.workloads.cube.outline.model import Dimension, Outline
from loadstone.workloads.cube.outline.sparse import ENTITY, PRODUCT
from loadstone.workloads.cube.rollup import KEY
from loadstone.workloads.cube.sql.flavours import Flavour
from loadstone.workloads.cube.sql.tables import ABOVE, AMOUNTS, BASE, KEYS, UPPER
from loadstone.workloads.cube.sql.work import Work, at_once, one_by_one

_DEEPEST = 5
"""Generation of the lowest members."""
_SUMS = ", ".join(f"sum(c.{amount}) AS {amount}" for amount in AMOUNTS)


def aggregated(flavour: Flavour, outline: Outline, condition: str, threads: int) -> Work:
    """Adds to the upper cells those above the cells of level 0 that meet a condition.

    Args:
        flavour: The engine's way.
        outline: With the levels.
        condition: On rows `c` of level 0; no upper cell may be there that meets it.
        threads: `calc_threads`.
    """
    rise = _Rise(flavour, outline, threads)
    work = rise.up("product", [(BASE, f" AND {condition}")])
    products = [(BASE, f" AND {condition}"), *((name, "") for name in rise.made)]
    work += rise.up("entity", products)
    statements = [
        f"INSERT INTO {UPPER} SELECT {KEYS}, {', '.join(AMOUNTS)} FROM {name}" for name in rise.made
    ]
    dropped = [flavour.dropped(name) for name in rise.made]
    ended = (*dropped, *flavour.analysed(UPPER), *flavour.checkpoint)
    return work + one_by_one(*flavour.threads(threads), *statements, *ended)


def levels() -> list[str]:
    """All tables that an aggregation makes on its way."""
    return [f"cube_{column}_{level}" for column in ABOVE for level in range(1, _DEEPEST)]


class _Rise:
    """One aggregation."""

    def __init__(self, flavour: Flavour, outline: Outline, threads: int) -> None:
        self._flavour = flavour
        self._dimensions = {"entity": outline[ENTITY], "product": outline[PRODUCT]}
        self._threads = threads
        self.made: list[str] = []
        """Tables of levels."""

    def up(self, column: str, sources: Sequence[tuple[str, str]]) -> Work:
        """Rolls up one dimension, from its lowest level to its root.

        Args:
            column: Of the dimension.
            sources: Tables with its members of level 0, each with a condition on rows `c`.
        """
        dimension = self._dimensions[column]
        leaves = {int(dimension.generations[leaf]) for leaf in dimension.leaves()}
        work, below = Work(), None
        for generation in range(max(leaves), 1, -1):
            found = [*sources] if generation in leaves else []
            found += [] if below is None else [(below, "")]
            below = f"cube_{column}_{generation - 1}"
            work += self._level(column, generation, found, below)
            self.made.append(below)
        return work

    def _level(
        self, column: str, generation: int, sources: Sequence[tuple[str, str]], into: str
    ) -> Work:
        """The parents of the members of a generation."""
        other = "entity" if column == "product" else "product"
        chosen = ", ".join(f"a.parent AS {column}" if own == column else f"c.{own}" for own in KEY)
        kept = ", ".join(f"c.{own}" for own in (*KEY, *AMOUNTS))

        def statement(part: str) -> str:
            rows = " UNION ALL ".join(
                f"SELECT {kept} FROM {name} c WHERE TRUE{condition}{part}"
                for name, condition in sources
            )
            grouped = ", ".join("a.parent" if own == column else f"c.{own}" for own in KEY)
            return (
                f"INSERT INTO {into} SELECT {chosen}, {_SUMS} FROM ({rows}) c "
                f"JOIN {ABOVE[column]} a ON a.child = c.{column} AND a.generation = {generation} "
                f"GROUP BY {grouped}"
            )

        made = at_once([(self._flavour.cells(into, scratch=True),)])
        return made + self._flavour.spread(statement, f"c.{other}", self._threads)


def parents_of(dimension: Dimension) -> list[tuple[int, int, int]]:
    """Each stored member with its parent and its generation: the rows of `ABOVE`."""
    return [
        (number, member.parent, int(dimension.generations[number]))
        for number, member in enumerate(dimension.members)
        if member.storage == "stored" and member.parent is not None
    ]
