"""Writes rows into a database until it is killed; says each one after its commit.

Used as a program: `sqlite_writer.py DATABASE PRAGMA=VALUE...`.
"""

import sqlite3
import sys


def main(path: str, *settings: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    for setting in settings:
        name, _, value = setting.partition("=")
        connection.execute(f"PRAGMA {name} = '{value}'").fetchall()
    number = 0
    while True:
        number += 1
        connection.execute("INSERT INTO event VALUES (?, ?)", (number, "x" * 200))
        print(number, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
