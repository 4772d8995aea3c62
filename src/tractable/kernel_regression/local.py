"""Local regression: means and lines weighted by a window about each point."""

from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.limits import power_of_two
from tractable.base import (
    Estimator,
    ModelTags,
    RegressorMixin,
    all_or_nothing,
    check_fitted,
    check_targets,
)
from tractable.base.by_blocks import by_blocks, of_held_rows
from tractable.base.stored_rows import check_held_columns, check_stored_rows
from tractable.distributions import Mixture, Normal
from tractable.kernel_regression.smoother import LocalSmoother, search_bandwidth
from tractable.smoothing import check_window
from tractable.smoothing.rows import as_lengths
from tractable.smoothing.rules import window_factor
from tractable.statistics.moments import DiagonalMoments
from tractable.statistics.standardizer import Standardizer


class LocalRegressor(RegressorMixin, Estimator):
    """Polynomials of degree 0 or 1, fitted about each point to the targets of the rows under a window."""

    model_tags = ModelTags(kind="discriminative", parametric=False, streaming="no")
    _several_targets = True
    #: The degree of the polynomial.
    _degree: ClassVar[int]

    def __init__(self, bandwidth: Any = "loo", *, kernel: Any = "gaussian") -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Store the rows and choose the bandwidth.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Rows, which are read into memory.
        y : array of shape (n_samples,) or (n_samples, n_targets), or column name
            Targets.
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.
        """
        check_window(self.kernel)
        rows = check_stored_rows(self, X, y, sample_weight, supervised=True)
        x = rows.data
        targets = check_targets(self, rows.y, x)
        self.bandwidth_ = self._lengths(x, rows.weights)
        self.X_fit_, self.targets_, self.sample_weight_ = x, targets, rows.weights
        if isinstance(self.bandwidth, str):
            scale = power_of_two(float(np.max(np.abs(targets))))
            y = targets.reshape(len(x), -1) / scale
            self.search_ = search_bandwidth(self._smoother, y, self.bandwidth_)
            self.bandwidth_ = self.search_.bandwidth
        self._check_reach()
        return self

    @by_blocks
    def predict(self, X: Any) -> np.ndarray:
        """Return the local fit at each row, (n_samples,) or (n_samples, n_targets)."""
        check_fitted(self)
        rows = check_held_columns(self, X)
        y = self.targets_.reshape(len(self.targets_), -1)
        scale = power_of_two(float(np.max(np.abs(y))))
        smoother = self._smoother
        found = scale * smoother.fitted((rows - smoother.origin) / self.bandwidth_, y / scale)
        return found.reshape(len(rows), *self.targets_.shape[1:])

    @of_held_rows
    def equivalent_kernel(self, X: Any) -> np.ndarray:
        """Return the weight that the target of each row of the fit has in each prediction, (m, n_samples).

        ``equivalent_kernel(X) @ y`` is ``predict(X)``, and the weights of a prediction have the sum one.

        Parameters
        ----------
        X : array or frame of shape (m, n_features)
            Rows.
        """
        check_fitted(self)
        rows, smoother = check_held_columns(self, X), self._smoother
        return smoother((rows - smoother.origin) / self.bandwidth_)

    @property
    def _smoother(self) -> LocalSmoother:
        weights = self.sample_weight_
        return LocalSmoother.of(
            self.X_fit_,
            self.bandwidth_,
            counts=np.ones(len(self.X_fit_)) if weights is None else weights,
            window=check_window(self.kernel),
            degree=self._degree,
        )

    def _lengths(self, x: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """Return the bandwidth that was given, or a rule of thumb about which one is searched for."""
        if not isinstance(self.bandwidth, str):
            return as_lengths("bandwidth", self.bandwidth, x.shape[1])
        if self.bandwidth != "loo":
            raise ValueError(
                f'bandwidth must be "loo", a number or one for each column, got {self.bandwidth!r}'
            )
        standardizer = Standardizer.from_moments(DiagonalMoments.of(x, weights))
        spread = np.where(standardizer.varies, 1.0 / standardizer.scale, np.maximum(np.abs(x[0]), 1.0))
        n, d = float(len(x) if weights is None else weights.sum()), x.shape[1]
        rule = (4.0 / ((d + 2.0) * max(n, 1.0))) ** (1.0 / (d + 4.0))
        return spread * rule * window_factor(check_window(self.kernel), d)

    def _check_reach(self) -> None:
        """Refuse bandwidths in whose units the rows cannot be squared."""
        with np.errstate(over="ignore"):
            if not np.all(np.abs(self._smoother.points) < 1e150):
                raise ValueError("bandwidth is too small for X: distances over it overflow")


class NadarayaWatson(LocalRegressor):
    """Nadaraya-Watson regression: the mean of the targets, weighted by a window about x.

    ŷ(x) = Σ w_i(x) y_i, with w_i(x) = K_h(x - x_i) / Σ_j K_h(x - x_j): the conditional mean of a kernel
    density of (x, y), whatever the window in y is, as long as it has the mean zero. The density itself may
    have several modes where the mean is at none of them: `conditional_density`. It is smoothed, and wider
    than the targets are: no `predict_dist`, whose intervals would have to cover what they say.

    Far from all rows the nearest one has all the weight; so it has where none is within the reach of a
    window that has an end.

    Parameters
    ----------
    bandwidth : "loo", float or array of shape (n_features,)
        h of the window in each column, or "loo": the multiple of a rule of thumb whose left-out rows are
        predicted with the least squared error.
    kernel : str or callable
        The window K, as :class:`KernelDensity` takes it.

    Attributes
    ----------
    bandwidth_ : array of shape (n_features,)
        h.
    search_ : BandwidthSearch
        With "loo": bandwidths that were tried, and the mean squared error of left-out rows of each, in units
        of a power of two near the largest target.
    X_fit_ : array of shape (n_samples, n_features)
        The rows of the fit, those of positive weight.
    targets_ : array of shape (n_samples,) or (n_samples, n_targets)
        Their targets.
    sample_weight_ : array of shape (n_samples,) or None
        How often each counts; None where none were given.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    LocalLinear : lines in the place of means, which have no bias at the ends of the rows.

    Examples
    --------
    >>> import tractable
    >>> X, y = [[1.0], [2.0], [3.0], [4.0], [4.5]], [3.0, 5.0, 7.0, 9.0, 10.0]
    >>> model = tractable.NadarayaWatson(0.5).fit(X, y)
    >>> model.predict([[3.5]]).round(4), model.equivalent_kernel([[3.5]]).round(4)
    (array([8.1746]), array([[0.    , 0.0082, 0.4461, 0.4461, 0.0995]]))
    """

    _degree = 0

    def conditional_density(self, X: Any, bandwidth: float | None = None) -> Mixture:
        """Return p(y | x) of a kernel density of rows and targets: Σ w_i(x) N(y | y_i, h_y²).

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        bandwidth : float, optional
            h_y of the Gaussian window in y; by default Silverman's, of the residuals of left-out rows.

        Returns
        -------
        Mixture
            Of batch shape (n_samples,), with a second axis for several targets. Its mean is `predict`.
        """
        weights = self.equivalent_kernel(X)
        width = self._target_bandwidths() if bandwidth is None else as_lengths("bandwidth", bandwidth)
        if self.targets_.ndim == 1:
            return Mixture(
                weights=weights, components=Normal(mean=self.targets_, stddev=float(np.ravel(width)[0]))
            )
        stddev = np.broadcast_to(width, (self.targets_.shape[1],))[:, None]
        return Mixture(weights=weights[:, None, :], components=Normal(mean=self.targets_.T, stddev=stddev))

    @by_blocks
    def conditional_variance(self, X: Any) -> np.ndarray:
        """Return Σ w_i(x) (y_i - ŷ(x))² of each row: the spread of targets about x, without a window in y.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        """
        weights, mean = self.equivalent_kernel(X), self.predict(X)
        y = self.targets_.reshape(len(self.targets_), -1)
        gaps = y[None, :, :] - mean.reshape(len(weights), 1, -1)
        return np.einsum("mn,mnt->mt", weights, gaps**2).reshape(mean.shape)

    def _target_bandwidths(self) -> np.ndarray:
        """Return Silverman's bandwidth of the residuals of left-out rows, one for each target."""
        y = self.targets_.reshape(len(self.targets_), -1)
        smoother = self._smoother
        total = float(np.sum(smoother.counts))
        if total <= 1.0:
            raise ValueError("bandwidth must be given: one row has no residuals to take it from")
        errors = smoother.fitted(smoother.points, y, np.arange(len(y))) - y
        spread = np.sqrt(smoother.counts @ errors**2 / total)
        floor = 1e-8 * np.maximum(np.max(np.abs(y), axis=0), np.finfo(float).tiny ** 0.5)
        return np.maximum(spread * (4.0 / (3.0 * total)) ** 0.2, floor)


