"""Names of the users of a catalogue."""

from __future__ import annotations

import re
from pathlib import Path

from loadstone.errors import WrongInputError
from loadstone.text import read_text

NUMBERED, GIVEN = "numbered", "given"

# fmt: off
GIVEN_NAMES = (
    "aaron", "adam", "adele", "agnes", "ahmed", "aiko", "alan", "albert", "alice", "amara",
    "amir", "ana", "andrew", "anil", "anna", "anton", "aria", "arthur", "ava", "barbara",
    "beatrice", "ben", "bianca", "boris", "brian", "bruno", "carla", "carlos", "carmen",
    "catherine", "chen", "chloe", "clara", "daniel", "david", "deepa", "diana", "diego",
    "dmitri", "edith", "edward", "elena", "eli", "elsa", "emil", "emma", "enzo", "erik",
    "esther", "eva", "fatima", "felix", "fiona", "frank", "freya", "gabriel", "george",
    "gita", "grace", "greta", "gustav", "hana", "hannah", "harry", "hassan", "hector",
    "helen", "henry", "hiro", "hugo", "ian", "ibrahim", "ida", "igor", "ines", "irene",
    "isaac", "ivan", "jack", "jane", "javier", "jin", "joan", "john", "jose", "julia", "kai",
    "karen", "karim", "kate", "kenji", "kevin", "khadija", "kim", "lara", "laura", "leah",
    "leo", "lily", "linda", "ling", "lisa", "louis", "lucia", "luke", "magnus", "malik",
    "marco", "maria", "martin", "maya", "mei", "michael", "mina", "mohamed", "nadia", "naomi",
    "nasir", "nina", "noah", "nora", "olga", "oliver", "omar", "oscar", "pablo", "paul",
    "pedro", "petra", "philip", "priya", "quentin", "rachel", "rafael", "rahul", "rana",
    "rebecca", "rita", "robert", "rosa", "ruth", "sakura", "sam", "sara", "sergei", "simon",
    "sofia", "stella", "steve", "sven", "tamara", "tariq", "thomas", "tina", "tomas", "uma",
    "ursula", "valentina", "victor", "vikram", "vera", "wanda", "wei", "william", "xenia",
    "xavier", "yara", "yuki", "yusuf", "yvonne", "zahra", "zoe",
)
# fmt: on
"""Given names of several languages: the first two letters of them are not spread evenly."""
_NAME = re.compile(r"[a-z][a-z._-]{0,63}")


def read_names(path: Path) -> tuple[str, ...]:
    """The names of a file, one a line; empty lines are passed over.

    Raises:
        WrongInputError: If it cannot be read, has none, or one that cannot be the name of a folder.
    """
    text = read_text(path)
    names = [line.strip() for line in text.splitlines() if line.strip()]
    for name in names:
        if not _NAME.fullmatch(name):
            raise WrongInputError(
                f"{path}: {name!r} cannot be the name of a user",
                advice="write 1 to 64 small letters, dots and dashes, a letter first; numbers are "
                "put behind names that are used again",
            )
    if not names or len(set(names)) < len(names):
        raise WrongInputError(f"{path} has no name, or one twice", advice="give each name once")
    return tuple(names)


def is_file(scheme: str) -> bool:
    """Whether a scheme of names is the path of a list of one's own."""
    return scheme not in (NUMBERED, GIVEN)


def names_of(scheme: str) -> tuple[str, ...]:
    """Names by scheme: none for `numbered`, the list for `given`, else those of the file."""
    if scheme == NUMBERED:
        return ()
    return GIVEN_NAMES if scheme == GIVEN else read_names(Path(scheme))
