"""What a workload can need of a target, by name."""

from __future__ import annotations

from collections.abc import Iterable

OVERWRITING = "overwriting"
SYNCS = ("fsync", "fdatasync", "dsync")
"""What may follow, or be said of, each write: not every transport of the generator has them."""
SECOND_PLACE = "second-place"
FOLDERS = "folders"
WEB = "web"
BI = "bi"
MANY_ACCOUNTS = "many-accounts"
FIRST_VISITS = "first-visits"
STATEMENTS = "statements"
JAVA_TRANSACTIONS = "java-transactions"
JOBS = "jobs"

CAPABILITIES = {
    "sql": "it answers SQL",
    "transactions": "many small ones at a time, in which those that change the same rows wait for "
    "each other",
    "procedures": "stored in the server",
    "bulk": "the load generator stores rows in bulk",
    "files": "it loads the rows of files",
    "cells": "the load generator stores the cells of a planning cube",
    "changes": "rows can be inserted and deleted by a query",
    "file-access": "the load generator reads and writes its files itself",
    FOLDERS: "many files and folders can be made in it",
    OVERWRITING: "all that lies there may be written over: a device is named twice, `--data DEVICE "
    "--set erase=DEVICE`",
    "fsync": "a flush after a write: fio's NFS has none, and commits at a close only",
    "fdatasync": "a flush of a file's data after a write: fio's NBD has fsync only, its "
    "NFS neither",
    "dsync": "writes that are durable when they are answered (O_DSYNC): fio never asks "
    "for them by NBD, iSCSI or NFS, where this would do nothing",
    "table-compression": "a table can be compressed when it is not written any more",
    SECOND_PLACE: "a table can be moved to other storage",
    WEB: "it answers HTTP at an address",
    BI: "it serves dashboards to people with accounts",
    MANY_ACCOUNTS: "it has accounts for thousands of people, or makes them in seconds",
    FIRST_VISITS: "its pages have static files that a browser asks for once",
    JAVA_TRANSACTIONS: "Java virtual machines make transactions, and serve them",
    JOBS: "it runs jobs on nodes with slots, by a scheduler",
    STATEMENTS: "the load generator runs statements of any kind on it, as users with think times",
}
"""Each with what it means."""


def explained(names: Iterable[str]) -> str:
    """The capabilities as one text, each with what it means, if it is one of Loadstone's."""
    meanings = {name: CAPABILITIES.get(name) for name in sorted(names)}
    return ", ".join(
        f"{name} ({meaning})" if meaning else name for name, meaning in meanings.items()
    )
