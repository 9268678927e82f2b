"""What runs within a job of a cluster: staging, the gate, the stamps, the samples of its ranks.

It runs on the nodes, with their interpreter: the standard library of Python 3.9 is all it uses, and
of Loadstone nothing but itself.
"""
