"""Options of scikit-learn's constructors that are no parameters here, and its estimators made ours.

The options are accepted in one place, the constructor of every :class:`Estimator`: those of :data:`INERT`
have no effect, because they choose an algorithm or a display and not the model; those of :data:`ONLY` may
have the values that mean what is done here; those of :data:`REWRITTEN` become parameters of ours.
"""

import warnings
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from inspect import Parameter, signature
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
    "RidgeCV": frozenset({"gcv_mode", "store_cv_results"}),
    "Lasso": _DESCENT,
    "ElasticNet": _DESCENT,
    "LassoCV": _DESCENT,
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
    "KernelPCA": frozenset({"iterated_power", "remove_zero_eig"}),
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
    "LinearRegression": {"positive": (False,)},
    "Ridge": {"positive": (False,)},
    "RidgeCV": {"scoring": (None,), "cv": (None,), "alpha_per_target": (False,)},
    "LassoLars": {"jitter": (None,)},
    "BernoulliNB": {"force_alpha": (True,)},
    "MultinomialNB": {"force_alpha": (True,)},
    "CategoricalNB": {"force_alpha": (True,)},
    "Perceptron": {
        "penalty": (None,),
        "early_stopping": (False,),
        "class_weight": (None,),
        "warm_start": (False,),
    },
    "KernelDensity": {"metric": ("euclidean", "l2", "minkowski"), "metric_params": (None,)},
    "KernelRidge": {"gamma": (None,), "degree": (3,), "coef0": (1,), "kernel_params": (None,)},
    "KernelPCA": {
        "gamma": (None,),
        "degree": (3,),
        "coef0": (1,),
        "kernel_params": (None,),
        "alpha": (1.0,),
        "fit_inverse_transform": (False,),
    },
    "KNeighborsClassifier": {"metric_params": (None,)},
    "KNeighborsRegressor": {"metric_params": (None,)},
    "NearestNeighbors": {"metric_params": (None,)},
    "ClassicalMDS": {"metric_params": (None,)},
    "Isomap": {"metric_params": (None,), "p": (2,)},
    "TSNE": {"metric_params": (None,)},
}


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


Rewrite = Callable[[Any, dict[str, Any]], dict[str, Any]]

#: Options that become parameters of ours.
REWRITTEN: dict[str, dict[str, Rewrite]] = {
    "LogisticRegression": {"penalty": _penalty},
}


#: Values of parameters that have another name here.
VALUES: dict[str, dict[str, dict[Any, Any]]] = {
    "KMeans": {"algorithm": {"elkan": "auto"}},
    "KernelPCA": {"eigen_solver": {"randomized": "auto"}},
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
            given = translated(type(self), given, own)
        for name, names in VALUES.get(type(self).__name__, {}).items():
            if isinstance(given.get(name), str | None) and name in given:
                given[name] = names.get(given[name], given[name])
        init(self, *args, **given)

    return constructed


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


#: Models of scikit-learn that have another name here.
RENAMED = {
    "LinearDiscriminantAnalysis": "LinearDiscriminant",
    "QuadraticDiscriminantAnalysis": "QuadraticDiscriminant",
    "MiniBatchKMeans": "KMeans",
}

#: What says how long a search goes on: scikit-learn's default is not ours.
_SEARCH = frozenset({"tol", "max_iter", "n_init", "reg_covar", "max_no_improvement", "reassignment_ratio"})

#: Models whose kernels are values here.
_KERNELS = frozenset({"KernelRidge", "KernelPCA", "GaussianProcessRegressor", "GaussianProcessClassifier"})


def adopt(estimator: Any) -> Any:
    """Return a configured estimator, pipeline or search of scikit-learn as one of ours, not yet fitted.

    Parameters keep their values; what only chose an algorithm or a display is dropped, and a warning says so
    where it was set. Steps of a pipeline that prepare columns, and have no equal here, stay scikit-learn's.

    Parameters
    ----------
    estimator : estimator of scikit-learn
        A model that is here too, a `Pipeline` that ends in one, or a search (`GridSearchCV` and others) over
        one. Estimators of ours are returned as copies.

    Returns
    -------
    estimator
        Of the same parameters.

    Raises
    ------
    ValueError
        Where the model, or a parameter that was changed, has no equal here.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> adopt(Ridge(alpha=2.0))
    Ridge(alpha=2.0)
    >>> type(adopt(make_pipeline(StandardScaler(), Ridge()))[-1]).__module__.split(".")[0]
    'tractable'
    """
    dropped: list[str] = []
    found = _adopted(estimator, dropped)
    if dropped:
        names = ", ".join(sorted(set(dropped)))
        warnings.warn(
            f"dropped, as they choose an algorithm and not the model: {names}", UserWarning, stacklevel=2
        )
    return found


def _adopted(estimator: Any, dropped: list[str]) -> Any:
    from sklearn.base import clone

    if not hasattr(estimator, "get_params") or isinstance(estimator, type):
        raise ValueError(f"estimator must be an estimator of scikit-learn, constructed, got {estimator!r}")
    module, name = type(estimator).__module__.split(".")[0], type(estimator).__name__
    if module == "tractable":
        return clone(estimator)
    if name == "Pipeline":
        *before, last = estimator.steps
        steps = [(label, _prepared(step, dropped)) for label, step in before]
        return clone(estimator).set_params(steps=[*steps, (last[0], _adopted(last[1], dropped))])
    if hasattr(estimator, "estimator") and hasattr(estimator, "refit"):
        return clone(estimator).set_params(estimator=_adopted(estimator.estimator, dropped))
    return _model(estimator, name, dropped)


def _prepared(step: Any, dropped: list[str]) -> Any:
    """Return a step that prepares columns: ours where there is one, or scikit-learn's."""
    from sklearn.base import clone

    if isinstance(step, str) or _ours(type(step).__name__) is None:
        return step if isinstance(step, str) else clone(step)
    return _adopted(step, dropped)


def _ours(name: str) -> Any:
    tractable = import_module("tractable")
    name = RENAMED.get(name, name)
    return getattr(tractable, name) if name in tractable.PUBLIC else None


def _model(estimator: Any, name: str, dropped: list[str]) -> Any:
    cls = _ours(name)
    if cls is None or not hasattr(cls, "get_params"):
        raise ValueError(f"{name} has no equal here; scikit-learn's goes on working beside these models")
    defaults = {p.name: p.default for p in signature(type(estimator).__init__).parameters.values()}
    own = signature(cls.__init__).parameters
    given = {}
    for option, x in estimator.get_params(deep=False).items():
        changed = not _same(x, defaults.get(option))
        if name in _KERNELS and option == "kernel" and changed:
            raise ValueError(
                f"kernel of {name} is a value of tractable.kernels here: construct the model anew"
            )
        if option in own and (changed or option not in _SEARCH):
            given[option] = x
        elif option not in own and changed:
            if is_inert(cls, option) or option in _SEARCH:
                dropped.append(option)
            else:
                given[option] = x
    try:
        return cls(**given)
    except TypeError:
        unknown = ", ".join(sorted(given.keys() - own.keys()))
        raise ValueError(f"{name}({unknown}=…) has no equal here") from None


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    try:
        return bool(np.all(a == b)) and type(a) is type(b)
    except (TypeError, ValueError):
        return False
