"""Apache Superset as a target: a BI server of several parts that Loadstone starts."""

from loadstone.targets.superset.target import Superset

__all__ = ["Superset"]
