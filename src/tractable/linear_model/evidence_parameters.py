"""The parameters that searches for evidence share."""

from typing import Any

from tractable.base.parameters import check_number

__all__ = ["check_evidence_parameters"]


def check_evidence_parameters(estimator: Any) -> None:
    """Check `max_iter`, `tol` and the Gamma priors of an estimator."""
    check_number("max_iter", estimator.max_iter, least=1, whole=True)
    for name in ("tol", "alpha_1", "alpha_2", "lambda_1", "lambda_2"):
        check_number(name, getattr(estimator, name), least=0.0)
