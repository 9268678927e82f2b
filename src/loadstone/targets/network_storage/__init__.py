"""Network storage that the load generator speaks to itself: NBD, iSCSI, NFS."""

from loadstone.targets.network_storage.iscsi import Iscsi
from loadstone.targets.network_storage.nbd import Nbd
from loadstone.targets.network_storage.nfs import Nfs

__all__ = ["Iscsi", "Nbd", "Nfs"]
