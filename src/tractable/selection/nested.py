"""Comparison of two fits of which one is a special case of the other."""

import warnings
from typing import Any

from tractable.base import check_fitted
from tractable.regression_tables.collinearity import CollinearityWarning
from tractable.regression_tables.hypotheses import (
    HypothesisTest,
    chi2_test,
    f_test_of_squares,
    likelihood_ratio_test,
)
from tractable.regression_tables.summary import RegressionSummary
from tractable.value import value

#: Squares and likelihoods of the same targets agree up to this.
SAME = 1e-8


@value
class NestedComparison:
    """Whether the further coefficients of a larger model are needed.

    Parameters
    ----------
    small, large : RegressionSummary
        Of the two fits.
    added : tuple of str
        Coefficients of the larger model that the smaller does not have.
    likelihood_ratio : HypothesisTest
        Twice the difference of the log-likelihoods, at the dispersion of the larger model where one is
        estimated; χ² distributed for many rows.
    f : HypothesisTest, optional
        Of linear models: the squares that the further coefficients explain, over the noise variance; exact in
        Gaussian noise. Of amounts, whose dispersion is estimated: the deviance that they explain, over it.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X, y = np.eye(5)[:, :2], np.array([1.0, 3.0, 0.1, -0.1, 0.0])
    >>> found = compare_nested(*(tractable.LinearRegression().fit(X[:, :k], y) for k in (1, 2)))
    >>> found.added, round(found.p_value, 5)
    (('x1',), 0.00148)
    """

    small: RegressionSummary
    large: RegressionSummary
    added: tuple[str, ...]
    likelihood_ratio: HypothesisTest
    f: HypothesisTest | None = None

    @property
    def p_value(self) -> float:
        """Of the F test where there is one, else of the likelihood ratio."""
        return self.likelihood_ratio.p_value if self.f is None else self.f.p_value

    def to_frame(self) -> Any:
        """Return a pandas frame of the two models, the smaller first."""
        import pandas as pd

        rows = {
            f"{each.n_parameters:g} parameters": {
                "residual_dof": each.residual_dof,
                "log_likelihood": each.log_likelihood,
                "aic": each.aic,
                "bic": each.bic,
            }
            for each in (self.small, self.large)
        }
        return pd.DataFrame.from_dict(rows, orient="index")

    def __str__(self) -> str:
        added = ", ".join(self.added)
        lines = [f"{self.large.model} with and without {added}" if added else self.large.model]
        lines += [] if self.f is None else [str(self.f)]
        lines.append(f"likelihood ratio {self.likelihood_ratio}")
        lines += [
            f"{each.n_parameters:g} parameters: log-likelihood {each.log_likelihood:.6g}, "
            f"AIC {each.aic:.6g}, BIC {each.bic:.6g}"
            for each in (self.small, self.large)
        ]
        return "\n".join(lines)

    __repr__ = __str__


def compare_nested(a: Any, b: Any) -> NestedComparison:
    """Test whether the larger of two nested models is needed: by F and by the likelihood ratio.

    Both are fitted by maximum likelihood to the same rows and targets, and the columns of one are columns of
    the other too; the order does not matter.

    Parameters
    ----------
    a, b : fitted models with `summary()`, fits by `fit_formula`, or their summaries
        The two models, of one kind.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 2))
    >>> y = 2.0 * X[:, 0] + rng.standard_normal(50)
    >>> one, both = (tractable.LinearRegression().fit(X[:, :k], y) for k in (1, 2))
    >>> compare_nested(one, both).f
    H0: x1 = 0: F(1, 47) = 0.0004517, p = 0.983
    """
    both = [_summary(name, model) for name, model in (("a", a), ("b", b))]
    small, large = sorted(both, key=lambda each: each.n_parameters)
    _check_nested(small, large)
    added = tuple(name for name in large.names if name not in small.names)
    k = large.n_parameters - small.n_parameters
    hypothesis = f"{', '.join(added)} = 0" if added else ""
    ratio = likelihood_ratio_test(
        large.log_likelihood,  # type: ignore[arg-type]  # _check_nested
        small.log_likelihood,  # type: ignore[arg-type]
        k,
        hypothesis=hypothesis,
    )
    f = None
    if large.residual_squares is not None or large.dispersion is not None:
        scaled = large.dispersion is not None
        residual, mean = (
            (large.deviance, large.dispersion) if scaled else (large.residual_squares, large.noise_variance)
        )
        more = small.deviance if scaled else small.residual_squares
        f = f_test_of_squares(more - residual, k, mean, large.residual_dof, hypothesis=hypothesis)  # type: ignore[operator, arg-type]
        if scaled:
            ratio = chi2_test(k * f.statistic, k, hypothesis=hypothesis)
    return NestedComparison(small=small, large=large, added=added, likelihood_ratio=ratio, f=f)


def _summary(name: str, model: Any) -> RegressionSummary:
    if isinstance(model, RegressionSummary):
        return model
    if not hasattr(model, "summary") or isinstance(model, type):
        raise ValueError(f"{name} must be a fitted model with summary(), or a summary, got {model!r:.80}")
    if hasattr(model, "fit"):  # a fit by a formula has been fitted
        check_fitted(model)
    with warnings.catch_warnings():  # of single coefficients, which are not in question here
        warnings.simplefilter("ignore", CollinearityWarning)
        found: RegressionSummary = model.summary()
    return found


def _check_nested(small: RegressionSummary, large: RegressionSummary) -> None:
    if small.model != large.model:
        raise ValueError(f"a and b must be models of one kind, got {small.model} and {large.model}")
    if small.log_likelihood is None or large.log_likelihood is None:
        raise ValueError(f"a and b must be fits of maximum likelihood, which {small.model} is not")
    if abs(small.n_rows - large.n_rows) > SAME * large.n_rows:
        raise ValueError(
            f"a and b must be fitted to the same rows, got {small.n_rows:g} and {large.n_rows:g} of them"
        )
    if not large.n_parameters > small.n_parameters:
        raise ValueError(
            f"a and b must be nested, one with more parameters; both have {small.n_parameters:g}"
        )
    other = [name for name in small.names if name not in large.names]
    if other:
        raise ValueError(
            f"a and b must be nested: the larger model does not have {', '.join(other)} of the smaller one"
        )
    null = [each.total_squares or each.null_log_likelihood or each.null_deviance for each in (small, large)]
    if small.has_intercept == large.has_intercept and None not in null:
        difference = abs(null[0] - null[1])  # type: ignore[operator]
        if difference > SAME * max(abs(null[0]), abs(null[1])):  # type: ignore[arg-type]
            raise ValueError("a and b must be fitted to the same targets: those of one vary more")
