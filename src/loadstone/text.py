"""The one way to read text that people give: experiment files, plans, passwords, CSV, logs.

Editors and shells of other systems write a byte order mark, lines that end with CR LF, or UTF-16.
All of that is read. Bytes that are no text are named with their place, never guessed at.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path

from loadstone.errors import WrongInputError

_WIDE = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""Byte order mark: encoding. UTF-32 first: its mark begins as that of UTF-16 does."""
_GZIP = b"\x1f\x8b"
"""How such a file begins (RFC 1952)."""
_LOOKED_AT = 2000
_SAVE = "save it as UTF-8: iconv -f ENCODING -t UTF-8 FILE"


class NotTextError(ValueError):
    """Bytes that are no text; the message says where, and never what stands around them."""


def encoding_of(beginning: bytes) -> str:
    """The encoding of a text, by its byte order mark or its zero bytes; else UTF-8.

    Args:
        beginning: Of the file.
    """
    for mark, encoding in _WIDE.items():
        if beginning.startswith(mark):
            return encoding
    # Without a mark: in UTF-16, one byte of each line break and of each Latin letter is zero.
    pairs = len(beginning[:_LOOKED_AT]) // 2
    even, odd = (beginning[first:_LOOKED_AT:2].count(0) for first in (0, 1))
    if max(even, odd) > pairs // 4 and min(even, odd) <= pairs // 20:
        return "utf-16-le" if odd > even else "utf-16-be"
    return "utf-8-sig"


def decode(data: bytes, errors: str = "strict") -> str:
    """The text of a file, each line of which ends with a line feed alone.

    Args:
        data: The whole file.
        errors: `replace`: bytes that are no text count for nothing, as in logs.

    Raises:
        NotTextError: With the line and the byte.
    """
    encoding = encoding_of(data)
    try:
        text = data.decode(encoding, errors)
    except UnicodeDecodeError as error:
        name = "UTF-8" if encoding == "utf-8-sig" else encoding.upper()
        raise NotTextError(_place(data, error.start, name)) from None
    if errors == "strict" and "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise NotTextError(_zero(line))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _zero(line: int) -> str:
    return f"line {line}: a byte is zero, which no text has"


def _place(data: bytes, at: int, wanted: str) -> str:
    line = data.count(b"\n", 0, at) + 1
    column = at - (data.rfind(b"\n", 0, at) + 1) + 1
    return f"line {line}: byte {column} is not {wanted}"


def read_text(path: Path, *, errors: str = "strict", at_most_bytes: int | None = None) -> str:
    """Reads a file that somebody gave.

    Args:
        path: The file.
        errors: As of `decode`.
        at_most_bytes: A larger one is not what it should be.

    Raises:
        WrongInputError: If it cannot be read, is too large, or is no text.
    """
    try:
        with path.open("rb") as file:
            data = file.read(-1 if at_most_bytes is None else at_most_bytes + 1)
        if data.startswith(_GZIP):
            raise WrongInputError(f"{path} is packed with gzip", advice="unpack it first: gunzip")
        if at_most_bytes is not None and len(data) > at_most_bytes:
            raise WrongInputError(
                f"{path} is larger than such a file can sensibly be: "
                f"{at_most_bytes / 1e6:g} MB at most"
            )
        return decode(data, errors)
    except OSError as error:
        raise WrongInputError(f"{path} cannot be read: {error.strerror}") from error
    except NotTextError as error:
        raise WrongInputError(f"{path}: {error}", advice=_SAVE) from None


def read_lines(path: Path, *, errors: str = "strict") -> Iterator[str]:
    """The lines of such a file, each with the line feed that ends it; it may be of any size.

    Raises:
        WrongInputError: As `read_text`.
    """
    try:
        with path.open("rb") as file:
            text = TextIOWrapper(file, encoding_of(file.peek(_LOOKED_AT)), errors)
            for number, line in enumerate(text, start=1):
                if errors == "strict" and "\0" in line:
                    raise WrongInputError(f"{path}: {_zero(number)}", advice=_SAVE)
                yield line
    except OSError as error:
        raise WrongInputError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        read_text(path, errors=errors)  # it says where
        raise


def readable(path: Path) -> None:
    """Whether a file that somebody named can be read.

    Raises:
        WrongInputError: If not.
    """
    if not path.exists():
        raise WrongInputError(f"there is no file {str(path)!r}")
    if path.is_dir():
        raise WrongInputError(f"{path} is a folder, not a file")
    try:
        with path.open("rb") as file:
            file.peek(1)
    except OSError as error:
        raise WrongInputError(f"{path} cannot be read: {error.strerror}") from error
