"""The parameters that models with learned precisions share."""

from typing import Any

__all__ = ["check_evidence_parameters"]


def check_evidence_parameters(estimator: Any) -> None:
    """Check `max_iter`, `tol` and the Gamma priors of an estimator."""
    if not (isinstance(estimator.max_iter, int) and estimator.max_iter >= 1):
        raise ValueError(f"max_iter must be an integer from 1, got {estimator.max_iter!r}")
    for name in ("tol", "alpha_1", "alpha_2", "lambda_1", "lambda_2"):
        x = getattr(estimator, name)
        if not 0.0 <= x < float("inf"):
            raise ValueError(f"{name} must be a number from 0, got {x!r}")
