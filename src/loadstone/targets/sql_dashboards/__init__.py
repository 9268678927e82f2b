"""The target `sql-dashboards`."""

from loadstone.targets.sql_dashboards.target import SqlDashboards

__all__ = ["SqlDashboards"]
