"""PSTM: 3D prestack Kirchhoff time migration of seismic traces; docs/pstm.md explains it.

`main` and what it imports run on the nodes, with NumPy, Numba and segyio; `application` is for the
lab.
"""
