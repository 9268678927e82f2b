"""The target `mariadb`: MariaDB 10.6 and newer."""

from loadstone.targets.mariadb.target import MariaDB

__all__ = ["MariaDB"]
