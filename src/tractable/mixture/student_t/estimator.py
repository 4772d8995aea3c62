"""Mixtures of multivariate Student-t distributions."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tractable.base import Rows, check_choice, check_number
from tractable.covariance.shapes import (
    collapsed_components,
    rounding_columns,
    scale_columns,
    shape_of,
    variance_floor,
)
from tractable.distributions import Mixture, MultivariateStudentT
from tractable.engines import fold
from tractable.mixture.base import EMMixture
from tractable.mixture.student_t.steps import StudentTParameters, StudentTProblem, median_standardizer
from tractable.statistics import ColumnSummary, Standardizer


class StudentTMixture(EMMixture):
    """Mixture of multivariate Student-t distributions, fitted by EM.

    p(x) = Σ_k π_k St(x | ν_k, μ_k, Σ_k): a mixture whose components have heavy tails, fitted by EM.

    A row far from its component counts less in its mean and scale: by u = (ν + d) / (ν + Δ²), with Δ² its
    squared distance. So outliers neither inflate components nor need one of their own, as they do in a
    Gaussian mixture. As ν grows, u tends to one and the component to a normal.

    Maximum likelihood, except for what `reg_covar` adds: the likelihood has no bound where a component may
    shrink onto a point. It is part of the objective, which never falls.

    Parameters
    ----------
    n_components : int
        K.
    covariance_type : {"full", "diag"}
        The shape of the scale matrices.
    dof : float, optional
        Degrees of freedom ν of every component, if they are known; by default those of each component are
        estimated, between 0.1 and 1e6.
    reg_covar : float, optional
        What is added to the diagonals of the scale matrices; by default 1e-6 of the square of each column's
        width, 1.48 times the median distance from the median (the standard deviation of a normal column),
        which outliers do not move.
    tol, max_iter, n_init, warm_start, random_state
        Of the search, as in :class:`tractable.GaussianMixture`; each begins at what k-means finds.

    Attributes
    ----------
    distribution_ : Mixture
        Of `MultivariateStudentT`; it conditions, marginalises and samples, by column name where it has names.
    weights_ : array of shape (n_components,)
        Mixing weights π_k.
    locations_ : array of shape (n_components, n_features)
        μ; the mean of a component with ν > 1.
    scales_ : array of shape (n_components, n_features, n_features), or (n_components, n_features) if diag
        Σ; the covariance of a component is ν/(ν - 2) Σ, where ν > 2.
    dof_ : array of shape (n_components,)
        ν.
    collapsed_ : array of bool, shape (n_components,)
        Which components have shrunk to what `reg_covar` holds them at, or have lost all their rows. A
        component without rows keeps its position and has weight zero.
    converged_, n_iter_, lower_bound_, objective_trace_, n_parameters_, n_features_in_, feature_names_in_
        As in :class:`tractable.GaussianMixture`.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0.0, 1.0, (200, 2)), rng.normal(8.0, 1.0, (200, 2))])
    >>> X[::20] += rng.normal(0.0, 30.0, (20, 2))  # one row in twenty is wrong
    >>> model = tractable.StudentTMixture(2, random_state=0).fit(X)
    >>> np.sort(model.locations_[:, 0]).round(1)
    array([-0.1,  8. ])
    """

    _learns_on_host = True
    _collapse = (
        "they have lost their rows, or many of their rows lie at one point, on a line or in a plane, where "
        "the likelihood has no bound and only reg_covar holds their scale; use fewer components, or a dof of "
        "your own (the larger it is, the more such rows a component bears)"
    )
    _params_: StudentTParameters
    _standardizer_: Standardizer

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        dof: float | None = None,
        tol: float = 1e-5,
        reg_covar: float | None = None,
        max_iter: int = 500,
        n_init: int = 1,
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_components, tol, max_iter, n_init, warm_start, random_state)
        self.covariance_type = covariance_type
        self.dof = dof
        self.reg_covar = reg_covar

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("covariance_type", self.covariance_type, ("full", "diag"))
        if self.dof is not None:
            check_number("dof", self.dof, above=0.0)

    def _validate_rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Rows:
        with _explained_missing():
            return super()._validate_rows(X, y, sample_weight, reset=reset)

    def _events(self, X: Any) -> Any:
        with _explained_missing():
            return super()._events(X)

    def _em_problem(self, rows: Rows | None, *, fitted: bool) -> StudentTProblem:
        source: Any = None if rows is None else rows.source
        total = 0.0
        if source is not None:
            summary = fold(ColumnSummary.of, source)
            total = summary.total
        standardizer = self._standardizer_ if fitted else median_standardizer(source, summary)
        return StudentTProblem(
            data=source,
            total=total,
            standardizer=standardizer,
            shape=shape_of(self.covariance_type),
            n_components=self.n_components,
            dof=self.dof,
            floor=variance_floor(self.reg_covar, standardizer),
        )

    def _fitted_params(self, problem: StudentTProblem) -> StudentTParameters:
        if problem.standardizer is self._standardizer_:
            return self._params_
        self._check_warm_start(problem.n_components, len(problem.floor))
        shape = "diag" if self.scales_.ndim == 2 else "full"
        if shape != self.covariance_type:
            raise ValueError(
                f'warm_start goes on from scales of covariance_type="{shape}", not "{self.covariance_type}"; '
                "set covariance_type back, or warm_start=False"
            )
        return StudentTParameters(
            weights=self.weights_,
            locations=problem.standardizer.transform(self.locations_),
            scales=self.scales_ * self._squared(problem.standardizer.scale),
            dof=self._params_.dof if self.dof is None else np.full(len(self.weights_), float(self.dof)),
        )

    def _set_fitted(self, params: StudentTParameters, problem: StudentTProblem) -> None:
        self._params_, self._standardizer_ = params, problem.standardizer
        width = 1.0 / problem.standardizer.scale
        self.weights_, self.dof_ = params.weights, params.dof
        self.locations_ = problem.standardizer.inverse_transform(params.locations)
        self.scales_ = params.scales * self._squared(width)
        K, d = self.locations_.shape
        structure = problem.shape.fit(params.scales, d)
        components = MultivariateStudentT(
            dof=self.dof_,
            location=self.locations_,
            scale=scale_columns(structure, width),
            names=self._names(),
        )
        self.distribution_ = Mixture(weights=self.weights_, components=components)
        self.n_parameters_ = K - 1 + K * (d + (self.dof is None)) + problem.shape.n_free(K, d)
        self.collapsed_ = collapsed_components(
            params.weights, structure, problem.floor, problem.standardizer.varies
        )

    def _rounding_columns(self) -> np.ndarray:
        scales = self._params_.scales
        diagonals = scales if self.covariance_type == "diag" else np.diagonal(scales, axis1=-2, axis2=-1)
        return rounding_columns(diagonals, self._standardizer_.varies)

    def _squared(self, scale: np.ndarray) -> np.ndarray:
        return scale**2 if self.covariance_type == "diag" else scale[:, None] * scale


@contextmanager
def _explained_missing() -> Iterator[None]:
    """Name the models that take missing entries, where some are refused."""
    try:
        yield
    except ValueError as error:
        if "contains NaN" not in str(error):
            raise
        raise ValueError(
            "X contains NaN: StudentTMixture takes complete rows; GaussianMixture and TableMixture "
            "marginalise missing entries"
        ) from None
