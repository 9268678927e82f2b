"""This machine as a cluster of one node, with nothing to install."""

from loadstone.targets.plain.target import Local

__all__ = ["Local"]
