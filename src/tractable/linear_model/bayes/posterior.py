"""A Gaussian belief of a plane, in units of the noise."""

from typing import Any, Self

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.arrays.random import as_generator, standard_gamma, standard_normal
from tractable.base import PredictiveMixin, check_answerable, check_columns
from tractable.base.parameters import check_number
from tractable.covariance import Full, LowRankPlusDiagonal
from tractable.distributions import MultivariateNormal, MultivariateStudentT, Normal, StudentT
from tractable.linear_model.rows import as_floats
from tractable.primitives.linear import triangle
from tractable.statistics import LinearFactor
from tractable.value import value

__all__ = ["PlaneAnswers", "PlaneBelief", "of_root"]


@value
class PlaneBelief:
    """What is believed of a plane: its level at a centre, then its coefficients.

    Parameters
    ----------
    centre : array (d,)
        Mean of the rows; zeros where the plane goes through the origin.
    location : array (p,)
        The expected level and coefficients, p = d + 1, or the coefficients alone, p = d.
    root : array (p, r)
        G: their covariance is σ² G Gᵀ.
    """

    centre: Array
    location: Array
    root: Array

    @classmethod
    def about_the_mean(
        cls, statistic: LinearFactor, coef: Array, root: Array, *, fit_intercept: bool
    ) -> Self:
        """Return the belief with given coefficients and a factor of their covariance, (d, r).

        The level at the mean of the rows, where there is an intercept, is known to 1/n and by itself.
        """
        xp = namespace_of(coef)
        if not fit_intercept:
            return cls(centre=xp.zeros_like(coef), location=coef, root=root)
        d = statistic.dim
        first = xp.asarray([float(statistic.weight) ** -0.5], dtype=root.dtype, device=device(root))
        none = xp.zeros((d + 1, 1 + root.shape[1]), dtype=root.dtype, device=device(root))
        level = xp.concat([first, none[0, 1:]])[None, :]
        return cls(
            centre=statistic.mean[:d],
            location=xp.concat([statistic.mean[d:], coef]),
            root=xp.concat([level, xp.concat([none[1:, :1], root], axis=1)]),
        )

    @property
    def n_located(self) -> int:
        """1 where there is an intercept, else 0."""
        return int(self.location.shape[0]) - int(self.centre.shape[0])

    def columns(self, x: Array) -> Array:
        """Return the columns that the parameters multiply, (n, p)."""
        moved = x - self.centre
        xp = namespace_of(moved)
        return xp.concat([xp.ones_like(moved[:, :1]), moved], axis=1) if self.n_located else moved

    def predict(self, x: Array) -> Array:
        """Return the expected plane at the rows of x, (n,)."""
        return self.columns(x) @ self.location

    def spread(self, x: Array) -> Array:
        """Return a factor of the covariance of the plane at the rows of x, (n, r), in units of the noise."""
        return self.columns(x) @ self.root

    def parameters(self) -> tuple[Array, Array]:
        """Return the expected intercept and coefficients, (p,), and a factor of their covariance, (p, r)."""
        return self._at_origin(self.location), self._at_origin(self.root)

    def _at_origin(self, part: Array) -> Array:
        """Return what is said of the level at the centre as said of the intercept."""
        if not self.n_located:
            return part
        xp = namespace_of(part)
        intercept = part[0, ...] - self.centre @ part[1:, ...]
        return xp.concat([intercept[None, ...], part[1:, ...]])


