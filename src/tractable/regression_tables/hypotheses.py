"""Tests of hypotheses about coefficients, Wald, F and likelihood ratio, and Wald's intervals."""

from math import inf, isnan, nan
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.numbers import check_number
from tractable.distributions import StudentT
from tractable.value import value


@value
class HypothesisTest:
    """A test statistic with its distribution under the hypothesis.

    Parameters
    ----------
    name : str
        Of the distribution: "F" or "chi2".
    statistic : float
        Its value; large values speak against the hypothesis.
    dof : tuple of float
        Degrees of freedom: of numerator and denominator of F, or the one of χ².
    p_value : float
        Probability of a statistic as large or larger, were the hypothesis true.
    hypothesis : str
        What was tested, in words.

    Examples
    --------
    >>> print(f_test(8.0, (2, 20), hypothesis="both slopes are 0"))
    H0: both slopes are 0: F(2, 20) = 8, p = 0.0028
    """

    name: str
    statistic: float
    dof: tuple[float, ...]
    p_value: float
    hypothesis: str = ""

    def __str__(self) -> str:
        dof = ", ".join(f"{d:g}" for d in self.dof)
        said = f"{'χ²' if self.name == 'chi2' else self.name}({dof}) = {self.statistic:.4g}"
        return (f"H0: {self.hypothesis}: " if self.hypothesis else "") + f"{said}, p = {self.p_value:.3g}"

    __repr__ = __str__


def f_test(statistic: float, dof: tuple[float, float], *, hypothesis: str = "") -> HypothesisTest:
    """Return the test of a statistic that is F distributed under the hypothesis; NaN without rows to spare.

    Parameters
    ----------
    statistic : float
        Mean square of what is tested, over the mean square of the residuals.
    dof : pair of float
        Their degrees of freedom.
    hypothesis : str
        What is tested, in words.
    """
    from scipy.special import fdtrc

    p_value = float(fdtrc(*dof, statistic)) if min(dof) > 0.0 and statistic >= 0.0 else float("nan")
    return HypothesisTest(
        name="F", statistic=float(statistic), dof=dof, p_value=p_value, hypothesis=hypothesis
    )


def f_test_of_squares(
    explained: float, k: float, mean: float, residual_dof: float, *, hypothesis: str = ""
) -> HypothesisTest:
    """Return the F test of the squares, or the deviance, that k coefficients explain.

    Parameters
    ----------
    explained : float
        How much less is left with the coefficients than without.
    k : float
        How many there are.
    mean : float
        The noise variance, or the dispersion. Where it is zero the statistic is infinite, and NaN where
        nothing was left to explain.
    residual_dof : float
        Degrees of freedom of `mean`.
    hypothesis : str
        What is tested, in words.

    Examples
    --------
    >>> f_test_of_squares(16.0, 2, 1.0, 20, hypothesis="both slopes are 0")
    H0: both slopes are 0: F(2, 20) = 8, p = 0.0028
    """
    if not (k > 0.0 and residual_dof > 0.0) or (mean == 0.0 and not explained > 0.0):
        return f_test(nan, (k, residual_dof), hypothesis=hypothesis)
    statistic = max(explained, 0.0) / k / mean if mean > 0.0 else inf
    return f_test(statistic, (k, residual_dof), hypothesis=hypothesis)


def chi2_test(statistic: float, dof: float, *, hypothesis: str = "") -> HypothesisTest:
    """Return the test of a statistic that is χ² distributed under the hypothesis."""
    from scipy.special import chdtrc

    p_value = float(chdtrc(dof, max(statistic, 0.0))) if dof > 0 and not isnan(statistic) else float("nan")
    return HypothesisTest(
        name="chi2", statistic=float(statistic), dof=(float(dof),), p_value=p_value, hypothesis=hypothesis
    )


def likelihood_ratio_test(
    log_likelihood: float, restricted: float, dof: float, *, hypothesis: str = ""
) -> HypothesisTest:
    """Return the test of twice the difference of two maxima of the log-likelihood (Wilks).

    Parameters
    ----------
    log_likelihood, restricted : float
        Of the model, and of the one that the hypothesis restricts.
    dof : float
        How many more parameters the model has.
    hypothesis : str
        What is tested, in words.

    Examples
    --------
    >>> likelihood_ratio_test(-10.0, -13.0, 2)
    χ²(2) = 6, p = 0.0498
    """
    return chi2_test(2.0 * (log_likelihood - restricted), dof, hypothesis=hypothesis)


def wald_test(
    estimates: np.ndarray, covariance: np.ndarray, *, dof: float | None = None, hypothesis: str = ""
) -> HypothesisTest:
    """Return Wald's test that all of some coefficients are zero: bᵀ V⁻¹ b, as F where `dof` is given.

    Of coefficients that are linearly dependent on each other, such as those of all classes, the ones that are
    not count.

    Parameters
    ----------
    estimates : array (k,)
        The coefficients b.
    covariance : array (k, k)
        Their covariance V.
    dof : float, optional
        Degrees of freedom of the residuals that V was estimated from: the statistic over k is then F.
    hypothesis : str
        What is tested, in words.

    Examples
    --------
    >>> wald_test(np.array([2.0, 0.0]), np.diag([1.0, 4.0]))
    χ²(2) = 4, p = 0.135
    """
    size = np.sqrt(np.diagonal(covariance))
    if not np.all(np.isfinite(size)) or not np.all(size > 0.0):
        return HypothesisTest(
            name="chi2" if dof is None else "F",
            statistic=float("nan"),
            dof=(float(len(estimates)),) if dof is None else (float(len(estimates)), dof),
            p_value=float("nan"),
            hypothesis=hypothesis,
        )
    values, vectors = np.linalg.eigh(covariance / size / size[:, None])
    some = values > 1e-12 * len(values)
    along = (vectors[:, some].T @ (estimates / size)) / np.sqrt(values[some])
    k, square = int(some.sum()), float(along @ along)
    if dof is None:
        return chi2_test(square, k, hypothesis=hypothesis)
    return f_test(square / k, (float(k), float(dof)), hypothesis=hypothesis)


def wald_interval(estimate: Any, std_error: Any, coverage: float, dof: float = inf) -> Array:
    """Return estimate ∓ t std_error, (..., 2), t the quantile of Student's t that leaves (1 - coverage) / 2.

    Parameters
    ----------
    estimate, std_error : arrays (...)
        Estimates and their standard errors.
    coverage : float
        Confidence, between 0 and 1.
    dof : float
        Degrees of freedom; infinitely many are the normal distribution's, and without any there is no
        interval, NaN.

    Examples
    --------
    >>> wald_interval(np.array([1.0]), np.array([0.5]), 0.95).round(2)
    array([[0.02, 1.98]])
    """
    check_number("coverage", coverage, above=0.0, below=1.0)
    t = float(StudentT(dof=dof, location=0.0, scale=1.0).interval(coverage)[1]) if dof > 0.0 else nan
    xp, reach = namespace_of(estimate, std_error), t * std_error
    return xp.stack([xp.asarray(estimate - reach), xp.asarray(estimate + reach)], axis=-1)
