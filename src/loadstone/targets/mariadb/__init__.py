"""The target `mariadb`: MariaDB 10.6 and newer, local or at an address."""

from loadstone.targets.mariadb.owned import OwnedMariaDB
from loadstone.targets.mariadb.remote import RemoteMariaDB
from loadstone.targets.mariadb.target import MariaDB

__all__ = ["MariaDB", "OwnedMariaDB", "RemoteMariaDB"]
