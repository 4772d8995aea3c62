"""Gaussian process regression over time in the state-space form of Matérn kernels."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import column_or_1d

from tractable.arrays.limits import check_squarable
from tractable.arrays.random import as_generator
from tractable.base import ModelTags, all_or_nothing, check_fitted, check_number, check_targets
from tractable.base.stored_rows import check_stored_rows
from tractable.gaussian_process.base import ScalableGaussianProcess, spread_of_targets
from tractable.gaussian_process.comparison import ExactComparison, compared
from tractable.gaussian_process.mean import MeanFunction, check_mean
from tractable.gaussian_process.model import Prior
from tractable.gaussian_process.posteriors.exact import Observations
from tractable.gaussian_process.posteriors.state_space import StateSpacePosterior, jacobian_of
from tractable.gaussian_process.rows import TrainingRows
from tractable.gaussian_process.search import checked_theta, default_kernel
from tractable.kernels import Kernel, Matern
from tractable.primitives.threads import even_blocks
from tractable.statistics.moments import DiagonalMoments
from tractable.statistics.standardizer import Standardizer
from tractable.value import replace

#: Entries of the matrices of the states of new rows that are held at a time.
BLOCK_ENTRIES = 2**20


class StateSpaceGaussianProcess(ScalableGaussianProcess):
    """Gaussian process regression over time with Matérn kernels, exact, in O(n) time and memory.

    y = f(t) + h(x)ᵀβ + ε, f ~ GP(0, k), ε ~ N(0, σ²), where t is one column of X. A Matérn kernel of ν = ½,
    3/2 or 5/2 is that of a function which, with its derivatives, is a Markov process in time (Hartikainen and
    Särkkä 2010). Kalman's filter has its evidence, and a smoother backwards in time the posterior, without a
    matrix of rows × rows; so have sums and multiples of these kernels, constants, and cosines.

    Nothing is approximated: evidence, gradients and predictions are those of `GaussianProcessRegressor` with
    the same kernel of the time and the same mean, to rounding; `compare_to_exact` measures it. The rows may
    come in any order, times may repeat and have gaps, and a missing target (NaN) is no evidence. A time after
    the last row is a forecast.

    The coefficients β of the mean have a flat prior and are integrated out. Columns besides the time enter by
    the mean alone: it is a regression whose errors are correlated in time.

    Where hyper-parameters were learned predictions are Student's t, as of `GaussianProcessRegressor`.

    Parameters
    ----------
    kernel : Kernel, optional
        k of the time, with noise as a term `White`: `Matern`, `Constant`, `Cosine`, and sums and multiples of
        them. By default a multiple of `Matern` of ν = 3/2, in units of the time and the targets.
    mean : {"linear", "constant", "zero"} or basis
        h: a constant and the columns, a constant, nothing, or a constant and a transformer such as
        :class:`tractable.PolynomialBasis`. Of several columns it is "linear" or a basis.
    time : int or str
        The column that is the time, its position or its name.
    noise_variance : float, optional
        σ² where it is known, positive; by default it is learned.
    optimizer : {"fmin_l_bfgs_b"} or None
        The search for hyper-parameters; None keeps those of the kernel.
    n_restarts_optimizer : int
        Number of further searches, from starting values drawn within the bounds; the best is kept.
    tol : float
        Relative change of the objective at which a search stops.
    max_iter : int
        Maximum number of iterations of a search.
    random_state : None, int, RandomState or Generator
        Where starting values of restarts come from.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel at its hyper-parameters, without noise.
    noise_variance_ : float
        σ².
    log_evidence_ : float
        log p(y | X) with f and β integrated out. A flat prior counts as density one: compare models of the
        same mean.
    theta_ : array of shape (p,)
        Logarithms of the free hyper-parameters, of the kernel and then of the noise.
    mean_coef_ : array of shape (n_functions,)
        Posterior mean of β in the units of X and y.
    converged_ : bool
        Whether the best search ended by its tolerance.
    n_iter_ : int
        Improvements of the objective in the best search, one at least.
    residual_dof_ : float
        Number of targets less those of coefficients and of learned hyper-parameters, three at least.
    X_train_ : array of shape (n_samples, n_features)
        The rows that differ and have targets, in the order of time.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    GaussianProcessRegressor : any kernel of any columns, in O(n³).

    Examples
    --------
    >>> import numpy as np, tractable
    >>> from tractable.kernels import Matern, White
    >>> rng = np.random.default_rng(0)
    >>> t = np.sort(rng.uniform(0.0, 30.0, 400))
    >>> y = np.sin(t) + 0.1 * rng.standard_normal(400)
    >>> model = tractable.StateSpaceGaussianProcess(Matern(2.0, nu=2.5) + White(0.1)).fit(t[:, None], y)
    >>> model.predict([[2.0]]).round(1), round(model.noise_variance_**0.5, 1)
    (array([0.9]), 0.1)
    >>> model.compare_to_exact(200).mean_difference < 1e-6
    True
    """

    model_tags = ModelTags(kind="discriminative", parametric=False, streaming="no")

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        mean: Any = "linear",
        time: int | str = 0,
        noise_variance: float | None = None,
        optimizer: str | None = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        tol: float = 1e-8,
        max_iter: int = 200,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            kernel,
            noise_variance=noise_variance,
            optimizer=optimizer,
            n_restarts_optimizer=n_restarts_optimizer,
            tol=tol,
            max_iter=max_iter,
            random_state=random_state,
        )
        self.mean, self.time = mean, time

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn hyper-parameters and the posterior of the function.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Rows, which are read into memory; one column is the time.
        y : array of shape (n_samples,) or column name
            Targets, NaN where one is missing.
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.
        """
        self._check_parameters()
        rng = as_generator(self.random_state)
        rows = self._rows(X, y, sample_weight)
        standardizer = Standardizer.from_moments(DiagonalMoments.of(rows.x, rows.weights))
        mean = MeanFunction.learned(self.mean, rows.x, rows.weights, standardizer, range(rows.x.shape[1]))
        mean = mean.independent(mean(rows.x))
        total = float(rows.weights.sum())
        centre = float(rows.weights @ rows.y[:, 0]) / total
        variance = float(rows.weights @ (rows.y[:, 0] - centre) ** 2) / total
        observations, times = self._in_order(rows, mean)

        def posterior(prior: Prior) -> StateSpacePosterior:
            return StateSpacePosterior.of(
                prior.kernel.markov_terms(), prior.noise_variance, observations, times
            )

        def default(variance: float) -> Kernel:
            column = Standardizer(
                shift=standardizer.shift[[self._time_]],
                scale=standardizer.scale[[self._time_]],
                varies=standardizer.varies[[self._time_]],
            )
            return _default_kernel(column, variance, len(times))

        prior = self._prior(default, spread_of_targets(variance, centre))
        jacobian = jacobian_of(prior.kernel)  # which refuses kernels without this form

        def evidence(at: Prior) -> tuple[float, np.ndarray]:
            return _with_gradient(posterior(at), at, jacobian)

        prior, search = self._learned(prior, evidence, rng)
        self._mean_, self._posterior_ = mean, posterior(prior)
        found = self._posterior_.log_evidence(prior.noise_variance) + mean.log_scale
        if not np.isfinite(found):
            raise ValueError(f"kernel must be finite at the rows of X, and {prior.kernel!r} overflows")
        self.log_evidence_ = float(found)
        self.mean_coef_ = mean.natural(self._posterior_.coef[:, None])[:, 0]
        self._set_learned(prior, search, total, float(observations.basis.shape[1]))
        return self

    def log_marginal_likelihood(self, theta: Any = None, eval_gradient: bool = False) -> Any:
        """Return the log evidence at other hyper-parameters, and on request its gradient.

        Parameters
        ----------
        theta : array (p,), optional
            Logarithms of the free hyper-parameters, of the kernel and then of the noise; those of the fit
            when not given.
        eval_gradient : bool
            Whether to return the gradient too.
        """
        check_fitted(self)
        at = checked_theta(theta, self.theta_)
        prior, known = self._prior_.with_theta(at), self._posterior_
        posterior = StateSpacePosterior.of(
            prior.kernel.markov_terms(), prior.noise_variance, known.rows, known.times
        )
        found, gradient = _with_gradient(posterior, prior, jacobian_of(prior.kernel))
        found += self._mean_.log_scale
        return (found, gradient) if eval_gradient else found

    @property
    def X_train_(self) -> np.ndarray:  # noqa: N802  (the name that processes have for their rows)
        """The rows that differ and have targets, in the order of time, (n, n_features)."""
        return self._posterior_.rows.x

    @property
    def theta_(self) -> np.ndarray:
        """Logarithms of the free hyper-parameters, of the kernel and then of the noise, (p,)."""
        check_fitted(self)
        return self._prior_.theta

    def compare_to_exact(self, n: int = 1000) -> ExactComparison:
        """Return how far it is from the exact process on n of the rows, at these hyper-parameters.

        Both are of the targets without the mean: the differences are those of rounding.

        Parameters
        ----------
        n : int
            How many rows.
        """
        check_fitted(self)
        check_number("n", n, least=1, whole=True)
        known = self._posterior_
        order = np.random.default_rng(0).permutation(len(known.times))
        rest = known.rows.y[:, 0] - known.rows.basis @ known.coef

        def approximate(x: np.ndarray, y: np.ndarray, at: np.ndarray) -> Any:
            ranks = np.argsort(x[:, 0], kind="stable")
            rows = Observations(
                x=x[ranks], y=y[ranks, None], basis=np.zeros((len(x), 0)), noise_scale=np.ones(len(x))
            )
            found = StateSpacePosterior.of(known.terms, self.noise_variance_, rows, x[ranks, 0])
            return found.log_evidence(self.noise_variance_), *found.moments(at[:, 0], at[:, :0])

        return compared(
            self.kernel_, self.noise_variance_, known.times[order, None], rest[order], int(n), approximate
        )

    def _moments(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        known = self._posterior_
        most = max(1, BLOCK_ENTRIES // known.curvatures[0].size)
        found = [
            known.moments(x[rows, self._time_], self._mean_(x[rows])) for rows in even_blocks(len(x), most)
        ]
        means, variances = zip(*found, strict=True)
        return np.concatenate(means), np.concatenate(variances)

    def _rows(self, X: Any, y: Any, sample_weight: Any) -> TrainingRows:
        """Return checked rows with a target, those of weight zero left out."""
        rows = check_stored_rows(self, X, y, sample_weight, supervised=True)
        targets = column_or_1d(check_targets(self, rows.y, rows.data, allow_nan=True), warn=True)
        targets = check_squarable("y", targets.astype(np.float64), nonzero=True)
        width, names = rows.data.shape[1], [str(name) for name in getattr(self, "feature_names_in_", ())]
        if self.time not in range(width) and self.time not in names:
            shown = f"one of {names}, or " if names else ""
            raise ValueError(f"time must be {shown}a position below {width}, got {self.time!r}")
        self._time_ = names.index(self.time) if isinstance(self.time, str) else int(self.time)
        if width > 1 and isinstance(self.mean, str) and self.mean != "linear":
            raise ValueError(
                f'mean must be "linear" or a basis where X has columns besides the time, which {self.mean!r} '
                f"ignores; X has {width} columns"
            )
        known = ~np.isnan(targets)
        if not known.any():
            raise ValueError("y must have a target of some row: all are missing, or of rows of weight zero")
        weights = np.ones(len(known)) if rows.weights is None else np.asarray(rows.weights, dtype=np.float64)
        found = TrainingRows(
            x=check_squarable("X", rows.data),
            y=targets[:, None],
            weights=weights,
            noise_scale=np.ones(len(known)),
        )
        return found if known.all() else found.only(np.flatnonzero(known))

    def _in_order(self, rows: TrainingRows, mean: MeanFunction) -> tuple[Observations, np.ndarray]:
        """Return rows in the order of their times, equal ones as one, and the times."""
        joined = rows.observations(mean, join=True, noise=1.0)
        order = np.argsort(joined.x[:, self._time_], kind="stable")
        ordered = {name: getattr(joined, name)[order] for name in ("x", "y", "basis", "noise_scale")}
        return replace(joined, **ordered, joined=None), ordered["x"][:, self._time_]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_mean(self.mean)
        if isinstance(self.time, bool) or not isinstance(self.time, (int, np.integer, str)):
            raise ValueError(f"time must be the position or the name of a column, got {self.time!r}")


def _with_gradient(
    posterior: StateSpacePosterior, prior: Prior, jacobian: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return the log evidence and its gradient in the logarithms of the free hyper-parameters."""
    noise = prior.noise_variance
    by_kernel, by_noise = posterior.gradient(noise, jacobian)
    return posterior.log_evidence(noise), prior.with_noise_gradient(by_kernel, by_noise)


def _default_kernel(time: Standardizer, variance: float, n: int) -> Kernel:
    """Return the default kernel of a column, whose length scale may be as short as gaps between rows."""
    kernel = default_kernel(time, [0], variance, family=Matern)
    low, high = np.exp(kernel.bounds[1])
    return kernel.with_params(kernel__length_scale_bounds=np.array([[min(low, high / (1e4 * n)), high]]))
