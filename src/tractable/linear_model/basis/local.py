"""Bumps at chosen centres."""

from typing import Any

import numpy as np

from tractable.arrays.log_space import sigmoid
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.base.parameters import check_number
from tractable.linear_model.basis.base import Basis, check_placement, spread_over

__all__ = ["GaussianBasis", "SigmoidBasis"]


class _LocalBasis(Basis):
    """Functions of the distance to centres, which are given or spread over each column."""

    def __init__(
        self, centers: Any = 10, *, width: float | None = None, placement: str = "quantiles"
    ) -> None:
        self.centers = centers
        self.width = width
        self.placement = placement

    def _check_centers(self, X: Array) -> Array | None:
        """Check the parameters; return given centres, (k, d), or None for a number of them."""
        if self.width is not None:
            check_number("width", self.width, above=0.0)
        check_placement(self.placement)
        if np.ndim(self.centers) == 0:
            check_number("centers", self.centers, least=1, whole=True)
            return None
        xp = namespace_of(X)
        found = xp.asarray(self.centers, dtype=xp.float64, device=device(X))
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
            self.centers_ = [spread_over(X[:, j], weights, self.centers, self.placement) for j in columns]
        else:
            self.centers_ = [given[:, j] for j in columns]
        gaps = (_mean_gap(xp.sort(c)) for c in self.centers_)
        self.width_ = [gap if self.width is None else float(self.width) for gap in gaps]


class GaussianBasis(_LocalBasis):
    """Gaussian bumps φⱼ(x) = exp(-‖x - μⱼ‖² / 2s²) at the centres μⱼ.

    Given centres are points among the rows, and a bump falls off in all directions. A number of centres is
    spread over each column, and a bump is one of that column alone: a sum of curves, one for each column.

    Parameters
    ----------
    centers : int or array of shape (n_centers, n_features)
        The centres, or how many to spread over each column (fewer where its values repeat).
    width : float, optional
        s, in the units of the columns. By default the average distance between neighbouring centres.
    placement : {"quantiles", "grid"}
        Whether a number of centres is spread at quantiles of the column, or evenly over its range.

    Attributes
    ----------
    centers_ : list of arrays, one a column; or array of shape (n_centers, n_features)
    width_ : list of floats, one a column; or float

    Examples
    --------
    >>> import tractable
    >>> basis = tractable.GaussianBasis(3, placement="grid").fit([[0.0], [1.0], [4.0]])
    >>> basis.centers_[0], basis.width_
    (array([0., 2., 4.]), [2.0])
    >>> basis.transform([[2.0]]).round(4)
    array([[0.6065, 1.    , 0.6065]])
    """

    def _settle(self, X: Array, weights: Array) -> None:
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
            return _column_names("bump", inputs, self.centers_)
        return [f"bump({', '.join(inputs)}; {k})" for k in range(self.centers_.shape[0])]


def _apart(centers: Array) -> float:
    """Return the average distance of a centre to the nearest other, or 1 where there is none."""
    xp = namespace_of(centers)
    if centers.shape[0] == 1:
        return 1.0
    away = xp.sqrt(xp.sum((centers[:, None, :] - centers[None, :, :]) ** 2, axis=-1))
    away = away + xp.where(xp.eye(centers.shape[0], device=device(centers)) > 0, xp.inf, 0.0)
    return float(xp.mean(xp.min(away, axis=1))) or 1.0


class SigmoidBasis(_LocalBasis):
    """Smooth steps φⱼ(x) = σ((x - μⱼ) / s), σ(a) = 1 / (1 + e⁻ᵃ), of each column.

    Parameters
    ----------
    centers : int or array of shape (n_centers, n_features)
        Where each column has its steps, or how many to spread over it (fewer where its values repeat).
    width, placement
        As in :class:`GaussianBasis`.

    Attributes
    ----------
    centers_ : list of arrays, one a column
    width_ : list of floats, one a column

    Examples
    --------
    >>> import tractable
    >>> basis = tractable.SigmoidBasis([[0.0], [1.0]], width=0.5).fit([[0.0], [1.0]])
    >>> basis.transform([[0.0], [1.0]]).round(3)
    array([[0.5  , 0.119],
           [0.881, 0.5  ]])
    >>> list(basis.get_feature_names_out(["age"]))
    ['step(age at 0)', 'step(age at 1)']
    """

    def _settle(self, X: Array, weights: Array) -> None:
        self._set_columns(X, weights, self._check_centers(X))

    def _map(self, X: Array) -> list[Array]:
        return [
            sigmoid((X[:, j] - center) / self.width_[j])
            for j, centers in enumerate(self.centers_)
            for center in centers
        ]

    def _names(self, inputs: list[str]) -> list[str]:
        return _column_names("step", inputs, self.centers_)


def _mean_gap(centers: Array) -> float:
    """Return the average distance between neighbours, or 1 where there is one centre alone."""
    n = centers.shape[0]
    return (float(centers[-1] / (n - 1) - centers[0] / (n - 1)) if n > 1 else 1.0) or 1.0


def _column_names(what: str, inputs: list[str], centers: list[Array]) -> list[str]:
    """Return a name for each function of each column, which says where its centre is."""
    names = [
        [f"{what}({name} at {float(c):.4g})" for c in of] for name, of in zip(inputs, centers, strict=True)
    ]
    # Centres that four digits do not tell apart are counted instead.
    return [
        label if len(set(labels)) == len(labels) else f"{what}({name}; {k})"
        for name, labels in zip(inputs, names, strict=True)
        for k, label in enumerate(labels)
    ]
