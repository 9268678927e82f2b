"""Where something was written that stands in a file which an experiment names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from io import StringIO

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import Node

from loadstone.spec.problems import Path, Source
from loadstone.spec.yaml_lines import line_of


@dataclass(frozen=True)
class KeptFile:
    """A file whose text is kept with the experiment, in the place of its path."""

    name: str
    """What errors call it."""
    text: str = field(repr=False)

    def line(self, path: Path) -> int:
        """The line of a field in it, from 1; the first of a file that is not YAML."""
        try:
            root: Node | None = YAML(typ="safe", pure=True).compose(StringIO(self.text))
        except YAMLError:
            return 1
        return line_of(root, path)


@dataclass(frozen=True)
class WithFiles:
    """The source of an experiment, some of whose fields stand in files of their own."""

    experiment: Source
    files: Mapping[Path, KeptFile]
    """Field of the experiment: the file that it names."""

    @property
    def name(self) -> str:
        """That of the experiment."""
        return self.experiment.name

    def origin(self, path: Path) -> str:
        """`file:line` in the file that holds the field, or where the experiment has it."""
        for field_path, file in self.files.items():
            within = path[len(field_path) :]
            if within and path[: len(field_path)] == field_path:
                return f"{file.name}:{file.line(within)}"
        return self.experiment.origin(path)

    def position(self, path: Path) -> int:
        """As the experiment has it."""
        return self.experiment.position(path)
