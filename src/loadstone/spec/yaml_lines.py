"""Where a field of a YAML file stands."""

from __future__ import annotations

from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from loadstone.spec.problems import Path


def line_of(root: Node | None, path: Path) -> int:
    """The line of a field, from 1, or of the nearest field around it that is there.

    Args:
        root: Of the file, as the reader composes it.
        path: Names and positions, from the root to the field.
    """
    here, line = root, 1
    for part in path:
        if isinstance(here, MappingNode):
            entry = next((pair for pair in here.value if pair[0].value == part), None)
            if entry is None:
                return line
            line, here = entry[0].start_mark.line + 1, entry[1]
        elif isinstance(here, SequenceNode) and isinstance(part, int) and part < len(here.value):
            here = here.value[part]
            line = here.start_mark.line + 1
        else:
            return line
    return line
