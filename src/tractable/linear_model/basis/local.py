"""Gaussian and sigmoidal basis functions."""

from typing import Any

import numpy as np

from tractable.arrays.log_space import sigmoid
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.base.parameters import check_number
from tractable.linear_model.basis.base import Basis, check_strategy, spread_over


class _LocalBasis(Basis):
    """Functions of the distance to centres, which are given or spread over each column."""

    def __init__(self, centers: Any = 10, *, width: float | None = None, strategy: str = "quantile") -> None:
        self.centers = centers
        self.width = width
        self.strategy = strategy

    def _check_centers(self, X: Array) -> Array | None:
        """Check the parameters; return given centres, (k, d), or None for a number of them."""
        if self.width is not None:
            check_number("width", self.width, above=0.0)
        check_strategy(self.strategy)
        if np.ndim(self.centers) == 0:
            check_number("centers", self.centers, least=1, most=1 << 16, whole=True)
            return None
        xp = namespace_of(X)
        try:
            found = xp.asarray(self.centers, dtype=xp.float64, device=device(X))
        except (TypeError, ValueError) as error:
            raise ValueError(f"centers must be a number or rows of numbers: {error}") from None
        if found.ndim != 2 or found.shape[0] < 1 or found.shape[1] != X.shape[1]:
            raise ValueError(f"centers must be of shape (n_centers, {X.shape[1]}), got {tuple(found.shape)}")
        if not bool(xp.all(xp.isfinite(found))):
            raise ValueError("centers contains NaN or infinity")
        return found

    def _set_columns(self, X: Array, weights: Array, given: Array | None) -> None:
        """Set centres and widths of each column by itself."""
        xp = namespace_of(X)
        columns = range(X.shape[1])
        if given is None:
            self.centers_ = [spread_over(X[:, j], weights, self.centers, self.strategy) for j in columns]
        else:
            self.centers_ = [given[:, j] for j in columns]
        gaps = (_mean_gap(xp.sort(c)) for c in self.centers_)
        self.width_ = [gap if self.width is None else float(self.width) for gap in gaps]


class GaussianBasis(_LocalBasis):
    """Gaussian basis functions φⱼ(x) = exp(-‖x - μⱼ‖² / 2s²) with centres μⱼ, Bishop (3.4).

    Given centres are points of the feature space, and a function depends on the distance in all columns. With
    a number of centres, each column has functions of its own, so that a linear model of them is additive.

    Parameters
    ----------
    centers : int or array of shape (n_centers, n_features)
        The centres, or their number, 65,536 at most, in each column (fewer where its values repeat).
    width : float, optional
        The scale s, in the units of the columns. By default the mean distance between neighbouring centres.
    strategy : {"quantile", "uniform"}
        Where a number of centres lies: at quantiles of the column, or evenly spaced over its range.

    Attributes
    ----------
    centers_ : list of arrays, one per column; or array of shape (n_centers, n_features)
        The centres μⱼ.
    width_ : list of floats, one per column; or float
        The scales s.

    Examples
    --------
    >>> import tractable
    >>> basis = tractable.GaussianBasis(3, strategy="uniform").fit([[0.0], [1.0], [4.0]])
    >>> basis.centers_[0], basis.width_
    (array([0., 2., 4.]), [2.0])
    >>> basis.transform([[2.0]]).round(4)
    array([[0.6065, 1.    , 0.6065]])
    """

    def _learn(self, X: Array, weights: Array) -> None:
        given = self._check_centers(X)
        self.centers_: Any
        self.width_: Any
        if given is None:
            self._set_columns(X, weights, None)
        else:
            self.centers_ = given
            self.width_ = _apart(given) if self.width is None else float(self.width)

    def _map(self, X: Array) -> list[Array]:
        xp = namespace_of(X)
        if isinstance(self.centers_, list):
            return [
                xp.exp(-0.5 * ((X[:, j] - center) / self.width_[j]) ** 2)
                for j, centers in enumerate(self.centers_)
                for center in centers
            ]
        return [xp.exp(-0.5 * xp.sum(((X - center) / self.width_) ** 2, axis=1)) for center in self.centers_]

    def _names(self, inputs: list[str]) -> list[str]:
        if isinstance(self.centers_, list):
            return _column_names("gaussian", inputs, self.centers_)
        return [f"gaussian({', '.join(inputs)}; {k})" for k in range(self.centers_.shape[0])]


def _apart(centers: Array) -> float:
    """Return the average distance of a centre to the nearest other, or 1 where there is none."""
    xp = namespace_of(centers)
    if centers.shape[0] == 1:
        return 1.0
    away = xp.sqrt(xp.sum((centers[:, None, :] - centers[None, :, :]) ** 2, axis=-1))
    away = away + xp.where(xp.eye(centers.shape[0], device=device(centers)) > 0, xp.inf, 0.0)
    return float(xp.mean(xp.min(away, axis=1))) or 1.0


class SigmoidBasis(_LocalBasis):
    """Sigmoidal basis functions φⱼ(x) = σ((x - μⱼ) / s) of each column, σ(a) = 1 / (1 + e⁻ᵃ), Bishop (3.5).

    Parameters
    ----------
    centers : int or array of shape (n_centers, n_features)
        The centres in each column, or their number, 65,536 at most (fewer where its values repeat).
    width : float, optional
        The scale s, in the units of the columns. By default the mean distance between neighbouring centres.
    strategy : {"quantile", "uniform"}
        Where a number of centres lies: at quantiles of the column, or evenly spaced over its range.

    Attributes
    ----------
    centers_ : list of arrays, one per column
        The centres μⱼ.
    width_ : list of floats, one per column
        The scales s.

    Examples
    --------
    >>> import tractable
    >>> basis = tractable.SigmoidBasis([[0.0], [1.0]], width=0.5).fit([[0.0], [1.0]])
    >>> basis.transform([[0.0], [1.0]]).round(3)
    array([[0.5  , 0.119],
           [0.881, 0.5  ]])
    >>> list(basis.get_feature_names_out(["age"]))
    ['sigmoid(age at 0)', 'sigmoid(age at 1)']
    """

    def _learn(self, X: Array, weights: Array) -> None:
        self._set_columns(X, weights, self._check_centers(X))

    def _map(self, X: Array) -> list[Array]:
        return [
            sigmoid((X[:, j] - center) / self.width_[j])
            for j, centers in enumerate(self.centers_)
            for center in centers
        ]

    def _names(self, inputs: list[str]) -> list[str]:
        return _column_names("sigmoid", inputs, self.centers_)


def _mean_gap(centers: Array) -> float:
    """Return the mean distance between neighbouring centres, or 1 for a single centre."""
    n = centers.shape[0]
    return (float(centers[-1] / (n - 1) - centers[0] / (n - 1)) if n > 1 else 1.0) or 1.0


def _column_names(what: str, inputs: list[str], centers: list[Array]) -> list[str]:
    """Return a name for each function of each column, which says where its centre is."""
    names = [
        [f"{what}({name} at {float(c):.4g})" for c in of] for name, of in zip(inputs, centers, strict=True)
    ]
    # Centres that are equal to four digits are numbered instead.
    return [
        label if len(set(labels)) == len(labels) else f"{what}({name}; {k})"
        for name, labels in zip(inputs, names, strict=True)
        for k, label in enumerate(labels)
    ]
