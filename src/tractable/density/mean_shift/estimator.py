"""Mean shift: clusters are the basins of attraction of the modes of a density."""

import math
import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning

from tractable.arrays.limits import check_squarable
from tractable.base import (
    Estimator,
    ModelTags,
    Rows,
    all_or_nothing,
    check_choice,
    check_fitted,
    check_number,
)
from tractable.base.by_blocks import by_blocks
from tractable.base.stored_rows import check_held_columns, check_stored_rows, total_weight
from tractable.data.blocks import map_rows
from tractable.density.mean_shift.modes import Modes, assign_to_modes, flat_modes, gaussian_modes
from tractable.primitives import squared_distances
from tractable.primitives.kmeans import nearest_centers
from tractable.primitives.mean_shift import KernelField, kernel_field
from tractable.smoothing.rows import as_lengths
from tractable.smoothing.rules import column_scales, scott, silverman, window_factor
from tractable.smoothing.windows import WINDOWS
from tractable.statistics.rows import counts
from tractable.statistics.standardizer import Standardizer

RULES = ("gradient", "scott", "silverman")

#: Differences of coordinates up to which the nearest centres are found by all of them.
FEW_STEPS = 2**14


class MeanShift(ClusterMixin, Estimator):
    """Mean-shift clustering: a cluster is the basin of attraction of a mode of a kernel density estimate.

    Every ascent repeats x ← Σ_i w_i k(x_i, x) x_i / Σ_i w_i k(x_i, x), the mean of the rows in the window
    about x. For the Gaussian window this is gradient ascent on log p, p the kernel density estimate, with
    step h², and it ends at the modes of p. The flat window counts the rows within the bandwidth alike, and
    ascends the estimate with Epanechnikov's window. No step ever decreases the estimate, and the number of
    clusters is found, not given.

    A flat ascent ends where a step is at most 1e-9 bandwidths. A Gaussian one ends in a ball about a known
    mode inside which every step is proven to come nearer to it, or where its steps are short; modes are then
    refined by Newton's method until the next step is below 1e-9 bandwidths. Flat modes within one bandwidth
    of each other are one (the one with the more rows in its window), Gaussian ones within 0.01 bandwidths.
    The answer does not depend on the number of threads.

    Parameters
    ----------
    bandwidth : float, array of shape (n_features,), {"gradient", "silverman", "scott"} or None
        Radius of the flat window, or standard deviation of the Gaussian; one for each column makes it an
        ellipsoid. By rule it follows the scale of each column: "gradient" (None) is the best for the slopes
        of Gaussian rows, h_j = σ_j (4 / ((d + 4) n))^(1/(d+6)), and the others for the heights; a flat window
        has the width that smooths as much. Clusters far apart make σ large, and rules then smooth much.
    kernel : {"flat", "gaussian"}
        "flat" is the default because it is scikit-learn's, and its steps end exactly. Its estimate has many
        small modes where rows are few; the Gaussian's is smooth, and its modes are those of
        `tractable.KernelDensity` with the same bandwidth.
    seeds : array of shape (n_seeds, n_features), optional
        Where ascents start; at every row when not given.
    bin_seeding : bool
        Start at the mean of the rows in each cell of a grid as fine as the bandwidth instead: faster, and
        may miss a mode.
    min_bin_freq : int
        Cells with less weight are no seeds.
    cluster_all : bool
        Whether rows that lie farther from their mode than the window reaches (one bandwidth; √(d + 4) of a
        Gaussian, whose variance a flat window then has) belong to it too. Otherwise they are outliers, with
        the label -1.
    assign : {"basin", "nearest"}
        Rows belong to the mode they ascend to, or to the nearest (in bandwidths), as in scikit-learn. From
        seeds or bins, "nearest" saves the ascents of the rows.
    max_iter : int
        Most steps of an ascent.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
        The modes, the highest first.
    log_heights_ : array of shape (n_clusters,)
        Logarithm of the kernel density estimate (with the window as it is, flat or Gaussian) at each mode.
    labels_ : array of shape (n_samples,)
        The cluster of each row; -1 for a row without one.
    bandwidth_ : float or array of shape (n_features,)
        The bandwidth that was used.
    n_iter_ : int
        The most steps of an ascent.
    converged_ : bool
        Whether every ascent ended within `max_iter` steps.
    capture_radii_ : array of shape (n_clusters,)
        Radii, in bandwidths, of balls about Gaussian modes from which every ascent is proven to end there.
    rows_ : array of shape (n_rows, n_features)
        The rows of the density estimate, which `predict` ascends.
    sample_weight_ : array of shape (n_rows,) or None
        Frequencies of the rows; None where none were given.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    tractable.KMeans : a given number of clusters about their means.
    tractable.Mixture : whose `modes` are those of the Gaussian window.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X = np.array([[1.0, 1.0], [2.0, 1.0], [1.0, 0.0], [4.0, 7.0], [3.0, 5.0], [3.0, 6.0]])
    >>> model = tractable.MeanShift(bandwidth=2).fit(X)
    >>> model.labels_.tolist()
    [1, 1, 1, 0, 0, 0]
    >>> model.cluster_centers_.round(3).tolist()
    [[3.333, 6.0], [1.333, 0.667]]
    >>> model.predict([[0.0, 0.0], [5.0, 5.0]]).tolist()
    [1, 0]
    """

    model_tags = ModelTags(kind="mapping", parametric=False, streaming="no")

    def __init__(
        self,
        *,
        bandwidth: Any = None,
        kernel: str = "flat",
        seeds: Any = None,
        bin_seeding: bool = False,
        min_bin_freq: int = 1,
        cluster_all: bool = True,
        assign: str = "basin",
        max_iter: int = 300,
    ) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.seeds = seeds
        self.bin_seeding = bin_seeding
        self.min_bin_freq = min_bin_freq
        self.cluster_all = cluster_all
        self.assign = assign
        self.max_iter = max_iter

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the modes, and the mode that each row ascends to.

        Parameters
        ----------
        X, y, sample_weight
            Rows (n_samples, n_features), and how often each counts; y is ignored.
        """
        self._check_parameters()
        stored = check_stored_rows(self, X, sample_weight=sample_weight, drop=False)
        X = stored.data
        self.rows_, self.sample_weight_ = counted(X, stored.weights)
        flat = self.kernel == "flat"
        self.bandwidth_ = bandwidths(self.bandwidth, self.rows_, self.sample_weight_, flat=flat)
        scaling, field = self._field()
        starts, all_rows = self._starts(scaling), self.seeds is None and not self.bin_seeding
        find = flat_modes if flat else gaussian_modes
        modes, reached = find(field, starts, self.max_iter)
        if not len(modes.centers):
            raise ValueError("seeds must lie near rows of X: the windows of all are empty")
        self._set_fitted(modes, scaling)
        if all_rows and self.assign == "basin" and len(self.rows_) == len(X):
            labels = reached if not flat else nearest(reached, modes.centers)
            self.labels_ = self._without_outliers(standardized(scaling, X), modes, labels)
        else:
            self.labels_ = self._assigned(X)
        if not modes.converged:
            warnings.warn(
                f"mean shift did not converge in {self.max_iter} steps; raise max_iter",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    @by_blocks
    def predict(self, X: Any) -> np.ndarray:
        """Return the mode each row ascends to (or the nearest, see `assign`); -1 for outliers.

        An ascent that ends elsewhere than at a known mode, or that starts with no rows in its window, belongs
        to the mode nearest to where it ends. With `cluster_all`, no row is an outlier.
        """
        check_fitted(self)
        return self._assigned(check_held_columns(self, X))

    def _assigned(self, x: np.ndarray) -> np.ndarray:
        scaling, field = self._field()
        x, modes = standardized(scaling, x), self._modes(scaling)
        if self.assign == "nearest":
            return self._without_outliers(x, modes, nearest(x, modes.centers))
        flat = self.kernel == "flat"
        basins, ends = assign_to_modes(field, modes, x, flat=flat, max_iter=self.max_iter)
        labels = np.where(basins >= 0, basins, nearest(ends, modes.centers))
        return self._without_outliers(x, modes, labels)

    def _check_parameters(self) -> None:
        check_bandwidth(self.bandwidth)
        check_choice("kernel", self.kernel, ["flat", "gaussian"])
        check_choice("assign", self.assign, ["basin", "nearest"])
        check_number("min_bin_freq", self.min_bin_freq, least=1, whole=True)
        check_number("max_iter", self.max_iter, least=1, whole=True)

    def _field(self) -> tuple[Standardizer, KernelField]:
        scaling = getattr(self, "_scaling_", None)
        if scaling is None:
            scaling = in_bandwidths(self.rows_, self.sample_weight_, self.bandwidth_)
        return scaling, kernel_field(standardized(scaling, self.rows_), self.sample_weight_)

    def _starts(self, scaling: Standardizer) -> np.ndarray:
        if self.seeds is not None:
            try:
                seeds = np.asarray(self.seeds, dtype=np.float64)
            except (TypeError, ValueError) as error:
                raise ValueError(f"seeds must be rows of numbers: {error}") from None
            if seeds.ndim != 2 or seeds.shape[1] != self.n_features_in_ or not np.all(np.isfinite(seeds)):
                raise ValueError(
                    f"seeds must be finite rows of {self.n_features_in_} columns, as X has, "
                    f"got shape {seeds.shape}"
                )
            if not len(seeds):
                raise ValueError("seeds must have at least one row, got none")
            return standardized(scaling, seeds, "seeds")
        z = standardized(scaling, self.rows_)
        return binned(z, self.sample_weight_, self.min_bin_freq) if self.bin_seeding else z

    def _set_fitted(self, modes: Modes, scaling: Standardizer) -> None:
        self._scaling_, self.cluster_centers_ = scaling, scaling.inverse_transform(modes.centers)
        d, total = self.n_features_in_, total_weight(Rows(data=self.rows_, weights=self.sample_weight_))
        log_volume = (
            0.5 * d * math.log(math.pi) - math.lgamma(0.5 * d + 1.0)
            if self.kernel == "flat"
            else 0.5 * d * math.log(2.0 * math.pi)
        )
        self.log_heights_ = modes.log_masses - math.log(total) - log_volume + scaling.log_jacobian
        self.capture_radii_ = modes.radii
        self.n_iter_, self.converged_ = modes.n_iter, modes.converged

    def _modes(self, scaling: Standardizer) -> Modes:
        return Modes(
            centers=np.ascontiguousarray(standardized(scaling, self.cluster_centers_)),
            log_masses=self.log_heights_,
            radii=self.capture_radii_,
            n_iter=self.n_iter_,
            converged=self.converged_,
        )

    def _without_outliers(self, x: np.ndarray, modes: Modes, labels: np.ndarray) -> np.ndarray:
        """Give -1 to rows that lie too far from their modes."""
        labels = labels.astype(np.int64)
        if self.cluster_all:
            return labels
        reach = 1.0 if self.kernel == "flat" else self.n_features_in_ + 4.0
        apart = np.sum((x - modes.centers[labels]) ** 2, axis=1)
        return np.where(apart <= reach * (1.0 + 1e-12), labels, -1)


def check_bandwidth(bandwidth: Any, n_features: int | None = None) -> None:
    """Refuse what is neither a positive number (or one for each column) nor a rule."""
    if bandwidth is None or (isinstance(bandwidth, str) and bandwidth in RULES):
        return
    if isinstance(bandwidth, str):
        raise ValueError(f"bandwidth must be numbers or one of {[*RULES]}, got {bandwidth!r}")
    as_lengths("bandwidth", bandwidth, n_features)


def bandwidths(bandwidth: Any, X: np.ndarray, weights: np.ndarray | None, *, flat: bool) -> Any:
    """Return the bandwidth as a number, or as one for each column (d,).

    By rule: "gradient", h_j = σ_j (4 / ((d + 4) n))^(1/(d+6)), the best for the slopes of a Gaussian
    density (Chacón & Duong 2013); "silverman" and "scott", the best for its heights. A flat window ascends
    the estimate of Epanechnikov's, and has the width that smooths as much.
    """
    check_bandwidth(bandwidth, X.shape[1])
    window = WINDOWS["epanechnikov" if flat else "gaussian"]
    if isinstance(bandwidth, str) and bandwidth != "gradient":
        return {"scott": scott, "silverman": silverman}[bandwidth](X, weights, window)
    if bandwidth is None or isinstance(bandwidth, str):
        total, scales = column_scales(X, weights)
        d = X.shape[1]
        return scales * (4.0 / ((d + 4.0) * total)) ** (1.0 / (d + 6.0)) * window_factor(window, d)
    return float(bandwidth) if np.ndim(bandwidth) == 0 else np.asarray(bandwidth, dtype=np.float64)


def in_bandwidths(X: np.ndarray, weights: np.ndarray | None, bandwidth: Any) -> Standardizer:
    """Return the standardizer to rows about their median, each column in units of its bandwidth."""
    h = np.broadcast_to(bandwidth, X.shape[1:])
    return Standardizer(shift=_medians(X, weights), scale=1.0 / h, varies=np.ones(len(h), dtype=bool))


def standardized(standardizer: Standardizer, x: Any, name: str = "X") -> np.ndarray:
    """Return rows in bandwidths, refused where squares of distances overflow."""
    with np.errstate(over="ignore"):
        return check_squarable(f"{name} / bandwidth", standardizer.transform(x))


def _medians(X: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return the lower median of each column, which is an entry of it: repeated rows and weights agree."""
    if weights is None:
        return np.partition(X, (len(X) - 1) // 2, axis=0)[(len(X) - 1) // 2]
    order = np.argsort(X, axis=0)
    below = np.cumsum(weights[order], axis=0)
    first = np.argmax(below >= 0.5 * below[-1], axis=0)[None, :]
    return np.take_along_axis(X, np.take_along_axis(order, first, axis=0), axis=0)[0]


def binned(z: np.ndarray, weights: np.ndarray | None, least: float) -> np.ndarray:
    """Return the mean of the rows in each cell of a grid of side one that holds a weight of `least`.

    Examples
    --------
    >>> binned(np.array([[0.1], [0.3], [2.1]]), None, 2).tolist()
    [[0.2]]
    """
    w = counts(weights, z)
    _, cell = np.unique(np.round(z), axis=0, return_inverse=True)
    cell = cell.ravel()
    held = np.bincount(cell, w)
    sums = np.stack([np.bincount(cell, w * column) for column in z.T], axis=1)
    full = held >= least
    if not np.any(full):
        raise ValueError(
            f"min_bin_freq is {least}, and no cell of the grid has a weight above {held.max():g}"
        )
    return sums[full] / held[full][:, None]


def nearest(x: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Return which centre is nearest to each row."""
    if len(x) * centers.size <= FEW_STEPS:
        return np.argmin(squared_distances(x, centers), axis=1)
    origin = np.zeros(x.shape[1])
    return map_rows(lambda rows: nearest_centers(rows, origin, 1.0, centers), x)


def counted(X: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
    """Leave out rows of weight zero, and weights that are all one."""
    if weights is None or np.all(weights == 1.0):
        return X, None
    return X[weights > 0.0], np.asarray(weights[weights > 0.0], dtype=np.float64)
