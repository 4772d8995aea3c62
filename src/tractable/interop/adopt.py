"""Configured estimators, pipelines, searches and kernels of scikit-learn, made ours."""

import warnings
from collections.abc import Callable
from importlib import import_module
from inspect import signature
from typing import Any

import numpy as np

from tractable.base.options import is_inert

#: Models of scikit-learn that have another name here.
RENAMED = {
    "LinearDiscriminantAnalysis": "LinearDiscriminant",
    "QuadraticDiscriminantAnalysis": "QuadraticDiscriminant",
    "MiniBatchKMeans": "KMeans",
    "PoissonRegressor": "PoissonRegression",
    "GammaRegressor": "GammaRegression",
}

#: What says how long a search goes on: scikit-learn's default is not ours.
_SEARCH = frozenset({"tol", "max_iter", "n_init", "reg_covar", "max_no_improvement", "reassignment_ratio"})

#: Values that stand for a default there.
_UNSET = ("warn", "deprecated")


def adopt(estimator: Any) -> Any:
    """Return a configured estimator, pipeline or search of scikit-learn as one of ours, not yet fitted.

    Parameters keep their values; what only chose an algorithm or a display is dropped, and a warning says so
    where it was set. Steps of a pipeline that prepare columns, and have no equal here, stay scikit-learn's;
    so do estimators around others (`GridSearchCV`, `ColumnTransformer`, `StackingRegressor` and others), with
    ours inside. Kernels of Gaussian processes become those of `tractable.kernels`, which also a search over
    them may list.

    Where a model has an equal with some parameters alone, others are refused: `QuantileRegressor` without a
    penalty, `TweedieRegressor` of power 0, 1 and 2. `HuberRegressor` becomes `RobustRegression` with Huber's
    loss, whose scale is the median absolute deviation; a warning says it.

    Parameters
    ----------
    estimator : estimator of scikit-learn
        A model that is here too, a `Pipeline` that ends in one, or what is made of such, as a search. A
        kernel of `sklearn.gaussian_process.kernels` is returned as ours. Estimators of ours are returned as
        copies.

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
    notes: list[str] = []
    found = _kernel(estimator, notes) if _is_kernel(estimator) else _adopted(estimator, dropped, notes)
    if dropped:
        names = ", ".join(sorted(set(dropped)))
        notes.insert(0, f"dropped, as they choose an algorithm and not the model: {names}")
    if notes:
        warnings.warn("; ".join(dict.fromkeys(notes)), UserWarning, stacklevel=2)
    return found


def _adopted(estimator: Any, dropped: list[str], notes: list[str]) -> Any:
    from sklearn.base import clone

    if not hasattr(estimator, "get_params") or isinstance(estimator, type):
        raise ValueError(f"estimator must be an estimator of scikit-learn, constructed, got {estimator!r}")
    module, name = type(estimator).__module__.split(".")[0], type(estimator).__name__
    if module == "tractable":
        return clone(estimator)
    if name == "Pipeline":
        *before, last = estimator.steps
        steps = [(label, _prepared(step, dropped, notes)) for label, step in before]
        return clone(estimator).set_params(steps=[*steps, (last[0], _adopted(last[1], dropped, notes))])
    if _is_here(name) or not _parts(estimator):
        return _model(estimator, name, dropped, notes)
    found = _rebuilt(estimator, dropped, notes)
    if not any(type(part).__module__.startswith("tractable") for part in _models_within(found)):
        raise ValueError(f"{name} holds no model that has an equal here")
    return found


def _prepared(step: Any, dropped: list[str], notes: list[str]) -> Any:
    """Return a step that prepares columns: ours where there is one, or scikit-learn's."""
    from sklearn.base import clone

    if not _is_model(step):
        return step
    if _is_here(type(step).__name__):
        return _adopted(step, dropped, notes)
    return _rebuilt(step, dropped, notes) if _parts(step) else clone(step)


def _rebuilt(estimator: Any, dropped: list[str], notes: list[str]) -> Any:
    """Return an estimator of scikit-learn with the models and kernels within it made ours."""
    from sklearn.base import clone

    def made(x: Any) -> Any:
        if _is_kernel(x):
            return _kernel(x, notes)
        if _is_model(x):
            return _prepared(x, dropped, notes)
        if isinstance(x, (list, tuple)) and any(map(_holds, x)):
            return type(x)(map(made, x))
        return {key: made(each) for key, each in x.items()} if isinstance(x, dict) else x

    return clone(estimator).set_params(**{n: made(x) for n, x in _parts(estimator).items()})


