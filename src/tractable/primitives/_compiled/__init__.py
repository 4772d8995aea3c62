"""Numba functions on NumPy arrays: no Python objects, no allocation in the inner loops, no global lock."""
