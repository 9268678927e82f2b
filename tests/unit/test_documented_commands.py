"""Commands in the README and the docs: each has a verb that exists and options that it takes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from option_table import options

from loadstone.cli.main import VERBS

ROOT = Path(__file__).parent.parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
FENCED = re.compile(r"^```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`]+)`")
CALL = re.compile(
    r"(?:^|(?<=[\s;&|(/]))loadstone[ \t]+(?P<verb>[a-z]+(?:-[a-z]+)*)(?P<rest>[^\n;|&#]*)"
)
"""A call up to what ends it in a shell: the next command, or a remark."""
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
EVERYWHERE = frozenset({"--help", "--debug"})


def known() -> dict[tuple[str, ...], set[str]]:
    """The options of each command, as the command line itself describes them."""
    found: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    for each in options():
        found[each.command].add(each.name)
    return found


KNOWN = known()


def calls(text: str) -> Iterator[tuple[str, str]]:
    """The verb of each call in the code of a page, and what follows it."""
    blocks = FENCED.findall(text)
    inline = INLINE.findall(FENCED.sub("", text))
    for code in (*blocks, *(each.replace("\n", " ") for each in inline)):
        for call in CALL.finditer(code.replace("\\\n", " ")):
            yield call["verb"], call["rest"]


def wrong(text: str) -> list[str]:
    """What calls on a page have that the command line does not take."""
    found = []
    for verb, rest in calls(text):
        below = (verb, *rest.split()[:1])
        command = below if below in KNOWN else (verb,)
        taken = KNOWN.get(command, set()) | EVERYWHERE
        if verb not in {name for name, _, _ in VERBS}:
            found.append(f"loadstone {verb}: no such command")
        found += [
            f"loadstone {' '.join(command)}: no option {option}"
            for option in OPTION.findall(rest)
            if option not in taken
        ]
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_only_commands_and_options_that_exist(page: Path):
    assert wrong(page.read_text(encoding="utf-8")) == []


def test_the_commands_of_the_readme_are_seen():
    seen = [verb for verb, _ in calls(PAGES[0].read_text(encoding="utf-8"))]
    assert len(seen) > 25
    assert {"run", "compare", "import", "recover"} <= set(seen)


def test_what_does_not_exist_is_found_wherever_it_stands():
    text = (
        "`loadstone run oltp --userz 3`, `.venv/bin/loadstone reprot x`\n"
        "```sh\n"
        "loadstone list; loadstone show x --lost   # --remark\n"
        "loadstone import har x.har \\\n"
        "    --outputs y.yaml | less\n"
        "loadstone cube data files --scale 0.1 --sede=3 && loadstone recover --all\n"
        "```\n"
    )
    assert sorted(wrong(text)) == [
        "loadstone cube data: no option --sede",
        "loadstone import har: no option --outputs",
        "loadstone recover: no option --all",
        "loadstone reprot: no such command",
        "loadstone run: no option --userz",
        "loadstone show: no option --lost",
    ]
