"""A system of no equations has a solution of no rows; it was an error of reshaping."""

import numpy as np

from tractable.arrays import solve_cholesky, solve_triangular


def test_no_equations():
    assert solve_triangular(np.zeros((0, 0)), np.zeros((0, 3))).shape == (0, 3)
    assert solve_cholesky(np.zeros((0, 0)), np.zeros((0, 0))).shape == (0, 0)
