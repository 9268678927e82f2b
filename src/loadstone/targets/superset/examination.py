"""Looks at a Superset that somebody else runs, before anything is made there."""

from __future__ import annotations

import html
import json
import re
from typing import Any

from loadstone.errors import TargetError
from loadstone.targets.http.greeting import greet
from loadstone.targets.superset.address import SupersetAddress
from loadstone.targets.superset.installation import VERSION
from loadstone.targets.superset.people import ROLES, USERS
from loadstone.targets.superset.provision import GAMMA
from loadstone.targets.superset.rest import Page, Rest, UnwillingError

_MAJOR = VERSION.partition(".")[0]
_LOG_IN = "/login/"
_BOOTSTRAP = re.compile(r"data-bootstrap=([\"'])(.*?)\1", re.DOTALL)
_BY_FORM = 1
"""AUTH_DB of Flask-AppBuilder: people log in by a form, against the catalogue."""
_NEEDED = (
    ROLES,
    USERS,
    "/api/v1/security/permissions-resources/",
    "/api/v1/rowlevelsecurity/",
    "/api/v1/database/",
)
"""What an administrator may list, and nobody else may list all of."""


def examine(address: SupersetAddress) -> str:
    """Whether people can be put on it, and the account may make what they need.

    Returns:
        Its version.

    Raises:
        TargetError: If not, with the reason.
    """
    greet(address.web, address.ca)
    with Rest(address.url, address.ca) as rest:
        version = _judged(address, _front_page(address, rest))
        log_in(address, rest)
        for path in _NEEDED:
            _try(address, rest, path)
        known = {each["name"] for each in rest.listed(ROLES)}
    if GAMMA not in known:
        raise TargetError(
            f"Superset at {address.url} has no role {GAMMA}, whose rights readers get"
        )
    return version


def log_in(address: SupersetAddress, rest: Rest) -> None:
    """Logs in as the administrator.

    Raises:
        TargetError: If Superset refuses it.
    """
    try:
        rest.log_in(address.user, address.password())
    except UnwillingError as error:
        if error.status == 401:
            raise TargetError(
                f"Superset at {address.url} refuses the log-in: the user {address.user!r} or the "
                "password is wrong, or the account is not active",
                advice="look at the address and at where the password is said to be",
            ) from error
        if error.status == 429:
            raise TargetError(
                f"Superset at {address.url} refuses the log-in: there were too many of late",
                advice="wait a minute; it limits log-ins of one address (AUTH_RATE_LIMITED)",
            ) from error
        raise


def bootstrap(page: str) -> dict[str, Any]:
    """What a page of Superset hands over to its scripts; nothing of another page."""
    found = _BOOTSTRAP.search(page)
    try:
        data = json.loads(html.unescape(found[2])) if found else {}
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


# -- inside ------------------------------------------------------------------------------------
def _front_page(address: SupersetAddress, rest: Rest) -> Page:
    try:
        return rest.page(_LOG_IN)
    except UnwillingError as error:
        if error.location.startswith("https:") and not address.web.is_secure:
            raise TargetError(
                f"{address.url} sends people on to https (Talisman, or a proxy before it)",
                advice="write the address that begins with https://",
            ) from error
        if 300 <= error.status < 400:
            raise TargetError(
                f"{address.url} sends people who log in elsewhere: they have no form for a name "
                "and a password",
                advice="people are put on a Superset with AUTH_TYPE = AUTH_DB",
            ) from error
        raise TargetError(
            f"{address.url} has no log-in page (it answers {error.status}): it is no Superset",
            advice="write the address of the application, with its path if it has one",
        ) from error


def _judged(address: SupersetAddress, page: Page) -> str:
    common = bootstrap(page.text).get("common", {})
    told = common.get("menu_data", {}).get("navbar_right", {}).get("version_string")
    version = str(told or "")
    if not common:
        raise _refused(address, "its log-in page is none of Superset's", "look at the address")
    if version.partition(".")[0] != _MAJOR:
        raise _refused(
            address,
            f"it says that it is version {version}" if version else "it does not say its version",
            f"the requests of people are those of Superset {_MAJOR}: use one of that version",
        )
    if common.get("conf", {}).get("AUTH_TYPE", _BY_FORM) != _BY_FORM:
        raise _refused(
            address,
            "people do not log in by a name and a password that it keeps itself",
            "use one with AUTH_TYPE = AUTH_DB",
        )
    if common.get("feature_flags", {}).get("GLOBAL_ASYNC_QUERIES"):
        raise _refused(
            address,
            "it answers charts later (GLOBAL_ASYNC_QUERIES), which is not done yet",
            "use one that answers at once",
        )
    if "csrf_token" not in page.text:
        raise _refused(
            address,
            "its log-in page has no cross-site token (WTF_CSRF_ENABLED is off)",
            "use one with the tokens that people's browsers send",
        )
    if page.needs_tls and not address.web.is_secure:
        raise _refused(
            address,
            "its sessions are for https alone (SESSION_COOKIE_SECURE)",
            "write the address that begins with https://",
        )
    return version


def _refused(address: SupersetAddress, why: str, advice: str) -> TargetError:
    return TargetError(f"people cannot be put on Superset at {address.url}: {why}", advice=advice)


def _try(address: SupersetAddress, rest: Rest, path: str) -> None:
    try:
        rest.get(path)
    except UnwillingError as error:
        if error.status in (401, 403):
            raise TargetError(
                f"the account {address.user!r} does not administer Superset at {address.url}: it "
                f"may not list {path}",
                advice="name an account with the role Admin",
            ) from error
        if error.status == 404:
            raise TargetError(
                f"Superset at {address.url} has no {path}: roles and accounts cannot be made there",
                advice="its owner switches that on: FAB_ADD_SECURITY_API = True",
            ) from error
        raise
