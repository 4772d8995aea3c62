"""Options of scikit-learn's constructors that are no parameters here.

The options are accepted in one place, the constructor of every :class:`Estimator`: those of :data:`INERT`
have no effect, because they choose an algorithm or a display and not the model; those of :data:`ONLY` may
have the values that mean what is done here; those of :data:`REWRITTEN` become parameters of ours.
"""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from numbers import Real
from typing import Any

import numpy as np

#: Without effect wherever they are no parameters: fits use all cores, inputs are never modified.
ANYWHERE = frozenset({"n_jobs", "verbose", "verbose_interval", "copy_X", "copy_x", "copy", "copy_X_train"})

_DESCENT = frozenset({"warm_start", "random_state", "selection", "precompute"})
_TREES = frozenset({"algorithm", "leaf_size"})

#: Without effect on the estimator of that name: they choose between solvers of one problem.
INERT: dict[str, frozenset[str]] = {
    "LinearRegression": frozenset({"tol"}),
    "Ridge": frozenset({"max_iter", "tol", "solver", "random_state"}),
    "RidgeCV": frozenset({"gcv_mode"}),
    "Lasso": _DESCENT,
    "ElasticNet": _DESCENT,
    "LassoCV": _DESCENT,
    "ElasticNetCV": _DESCENT,
    "LogisticRegressionCV": frozenset(
        {
            "solver",
            "dual",
            "random_state",
            "intercept_scaling",
            "multi_class",
            "refit",
            "use_legacy_attributes",
        }
    ),
    "PoissonRegression": frozenset({"solver", "warm_start"}),
    "GammaRegression": frozenset({"solver", "warm_start"}),
    "QuantileRegression": frozenset({"solver", "solver_options"}),
    "RobustRegression": frozenset({"warm_start"}),
    "LassoLars": frozenset({"eps", "fit_path", "random_state", "precompute"}),
    "LogisticRegression": frozenset(
        {"solver", "dual", "random_state", "intercept_scaling", "multi_class", "warm_start"}
    ),
    "LinearDiscriminant": frozenset({"solver", "store_covariance"}),
    "QuadraticDiscriminant": frozenset({"solver", "store_covariance"}),
    # A rate scales the weights alone; the others are of a penalty, of early stopping, and of a loss that
    # has no end: it stops where a pass makes no mistake.
    "Perceptron": frozenset({"eta0", "alpha", "l1_ratio", "validation_fraction", "n_iter_no_change", "tol"}),
    "PCA": frozenset(
        {"tol", "iterated_power", "n_oversamples", "power_iteration_normalizer", "random_state"}
    ),
    "FactorAnalysis": frozenset({"svd_method", "iterated_power", "random_state", "noise_variance_init"}),
    # `inverse_transform` needs no regression, and so no penalty of one.
    "KernelPCA": frozenset({"iterated_power", "remove_zero_eig", "alpha", "fit_inverse_transform"}),
    "KernelDensity": _TREES | {"atol", "rtol", "breadth_first"},
    "KNeighborsClassifier": _TREES,
    "KNeighborsRegressor": _TREES,
    "NearestNeighbors": _TREES,
    "Isomap": frozenset({"eigen_solver", "tol", "max_iter", "path_method", "neighbors_algorithm"}),
    "TSNE": frozenset({"angle", "n_iter_without_progress"}),
    "MetricMDS": frozenset({"n_init"}),
    "GaussianProcessClassifier": frozenset({"max_iter_predict", "warm_start"}),
    "GaussianProcessRegressor": frozenset({"n_targets"}),
}

#: Accepted with the values that mean what is done here, and refused with others.
ONLY: dict[str, dict[str, tuple[Any, ...]]] = {
    "LassoLars": {"jitter": (None,)},
    "Perceptron": {
        "penalty": (None,),
        "early_stopping": (False,),
        "class_weight": (None,),
        "warm_start": (False,),
    },
    "KernelDensity": {"metric": ("euclidean", "l2", "minkowski"), "metric_params": (None,)},
    "KernelRidge": {"kernel_params": (None,)},
    "KernelPCA": {"kernel_params": (None,)},
    "KNeighborsClassifier": {"metric_params": (None,)},
    "KNeighborsRegressor": {"metric_params": (None,)},
    "NearestNeighbors": {"metric_params": (None,)},
    "ClassicalMDS": {"metric_params": (None,)},
    "Isomap": {"metric_params": (None,), "p": (2,)},
    "TSNE": {"metric_params": (None,)},
}


