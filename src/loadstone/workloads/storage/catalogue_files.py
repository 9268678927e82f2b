"""The files of a catalogue: where they are and which bytes they hold.

The load driver makes the same ones (`driver/src/catalogue/`): what it wrote is held against this.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from loadstone.targets.file_tree import FileTree

LEAST_BYTES, MOST_BYTES = 256, 8192
"""Of a file."""
TOP = "users"
"""Above all homes."""
MANIFEST = "catalogue.json"
"""What the files follow from, beside them."""
_BLOCK_BYTES = 1 << 20
_HEADER_BYTES = 32
_MASK = (1 << 64) - 1
_HEADER = re.compile(rb"LSC1 ([0-9a-f]{8}) ([0-9a-f]{8}) ([0-9a-f]{8})\n")
_FILE = re.compile(r"f(\d{5,})")
_NEW = re.compile(r"f\d{5,}\.new")
_EXAMPLES = 3


def mix(value: int) -> int:
    """The finaliser of SplitMix64 (Steele, Lea, Flood 2014): 64 bits from 64."""
    value = (value + 0x9E3779B97F4A7C15) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


class Contents:
    """The bytes of all files of a seed: a line that names the file, then a piece of a block."""

    def __init__(self, seed: int) -> None:
        self._state = mix(seed)
        words = (mix((self._state + index) & _MASK) for index in range(_BLOCK_BYTES // 8))
        self._block = b"".join(word.to_bytes(8, "little") for word in words)

    def bytes_of(self, home: int, file: int, version: int) -> bytes:
        """What a version of a file holds."""
        drawn = mix(mix(mix(self._state ^ home) ^ file) ^ version)
        size = LEAST_BYTES + (drawn & 0xFFFFFFFF) % (MOST_BYTES - LEAST_BYTES + 1)
        begin = (drawn >> 32) % (_BLOCK_BYTES - MOST_BYTES)
        header = b"LSC1 %08x %08x %08x\n" % (home, file, version)
        return header + self._block[begin : begin + size - _HEADER_BYTES]

    def version(self, home: int, file: int, content: bytes) -> int | None:
        """Which version of a file `content` is; None if it is no whole one of this file."""
        header = _HEADER.match(content)
        if header is None:
            return None
        version = int(header[3], 16)
        return version if content == self.bytes_of(home, file, version) else None


@dataclass(frozen=True)
class Homes:
    """Users and where their homes are.

    Attributes:
        count: How many.
        files: That each begins with.
        layout: `hashed` or `flat`.
        hash_characters: Of a name, which give its hashed folder a name.
        names: Of users, in turn; none: they are numbered.
    """

    count: int
    files: int
    layout: str
    hash_characters: int
    names: Sequence[str] = ()

    def name(self, home: int) -> str:
        """Of user number `home`, from 0."""
        if not self.names:
            return f"user{home:07}"
        round_, index = divmod(home, len(self.names))
        return self.names[index] + (str(round_ + 1) if round_ else "")

    def parent(self, home: int) -> str:
        """The folder in which a home lies, below that of the catalogue."""
        flat = self.layout == "flat"
        return TOP if flat else f"{TOP}/{self.name(home)[: self.hash_characters]}"

    def path(self, home: int) -> str:
        """Of a home, below the folder of the catalogue."""
        return f"{self.parent(home)}/{self.name(home)}"

    def parents(self) -> dict[str, int]:
        """Each folder of homes: how many lie in it."""
        counts: dict[str, int] = {}
        for home in range(self.count):
            parent = self.parent(home)
            counts[parent] = counts.get(parent, 0) + 1
        return counts

    @property
    def inodes(self) -> int:
        """Files and folders that are made."""
        return self.count * (self.files + 1) + len(self.parents()) + 1


@dataclass
class Found:
    """What is in the homes.

    Attributes:
        missing: First files that are not there, by path.
        wrong: Files that hold something else than they should, by path.
        others: What is neither a first file nor one that was created.
        unfinished: What an operation leaves that fails on its way: a new version beside its file,
            a created file that was not written.
        files: All that are whole.
        replaced: Versions of all first files, added up: each replacement adds one.
        created: Files beyond the first ones.
    """

    missing: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    unfinished: list[str] = field(default_factory=list)
    files: int = 0
    replaced: int = 0
    created: int = 0


def keep_seed(tree: FileTree, seed: int) -> None:
    """Writes down of which seed the files are."""
    tree.write(MANIFEST, json.dumps({"seed": seed}).encode())


def kept_seed(tree: FileTree) -> int:
    """The seed of the files in a folder."""
    return int(json.loads(tree.read(MANIFEST))["seed"])


def read_back(tree: FileTree, homes: Homes, contents: Contents) -> Found:
    """Reads every file of every home, and compares it with what it should hold."""
    found = Found()
    for home in range(homes.count):
        _read_home(tree, homes.path(home), home, homes.files, contents, found)
    return found


def _read_home(  # noqa: PLR0917 - one home of many
    tree: FileTree, path: str, home: int, files: int, contents: Contents, found: Found
) -> None:
    names = tree.names(path) or set()
    shown = tree.shown(path)
    found.missing += [
        f"{shown}/{name}" for name in map("f{:05}".format, range(files)) if name not in names
    ]
    for name in sorted(names):
        match = _FILE.fullmatch(name)
        if match is None:
            left = found.unfinished if _NEW.fullmatch(name) else found.others
            left.append(f"{shown}/{name}")
            continue
        number = int(match[1])
        version = contents.version(home, number, tree.read(f"{path}/{name}"))
        if version is None:
            (found.wrong if number < files else found.unfinished).append(f"{shown}/{name}")
            continue
        found.files += 1
        if number < files:
            found.replaced += version
        else:
            found.created += 1


def some(paths: Sequence[str]) -> str:
    """The first of a list, and how many there are."""
    shown = ", ".join(paths[:_EXAMPLES])
    return f"{len(paths):,}: {shown}" + (", ..." if len(paths) > _EXAMPLES else "")
