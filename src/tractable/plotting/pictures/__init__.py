"""One module for each kind of picture; importing it registers what it draws."""

from tractable.plotting.pictures import (
    compound,
    conjugate,
    dirichlet,
    gaussian,
    regression,
    results,
    univariate,
)

__all__ = ["compound", "conjugate", "dirichlet", "gaussian", "regression", "results", "univariate"]