def _parts(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator that hold models or kernels."""
    return {name: x for name, x in estimator.get_params(deep=False).items() if _holds(x)}


def _holds(x: Any) -> bool:
    if isinstance(x, dict):
        return any(map(_holds, x.values()))
    if isinstance(x, (list, tuple)):
        return any(map(_holds, x))
    return _is_model(x) or _is_kernel(x)


def _models_within(estimator: Any) -> list[Any]:
    return [x for x in estimator.get_params(deep=True).values() if _is_model(x)]


def _is_model(x: Any) -> bool:
    return hasattr(x, "get_params") and hasattr(x, "fit") and not isinstance(x, type)


def _is_kernel(x: Any) -> bool:
    return hasattr(x, "get_params") and type(x).__module__ == "sklearn.gaussian_process.kernels"


def _is_here(name: str) -> bool:
    return name in TRANSLATED or _ours(name) is not None


def _ours(name: str) -> Any:
    tractable = import_module("tractable")
    name = RENAMED.get(name, name)
    return getattr(tractable, name) if name in tractable.PUBLIC else None


def _model(estimator: Any, name: str, dropped: list[str], notes: list[str]) -> Any:
    defaults = {p.name: p.default for p in signature(type(estimator).__init__).parameters.values()}
    options = dict(estimator.get_params(deep=False))
    changed = {option for option, x in options.items() if not _same(x, defaults.get(option))}
    if name in TRANSLATED:
        name, options = TRANSLATED[name](options, notes)
    cls = _ours(name)
    if cls is None or not hasattr(cls, "get_params"):
        raise ValueError(f"{name} has no equal here; scikit-learn's goes on working beside these models")
    own, given = signature(cls.__init__).parameters, {}
    for option, x in options.items():
        if isinstance(x, str) and x in _UNSET:
            continue
        was_set = option in changed or option not in defaults
        if option in own and (was_set or option not in _SEARCH):
            given[option] = x
        elif option not in own and was_set:
            if is_inert(cls, option) or option in _SEARCH:
                dropped.append(option)
            else:
                given[option] = x
    try:
        return cls(**given)
    except TypeError:
        unknown = ", ".join(sorted(given.keys() - own.keys()))
        raise ValueError(f"{name}({unknown}=…) has no equal here") from None


Options = dict[str, Any]


def _tweedie(given: Options, _notes: list[str]) -> tuple[str, Options]:
    """Return the model of a power: 0 is normal, 1 Poisson's, 2 the gamma distribution."""
    names = {
        0.0: ("ElasticNet", "identity"),
        1.0: ("PoissonRegression", "log"),
        2.0: ("GammaRegression", "log"),
    }
    power, link = given.pop("power"), given.pop("link")
    if power not in names or link not in ("auto", names[power][1]):
        raise ValueError(
            f"TweedieRegressor(power={power}, link={link!r}) has no equal here: power 0 with the identity, 1 "
            "and 2 with the log link have"
        )
    name, _ = names[power]
    return name, {**given, "l1_ratio": 0.0} if name == "ElasticNet" else given


def _huber(given: Options, notes: list[str]) -> tuple[str, Options]:
    if given.pop("alpha") > 1e-4:
        raise ValueError("HuberRegressor(alpha=…) has no equal here: RobustRegression has no penalty")
    notes.append(
        "RobustRegression(noise='huber') scales residuals by their median absolute deviation, where "
        "HuberRegressor fits the scale with the coefficients"
    )
    tuning = given.pop("epsilon")
    return "RobustRegression", {**given, "noise": "huber", "tuning": tuning}


def _quantile(given: Options, _notes: list[str]) -> tuple[str, Options]:
    if given.pop("alpha") != 0.0:
        raise ValueError("QuantileRegressor(alpha=…) has no equal here but for alpha=0: there is no penalty")
    given.pop("solver_options")
    return "QuantileRegression", given


def _kernel_density(given: Options, notes: list[str]) -> tuple[str, Options]:
    if isinstance(given["bandwidth"], str):
        notes.append(
            f"bandwidth={given['bandwidth']!r} is one of each column in its units, where scikit-learn's "
            "ignores their spread"
        )
    return "KernelDensity", given


def _kernel_ridge(given: Options, _notes: list[str]) -> tuple[str, Options]:
    return "KernelRidge", {**_with_named_kernel(given), "fit_intercept": False}


def _kernel_pca(given: Options, _notes: list[str]) -> tuple[str, Options]:
    return "KernelPCA", _with_named_kernel(given)


def _with_named_kernel(given: Options) -> Options:
    names = import_module("tractable.kernels.named").NAMES
    if given["kernel"] not in names:
        raise ValueError(f"kernel={given['kernel']!r} has no equal here: those of {', '.join(names)} have")
    return given


def _logistic_cv(given: Options, _notes: list[str]) -> tuple[str, Options]:
    """Return the same choice of a penalty: its score is the accuracy where none was given."""
    scoring = given.pop("scoring")
    unset = scoring is None or (isinstance(scoring, str) and scoring in _UNSET)
    return "LogisticRegressionCV", {**given, "scoring": "accuracy" if unset else scoring}


def _regressing_process(given: Options, notes: list[str]) -> tuple[str, Options]:
    """Return a process of mean zero whose noise is known; that of a white term of the kernel is learned."""
    kernels, alpha = import_module("tractable.kernels"), given.pop("alpha")
    if np.ndim(alpha):
        raise ValueError("alpha of GaussianProcessRegressor, one a row, is fit(…, noise_variance=alpha) here")
    kernel = _process_kernel(given, notes, bounds=(1e-5, 1e5))
    if not kernel.has_noise:
        return "GaussianProcessRegressor", {
            **given,
            "kernel": kernel,
            "mean": "zero",
            "noise_variance": alpha,
        }
    if alpha > 1e-10:
        kernel = kernel + kernels.White(alpha, noise_level_bounds="fixed")
    return "GaussianProcessRegressor", {**given, "kernel": kernel, "mean": "zero"}


def _classifying_process(given: Options, notes: list[str]) -> tuple[str, Options]:
    if given["multi_class"] != "one_vs_rest":
        raise ValueError("GaussianProcessClassifier(multi_class='one_vs_one') has no equal here")
    return "GaussianProcessClassifier", {**given, "kernel": _process_kernel(given, notes, bounds="fixed")}


def _process_kernel(given: Options, notes: list[str], *, bounds: Any) -> Any:
    """Return the kernel of a process; where it has none, a squared exponential within bounds."""
    kernel = given["kernel"]
    if kernel is None:
        kernels = import_module("tractable.kernels")
        return kernels.Scaled(kernels.RBF(length_scale_bounds=bounds), scale_bounds=bounds)
    return _kernel(kernel, notes) if _is_kernel(kernel) else kernel


#: Models whose parameters have to be translated: from theirs to the name of ours and its.
TRANSLATED: dict[str, Callable[[Options, list[str]], tuple[str, Options]]] = {
    "TweedieRegressor": _tweedie,
    "HuberRegressor": _huber,
    "QuantileRegressor": _quantile,
    "KernelDensity": _kernel_density,
    "KernelPCA": _kernel_pca,
    "KernelRidge": _kernel_ridge,
    "LogisticRegressionCV": _logistic_cv,
    "GaussianProcessRegressor": _regressing_process,
    "GaussianProcessClassifier": _classifying_process,
}

#: Kernels that differ by their names, or by those of their parameters, alone.
KERNELS = {
    "RBF": "RBF",
    "Matern": "Matern",
    "RationalQuadratic": "RationalQuadratic",
    "ConstantKernel": "Constant",
    "WhiteKernel": "White",
    "DotProduct": "Linear",
    "ExpSineSquared": "Periodic",
}


def _kernel(kernel: Any, notes: list[str]) -> Any:
    """Return a kernel of scikit-learn as one of `tractable.kernels`."""
    kernels, name = import_module("tractable.kernels"), type(kernel).__name__
    if name in ("Sum", "Product"):
        first, second = (_kernel(part, notes) for part in (kernel.k1, kernel.k2))
        return first + second if name == "Sum" else _product(kernels, first, second)
    if name == "Exponentiation":
        if kernel.exponent != int(kernel.exponent):
            raise ValueError(f"Exponentiation of a kernel must be whole here, got {kernel.exponent}")
        return kernels.Power(_kernel(kernel.kernel, notes), int(kernel.exponent))
    given = kernel.get_params(deep=False)
    if name == "Matern" and given["nu"] == np.inf:
        name, _ = "RBF", given.pop("nu")
    if name not in KERNELS or given.get("nu", 0.5) not in (0.5, 1.5, 2.5):
        raise ValueError(f"the kernel {kernel!r} has no equal here")
    if name == "ExpSineSquared":
        notes.append("Periodic is a product over columns, and equal to ExpSineSquared in one column alone")
    return getattr(kernels, KERNELS[name])(**given)


def _product(kernels: Any, first: Any, second: Any) -> Any:
    """Return a product of kernels; one with a constant is a scaled kernel."""
    for factor, other in ((first, second), (second, first)):
        if isinstance(factor, kernels.Constant):
            return kernels.Scaled(other, factor.constant_value, scale_bounds=factor.constant_value_bounds)
    return first * second


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    try:
        return bool(np.all(a == b)) and type(a) is type(b)
    except (TypeError, ValueError):
        return False
