"""What fio wrote, taken apart: whole JSON documents, and the notes around them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_BEGIN = re.compile(r'\{\s*"fio version"\s*:')
_NO_FIGURE = re.compile(r"(?<=[\s:,\[])[-+]?(?:nan|inf)(?=[\s,}\]])")
"""What printf makes of a figure that is none, where JSON would have a number."""
_GREETING = "fio: connected to NBD server"
"""What its engine says each time: it tells nothing."""
_DECODER = json.JSONDecoder(parse_constant=lambda _word: None)


@dataclass(frozen=True)
class Output:
    """What fio wrote.

    Attributes:
        document: The last whole one; None if there is none.
        notes: Lines that are no part of a document, each once, in order.
        cut: Whether a document after it, or the only one, is cut short.
        documents: How many are whole.
    """

    document: dict[str, Any] | None
    notes: tuple[str, ...]
    cut: bool
    documents: int


def parse_output(text: str) -> Output:
    """Takes apart what fio wrote, of version 2 or 3.

    Args:
        text: Of its file and its streams, one after the other. A figure that is not a number is
            None in the document.
    """
    documents: list[dict[str, Any]] = []
    notes, at, cut = [], 0, False
    for begin in _BEGIN.finditer(text):
        if begin.start() < at:
            continue
        notes.append(text[at : begin.start()])
        following = _BEGIN.search(text, begin.end())
        piece = text[begin.start() : following.start() if following else len(text)]
        document, length = _document(piece)
        cut = document is None
        if document is not None:
            documents.append(document)
        at = begin.start() + length
    notes.append(text[at:])
    lines = (line.strip() for part in notes for line in part.splitlines())
    kept = dict.fromkeys(line for line in lines if line and line != _GREETING)
    return Output(documents[-1] if documents else None, tuple(kept), cut, len(documents))


def _document(piece: str) -> tuple[dict[str, Any] | None, int]:
    """The document at the begin of a piece, and how much of the piece is its."""
    # As long as before, so that a place in the one text is the same place in the other.
    plain = _NO_FIGURE.sub(lambda word: "NaN".ljust(len(word[0])), piece)
    try:
        document, length = _DECODER.raw_decode(plain)
    except ValueError:
        return None, len(piece)
    return document, length
