"""What values and their names look like: tokens, ids, passwords, names of people. Pure.

Nothing here is certain. What looks like a token is only replaced where an earlier answer holds the
very same text, and is listed where none does.
"""

from __future__ import annotations

import re
from itertools import pairwise

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SIGNS = re.compile(r'[A-Za-z0-9._~+/=%:!|@$"-]+')
_RUN = re.compile(r"[A-Za-z0-9]+")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_HEX = re.compile(r"[0-9a-f]+", re.IGNORECASE)
_SIGNED = re.compile(r"eyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)*")
"""A JSON Web Token, and what is signed in its manner."""
_MIXED = re.compile(r"(?=.*\d)(?=.*[A-Za-z]).+")
_PLAIN = re.compile(
    r"[\d.,:+\- TZ/]+"  # numbers, dates, times
    r"|v?\d+(?:\.\d+)+(?:-?[a-z][\w.]{0,9})?"  # versions
    r"|\d+(?:\.\d+)?[a-z%]{1,3}"  # figures with units
    r"|[a-z]+/[a-z0-9.+-]+",  # media types
    re.IGNORECASE,
)
_STOP = frozenset(
    (
        *("true", "false", "null", "none", "undefined", "default", "nan", "infinity"),
        *("application/json", "text/html", "utf-8", "iso-8859-1", "us-ascii"),
    )
)
_LEAST_TOKEN = 6
_LEAST_RANDOM = 8
_LONGEST_RANDOM = 8192
_TOKEN_PARTS = (
    *("csrf", "xsrf", "token", "nonce", "viewstate", "eventvalidation", "session", "jwt"),
    *("apikey", "accesskey", "authenticity", "credential"),
)
_TOKEN_ENDS = ("key", "state", "sid", "sig", "signature", "auth", "assertion", "ticket")
_CSRF_PARTS = ("csrf", "xsrf", "authenticity", "requestverification")
_ID_ENDS = ("id", "ids", "pk", "pks", "uuid", "guid", "uid", "oid", "number", "slug", "userid")
_PASSWORD_PARTS = ("password", "passwd", "passwort", "passphrase", "passcode", "pwd", "secret")
_PASSWORD_ENDS = ("pass", "pw", "pin", "otp")
_MENTIONED = re.compile(r"passw(?:or)?d|passphrase|pwd", re.IGNORECASE)
_NO_PASSWORDS = ("bypass", "compass", "trespass", "secretary")
_ASKS = [[each] for each in ("remember", "show", "hide", "save", "has", "is", "needs", "forgot")]
"""First words of fields that say something about a password, as `show_password`."""
_ABOUT = [
    [each]
    for each in (
        *("strength", "attempts", "expired", "expires", "policy", "length", "required", "hint"),
        *("type", "enabled", "age", "changed", "set", "rules", "visible", "field"),
    )
]
"""Last words of such fields, as `passwordStrength`."""
_PLAIN_PASSWORDS = frozenset(("true", "false", "on", "off", "0", "1", "null", "none"))
_USER_NAMES = (
    *("username", "user", "userid", "useridentifier", "login", "loginname", "loginid", "email"),
    *("emailaddress", "mail", "identifier", "account", "accountname", "uid", "name"),
)
"""Names of fields that hold a user's name, the surest first."""
_ORDINARY = frozenset(
    (
        *("admin", "administrator", "user", "users", "test", "tester", "guest", "demo", "root"),
        *("public", "api", "login", "home", "me", "name", "system", "default"),
    )
)


def words_of(name: str) -> list[str]:
    """The words of a name in lower case: `X-CSRFToken` has `x`, `csrf` and `token`."""
    return [each.lower() for each in _WORD.findall(name)]


def stem(word: str) -> str:
    """A word without the ending of its plural, as far as its letters tell."""
    word = word.lower()
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and len(word) > 3 else word


