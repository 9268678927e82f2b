"""Fields of forms in HTML, as the load driver finds them. Pure."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

_NO_FIELDS = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|textarea|title)\b[^<>]*>.*?(?:</\1\s*>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
"""Parts in which what looks like a field is none; one that is not closed goes to the end."""
_TAG = re.compile(
    r"""<(input|meta|textarea|select)\b((?:[^<>"']|"[^"]*"|'[^']*')*)>""", re.IGNORECASE
)
_ATTRIBUTE = re.compile(r"""([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?""")
_MARK = re.compile(r"""\btype\s*=\s*["']?password\b["']?""", re.IGNORECASE)


@dataclass(frozen=True)
class Field:
    """A field of a form."""

    tag: str
    attributes: dict[str, str]
    """Names in lower case; entities are resolved."""

    @property
    def name(self) -> str:
        """What the form calls it; empty: nothing."""
        return self.attributes.get("name", "")

    @property
    def is_sent(self) -> bool:
        """Buttons of choice are sent when they are checked."""
        choice = self.attributes.get("type", "").lower() in ("checkbox", "radio")
        return not choice or "checked" in self.attributes

    @property
    def value(self) -> str | None:
        """None: it is not within the tag."""
        if self.tag in ("textarea", "select"):
            return None
        return self.attributes.get("content" if self.tag == "meta" else "value", "")


def fields_of(text: str) -> Iterator[Field]:
    """The fields of a page, in their order.

    Args:
        text: HTML.
    """
    # The tag of a text area is kept: it is a field, too.
    plain = _NO_FIELDS.sub(lambda found: found[0].partition(">")[0] + ">" if found[1] else "", text)
    for tag, inner in _TAG.findall(plain):
        yield Field(
            tag.lower(),
            {
                name.lower(): html.unescape(double or single or bare)
                for name, double, single, bare in reversed(_ATTRIBUTE.findall(inner))
            },
        )


def first_values(text: str) -> dict[str, str]:
    """What `extract: {NAME: {form: FIELD}}` finds in a page: the first field of each name."""
    found: dict[str, str | None] = {}
    for field in fields_of(text):
        if field.name and field.is_sent:
            found.setdefault(field.name, field.value)
    return {name: value for name, value in found.items() if value is not None}


def password_fields(text: str) -> set[str]:
    """Names of the fields of a page that hide what is typed."""
    return {
        field.name
        for field in fields_of(text)
        if field.name and field.attributes.get("type", "").lower() == "password"
    }


def password_mark(text: str) -> str:
    """How a page writes that a field is for a password, as `type="password"`; empty: none is."""
    found = _MARK.search(text)
    return found[0] if found else ""
