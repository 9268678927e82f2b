"""The page of the benchmarks: a section for each, replaced where it is measured again."""

from __future__ import annotations

import platform
import re
from pathlib import Path

OUTPUT = Path(__file__).parent.parent / "docs" / "benchmarks.md"


def put(section: str) -> None:
    """Prints a section, and puts it in its place on the page."""
    print(section, flush=True)
    OUTPUT.write_text(with_section(OUTPUT.read_text(encoding="utf-8"), section), "utf-8")


def with_section(page: str, section: str) -> str:
    """The page with a section in the place of the one of that title, or at its end."""
    head = (
        "# How fast Loadstone itself is\n\n"
        "Written by `make bench`. Peers run interleaved on the same machine in the same run, so "
        "the ratios can be carried elsewhere; the absolute figures are of this machine "
        f"({_machine()}) and drift with it. A section is of the day on which it was last run.\n"
    )
    sections = {_title(each): each for each in re.split(r"(?m)^(?=## )", page)[1:]}
    sections[_title(section)] = section
    return "\n".join([head, *(each.strip() + "\n" for each in sections.values())])


def _title(section: str) -> str:
    return section.partition("\n")[0]


def _machine() -> str:
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    count = Path("/proc/cpuinfo").read_text(encoding="utf-8").count("processor\t")
    return f"{count} x {model}, Linux {platform.release().split('-')[0]}"
