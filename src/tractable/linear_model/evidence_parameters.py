"""The parameters that Bayesian models of planes share."""

from math import isfinite
from numbers import Real
from typing import Any

from tractable.base.parameters import check_number

__all__ = ["check_count", "check_evidence_parameters", "check_nonnegative", "check_positive", "is_number"]


def is_number(x: Any) -> bool:
    """Return whether x is one finite number."""
    return not isinstance(x, bool) and isinstance(x, Real) and isfinite(x)


def check_positive(name: str, x: Any) -> None:
    """Refuse what is not a positive, finite number."""
    check_number(name, x, above=0.0)


def check_nonnegative(name: str, x: Any) -> None:
    """Refuse what is not a finite number from 0."""
    check_number(name, x, least=0.0)


def check_count(name: str, x: Any) -> None:
    """Refuse what is not an integer from 1."""
    check_number(name, x, least=1, whole=True)


def check_evidence_parameters(estimator: Any) -> None:
    """Check `max_iter`, `tol` and the Gamma priors of an estimator."""
    check_count("max_iter", estimator.max_iter)
    for name in ("tol", "alpha_1", "alpha_2", "lambda_1", "lambda_2"):
        check_nonnegative(name, getattr(estimator, name))
