"""The layers of `src/loadstone`: who imports whom.

python tests/layers.py    draws the packages as they are, as docs/architecture.md shows them
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src"
PACKAGE = "loadstone"
GROUND = (
    *("secret", "errors", "text", "limits", "counting", "units", "registered"),
    *("folders_of_user", "cache"),
)
"""Modules that nearly all import; they are not drawn."""
LAYERS = (
    *GROUND,
    *("spec", "protocol", "journal", "results", "job", "schedulers"),
    *("host", "probes", "meters", "placements", "cluster", "applications"),
    *("targets", "workloads", "factors"),
    *("load", "runner", "fio"),
    *("experiments", "report", "doctor", "cli"),
)
"""From the ground up: an import points to what stands before."""


@dataclass(frozen=True, order=True)
class Arrow:
    """An import of one layer by another."""

    module: str
    line: int
    imported: str

    @property
    def ends(self) -> tuple[str, str]:
        """The layer that imports, and the one that is imported."""
        return self.module.split(".")[1], self.imported.split(".")[1]

    def __str__(self) -> str:
        return f"{self.module}, line {self.line}, imports {self.imported}"


def modules() -> dict[str, str]:
    """Dotted name: text, of each module in a layer."""
    found = {}
    for path in sorted((SOURCE / PACKAGE).rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name != PACKAGE:
            found[name] = path.read_text()
    return found


def arrows(texts: Mapping[str, str]) -> Iterator[Arrow]:
    """Each import that leads from a layer into another, also those within functions."""
    for module, text in texts.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                names = [each.name for each in node.names]
            elif isinstance(node, ast.ImportFrom):
                own = node.module or ""
                names = [f"{own}.{each.name}" for each in node.names] if own == PACKAGE else [own]
            else:
                continue
            for name in names:
                arrow = Arrow(module, node.lineno, name)
                if name.startswith(f"{PACKAGE}.") and _leaves(arrow):
                    yield arrow


def _leaves(arrow: Arrow) -> bool:
    module, imported = arrow.ends
    return module != imported and not imported.startswith("__")


def back(found: Iterable[Arrow]) -> list[Arrow]:
    """Those that point up."""
    return sorted(each for each in found if not _points_down(*each.ends))


def _points_down(module: str, imported: str) -> bool:
    return LAYERS.index(imported) < LAYERS.index(module)


def drawing(found: Collection[Arrow]) -> str:
    """A Mermaid graph of the layers, without the arrows that others imply."""
    below: dict[str, set[str]] = {layer: set() for layer in LAYERS if layer not in GROUND}
    for module, imported in {each.ends for each in found}:
        if imported in below and module in below:
            below[module].add(imported)
    lines = ["flowchart TD"]
    for layer in reversed(list(below)):
        implied = {each for lower in below[layer] for each in _reached(lower, below)}
        lines += [f"    {layer} --> {each}" for each in LAYERS if each in below[layer] - implied]
    return "\n".join(lines)


def _reached(layer: str, below: Mapping[str, set[str]]) -> set[str]:
    return below[layer] | {each for lower in below[layer] for each in _reached(lower, below)}


if __name__ == "__main__":
    print(drawing(list(arrows(modules()))))
