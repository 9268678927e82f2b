"""What runs in the jobs of a cluster.

Programs of this package run on the nodes: nothing is imported here, so that they need no library.
"""