class PlaneAnswers(PredictiveMixin):
    """`predict_dist`, `predict_joint`, `sample_functions`, `equivalent_kernel` and `posterior_`.

    A model supplies `belief_`, its `noise_variance_`, and `noise_dof_`: the degrees of freedom of its
    Student-t, infinite where the noise is taken for known and all is Gaussian.
    """

    belief_: PlaneBelief
    noise_variance_: float
    noise_dof_: float

    def predict(self, X: Any, return_std: bool = False, *, include_noise: bool = True) -> Any:
        """Return the expected plane at each row, and on request the predictive standard deviation.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        return_std : bool
        include_noise : bool
            Whether the spread is that of a new observation (default) or of the plane.

        Returns
        -------
        array of shape (n_samples,), or two of them
        """
        if return_std:
            return super().predict(X, return_std, include_noise=include_noise)
        rows = self._rows(X)
        return self.belief_.predict(rows)

    def predict_dist(self, X: Any, *, include_noise: bool = True) -> Normal | StudentT:
        """Return the predictive distribution of each row's target, N(y | mᵀx, σ² + xᵀSx).

        It knows both the noise and how unsure the plane is, so it widens away from the rows. Where the noise
        was learned with its uncertainty it is Student's t.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        include_noise : bool
            Whether it is of a new observation (default) or of the plane, without σ².

        Returns
        -------
        Normal or StudentT
            Of batch shape (n_samples,).
        """
        rows = self._rows(X)
        xp = namespace_of(rows)
        spread = self.belief_.spread(rows)
        squared = self._noise() * (xp.sum(spread**2, axis=1) + float(include_noise))
        location = self.belief_.predict(rows)
        if self.noise_dof_ == float("inf"):
            return Normal(mean=location, variance=squared)
        return StudentT(dof=self.noise_dof_, location=location, scale=xp.sqrt(squared))

    def predict_joint(
        self, X: Any, *, include_noise: bool = True
    ) -> MultivariateNormal | MultivariateStudentT:
        """Return the joint predictive distribution of the targets of all rows: neighbours err together.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        include_noise : bool
            Without it, rows must be no more than the parameters, and different: a plane at others follows
            from it at these.

        Returns
        -------
        MultivariateNormal or MultivariateStudentT
            Of event shape (n_samples,).
        """
        rows = self._rows(X)
        xp = namespace_of(rows)
        spread = self._noise() ** 0.5 * self.belief_.spread(rows)
        if include_noise:
            shared: Any = LowRankPlusDiagonal(
                factor=spread, variances=xp.full_like(rows[:, 0], self._noise())
            )
        else:
            shared = of_root(spread)
        return self._around(self.belief_.predict(rows), shared)

    def sample_functions(
        self, X: Any, n_samples: int = 1, *, random_state: Any = None, include_noise: bool = False
    ) -> Array:
        """Draw planes from the posterior, and return each at all rows.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        n_samples : int
            Number of planes.
        random_state : None, int, Generator or RandomState
        include_noise : bool
            Whether to add noise to every row: draws of new observations.

        Returns
        -------
        array of shape (n_samples, number of rows)
        """
        rows = self._rows(X)
        check_number("n_samples", n_samples, least=1, whole=True)
        rng = as_generator(random_state)
        xp = namespace_of(rows)
        spread = self.belief_.spread(rows)
        draws = standard_normal(rng, (int(n_samples), spread.shape[1]), like=rows) @ spread.T
        if include_noise:
            draws = draws + standard_normal(rng, (int(n_samples), rows.shape[0]), like=rows)
        size = self._noise() ** 0.5
        if self.noise_dof_ < float("inf"):
            half = xp.asarray(0.5 * self.noise_dof_, dtype=rows.dtype)
            draws = draws * xp.sqrt(half / standard_gamma(rng, half, int(n_samples)))[:, None]
        return self.belief_.predict(rows) + size * draws

    def equivalent_kernel(self, X_query: Any, X_train: Any) -> Array:
        """Return what each training target adds to each prediction, k(x, xᵢ) = xᵀ S xᵢ / σ².

        With a prior of mean zero, ``equivalent_kernel(X, X_train) @ y`` are the predictions at X, where
        X_train and y are all that was learned from. At X = X_train it is the smoothing (hat) matrix. A
        training row that counts w times adds w times this.

        Parameters
        ----------
        X_query : array or frame of shape (n_queries, n_features)
        X_train : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_queries, n_samples)
        """
        queries, rows = self._rows(X_query), self._rows(X_train)
        return self.belief_.spread(queries) @ self.belief_.spread(rows).T

    @property
    def posterior_(self) -> Any:
        """The posterior distribution of the intercept, where there is one, and the coefficients."""
        check_answerable(self)
        mean, root = self.belief_.parameters()
        return self._around(mean, of_root(self._noise() ** 0.5 * root), names=self._names())

    def _name(self, belief: PlaneBelief) -> None:
        self.belief_ = belief
        mean = belief.parameters()[0]
        self.coef_ = mean[belief.n_located :]
        self.intercept_ = mean[0] if belief.n_located else 0.0 * mean[0]

    def _around(self, location: Array, structure: Any, names: Any = None) -> Any:
        if self.noise_dof_ == float("inf"):
            return MultivariateNormal(mean=location, covariance=structure, names=names)
        return MultivariateStudentT(dof=self.noise_dof_, location=location, scale=structure, names=names)

    def _rows(self, X: Any) -> Array:
        check_answerable(self)
        return as_floats(check_columns(self, X))

    def _names(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        if names is None or "intercept" in list(names):
            return None
        return ["intercept"] * self.belief_.n_located + list(names)

    def _noise(self) -> float:
        """Return the noise variance if it can be told."""
        if not 0.0 < self.noise_variance_ < float("inf"):
            raise ValueError(
                "X has too few rows to tell the noise from the plane: more rows, a known noise_variance or a "
                "prior of the noise are needed"
            )
        return self.noise_variance_


def of_root(root: Array) -> Full:
    """Return the covariance G Gᵀ from its factor: its Cholesky factor is the triangle of Gᵀ."""
    lower = triangle(root.T).T
    xp = namespace_of(root)
    least = 1e-13 * xp.sqrt(xp.sum(root**2, axis=1))
    if root.shape[0] > root.shape[1] or bool(xp.any(xp.linalg.diagonal(lower) <= least)):
        raise ValueError(
            "X has rows at which the plane follows from it at the others: their joint distribution without "
            "noise is singular"
        )
    return Full.from_cholesky(lower)
