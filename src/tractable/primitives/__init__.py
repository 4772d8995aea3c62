"""Hot loops, a package a family; each function picks its implementation by the type and size of its arrays.

In every family ``compiled*.py`` holds Numba functions for NumPy arrays, imported on first use, and
``agnostic.py`` the same functions in the array API: for every other library, and to test the compiled ones.
"""
