"""Apache Spark as a target: its driver and executor in one JVM beside the runner, on a folder."""

from loadstone.targets.spark.target import Spark

__all__ = ["Spark"]
