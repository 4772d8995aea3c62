"""Values and attributes that files of earlier versions hold, as those of today."""

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any


def _least_squares(given: dict[str, Any]) -> Any:
    from tractable.engines import LeastSquares
    from tractable.engines.linear_estimate import with_offset
    from tractable.value import replace

    if "inverse" not in given:
        return LeastSquares(**given)
    given = dict(given)
    inverse, weight = given.pop("inverse"), float(given["weight"])
    if hasattr(inverse, "rows"):
        root: Any = _deferred_root(inverse, weight)
        rank = inverse.rank
    else:
        root, rank = _root(inverse.root, inverse.span), inverse.root.shape[1]
        if given["has_intercept"]:
            root = replace(root, factor=with_offset(root.factor, 1.0 / weight))
    n_parameters = rank + given["has_intercept"]
    return LeastSquares(**given, root=root, n_parameters=n_parameters)


def _deferred_root(inverse: Any, weight: float) -> Any:
    from tractable.engines import DeferredRoot

    return DeferredRoot(
        rows=inverse.rows, lengths=inverse.scale, tol=inverse.tol, offset_variance=1.0 / weight
    )


def _root(factor: Any, span: Any = None) -> Any:
    from tractable.engines import CovarianceRoot

    return CovarianceRoot(factor=factor, span=span)


def _ridge_solution(given: dict[str, Any]) -> Any:
    from tractable.engines import CovarianceRoot, LeastSquares, RootOfRows
    from tractable.engines.linear_estimate import with_offset

    given = dict(given)
    inverse, centering = given.pop("inverse"), given.pop("centering")
    free, weight = centering.free_intercept, float(given["weight"])
    if hasattr(inverse, "rows"):
        root: Any = RootOfRows(
            rows=inverse.rows,
            alpha=inverse.alpha,
            offset_variance=1.0 / weight if free else None,
            spectrum=inverse.known,
            sums=inverse.sums,
        )
        dof = root.effective_dof
    else:
        factor, span, dof = inverse.factor, inverse.span, inverse.effective_dof
        root = CovarianceRoot(factor=with_offset(factor, 1.0 / weight) if free else factor, span=span)
    return LeastSquares(
        **given,
        centre=centering.centre,
        offset=centering.offset if free else given["intercept"],
        root=root,
        has_intercept=free or centering.ones,
        n_parameters=free + dof,
    )


def _products_inverse(given: dict[str, Any]) -> Any:
    """Return (AᵀA + αI)⁻¹, whose file has the columns A, by the QR of these above √α I."""
    import numpy as np

    columns, alpha = given["columns"], float(given["alpha"])
    p = columns.shape[1]
    upper = np.linalg.qr(np.concatenate([columns, alpha**0.5 * np.eye(p)]), mode="r")
    factor = np.linalg.inv(upper)
    return SimpleNamespace(factor=factor, span=None, effective_dof=float(np.sum((columns @ factor) ** 2)))


def _record(given: dict[str, Any]) -> Any:
    return SimpleNamespace(**given)


def _coefficient_posterior(given: dict[str, Any]) -> Any:
    from tractable.engines import LinearEstimate

    centre, location, root = (given[name] for name in ("centre", "location", "root"))
    first = len(location) - len(centre)
    parts = {"root": _root(root), "scale": location[:1] * float("nan"), "has_intercept": bool(first)}
    offset = location[:first] if first else 0.0 * location[:1]
    return LinearEstimate(coef=location[None, first:], centre=centre, offset=offset, **parts)


def _linear_posterior(given: dict[str, Any]) -> Any:
    from tractable.linear_model import LinearPosterior
    from tractable.value import parameters

    if "location" not in given:
        return LinearPosterior(**given)
    own = {name: x for name, x in given.items() if name not in ("centre", "location", "root")}
    return LinearPosterior(**parameters(_coefficient_posterior(given)), **own)


