"""The journal: what is about to be changed and how to undo it, written before it is done.

A journal is a file of JSON lines, flushed to disk before each change. While it is open, a
pointer to it lies in the state folder, so that any later command finds it, also after `kill -9`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import RawIOBase
from pathlib import Path
from typing import Any

import psutil

from loadstone.errors import TargetError, WrongInputError
from loadstone.folders_of_user import folder_of_user

UndoFunction = Callable[[dict[str, Any]], None]

_UNDO: dict[str, UndoFunction] = {}


def undoes(kind: str) -> Callable[[UndoFunction], UndoFunction]:
    """Registers the function that undoes changes of this kind.

    It is given the entry's data, runs in any process, must succeed when there is nothing left to
    undo, and raises when something is left that it could not undo.
    """

    def register(function: UndoFunction) -> UndoFunction:
        _UNDO[kind] = function
        return function

    return register


@dataclass(frozen=True)
class Entry:
    """A change that was about to be made."""

    number: int
    what: str
    kind: str
    data: dict[str, Any] = field(default_factory=dict)


def state_dir() -> Path:
    """Where pointers to open journals lie: `LOADSTONE_STATE`, else the XDG state folder."""
    return folder_of_user("LOADSTONE_STATE", "XDG_STATE_HOME", ".local/state")


class Journal:
    """An open journal. Use as a context manager: leaving it undoes what is still open."""

    def __init__(self, path: Path, command: str) -> None:
        """Opens a new journal.

        Args:
            path: The file; its folder must exist.
            command: The command line, for the reader of a later `recover`.
        """
        self._pointer = _pointer_path(path)
        make_folder_of_pointers()
        self.path = path
        self._open: dict[int, Entry] = {}
        self._left: dict[int, Exception] = {}
        """By number: why a change that is open is left to `recover`."""
        self._next = 1
        self._file = path.open("a", encoding="utf-8")
        self._copies: list[RawIOBase] = []
        process = psutil.Process()
        _write_durably(
            self._pointer,
            json.dumps(
                {
                    "journal": str(path.resolve()),
                    "pid": process.pid,
                    "process_started": process.create_time(),
                    "command": command,
                }
            ),
        )
        self._write({"event": "open", "pid": process.pid, "command": command})

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def before(self, what: str, kind: str, **data: Any) -> Entry:
        """Writes down a change that is about to be made, and how to undo it.

        Args:
            what: The change, for people.
            kind: A kind that some function was registered for with `undoes`.
            **data: What that function needs; no passwords.

        Raises:
            OSError: If it could not be written: then do not make the change.
        """
        if kind not in _UNDO:
            raise KeyError(f"nothing undoes {kind!r}")
        entry = Entry(self._next, what, kind, data)
        self._write(
            {"event": "change", "number": entry.number, "what": what, "kind": kind, "data": data}
        )
        self._next += 1
        self._open[entry.number] = entry
        return entry

    def undone(self, entry: Entry) -> None:
        """Writes down that a change was undone in the normal way."""
        if self._open.pop(entry.number, None) is not None:
            self._note_undone(entry)

    def undo(self, entry: Entry) -> None:
        """Undoes a change now, with the function that `recover` would use."""
        if entry.number in self._open:
            _UNDO[entry.kind](entry.data)
            self.undone(entry)

    def leave(self, entry: Entry, why: Exception) -> None:
        """Leaves a change to `recover` that could not be undone: `close` does not try it again.

        Whoever made it may still undo it before.

        Args:
            entry: The change.
            why: It could not be undone; `close` tells it.
        """
        self._left[entry.number] = why

    def note(self, text: str) -> None:
        """Writes a line for the reader of the journal."""
        self._write({"event": "note", "text": text})

    @contextlib.contextmanager
    def copied_to(self, path: Path) -> Iterator[None]:
        """Also writes what comes within the block to another file (the trial's own journal)."""
        with path.open("ab", buffering=0) as copy:
            self._copies.append(copy)
            try:
                yield
            finally:
                self._copies.remove(copy)

    def close(self) -> None:
        """Undoes what is open, last first, and closes.

        Raises:
            ExceptionGroup: Of a TargetError for each change that could not be undone; the journal
                then stays open for `loadstone recover`.
        """
        if self._file.closed:
            return
        failures = []
        for entry in sorted(self._open.values(), key=lambda each: -each.number):
            why = self._left.get(entry.number)
            try:
                if why is None:
                    self.undo(entry)
            except Exception as error:  # one failure must not stop the rest
                why = error
            if why is not None:
                failures.append(TargetError(f"{entry.what}: could not be undone: {why}"))
        if not failures:
            self._write_if_possible({"event": "close"})
            self._pointer.unlink(missing_ok=True)
        self._file.close()
        if failures:
            raise ExceptionGroup("some changes could not be undone", failures)

    def _note_undone(self, entry: Entry) -> None:
        self._write_if_possible({"event": "undone", "number": entry.number})

    def _write_if_possible(self, line: dict[str, Any]) -> None:
        # A full disk must not stop the undoing; undoing twice is harmless.
        with contextlib.suppress(OSError):
            self._write(line)

    def _write(self, line: dict[str, Any]) -> None:
        text = json.dumps({"at": datetime.now(UTC).isoformat(), **line}) + "\n"
        for copy in self._copies:
            with contextlib.suppress(OSError):
                copy.write(text.encode())
        self._file.write(text)
        self._file.flush()
        os.fsync(self._file.fileno())


@dataclass(frozen=True)
class OpenJournal:
    """A journal that was not closed."""

    path: Path
    pointer: Path
    command: str
    pid: int
    alive: bool
    """Its process still runs: it is nobody else's business."""

    def entries(self) -> list[Entry]:
        """Changes not undone, in the order they were made."""
        found: dict[int, Entry] = {}
        if not self.path.exists():
            return []
        for text in self.path.read_text(encoding="utf-8").splitlines():
            try:
                line = json.loads(text)
            except json.JSONDecodeError:
                continue  # the line that the killed process was writing
            if line["event"] == "change":
                found[line["number"]] = Entry(
                    line["number"], line["what"], line["kind"], line["data"]
                )
            elif line["event"] == "undone":
                found.pop(line["number"], None)
            elif line["event"] == "close":
                found.clear()
        return list(found.values())

    def recover(self, report: Callable[[Entry, Exception | None], None]) -> bool:
        """Undoes every open change, last first.

        Args:
            report: Called after each with the failure, or None.

        Returns:
            Whether nothing is left.
        """
        clean = True
        for entry in reversed(self.entries()):
            try:
                _UNDO[entry.kind](entry.data)
            except Exception as error:
                clean = False
                report(entry, error)
            else:
                self._append({"event": "undone", "number": entry.number, "by": "recover"})
                report(entry, None)
        if clean:
            self._append({"event": "close", "by": "recover"})
            self.pointer.unlink(missing_ok=True)
        return clean

    def _append(self, line: dict[str, Any]) -> None:
        if not self.path.exists():
            return
        with contextlib.suppress(OSError), self.path.open("a", encoding="utf-8") as file:
            file.write("\n" + json.dumps({"at": datetime.now(UTC).isoformat(), **line}) + "\n")


def open_journals() -> list[OpenJournal]:
    """Every journal that was not closed, on this machine, for this user."""
    found = []
    for pointer in sorted(_pointers().glob("*.json")):
        try:
            line = json.loads(pointer.read_text(encoding="utf-8"))
        except (OSError, json.JSONDecodeError):
            continue
        found.append(
            OpenJournal(
                Path(line["journal"]),
                pointer,
                line.get("command", ""),
                line["pid"],
                _runs(line["pid"], line["process_started"]),
            )
        )
    return found


def _runs(pid: int, started: float) -> bool:
    try:
        process = psutil.Process(pid)
        return abs(process.create_time() - started) < 1 and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _pointer_path(path: Path) -> Path:
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]
    return _pointers() / f"{digest}.json"


def _pointers() -> Path:
    return state_dir() / "open"


def make_folder_of_pointers() -> None:
    """Makes the folder of pointers, before anything else is made or begun.

    Raises:
        WrongInputError: If it cannot be made or written.
    """
    folder = _pointers()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK | os.X_OK)
    except OSError as error:
        raise _unwritable(folder, error.strerror or str(error)) from error
    if not writable:
        raise _unwritable(folder, "no permission")


def _unwritable(folder: Path, why: str) -> WrongInputError:
    return WrongInputError(
        f"{folder} cannot be written ({why}): Loadstone notes there what it must undo",
        advice="name another folder with LOADSTONE_STATE",
    )


def _write_durably(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
