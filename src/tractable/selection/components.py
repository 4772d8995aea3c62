"""How many components, and of which shape? Fit each, and let a criterion choose."""

from collections.abc import Iterable
from operator import index
from typing import Any

import numpy as np
from sklearn.base import clone

from tractable.base import check_choice
from tractable.engines.progress import progress
from tractable.mixture import GaussianMixture
from tractable.mixture.component_choice import ComponentChoice
from tractable.mixture.gaussian_shapes import COVARIANCE_TYPES

__all__ = ["select_components"]

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

    BIC asks for a good density; ICL for components that are apart, hence for clusters; AIC for prediction.

    Parameters
    ----------
    X : array or frame (n_samples, n_features)
        Missing entries (NaN) are marginalised.
    n_components : iterable of int
    covariance_types : iterable of str
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
    numbers, kinds = _numbers(n_components), list(dict.fromkeys(covariance_types))
    if not kinds:
        raise ValueError("covariance_types must name at least one shape, got none")
    for kind in kinds:
        check_choice("covariance_types", kind, COVARIANCE_TYPES)
    base = GaussianMixture(n_init=3, random_state=0) if estimator is None else estimator
    if not isinstance(base, GaussianMixture):
        raise ValueError(f"estimator must be a GaussianMixture, got {type(base).__name__}")
    models, scores = [], {name: np.empty((len(kinds), len(numbers))) for name in CRITERIA}
    with progress("mixtures", len(kinds) * len(numbers)) as line:
        for i, kind in enumerate(kinds):
            fits = []
            for j, number in enumerate(numbers):
                model = clone(base).set_params(n_components=number, covariance_type=kind)
                fits.append(model.fit(X, sample_weight=sample_weight))
                for name in CRITERIA:
                    scores[name][i, j] = getattr(model, name)(X, sample_weight)
                line.advance(note=f"{number} {kind}")
            models.append(tuple(fits))
    return ComponentChoice(
        n_components=np.asarray(numbers),
        covariance_types=tuple(kinds),
        scores=scores,
        criterion=criterion,
        models=tuple(models),
    )


def _numbers(given: Any) -> list[int]:
    try:
        numbers = sorted({index(k) for k in given})
    except TypeError:
        raise ValueError(f"n_components must be whole numbers, got {given!r}") from None
    if not numbers or numbers[0] < 1:
        raise ValueError(f"n_components must be whole numbers from 1, got {given!r}")
    return numbers
