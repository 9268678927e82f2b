"""Writes rows to a file, each in a transaction of its own, and says which are committed."""

import sys
from pathlib import Path

from loadstone.targets.duckdb.database import connect


def main(path: str, *settings: str) -> None:
    """Goes on until it is ended."""
    connection = connect(Path(path), dict(setting.split("=", 1) for setting in settings))
    number = 0
    while True:
        number += 1
        connection.execute("INSERT INTO event VALUES (?, ?)", [number, f"text {number}" * 10])
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