#: What the classes of earlier versions are now, by their names in files.
VALUES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "tractable.engines:ColumnInverse": _record,
    "tractable.engines:RowInverse": _record,
    "tractable.engines:LeastSquares": _least_squares,
    "tractable.linear_model:PrimalInverse": _record,
    "tractable.linear_model:DualInverse": _record,
    "tractable.linear_model:CholeskyInverse": _products_inverse,
    "tractable.linear_model:RidgeSolution": _ridge_solution,
    "tractable.linear_model:CoefficientPosterior": _coefficient_posterior,
    "tractable.linear_model:LinearPosterior": _linear_posterior,
}


def _linear_regression(learned: dict[str, Any]) -> None:
    """Add the squares of the targets, which the statistic has."""
    from tractable.value import replace

    fit, statistic = learned["_solution_"], learned.get("statistic_")
    if statistic is None or getattr(fit, "target_squares", fit) is not None:
        return
    factor = statistic.factor if fit.has_intercept else statistic.uncentred()
    learned["_solution_"] = replace(fit, target_squares=(factor[:, statistic.dim :] ** 2).sum(axis=0))


def _quantile_regression(learned: dict[str, Any]) -> None:
    """Make the estimate of what a file has: centre, offset there, and the covariance at the origin."""
    import numpy as np

    from tractable.engines import LinearEstimate, RowSpan

    if "_estimate_" in learned:
        return
    covariance = learned.pop("parameter_covariance_")
    centre, coef = learned.pop("_center_"), learned["coef_"]
    first = len(covariance) - len(coef)
    open_ = np.isinf(np.diagonal(covariance))
    known = np.where(open_[:, None] | open_, 0.0, covariance)
    carry = np.eye(len(known))
    carry[:first, first:] = centre  # from the origin to the centre
    values, axes = np.linalg.eigh(carry @ known @ carry.T) if np.isfinite(known).all() else (known, known)
    root = axes * np.sqrt(np.maximum(values, 0.0)) if np.isfinite(known).all() else known
    determined = np.eye(len(coef))[:, ~open_[first:]]
    span = RowSpan(scale=np.ones(len(coef)), directions=determined) if open_.any() else None
    learned["_estimate_"] = LinearEstimate(
        coef=coef[None, :],
        centre=centre,
        offset=np.array([learned.pop("_at_center_")]),
        intercept=np.array([learned["intercept_"]]),
        root=_root(root, span),
        scale=np.ones(1),
        dof=learned["_weight_"] - learned["_rank_"],
        has_intercept=bool(first),
    )


def _bayesian(learned: dict[str, Any]) -> None:
    """Set the noise variance and the degrees of freedom of the posterior."""
    import numpy as np

    from tractable.value import replace

    scale = np.full(1, learned["noise_variance_"])
    learned["_posterior_"] = replace(learned["_posterior_"], scale=scale, dof=learned["_predictive_dof_"])


def _generalized(learned: dict[str, Any], *, dispersed: bool = False) -> None:
    """Make the estimate of the roots and directions of standardized columns."""
    import numpy as np

    from tractable.engines.linear_estimate import standardized_estimate

    if "_estimate_" in learned:
        return
    scale = float(learned["dispersion_"]) if dispersed else 1.0
    learned["_estimate_"] = standardized_estimate(
        learned["_standardizer_"].shift,
        learned["_standardizer_"].scale,
        learned["_center_coef_"][None, :],
        learned.pop("_root_") / (scale**0.5 or 1.0),
        learned.pop("_undetermined_"),
        outside=learned.pop("_prior_variance_") / (scale or 1.0),
        scale=scale,
        dof=float(learned["residual_dof_"]) if dispersed else np.inf,
    )
    del learned["parameter_covariance_"]


#: How the attributes of an estimator of an earlier version become those of today, by its name in files.
ATTRIBUTES: dict[str, Callable[[dict[str, Any]], None]] = {
    "tractable:ARDRegression": _bayesian,
    "tractable:BayesianLinearRegression": _bayesian,
    "tractable:BayesianRidge": _bayesian,
    "tractable:GammaRegression": partial(_generalized, dispersed=True),
    "tractable:NegativeBinomialRegression": _generalized,
    "tractable:PoissonRegression": _generalized,
    "tractable:LinearRegression": _linear_regression,
    "tractable:QuantileRegression": _quantile_regression,
}
