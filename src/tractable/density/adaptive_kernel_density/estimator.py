"""Kernel density whose windows follow the rows about them."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from tractable.base import (
    DegenerateCovarianceWarning,
    DensityMixin,
    Estimator,
    ModelTags,
    all_or_nothing,
    check_choice,
    check_fitted,
    check_number,
)
from tractable.base.by_blocks import by_blocks
from tractable.base.stored_rows import check_enough, check_held_columns, check_stored_rows
from tractable.covariance import LowRankPlusDiagonal
from tractable.covariance.shapes import scale_columns
from tractable.data.blocks import map_rows
from tractable.density.adaptive_kernel_density.cross_validation import (
    box_about,
    candidates,
    lattice,
    search_n_neighbors,
)
from tractable.density.adaptive_kernel_density.windows import (
    BLOCK,
    balloon,
    local_covariances,
    sample_point,
    unique_rows,
    window_structure,
)
from tractable.distributions import Mixture, MultivariateNormal
from tractable.spatial.choose import as_index
from tractable.spatial.counted import nearest_counted

#: UniqueRows that are too few to leave some out.
FEW = 3

#: Points of the lattice over which the balloon form is integrated.
N_LATTICE = 4096


def _is_distribution(model: Any) -> bool:
    return bool(model.variant == "sample_point")


class AdaptiveKernelDensity(DensityMixin, Estimator):
    """Adaptive kernel density: the Gaussian kernel of a row has the covariance of its K neighbours.

    p(x) = (1/N) Σ_i N(x | x_i, Σ_i), with Σ_i = (1/K) Σ_{j in S_i} (x_j - x_i)(x_j - x_i)ᵀ over the K rows
    nearest to x_i: windows are narrow where rows are dense, and lie along them. This is the sample-point form
    (Breiman, Meisel and Purcell 1977): a mixture of N normals, which integrates to one.

    The balloon form takes the covariance at x instead, p(x) = (1/N) Σ_i N(x | x_i, Σ(x)). **It is not a
    density**: far away Σ(x) grows as ‖x‖², and on a line p(x) tends to exp(-1/2) / √(2π) / |x| = 0.242 / |x|,
    whose integral is infinite. It is offered as an estimate near the rows, has no `distribution_` and cannot
    be sampled; `mass` computes its integral over a box.

    Columns are standardized, so that units do not matter. Covariances are shrunk towards an isotropic one, (1
    - λ) Σ + λ (tr Σ / D) I, so that they are regular even where neighbours span no volume, and no window is
    narrower than eight roundings of the columns' spread. Copies of a row are not among its neighbours.

    Parameters
    ----------
    n_neighbors : "cv" or int
        K, counted by weight. "cv" takes that which makes rows left out most likely, in five folds (of more
        than a thousand distinct rows, a thousand are left out in all): larger and larger ones are tried, up
        to half of the rows, until the likelihood falls. The balloon form, which has no likelihood, takes the
        K of the least integrated squared error, by least-squares cross-validation.
    variant : {"sample_point", "balloon"}
        Whether covariances belong to the rows, or to the point x at which the density is evaluated.
    shrinkage : float
        λ, from 0 to 1. On a line it changes nothing.

    Attributes
    ----------
    distribution_ : Mixture
        The fitted distribution, of the sample-point form.
    n_neighbors_ : int
        K.
    cv_n_neighbors_, cv_scores_ : arrays of shape (k,)
        With "cv": the numbers that were tried, and the mean log density of rows left out; of the balloon
        form minus the integrated squared error, up to a constant. Not there where one number alone could be
        tried: of fewer than 3 distinct rows, and where columns are half as many as rows or more.
    normalized_ : bool
        Whether the estimate integrates to one.
    mass_ : float
        Its integral: 1, or that of the balloon form over the range of the rows widened to three times its
        size, by a lattice of 4096 points (rough in many dimensions).
    window_covariances_ : array of shape (n_unique, n_features, n_features)
        Covariance of the window of each distinct row, of the sample-point form.
    rows_ : array of shape (n_unique, n_features)
        The distinct rows.
    index_ : Index
        The distinct rows, standardized and arranged for the search.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X = np.random.default_rng(0).exponential(size=(200, 1))
    >>> model = tractable.AdaptiveKernelDensity().fit(X)
    >>> model.n_neighbors_, model.distribution_.n_components
    (34, 200)
    >>> bool(model.score(X) > tractable.GaussianDensity().fit(X).score(X))
    True
    """

    model_tags = ModelTags(kind="generative", parametric=False, streaming="exact over several passes")

    def __init__(
        self, n_neighbors: int | str = "cv", *, variant: str = "sample_point", shrinkage: float = 0.1
    ) -> None:
        self.n_neighbors = n_neighbors
        self.variant = variant
        self.shrinkage = shrinkage

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the windows of the rows.

        Parameters
        ----------
        X, y, sample_weight
            Rows (n_samples, n_features), and how often each counts; y is ignored.
        """
        check_choice("variant", self.variant, ["sample_point", "balloon"])
        check_number("shrinkage", self.shrinkage, least=0.0, most=1.0)
        rows = check_stored_rows(self, X, sample_weight=sample_weight)
        chosen = isinstance(self.n_neighbors, str) and self.n_neighbors == "cv"
        check_enough(1 if chosen else self.n_neighbors, rows, spare=1)
        self._unique_rows_ = unique_rows(rows)
        if len(self._unique_rows_.points) < 2:
            raise ValueError(
                f"X must have two different rows at least, got n_samples = {len(rows.data)} of one value"
            )
        self.index_ = as_index(self._unique_rows_.points, name="X")
        self.n_neighbors_ = self._chosen() if chosen else int(self.n_neighbors)
        self.normalized_ = _is_distribution(self)
        if self.normalized_:
            self._set_fitted()
        self.mass_ = 1.0 if self.normalized_ else self._mass_about()
        self._report()
        return self

    @property
    def rows_(self) -> np.ndarray:
        """The distinct rows."""
        check_fitted(self)
        return self._unique_rows_.standardizer.inverse_transform(self._unique_rows_.points)

    @by_blocks
    def score_samples(self, X: Any) -> np.ndarray:
        check_fitted(self)
        return self._log_density(check_held_columns(self, X))

    sample = available_if(_is_distribution)(DensityMixin.sample)
    marginal = available_if(_is_distribution)(DensityMixin.marginal)
    condition = available_if(_is_distribution)(DensityMixin.condition)

    def mass(self, low: Any, high: Any, n_points: int = N_LATTICE) -> float:
        """Return the integral of the estimate over a box, by a lattice of points.

        Parameters
        ----------
        low, high : arrays of shape (n_features,)
            Corners of the box.
        n_points : int
            Number of points of the lattice; the error falls as it grows.

        Returns
        -------
        float
            Not above 1 for the sample-point form; for the balloon form it grows with the box without end.
        """
        check_fitted(self)
        check_number("n_points", n_points, least=1, whole=True)
        ends = [np.broadcast_to(np.asarray(x, dtype=float), (self.n_features_in_,)) for x in (low, high)]
        if not np.all(np.isfinite(ends)) or not np.all(ends[0] < ends[1]):
            raise ValueError(f"low must be below high, both finite; got {low!r} and {high!r}")
        points = ends[0] + (ends[1] - ends[0]) * lattice(n_points, self.n_features_in_)
        log_volume = np.sum(np.log(ends[1] - ends[0]))
        return float(np.mean(np.exp(self._log_density(points) + log_volume)))

    def _chosen(self) -> int:
        """Return the number of neighbours under which rows left out are most likely."""
        if len(self._unique_rows_.points) < FEW:
            return 1
        tried = candidates(self._unique_rows_)
        if len(tried) == 1:  # of fewer rows than twice the columns: nothing to compare
            return int(tried[0])
        normalized, log_jacobian = _is_distribution(self), self._unique_rows_.standardizer.log_jacobian
        self.cv_n_neighbors_, found = search_n_neighbors(
            self._unique_rows_, self.shrinkage, normalized=normalized
        )
        with np.errstate(over="ignore", under="ignore"):
            self.cv_scores_ = found + log_jacobian if normalized else found * np.exp(log_jacobian)
        return int(self.cv_n_neighbors_[np.argmax(found)])

    def _set_fitted(self) -> None:
        unique, names = self._unique_rows_, getattr(self, "feature_names_in_", None)
        windows = window_structure(unique, self.index_, self.n_neighbors_, self.shrinkage)
        with np.errstate(over="ignore", under="ignore"):
            width = 1.0 / unique.standardizer.scale
            variances = windows.diagonal * width**2
        if not np.all(np.isfinite(variances) & (variances >= np.finfo(float).tiny)):
            raise ValueError("X must have columns in units whose squares are numbers; scale them")
        self.distribution_ = Mixture(
            weights=unique.weights / unique.weights.sum(),
            components=MultivariateNormal(
                mean=unique.standardizer.inverse_transform(unique.points),
                covariance=scale_columns(windows, width),
                names=None if names is None else tuple(names),
            ),
        )

    @property
    def window_covariances_(self) -> np.ndarray:
        """Covariance of the window of each distinct row, (n_unique, n_features, n_features)."""
        check_fitted(self)
        if not self.normalized_:
            raise AttributeError(
                "the balloon form has no window of a row; window_covariances_ is of the other"
            )
        return np.asarray(self.distribution_.components.covariance)

    def _log_density(self, x: np.ndarray) -> np.ndarray:
        unique, standardizer = self._unique_rows_, self._unique_rows_.standardizer
        z, scale = standardizer.transform(x), standardizer.scale
        if self.normalized_ and isinstance(self.distribution_.components.structure, LowRankPlusDiagonal):
            rows = max(1, 32 * BLOCK // unique.points.size)  # 32 MB of differences
            return map_rows(self.distribution_.log_prob, x, rows=rows)
        if self.normalized_:
            inside = self.window_covariances_ * scale[:, None] * scale
            return sample_point(z, unique, inside) + standardizer.log_jacobian
        near = nearest_counted(self.index_, z, self.n_neighbors_, unique.weights)
        windows = local_covariances(z, unique.points, near, self.shrinkage)
        return balloon(z, unique, windows) + standardizer.log_jacobian

    def _mass_about(self) -> float:
        low, high = map(self._unique_rows_.standardizer.inverse_transform, box_about(self._unique_rows_))
        return self.mass(low, high)

    def _report(self) -> None:
        constant = np.flatnonzero(~self._unique_rows_.standardizer.varies)
        if len(constant):
            warnings.warn(
                f"the columns {constant.tolist()} of X are constant: their "
                "windows are as wide as the rounding of their values",
                DegenerateCovarianceWarning,
                stacklevel=4,
            )
