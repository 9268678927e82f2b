"""Published results that Loadstone ships, to compare the shape of one's own results with.

They are facts about other hardware and other software: never a claim of Loadstone's.
"""

from loadstone.results.references.catalogue import list_references, load_reference
from loadstone.results.references.model import (
    Reference,
    ReferenceColumn,
    ReferenceRow,
    ReferenceTable,
)

__all__ = [
    "Reference",
    "ReferenceColumn",
    "ReferenceRow",
    "ReferenceTable",
    "list_references",
    "load_reference",
]
