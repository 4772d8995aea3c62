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
from tractable.base.stored_rows import check_enough, check_held_columns, check_stored_rows
from tractable.density.adaptive_kernel_density.cross_validation import box_about, climbed, lattice
from tractable.density.adaptive_kernel_density.windows import (
    balloon,
    index_of,
    local_covariances,
    neighbours_of_places,
    places_of,
    sample_point,
    whitening,
)
from tractable.distributions import Mixture, MultivariateNormal
from tractable.spatial.counted import nearest_counted

__all__ = ["AdaptiveKernelDensity"]

#: Places that are too few to leave some out.
FEW = 3

#: Where the integral of the balloon form is looked at.
N_LATTICE = 4096


def _is_distribution(model: Any) -> bool:
    return bool(model.variant == "sample_point")


class AdaptiveKernelDensity(DensityMixin, Estimator):
    """A kernel density with a Gaussian window of its own at every row, shaped by the row's K neighbours.

    p(x) = (1/N) Σ_i N(x | x_i, Σ_i), with Σ_i = (1/K) Σ_{j in S_i} (x_j - x_i)(x_j - x_i)ᵀ over the K rows
    nearest to x_i: windows are narrow where rows are dense, and lie along them. This is the sample-point form
    (Breiman, Meisel and Purcell 1977): a mixture of N normals, which integrates to one.

    The balloon form takes the covariance at x instead, p(x) = (1/N) Σ_i N(x | x_i, Σ(x)). **It is no
    density**: far away Σ(x) grows as ‖x‖², and on a line p(x) tends to exp(-1/2) / √(2π) / |x| = 0.242 / |x|,
    whose integral is infinite. It is offered as an estimate near the rows, has no `distribution_` and cannot
    be sampled; `mass` says what its integral over a box is.

    Columns are measured in their standard deviations, so that units change nothing. Covariances are drawn
    towards a ball, (1 - λ) Σ + λ (tr Σ / D) I, so that they are regular even where neighbours span no volume,
    and no window is narrower than eight roundings of the columns' spread. Copies of a row are not its
    neighbours: they tell nothing of its surroundings.

    Parameters
    ----------
    n_neighbors : "cv" or int
        K, counted by weight. "cv" takes that which makes rows left out most likely, in five folds (of more
        than a thousand distinct rows, a thousand are left out in all): larger and larger ones are tried, up
        to half of the rows, until the likelihood falls. The balloon form, which has no likelihood, takes the
        K of the least integrated squared error, by least-squares cross-validation.
    variant : {"sample_point", "balloon"}
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
        form minus the integrated squared error, up to a constant.
    normalized_ : bool
        Whether the estimate integrates to one.
    mass_ : float
        Its integral: 1, or that of the balloon form over the range of the rows widened to three times its
        size, by a lattice of 4096 points (rough in many dimensions).
    covariances_ : array of shape (n_places, n_features, n_features)
        Of the windows of the sample-point form.
    places_ : Places
        The distinct rows in standard units, and how often each counts.
    index_ : Index
        The places, arranged for the search.
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

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
        """Find the windows of rows.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Read into memory.
        y : ignored
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.

        Returns
        -------
        self
        """
        check_choice("variant", self.variant, ["sample_point", "balloon"])
        check_number("shrinkage", self.shrinkage, least=0.0, most=1.0)
        rows = check_stored_rows(self, X, sample_weight=sample_weight)
        chosen = isinstance(self.n_neighbors, str) and self.n_neighbors == "cv"
        check_enough(1 if chosen else self.n_neighbors, rows, spare=1)
        self.places_ = places_of(rows)
        if len(self.places_.points) < 2:
            raise ValueError(
                f"X must have two different rows at least, got n_samples = {len(rows.data)} with one place"
            )
        self.index_ = index_of(self.places_)
        self.n_neighbors_ = self._chosen() if chosen else int(self.n_neighbors)
        self.normalized_ = _is_distribution(self)
        if self.normalized_:
            self._adopt()
        self.mass_ = 1.0 if self.normalized_ else self._mass_about()
        self._report()
        return self

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the log density of each row.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
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
        """Return the number of neighbours under which places left out are most likely."""
        if len(self.places_.points) < FEW:
            return 1
        normalized, unit = _is_distribution(self), np.sum(np.log(self.places_.spread))
        self.cv_n_neighbors_, found = climbed(self.places_, self.shrinkage, normalized=normalized)
        with np.errstate(over="ignore", under="ignore"):
            self.cv_scores_ = found - unit if normalized else found * np.exp(-unit)
        return int(self.cv_n_neighbors_[np.argmax(found)])

    def _adopt(self) -> None:
        places, names = self.places_, getattr(self, "feature_names_in_", None)
        near = neighbours_of_places(places, self.index_, self.n_neighbors_)
        inside = local_covariances(places.points, places.points, near, self.shrinkage)
        whitening(inside)  # refuses windows without volume
        with np.errstate(over="ignore", under="ignore"):
            self.covariances_ = inside * places.spread[:, None] * places.spread
        variances = np.diagonal(self.covariances_, axis1=1, axis2=2)
        if not np.all(np.isfinite(variances) & (variances >= np.finfo(float).tiny)):
            raise ValueError("X must have columns in units whose squares are numbers; scale them")
        self.distribution_ = Mixture(
            weights=places.weights / places.weights.sum(),
            components=MultivariateNormal(
                mean=places.middle + places.spread * places.points,
                covariance=self.covariances_,
                names=None if names is None else tuple(names),
            ),
        )

    def _log_density(self, x: np.ndarray) -> np.ndarray:
        places = self.places_
        z, unit = places.inside(x), np.sum(np.log(places.spread))
        if self.normalized_:
            inside = self.covariances_ / places.spread[:, None] / places.spread
            return sample_point(z, places, inside) - unit
        near = nearest_counted(self.index_, z, self.n_neighbors_, places.weights)
        return balloon(z, places, local_covariances(z, places.points, near, self.shrinkage)) - unit

    def _mass_about(self) -> float:
        places = self.places_
        return self.mass(*(places.middle + places.spread * end for end in box_about(places)))

    def _report(self) -> None:
        if np.any(self.places_.constant):
            warnings.warn(
                f"the columns {np.flatnonzero(self.places_.constant).tolist()} of X are constant: their "
                "windows are as wide as the rounding of their values",
                DegenerateCovarianceWarning,
                stacklevel=4,
            )
