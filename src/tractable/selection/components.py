"""Choice of the number and covariance shape of mixture components by BIC, ICL or AIC."""

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import clone

from tractable.arrays.namespace import is_foreign_array
from tractable.base import check_choice, check_columns, check_numbers, check_weights
from tractable.covariance.shapes import SHAPES
from tractable.data import is_streamed
from tractable.data.progress import progress
from tractable.mixture import CollapsedComponentWarning, GaussianMixture
from tractable.mixture.selection import ComponentChoice

CRITERIA = ("bic", "icl", "aic")


def select_components(
    X: Any,
    n_components: Iterable[int] = range(1, 10),
    covariance_types: Iterable[str] = ("full", "tied", "diag", "spherical"),
    *,
    criterion: str = "bic",
    sample_weight: Any = None,
    estimator: Any = None,
) -> ComponentChoice:
    """Choose the number of components of a Gaussian mixture, and the shape of their covariances.

    BIC approximates the evidence; ICL also penalises overlap, for clusters; AIC approximates the prediction
    error. A mixture with a collapsed component, whose likelihood has no bound, is left out of the choice
    unless all have one. Warnings of the fits are given once, with the fits they concern.

    Parameters
    ----------
    X : array or frame (n_samples, n_features)
        Held in memory. Missing entries (NaN) are marginalised.
    n_components : iterable of int
        At most as many as there are rows that count.
    covariance_types : str or iterable of str
        Of "full", "tied", "diag", "spherical" and "low_rank".
    criterion : {"bic", "icl", "aic"}
        The one that decides; all are reported.
    sample_weight : array (n_samples,), optional
        How often each row counts.
    estimator : GaussianMixture, optional
        Every other parameter; three starts for each fit when not given.

    Returns
    -------
    ComponentChoice
        With `best`, `best_model`, `scores` and `models`; `tractable.plot` draws it.

    Examples
    --------
    >>> import tractable
    >>> X = tractable.datasets.load("old_faithful").X
    >>> found = select_components(X, range(1, 4), ["full", "tied"])
    >>> found.best
    (3, 'tied')
    >>> found
    K      full      tied
    1  2607.62   2607.62
    2  2322.19   2325.22
    3  2336.66   2314.43*
    3 components, tied: lowest bic
    """
    check_choice("criterion", criterion, CRITERIA)
    numbers, kinds = check_numbers("n_components", n_components), _kinds(covariance_types)
    base = GaussianMixture(n_init=3, random_state=0) if estimator is None else estimator
    if not isinstance(base, GaussianMixture):
        raise ValueError(f"estimator must be a GaussianMixture, got {type(base).__name__}")
    _check_rows(base, X, sample_weight, numbers)
    warned: dict[type[Warning], dict[str, str]] = {}
    models, scores = [], {name: np.empty((len(kinds), len(numbers))) for name in CRITERIA}
    with progress("mixtures", len(kinds) * len(numbers)) as line:
        for i, kind in enumerate(kinds):
            fits = []
            for j, number in enumerate(numbers):
                model = clone(base).set_params(n_components=number, covariance_type=kind)
                fits.append(_fitted(model, X, sample_weight, warned))
                for name in CRITERIA:
                    scores[name][i, j] = getattr(model, name)(X, sample_weight)
                line.advance(note=f"{number} {kind}")
            models.append(tuple(fits))
    _warn(warned)
    return ComponentChoice(
        n_components=np.asarray(numbers),
        covariance_types=tuple(kinds),
        scores=scores,
        criterion=criterion,
        models=tuple(models),
    )


def _kinds(given: Any) -> list[str]:
    kinds = [given] if isinstance(given, str) else list(dict.fromkeys(given))
    if not kinds:
        raise ValueError("covariance_types must name at least one shape, got none")
    for kind in kinds:
        check_choice("covariance_types", kind, SHAPES)
    return kinds


def _check_rows(base: GaussianMixture, X: Any, sample_weight: Any, numbers: list[int]) -> None:
    """Raise before the first fit where the last could not be made."""
    if is_streamed(X) or is_foreign_array(X):
        raise ValueError("X must be an array of NumPy or a frame, held in memory: criteria look at it again")
    rows = check_columns(clone(base), X, reset=True)
    weights = None if isinstance(sample_weight, str) else check_weights(sample_weight, rows)
    n = len(rows) if weights is None else int(np.count_nonzero(weights))
    if numbers[-1] > n:
        raise ValueError(f"n_components must be at most the {n} rows of X that count, got {numbers[-1]}")


def _fitted(model: GaussianMixture, X: Any, sample_weight: Any, warned: dict[Any, dict[str, str]]) -> Any:
    """Fit a mixture, and collect its warnings under its name."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, sample_weight=sample_weight)
    for warning in caught:
        name = f"{model.n_components} {model.covariance_type}"
        warned.setdefault(warning.category, {}).setdefault(name, str(warning.message))
    return model


def _warn(warned: dict[type[Warning], dict[str, str]]) -> None:
    """Warn once of every category, with the fits it concerns."""
    for category, fits in warned.items():
        message = next(iter(fits.values()))
        if category is CollapsedComponentWarning:
            message = "components collapsed; these mixtures are chosen only where all are such"
        warnings.warn(f"{', '.join(fits)}: {message}", category, stacklevel=3)
