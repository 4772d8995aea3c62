"""Logistic regression with a Gaussian prior: a posterior of planes, by Laplace's approximation."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tractable.arrays.batched import as_reals
from tractable.arrays.random import as_generator
from tractable.base import (
    Estimator,
    ModelTags,
    ScoredClasses,
    all_or_nothing,
    check_choice,
    check_columns,
    check_fitted,
    check_number,
)
from tractable.classification.bayesian_logistic.laplace import (
    LaplacePosterior,
    PlaneProblem,
    laplace,
    most_evident,
)
from tractable.classification.labelled_rows import labelled_rows
from tractable.classification.logistic.errors import gaussian_interval
from tractable.covariance import Full
from tractable.distributions import MultivariateNormal
from tractable.engines.glm.integrals import (
    drawn_in,
    log_expected_probit,
    log_expected_sigmoid,
    log_expected_softmax,
)
from tractable.engines.glm.losses import LINKS
from tractable.primitives.linear import triangle
from tractable.primitives.threads import single_threaded_blas

__all__ = ["BayesianLogisticRegression"]


class BayesianLogisticRegression(ScoredClasses, Estimator):
    """Logistic regression that knows how sure it is: w ~ N(0, 1/α), and a Gaussian posterior of the planes.

    p(C₁ | x) = σ(xᵀw + w₀) for two classes, the softmax of K planes for more. The posterior is taken to be
    N(mode, H⁻¹), H the Hessian of its negative logarithm (Laplace's approximation). Predictions average over
    it: p(C₁ | x, data) = ∫ σ(a) N(a | xᵀm, xᵀH⁻¹x) da, by quadrature, not σ(xᵀm). Far from the rows they are
    less sure than the most probable plane is; classes that planes tell apart are no trouble. Of two classes
    the average has 12 digits and of three 10, however small it is, so that logarithms and log odds have them
    too; of more it is by a fixed rule to about 1e-4.

    Exact over several passes: every Newton step is a fold over the rows. Columns are standardised inside;
    parameters and answers are in the units of X.

    Parameters
    ----------
    alpha : float, array (d,) or "evidence"
        Precision of the prior, of every coefficient or of each: scikit-learn's 1/C. "evidence" (default)
        learns one for all standardised columns at MacKay's fixed point of the evidence, α = γ/|w|², which
        does not depend on units. For K > 2 it is the precision of the planes of all classes, which sum to
        zero. Nothing is believed of intercepts.
    fit_intercept : bool
    link : {"logit", "probit"}
        "probit": p(C₁ | x) = Φ(xᵀw + w₀), two classes only; its predictions are exact in closed form.
    max_iter : int
        The most Newton steps.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    posterior_ : MultivariateNormal
        Of the intercept, where there is one, and the coefficients of the log odds of the second class; of K
        classes, of the log odds of each but the first against the first.
    coef_ : array of shape (1, n_features) for two classes, or (n_classes, n_features)
        The most probable ones; of K classes they sum to zero.
    intercept_ : array of shape (1,) or (n_classes,)
    coef_std_errors_, intercept_std_errors_ : arrays like `coef_` and `intercept_`
        Standard deviations of the posterior.
    alpha_ : array of shape (n_features,)
        Precision of the prior of each coefficient.
    gamma_ : float
        How many coefficients the rows determine, of all.
    log_evidence_ : float
        log p(y | X), by Laplace; the flat prior of intercepts has density one.
    n_iter_ : int
        Newton steps of the last search.
    mode_, root_, centre_, scale_, contrasts_ : arrays
        The belief in standardised columns.
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

    Notes
    -----
    Laplace's approximation is good where there are many rows for each coefficient; its evidence is then off
    by about 1/n. Where planes part the classes the posterior is skew, the more so the smaller alpha is:
    predictions there are too cautious, and an alpha that is learned is the better choice.

    MacKay's fixed point is not exactly where `log_evidence_` is largest: it leaves out that the curvature at
    the mode moves with alpha.

    Examples
    --------
    Classes that one column tells apart: the most probable plane is steep only as far as the prior lets it,
    and what is predicted is less sure still.

    >>> import numpy as np, tractable
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), ["no", "no", "yes", "yes"]
    >>> model = tractable.BayesianLogisticRegression(alpha=1.0).fit(X, y)
    >>> model.coef_.round(4), model.coef_std_errors_.round(4)
    (array([[1.0066]]), array([[0.6706]]))
    >>> model.predict_proba([[4.0]]).round(4), (1 / (1 + np.exp(-4 * model.coef_))).round(4)
    (array([[0.1227, 0.8773]]), array([[0.9825]]))
    """

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="exact over several passes")

    def __init__(
        self,
        *,
        alpha: Any = "evidence",
        fit_intercept: bool = True,
        link: str = "logit",
        max_iter: int = 100,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.link = link
        self.max_iter = max_iter

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the mode of the posterior, and its curvature.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
        y : array of shape (n_samples,) or column name
            Classes: numbers or words.
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.

        Returns
        -------
        self
        """
        check_choice("link", self.link, LINKS)
        check_number("max_iter", self.max_iter, least=1, whole=True)
        rows = labelled_rows(self, X, y, sample_weight, reset=True)
        alpha = self._given_alpha()
        if self.link == "probit" and len(rows.classes) > 2:
            raise ValueError(f'link must be "logit" for more than two classes, y has {len(rows.classes)}')
        problem = PlaneProblem.of(rows, link=self.link, fit_intercept=self.fit_intercept)
        with single_threaded_blas():  # to wake threads costs more than matrices of this size
            if alpha is None:
                found = most_evident(problem, max_iter=self.max_iter)
            else:
                found = laplace(problem, alpha / problem.scale / problem.scale, max_iter=self.max_iter)
        if not found.converged:
            warnings.warn(
                f"BayesianLogisticRegression has not converged in {found.n_iter} steps; raise max_iter",
                ConvergenceWarning,
                stacklevel=3,
            )
        self._adopt(problem, found)
        return self

    def coef_interval(self, coverage: float = 0.95) -> np.ndarray:
        """Return the interval that holds each coefficient with the given probability.

        Parameters
        ----------
        coverage : float

        Returns
        -------
        array of the shape of `coef_`, and 2
        """
        check_fitted(self)
        return gaussian_interval(self.coef_, self.coef_std_errors_, coverage)

    def sample_functions(self, X: Any, n_samples: int = 1, *, random_state: Any = None) -> np.ndarray:
        """Draw planes from the posterior, and return the probabilities of the classes at all rows by each.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        n_samples : int
            Number of planes.
        random_state : None, int, Generator or RandomState

        Returns
        -------
        array of shape (n_samples, number of rows, n_classes)
        """
        from scipy.special import expit, ndtr, softmax

        check_fitted(self)
        check_number("n_samples", n_samples, least=1, whole=True)
        z = self._columns(X)
        noise = as_generator(random_state).standard_normal((int(n_samples), len(self.mode_)))
        drawn = (self.mode_ + noise @ self.root_.T).reshape(int(n_samples), -1, z.shape[1])
        activation = np.swapaxes(drawn @ z.T, 1, 2)
        if len(self.classes_) > 2:
            return softmax(activation @ self.contrasts_.T, axis=-1)
        share = expit if self.link == "logit" else ndtr
        return np.concatenate([share(-activation), share(activation)], axis=-1)

    def predict_activation(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean and the standard deviation of the activation xᵀw + w₀ of two classes.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        mean, stddev : arrays of shape (n_samples,)
        """
        check_fitted(self)
        if len(self.classes_) > 2:
            raise ValueError(f"one activation tells two classes apart, and there are {len(self.classes_)}")
        z = self._columns(X)
        return z @ self.mode_, np.linalg.norm(z @ self.root_, axis=1)

    def _log_scores(self, X: Any) -> np.ndarray:
        """Return log p(C_k | x, data)."""
        if len(self.classes_) > 2:
            return log_expected_softmax(*self._activations(X), self.contrasts_)
        z = drawn_in(self._columns(X))
        mean, spread = z @ self.mode_, np.linalg.norm(z @ self.root_, axis=1)
        share = log_expected_sigmoid if self.link == "logit" else log_expected_probit
        return np.column_stack([share(-mean, spread), share(mean, spread)])

    def _activations(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the means (n, m) of the contrasts and roots (n, m, m) of their covariances."""
        z = drawn_in(self._columns(X))
        m, p = self.contrasts_.shape[1], z.shape[1]
        spread = np.einsum("np,mpq->nmq", z, self.root_.reshape(m, p, m * p), optimize=True)
        sizes, axes = np.linalg.eigh(spread @ np.swapaxes(spread, 1, 2))
        # The widest axis first: the first coordinates of a sequence are its most even ones.
        root = (axes * np.sqrt(np.maximum(sizes, 0.0))[:, None, :])[:, :, ::-1]
        return z @ self.mode_.reshape(m, p).T, root

    def _columns(self, X: Any) -> np.ndarray:
        z = (check_columns(self, X).astype(np.float64) - self.centre_) / self.scale_
        return np.column_stack([np.ones(len(z)), z]) if self.fit_intercept else z

    def _given_alpha(self) -> np.ndarray | None:
        if isinstance(self.alpha, str):
            check_choice("alpha", self.alpha, ("evidence",))
            return None
        alpha = np.asarray(as_reals("alpha", self.alpha), dtype=np.float64)
        if alpha.shape not in ((), (self.n_features_in_,)) or not np.all((alpha > 0) & (alpha < np.inf)):
            raise ValueError(
                f'alpha must be "evidence", a number above 0 or {self.n_features_in_} of them, '
                f"got {self.alpha!r}"
            )
        return np.broadcast_to(alpha, (self.n_features_in_,))

    def _adopt(self, problem: PlaneProblem, found: LaplacePosterior) -> None:
        """Name what was found, in the units of X."""
        m, p = problem.shape
        self.classes_ = problem.rows.classes
        self.mode_, self.root_ = found.mode, found.root
        self.centre_, self.scale_, self.contrasts_ = problem.centre, problem.scale, problem.contrasts
        self.log_evidence_, self.gamma_ = found.log_evidence, found.well_determined
        self.alpha_ = found.price[p - len(problem.scale) : p] * problem.scale * problem.scale
        self.n_iter_ = found.n_iter
        units = _units(problem)
        planes = problem.contrasts[1:] if m == 1 else problem.contrasts
        mean = planes @ (found.mode.reshape(m, p) @ units.T)
        spread = np.einsum("km,mqr->kqr", planes, self._in_units(units))
        errors = np.linalg.norm(spread, axis=-1)
        located = int(self.fit_intercept)
        self.coef_, self.coef_std_errors_ = mean[:, located:], errors[:, located:]
        none = np.zeros(len(planes))
        self.intercept_ = mean[:, 0] if located else none
        self.intercept_std_errors_ = errors[:, 0] if located else none
        self.posterior_ = self._posterior(mean, spread)

    def _in_units(self, units: np.ndarray) -> np.ndarray:
        """Return the root of the covariance of the planes searched, in the units of X, (m, p, m p)."""
        m, p = self.contrasts_.shape[1], len(units)
        return units @ self.root_.reshape(m, p, m * p)

    def _posterior(self, mean: np.ndarray, spread: np.ndarray) -> MultivariateNormal:
        if len(mean) > 1:  # against the first class: the planes of all are one too many
            mean, spread = mean[1:] - mean[0], spread[1:] - spread[0]
        columns = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        own = ["intercept"] * int(self.fit_intercept) + [str(name) for name in columns]
        names = own if len(mean) == 1 else [f"{label}: {name}" for label in self.classes_[1:] for name in own]
        root = spread.reshape(len(names), -1)
        structure = Full.from_cholesky(triangle(root.T).T)
        return MultivariateNormal(mean=mean.ravel(), covariance=structure, names=tuple(names))


def _units(problem: PlaneProblem) -> np.ndarray:
    """Return the matrix that takes a plane in standardised columns to the units of X, (p, p)."""
    slopes = np.diag(1.0 / problem.scale)
    if not problem.located:
        return slopes
    top = np.append(1.0, -problem.centre / problem.scale)
    return np.vstack([top, np.column_stack([np.zeros(len(slopes)), slopes])])
