"""Java virtual machines that Loadstone starts, and that make their own load."""

from loadstone.targets.jvm.target import Jvm

__all__ = ["Jvm"]
