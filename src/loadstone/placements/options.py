"""The mount options that can be chosen, and how the kernel shows that each is in force.

Only options that can be read back are here: one whose effect cannot be seen is no factor. Sources:
ext4(5), xfs(5), btrfs(5), tmpfs(5), mount(8), each tried on Linux 6.18.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from loadstone.errors import WrongInputError
from loadstone.spec.problems import near

FILE_SYSTEMS = ("ext4", "xfs", "btrfs")
"""Those that are made on a block device."""

_NUMBER = r"\d+"
_SIZE = r"\d+[kmg]?"
_COMPRESSION = r"(zlib|lzo|zstd)(:\d+)?|no|none"


@dataclass(frozen=True)
class Option:
    """A mount option and what the kernel shows of it."""

    name: str
    values: str | None = None
    """Pattern of its value, if it takes one."""
    hidden_unless: tuple[str, ...] = ()
    """A default that is not shown: it is in force when none of these is."""
    means: str | None = None
    """The option it is another spelling of."""


def _flags(*names: str) -> list[Option]:
    return [Option(name) for name in names]


def _defaults(**opposites: str) -> list[Option]:
    """Flags that are on by default, each with its opposite, which is shown."""
    found = []
    for name, opposite in opposites.items():
        found += [Option(name, hidden_unless=(opposite,)), Option(opposite)]
    return found


_ANY = [
    *_flags("noatime", "relatime", "nodiratime", "lazytime", "dirsync", "sync"),
    *_flags("nodev", "nosuid", "noexec"),
    Option("strictatime", hidden_unless=("noatime", "relatime")),
]
_EXT4 = [
    *_defaults(barrier="nobarrier", delalloc="nodelalloc", auto_da_alloc="noauto_da_alloc"),
    *_defaults(dioread_nolock="nodioread_nolock", block_validity="noblock_validity"),
    *_defaults(journal_checksum="nojournal_checksum", nodiscard="discard"),
    *_defaults(prefetch_block_bitmaps="no_prefetch_block_bitmaps"),
    *_flags("noinit_itable", "nombcache", "minixdf"),
    Option("barrier", "[01]"),
    Option("dioread_lock", means="nodioread_nolock"),
    Option("data", "journal|ordered|writeback"),
    Option("errors", "continue|remount-ro"),
    *(
        Option(name, _NUMBER)
        for name in ("commit", "stripe", "inode_readahead_blks", "init_itable")
    ),
    *(Option(name, _NUMBER) for name in ("max_batch_time", "min_batch_time", "max_dir_size_kb")),
]
_XFS = [
    *_defaults(nolargeio="largeio", nodiscard="discard", inode64="inode32"),
    *_flags("wsync", "swalloc", "noalign", "filestreams", "noquota"),
    Option("logbufs", "[2-8]"),
    Option("logbsize", "32k|64k|128k|256k|32768|65536|131072|262144"),
    Option("allocsize", _SIZE),
]
_BTRFS = [
    *_defaults(barrier="nobarrier", datacow="nodatacow", datasum="nodatasum", treelog="notreelog"),
    *_defaults(noautodefrag="autodefrag", noflushoncommit="flushoncommit", acl="noacl"),
    *_flags("ssd", "nossd", "ssd_spread"),
    Option("nodiscard", hidden_unless=("discard", "discard=async")),
    Option("discard", "sync|async"),
    Option("compress", _COMPRESSION),
    Option("compress-force", _COMPRESSION),
    *(Option(name, _NUMBER) for name in ("commit", "metadata_ratio")),
    Option("max_inline", _SIZE),
]
_TMPFS = [
    Option("huge", "never|always|within_size|advise"),
    *_flags("noswap", "inode64"),
]

OPTIONS: Mapping[str, Sequence[Option]] = {
    "ext4": [*_ANY, *_EXT4],
    "xfs": [*_ANY, *_XFS],
    "btrfs": [*_ANY, *_BTRFS],
    "tmpfs": [*_ANY, *_TMPFS],
}

_REFUSED = {
    ("xfs", "nobarrier"): "xfs has had no such option since Linux 4.19: it always flushes",
    ("xfs", "barrier"): "xfs has had no such option since Linux 4.19: it always flushes",
    ("ext4", "noload"): "it leaves the journal unread, so what it holds is lost",
    ("ext4", "norecovery"): "it leaves the journal unread, so what it holds is lost",
    ("ext4", "journal_async_commit"): "Linux refuses it together with the default data=ordered",
    ("ext4", "noacl"): "Linux 6.1 removed it",
    ("ext4", "nouser_xattr"): "Linux 6.1 removed it",
    ("btrfs", "nospace_cache"): "Linux refuses it with the free-space tree of a new file system",
}
_NEVER = {
    "ro": "the server must write",
    "noauto": "Loadstone mounts it itself",
    "defaults": "leave it out: the defaults hold anyway",
    "remount": "Loadstone makes a new file system for each placement",
    "loop": "the kind of the placement says so",
}
_HARMLESS_FULL = {"barrier=0": "nobarrier", "barrier=1": "barrier", "discard=sync": "discard"}


def check(file_system: str, options: Iterable[str], also: Iterable[str] = ()) -> None:
    """Sees whether a file system takes these mount options, together.

    Args:
        file_system: `ext4`, `xfs`, `btrfs` or `tmpfs`.
        options: As written: `noatime`, `data=journal`.
        also: Other words that could have been meant, for the hint.

    Raises:
        WrongInputError: With the reason, or what is known.
    """
    seen: dict[str, str] = {}
    for text in options:
        _find(file_system, text, also)
        subject = _subject(file_system, plain_spelling(file_system, text))
        if subject in seen:
            raise WrongInputError(f"{text} and {seen[subject]} contradict each other")
        seen[subject] = text


def plain_spelling(file_system: str, text: str) -> str:
    """One spelling for those that mean the same: `barrier=0` is `nobarrier`."""
    if text in _HARMLESS_FULL:
        return _HARMLESS_FULL[text]
    option = next((each for each in OPTIONS[file_system] if each.name == text), None)
    return option.means if option is not None and option.means else text


def in_force(file_system: str, text: str, shown: Iterable[str]) -> bool:
    """Whether the kernel shows an option to be in force.

    Args:
        file_system: As for `check`.
        text: The option as written.
        shown: All options that the kernel shows of the mount and the file system.
    """
    words = {plain_spelling(file_system, word) for word in shown}
    wanted = plain_spelling(file_system, text)
    name, separator, value = wanted.partition("=")
    if separator:
        return any(_same_value(name, value, word) for word in words) or (
            name.startswith("compress")
            and value in ("no", "none")
            and not any(word.startswith(f"{name}=") for word in words)
        )
    flag = next(
        (each for each in OPTIONS[file_system] if each.name == name and not each.values), None
    )
    if wanted in words:
        return True
    return (
        flag is not None and bool(flag.hidden_unless) and words.isdisjoint(set(flag.hidden_unless))
    )


def _find(file_system: str, text: str, also: Iterable[str]) -> Option:
    name, separator, value = text.partition("=")
    reason = _NEVER.get(name) or _REFUSED.get((file_system, name))
    if reason is not None:
        raise WrongInputError(f"{file_system} cannot be mounted with {name}: {reason}")
    named = [each for each in OPTIONS[file_system] if each.name == name]
    if not named:
        known = {each.name for each in OPTIONS[file_system]} | set(also)
        raise WrongInputError(
            f"{file_system} has no mount option {name!r} that can be read back; {near(name, known)}"
        )
    for option in named:
        if option.values is None and not separator:
            return option
        if option.values is not None and re.fullmatch(option.values, value):
            return option
    wanted = [each.values.replace("\\d+", "NUMBER") for each in named if each.values is not None]
    if not wanted:
        raise WrongInputError(f"{name} takes no value; given {text!r}")
    raise WrongInputError(f"{text!r}: write {name}= and one of {' '.join(wanted)}")


def _subject(file_system: str, plain: str) -> str:
    """What an option is about: two options about the same contradict each other."""
    name = plain.partition("=")[0]
    if name in ("ssd", "nossd", "ssd_spread"):
        return "ssd"
    for option in OPTIONS[file_system]:
        if name in (option.name, *option.hidden_unless) and option.hidden_unless:
            return option.name
    return name


def _same_value(name: str, value: str, word: str) -> bool:
    other_name, _, other = word.partition("=")
    if other_name != name:
        return False
    if name.startswith("compress"):  # zstd is shown with its level
        return other == value or other.partition(":")[0] == value
    return other == value or _bytes(other) == _bytes(value) is not None


def _bytes(text: str) -> int | None:
    match = re.fullmatch(r"(\d+)([kmg]?)", text.lower())
    if match is None:
        return None
    return int(match[1]) << 10 * " kmg".index(match[2] or " ")
