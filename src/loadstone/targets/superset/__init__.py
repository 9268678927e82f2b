"""Apache Superset as a target: of several parts that Loadstone starts, or at an address."""

from loadstone.targets.superset.remote import RemoteSuperset
from loadstone.targets.superset.target import Superset

__all__ = ["RemoteSuperset", "Superset"]
