"""A web application at an address, which somebody else runs."""

from loadstone.targets.http.target import Http

__all__ = ["Http"]
