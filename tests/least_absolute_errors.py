"""An oracle: least absolute errors as a linear programme."""

import numpy as np
from scipy.optimize import linprog


def least_absolute_errors(X, y, w, *, fit_intercept=True):
    """The linear programme: minimise Σ w (u + v) with y - φβ = u - v and u, v not negative."""
    n = len(y)
    phi = np.column_stack([np.ones(n), X]) if fit_intercept else X
    p = phi.shape[1]
    cost = np.r_[np.zeros(p), w, w]
    found = linprog(
        cost,
        A_eq=np.hstack([phi, np.eye(n), -np.eye(n)]),
        b_eq=y,
        bounds=[(None, None)] * p + [(0, None)] * 2 * n,
    )
    return found.x[:p], found.fun
