"""The table of all rules, for the terminal and for `docs/doctor.md`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loadstone.doctor.model import Rule
from loadstone.doctor.rules import RULES

BEGIN = "<!-- rules: made by python -m loadstone.doctor.catalogue docs/doctor.md -->"
END = "<!-- end of rules -->"
_HEADINGS = {
    "host": "The host",
    "postgresql": "PostgreSQL",
    "mariadb": "MariaDB",
    "sqlite": "SQLite",
    "superset": "Apache Superset",
}


def rules_table() -> str:
    """All rules as tables in Markdown, one for each subject."""
    return "\n".join(_lines()) + "\n"


def put_into(text: str) -> str:
    """A document with the tables between its marks.

    Raises:
        ValueError: If it has no marks.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the document lacks {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n{rules_table()}{END}{after}"


def _lines() -> Iterator[str]:
    for subject, heading in _HEADINGS.items():
        yield f"\n### {heading}\n"
        yield "| rule | severity | looks for | source |"
        yield "|---|---|---|---|"
        for rule in RULES.values():
            if rule.subject == subject:
                yield _line(rule)
    yield ""


def _line(rule: Rule) -> str:
    source = f"[{rule.source.title}]({rule.source.url})"
    about = rule.about.replace("|", "\\|")
    return f"| `{rule.name}` | {rule.severity.value} | {about} | {source} |"


def main(path: str) -> None:
    """Brings the tables of a document up to date."""
    file = Path(path)
    file.write_text(put_into(file.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    import sys

    main(sys.argv[1])