def looks_random(value: str) -> bool:
    """Whether a text looks like one that a program drew: a token, a key, a hash, a UUID."""
    if (
        not _LEAST_RANDOM <= len(value) <= _LONGEST_RANDOM
        or _PLAIN.fullmatch(value)
        or not _SIGNS.fullmatch(value)
    ):
        return False
    if _UUID.fullmatch(value) or _SIGNED.fullmatch(value):
        return True
    runs = _RUN.findall(value)
    if any(_is_random(each) for each in runs):
        return True
    return all(_MIXED.fullmatch(each) for each in runs) and _is_random("".join(runs))


def _is_random(run: str) -> bool:
    """Whether letters and digits are neither a word nor a word with a number."""
    if len(run) < _LEAST_RANDOM:
        return False
    digits = sum(each.isdigit() for each in run)
    if digits == len(run):
        return len(run) >= 16
    if not digits:
        upper = sum(each.isupper() for each in run)
        return len(run) >= 10 and len(run) <= 4 * upper <= 3 * len(run)
    changes = sum(a.isdigit() != b.isdigit() for a, b in pairwise(run))
    return changes >= (2 if _HEX.fullmatch(run) else 3) or len(run) >= 24


def is_signed(value: str) -> bool:
    """Whether it is a JSON Web Token, which says by itself who somebody is."""
    return _SIGNED.fullmatch(value) is not None


def names_token(name: str) -> bool:
    """Whether a field, a header or a parameter is called as tokens are."""
    words = words_of(name)
    return _has(words, _TOKEN_PARTS) or (bool(words) and words[-1] in _TOKEN_ENDS)


def names_csrf(name: str) -> bool:
    """Whether it is called as tokens against forged requests are."""
    return _has(words_of(name), _CSRF_PARTS)


def names_id(name: str) -> bool:
    """Whether it is called as what identifies a thing is."""
    words = words_of(name)
    return bool(words) and words[-1] in _ID_ENDS


def names_password(name: str) -> bool:
    """Whether a field is called as those for passwords are."""
    words = words_of(name)
    joined = "".join(words)
    if joined.endswith(_NO_PASSWORDS) or words[:1] in _ASKS or words[-1:] in _ABOUT:
        return False
    by_end = joined.endswith("pass") or (bool(words) and words[-1] in _PASSWORD_ENDS)
    return by_end or _has(words, _PASSWORD_PARTS)


def mentions_password(name: str) -> bool:
    """Whether a scenario takes only references for a field, as `show_password`, too."""
    return _MENTIONED.search(name) is not None


def is_password(name: str, value: str) -> bool:
    """Whether a field holds a password, by its name; `remember_password: on` does not."""
    return bool(value) and value.lower() not in _PLAIN_PASSWORDS and names_password(name)


def user_rank(name: str) -> int | None:
    """How surely a field holds the user's name: 0 is the surest. None: it does not."""
    joined = "".join(words_of(name))
    for rank, each in enumerate(_USER_NAMES):
        if joined in (each, f"j{each}"):
            return rank
    for rank, each in enumerate(_USER_NAMES[:-1]):
        if joined.endswith(each):
            return len(_USER_NAMES) + rank
    return None


def is_ordinary(word: str) -> bool:
    """Whether a user's name is also a common word of addresses, as `admin`."""
    return word.lower() in _ORDINARY


def may_be_traced(value: str, name: str, *, in_path: bool = False) -> bool:
    """Whether it is worth a look if an earlier answer holds a value.

    Args:
        value: Of a request.
        name: What the request calls it.
        in_path: It is a segment of a path, which has no name.
    """
    if value.isascii() and value.isdigit():
        return in_path or names_id(name) or len(value) >= _LEAST_TOKEN
    if len(value) < _LEAST_TOKEN or value.lower() in _STOP:
        return False
    if _has(words_of(name), _TOKEN_PARTS) or looks_random(value):
        return True
    drawn = any(each.isdigit() for each in value) and not _PLAIN.fullmatch(value)
    return drawn and (names_id(name) or names_token(name))


def _has(words: list[str], parts: tuple[str, ...]) -> bool:
    joined = "".join(words)
    return any(each in joined for each in parts)