def _known_noise(alpha: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Return the known variance of the noise; that of a kernel with a white term is learned."""
    if np.ndim(alpha):
        raise ValueError("alpha of GaussianProcessRegressor, one a row, is fit(…, noise_variance=alpha) here")
    return {} if getattr(given.get("kernel"), "has_noise", False) else {"noise_variance": alpha}


def _penalties(penalty: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Return the shares of absolute penalties that a name of a penalty means."""
    found = _penalty(penalty, {**given, "l1_ratio": given.get("l1_ratios")})
    if "C" in found:
        raise ValueError("penalty of LogisticRegressionCV must be 'l1', 'l2' or 'elasticnet', got None")
    return {"l1_ratios": [1.0]} if found else {}


def _penalty(penalty: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that a name of a penalty means."""
    if penalty in ("l2", "deprecated"):
        return {}
    if penalty in (None, "none"):
        return {"C": np.inf}
    if penalty == "l1":
        return {"l1_ratio": 1.0}
    if penalty == "elasticnet" and "l1_ratio" in given:
        return {}
    raise ValueError(f"penalty must be 'l1', 'l2', 'elasticnet' with an l1_ratio, or None, got {penalty!r}")


def _smallest_count(force_alpha: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Return the pseudo-counts, of which scikit-learn raises those below 1e-10 unless told to keep them."""
    alpha = given.get("alpha", 1.0)
    small = not force_alpha and isinstance(alpha, Real) and 0.0 <= float(alpha) < 1e-10
    return {"alpha": 1e-10} if small else {}


Rewrite = Callable[[Any, dict[str, Any]], dict[str, Any]]

#: Options that become parameters of ours.
REWRITTEN: dict[str, dict[str, Rewrite]] = {
    "BernoulliNB": {"force_alpha": _smallest_count},
    "CategoricalNB": {"force_alpha": _smallest_count},
    "MultinomialNB": {"force_alpha": _smallest_count},
    "GaussianProcessRegressor": {"alpha": _known_noise},
    "LogisticRegression": {"penalty": _penalty},
    "LogisticRegressionCV": {"penalty": _penalties},
}


#: Values of parameters that have another name here.
VALUES: dict[str, dict[str, dict[Any, Any]]] = {
    "KMeans": {"algorithm": {"elkan": "auto"}},
    "KernelPCA": {"eigen_solver": {"randomized": "auto"}, "max_iter": {None: 500}, "tol": {0.0: 1e-6}},
    "LogisticRegressionCV": {"l1_ratios": {"warn": None}, "scoring": {"warn": "neg_log_loss"}},
    "TSNE": {"method": {"barnes_hut": "auto"}},
    "KNeighborsClassifier": {"weights": {None: "uniform"}},
    "KNeighborsRegressor": {"weights": {None: "uniform"}},
}


def take_options(init: Callable[..., None]) -> Callable[..., None]:
    """Let a constructor accept the options of scikit-learn's that are no parameters of it."""
    own = signature(init).parameters
    if any(p.kind is Parameter.VAR_KEYWORD for p in own.values()):
        return init

    @wraps(init)
    def constructed(self: Any, *args: Any, **given: Any) -> None:
        if not given.keys() <= own.keys():
            given = translated(type(self), by_seed_name(given, own), own)
        for name, names in VALUES.get(type(self).__name__, {}).items():
            if name in given and isinstance(given[name], str | int | float | None):
                given[name] = names.get(given[name], given[name])
        init(self, *args, **given)

    return constructed


def by_seed_name(given: dict[str, Any], own: Any) -> dict[str, Any]:
    """Return options with a seed that was given as `rng` under the name of scikit-learn."""
    if "rng" not in given or "rng" in own:
        return given
    if "random_state" in given:
        raise ValueError("rng and random_state name the same thing: give one of them")
    return {**{name: x for name, x in given.items() if name != "rng"}, "random_state": given["rng"]}


def translated(cls: type, given: dict[str, Any], own: Any) -> dict[str, Any]:
    """Return the given options as parameters of a class; what it does not know stays, to be refused."""
    found = {name: x for name, x in given.items() if name in own}
    for name in given.keys() - own.keys():
        if is_inert(cls, name):
            continue
        rewrite, allowed = _entry(REWRITTEN, cls, name), _entry(ONLY, cls, name)
        if rewrite is not None:
            found.update(rewrite(given[name], given))
        elif allowed is None:
            found[name] = given[name]
        elif not any(given[name] is x or given[name] == x for x in allowed):
            values = " or ".join(map(repr, allowed))
            raise ValueError(f"{name} of {cls.__name__} must be {values} here, got {given[name]!r}")
    return found


def is_inert(cls: type, name: str) -> bool:
    """Whether an option of a class is accepted without effect."""
    return name in ANYWHERE or any(name in INERT.get(parent.__name__, ()) for parent in cls.__mro__)


def _entry(table: dict[str, dict[str, Any]], cls: type, name: str) -> Any:
    return next((table[c.__name__][name] for c in cls.__mro__ if name in table.get(c.__name__, {})), None)