class LocalLinear(LocalRegressor):
    """Local linear regression: a line about each point, fitted by least squares under a window.

    ŷ(x) is the intercept of the line that minimises Σ K_h(x - x_i) (y_i - b - cᵀ(x_i - x))². A linear
    function is reproduced exactly, up to the ends of the rows, where means are biased. Directions in
    which the rows within reach do not spread have no slope. The bias of a local line has no estimate here, so
    there are no intervals (`predict_dist`).

    Parameters
    ----------
    bandwidth : "loo", float or array of shape (n_features,)
        h of the window in each column, or "loo": the multiple of a rule of thumb whose left-out rows are
        predicted with the least squared error.
    kernel : str or callable
        The window K, as :class:`KernelDensity` takes it.

    Attributes
    ----------
    bandwidth_ : array of shape (n_features,)
        h.
    search_ : BandwidthSearch
        With "loo": bandwidths that were tried, and the mean squared error of left-out rows of each, in units
        of a power of two near the largest target.
    X_fit_ : array of shape (n_samples, n_features)
        The rows of the fit, those of positive weight.
    targets_ : array of shape (n_samples,) or (n_samples, n_targets)
        Their targets.
    sample_weight_ : array of shape (n_samples,) or None
        How often each counts; None where none were given.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    NadarayaWatson : means in the place of lines, with the conditional density.

    Examples
    --------
    >>> import tractable
    >>> X, y = [[1.0], [2.0], [3.0], [4.0], [4.5]], [3.0, 5.0, 7.0, 9.0, 10.0]
    >>> tractable.LocalLinear(0.5).fit(X, y).predict([[3.5], [0.0]]).round(6)
    array([8., 1.])
    """

    _degree = 1
