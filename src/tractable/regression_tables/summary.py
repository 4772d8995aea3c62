"""The regression table of a fitted model: coefficients, standard errors, tests, intervals, criteria."""

import html
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from tractable.arrays.numbers import check_number
from tractable.regression_tables.collinearity import NOTED, WARNED, CollinearityWarning
from tractable.regression_tables.hypotheses import (
    HypothesisTest,
    f_test_of_squares,
    likelihood_ratio_test,
    wald_interval,
    wald_test,
)
from tractable.value import set_fields, value

NAN = float("nan")


@value
class RegressionSummary:
    """A regression table; printed as text, shown as HTML in notebooks, drawn by :func:`tractable.plot`.

    Any estimator with coefficients, their covariance and a log-likelihood makes one in its `summary()`; what
    it does not know is left out, and so are the lines of the table that need it. The tests are Wald's: the
    estimate over its standard error is Student's t with `t_dof` degrees of freedom, or standard normal (z)
    without.

    Parameters
    ----------
    model : str
        Name of the model.
    names : tuple of str
        Names of the coefficients; where there is an intercept, it is first and named "intercept" (of several
        classes "class: intercept").
    coefficients : array (p,)
        The estimates.
    covariance : array (p, p)
        Their covariance. What the rows do not determine has an infinite variance.
    n_rows : float
        Number of rows, as frequencies count them.
    n_parameters : float
        Number of coefficients that the rows determine, the intercept included. AIC and BIC count these, as
        statsmodels does; R and `tractable.compare` count the noise variance of linear models too.
    residual_dof : float
        n_rows - n_parameters.
    log_likelihood : float, optional
        Its maximum. Without it there are no AIC, BIC and likelihood ratio.
    null_log_likelihood : float, optional
        That of the intercept alone.
    t_dof : float, optional
        Degrees of freedom of the tests and intervals; the normal distribution when not given.
    covariance_type : str
        "nonrobust", "HC0" to "HC3", "clustered", or "posterior".
    residual_squares, total_squares : float, optional
        Of linear models: Σ (y - ŷ)², and Σ (y - ȳ)² (Σ y² without an intercept).
    deviance, null_deviance : float, optional
        Of generalised linear models: of the model, and of the intercept alone.
    dispersion : float, optional
        φ, where it is estimated and the variance is φ V(μ).
    has_intercept : bool
        Whether the model has an intercept.
    n_intercepts : int, optional
        How many of the parameters are intercepts, where it is not one: the model of the null log-likelihood
        has these alone.
    scales : array (p,), optional
        Standard deviations of the columns, 0 for intercepts: coefficients times these are in comparable
        units.
    inflation : array (p,), optional
        Variance inflation factors, NaN for intercepts.
    condition_number : float, optional
        Of the design, in the units of the table.
    statistics : mapping of str to float
        Further numbers of the fit, by the words to print: Pearson's χ², the quantile.
    tested : bool
        Whether there are tests; of posteriors, with covariance type "posterior", there are intervals alone.
    coverage : float
        Of the intervals.
    notes : tuple of str
        What to know about the fit, a sentence each.

    Examples
    --------
    >>> import tractable
    >>> X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([3.1, 4.9, 7.2, 8.9])
    >>> table = tractable.LinearRegression().fit(X, y).summary()
    >>> print(table)
    LinearRegression: 4 rows, 2 parameters
    <BLANKLINE>
               coefficient  std error      t  p value    95 % interval
    intercept          1.1      0.217   5.06   0.0369  [0.1647, 2.035]
    x0                1.97     0.0794  24.82  0.00162   [1.628, 2.312]
    <BLANKLINE>
    R² 0.99676, adjusted R² 0.99515
    H0: all slopes are 0: F(1, 2) = 616, p = 0.00162
    log-likelihood 2.6261, AIC -1.2522, BIC -2.4796
    >>> table.p_values.round(4), round(table.r2, 4)
    (array([0.0369, 0.0016]), 0.9968)
    """

    model: str
    names: tuple[str, ...]
    coefficients: np.ndarray
    covariance: np.ndarray
    n_rows: float
    n_parameters: float
    residual_dof: float
    log_likelihood: float | None = None
    null_log_likelihood: float | None = None
    t_dof: float | None = None
    covariance_type: str = "nonrobust"
    residual_squares: float | None = None
    total_squares: float | None = None
    deviance: float | None = None
    null_deviance: float | None = None
    dispersion: float | None = None
    has_intercept: bool = True
    n_intercepts: int | None = None
    scales: np.ndarray | None = None
    inflation: np.ndarray | None = None
    condition_number: float | None = None
    statistics: Mapping[str, float] = field(default_factory=dict)
    tested: bool = True
    coverage: float = 0.95
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_number("coverage", self.coverage, above=0.0, below=1.0)
        p = len(self.names)
        set_fields(
            self,
            names=tuple(self.names),
            coefficients=np.asarray(self.coefficients, dtype=np.float64),
            covariance=np.asarray(self.covariance, dtype=np.float64),
        )
        if self.coefficients.shape != (p,) or self.covariance.shape != (p, p):
            raise ValueError(
                f"coefficients and covariance must be of {p} names, got shapes "
                f"{self.coefficients.shape} and {self.covariance.shape}"
            )

    @cached_property
    def std_errors(self) -> np.ndarray:
        """Standard errors, (p,); infinite where the rows do not determine a coefficient."""
        with np.errstate(invalid="ignore"):
            return np.sqrt(np.diagonal(self.covariance))

    @cached_property
    def test_values(self) -> np.ndarray:
        """Estimates over their standard errors, t or z, (p,); NaN where the rows do not determine them."""
        self._check_tested()
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(np.isfinite(self.std_errors), self.coefficients / self.std_errors, NAN)

    @cached_property
    def p_values(self) -> np.ndarray:
        """Probability of an estimate as far from 0 in standard errors, or farther, were it 0; (p,)."""
        from scipy.special import erfc, stdtr

        far = np.abs(self.test_values)
        if self.t_dof is None:
            return erfc(far / np.sqrt(2.0))
        return 2.0 * stdtr(self.t_dof, -far) if self.t_dof > 0.0 else np.full_like(far, NAN)

    @cached_property
    def intervals(self) -> np.ndarray:
        """Confidence intervals of the stated coverage, (p, 2)."""
        dof = inf if self.t_dof is None else self.t_dof
        return wald_interval(self.coefficients, self.std_errors, self.coverage, dof)

    @property
    def r2(self) -> float:
        """R², the fraction of the squares of the targets that a linear model explains."""
        residual, total = self._squares()
        return 1.0 - residual / total if total > 0.0 else NAN

    @property
    def adjusted_r2(self) -> float:
        """R² of unbiased variances: 1 - (1 - R²)(n - 1) / (n - p), or n / (n - p) without an intercept."""
        if not self.residual_dof > 0.0:
            return NAN
        return 1.0 - (1.0 - self.r2) * (self.n_rows - self.has_intercept) / self.residual_dof

    @property
    def noise_variance(self) -> float:
        """Unbiased estimate of the noise variance of a linear model."""
        residual, _ = self._squares()
        return residual / self.residual_dof if self.residual_dof > 0.0 else NAN

    @property
    def pseudo_r2(self) -> float:
        """McFadden's: 1 - log-likelihood / that of the intercept alone."""
        likelihood, null = self._likelihoods()
        return 1.0 - likelihood / null

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2 p - 2 log-likelihood."""
        return 2.0 * self.n_parameters - 2.0 * self._likelihood()

    @property
    def bic(self) -> float:
        """Schwarz's criterion, p log n - 2 log-likelihood."""
        return self.n_parameters * float(np.log(self.n_rows)) - 2.0 * self._likelihood()

    @property
    def explained_deviance(self) -> float:
        """The fraction of the deviance of the intercept alone that a generalised linear model explains."""
        if self.deviance is None or self.null_deviance is None:
            raise ValueError(f"{self.model} has no deviance: see r2")
        return 1.0 - self.deviance / self.null_deviance if self.null_deviance > 0.0 else NAN

    @property
    def f_test(self) -> HypothesisTest:
        """The F test that all slopes are 0, of squares or, with a dispersion, of deviances.

        By Wald with a robust covariance.
        """
        k, hypothesis = self._n_slopes, "all slopes are 0"
        if self.dispersion is not None and self.deviance is not None and self.null_deviance is not None:
            residual, total, mean = self.deviance, self.null_deviance, self.dispersion
        else:
            residual, total = self._squares()
            mean = self.noise_variance
        if self.covariance_type != "nonrobust":
            return self._wald(self.slopes, hypothesis)
        return f_test_of_squares(total - residual, k, mean, self.residual_dof, hypothesis=hypothesis)

    @property
    def likelihood_ratio_test(self) -> HypothesisTest:
        """The likelihood-ratio test that all slopes are 0."""
        likelihood, null = self._likelihoods()
        return likelihood_ratio_test(likelihood, null, self._n_slopes, hypothesis="all slopes are 0")

    def wald_test(self, names: str | Sequence[str]) -> HypothesisTest:
        """Return Wald's test that the named coefficients are all 0, such as those of one word column.

        Parameters
        ----------
        names : str or sequence of str
            Coefficients; a column's own name stands for those of all classes, and "island" for
            "island[Dream]" and its others.
        """
        wanted = [names] if isinstance(names, str) else list(names)
        at: list[int] = []
        for name in wanted:
            found = [i for i, known in enumerate(self.names) if name in (known, *_columns_of(known))]
            if not found:
                raise ValueError(f"names must be coefficients of the table, got {name!r}: {self.names}")
            at += [i for i in found if i not in at]
        return self._wald(np.array(at), f"{', '.join(map(str, wanted))} = 0")

    def to_frame(self) -> Any:
        """Return the table as a pandas frame, a row a coefficient."""
        import pandas as pd

        columns = {"coefficient": self.coefficients, "std_error": self.std_errors}
        if self.tested:
            columns["z" if self.t_dof is None else "t"] = self.test_values
            columns["p_value"] = self.p_values
        columns["low"], columns["high"] = self.intervals.T
        if self.inflation is not None:
            columns["vif"] = self.inflation
        return pd.DataFrame(columns, index=pd.Index(self.names, name="name"))

    def __str__(self) -> str:
        head, *rows = self._cells()
        widths = [max(len(row[j]) for row in (head, *rows)) for j in range(len(head))]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
            for row in (head, *rows)
        ]
        notes = [f"note: {note}" for note in self._all_notes()]
        parts = [[self._heading()], lines, self._fit_lines(), notes]
        return "\n\n".join("\n".join(part) for part in parts if part)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        head, *rows = self._cells()
        cells = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
        body = "".join(
            f"<tr><th style='text-align:left'>{html.escape(row[0])}</th>"
            + "".join(f"<td>{html.escape(cell)}</td>" for cell in row[1:])
            + "</tr>"
            for row in rows
        )
        lines = "<br>".join(html.escape(line) for line in self._fit_lines())
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self._all_notes())
        return (
            f"<div><p><strong>{html.escape(self._heading())}</strong></p>"
            f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"
            f"<p>{lines}</p>{f'<ul>{notes}</ul>' if notes else ''}</div>"
        )

    def warn_of_collinearity(self, *, stacklevel: int = 3) -> None:
        """Warn where columns are so nearly dependent that standard errors are ten times as large, or more."""
        if self.inflation is None or not self.tested:  # a prior tells coefficients apart
            return
        worst = np.nan_to_num(self.inflation, nan=0.0, posinf=np.inf)
        if np.max(worst, initial=0.0) > WARNED:
            named = ", ".join(
                self.names[i] for i in np.argsort(-worst, kind="stable")[:3] if worst[i] > WARNED
            )
            warnings.warn(
                f"columns are nearly linearly dependent (variance inflation up to {np.max(worst):.4g}): the "
                f"coefficients of {named} can hardly be told apart; leave columns out, or use a penalty",
                CollinearityWarning,
                stacklevel=stacklevel,
            )

    @property
    def slopes(self) -> np.ndarray:
        """Positions of the coefficients that are no intercepts."""
        return np.array(
            [i for i, name in enumerate(self.names) if name.split(": ")[-1] != "intercept"], dtype=int
        )

    @property
    def _n_slopes(self) -> float:
        """How many of the parameters are no intercepts."""
        return self.n_parameters - (self.has_intercept if self.n_intercepts is None else self.n_intercepts)

    def _wald(self, at: np.ndarray, hypothesis: str) -> HypothesisTest:
        self._check_tested()
        part = self.covariance[np.ix_(at, at)]
        return wald_test(self.coefficients[at], part, dof=self.t_dof, hypothesis=hypothesis)

    def _check_tested(self) -> None:
        if not self.tested:
            raise ValueError(
                f"{self.model} has a posterior of its coefficients and no tests: see intervals and std_errors"
            )

    def _squares(self) -> tuple[float, float]:
        if self.residual_squares is None or self.total_squares is None:
            raise ValueError(f"{self.model} is no linear model with Gaussian noise: see pseudo_r2")
        return self.residual_squares, self.total_squares

    def _likelihood(self) -> float:
        if self.log_likelihood is None:
            raise ValueError(
                f"{self.model} has no maximum of a likelihood, so no AIC, BIC or likelihood ratio"
            )
        return self.log_likelihood

    def _likelihoods(self) -> tuple[float, float]:
        if self.null_log_likelihood is None:
            raise ValueError(f"{self.model} has no likelihood of the intercept alone")
        return self._likelihood(), self.null_log_likelihood

    def _heading(self) -> str:
        kind = "" if self.covariance_type == "nonrobust" else f", covariance {self.covariance_type}"
        counted = ((self.n_rows, "row"), (self.n_parameters, "parameter"))
        rows, parameters = (f"{n:g} {word}{'' if n == 1.0 else 's'}" for n, word in counted)
        return f"{self.model}: {rows}, {parameters}{kind}"

    def _cells(self) -> list[list[str]]:
        """Return the table as words, its head first."""
        test = "z" if self.t_dof is None else "t"
        columns = [("", list(self.names)), ("coefficient", _numbers(self.coefficients, 6))]
        columns.append(("std error", _numbers(self.std_errors, 3)))
        if self.tested:
            columns += [(test, _numbers(self.test_values, 4)), ("p value", _numbers(self.p_values, 3))]
        ends = [
            f"[{low}, {high}]" if low else ""
            for low, high in zip(*(_numbers(e, 4) for e in self.intervals.T), strict=True)
        ]
        columns.append((f"{100.0 * self.coverage:g} % interval", ends))
        if self.inflation is not None and len(self.slopes) > 1:
            columns.append(("VIF", ["" if np.isnan(x) else f"{x:.3g}" for x in self.inflation]))
        return [[name, *cells] for name, *cells in zip(*([n, *c] for n, c in columns), strict=True)]

    def _fit_lines(self) -> list[str]:
        lines = []
        tests = self.tested and self._n_slopes > 0.0
        if self.residual_squares is not None:
            lines.append(_said({"R²": self.r2, "adjusted R²": self.adjusted_r2}))
        elif self.null_log_likelihood is not None and self._n_slopes > 0.0:
            lines.append(_said({"pseudo-R²": self.pseudo_r2}))
            lines += [f"likelihood ratio {self.likelihood_ratio_test}"] if tests else []
        deviances = self.deviance is not None and self.null_deviance is not None
        squares = self.residual_squares is not None or (deviances and self.dispersion is not None)
        if tests and squares and not np.isnan(self.f_test.statistic):
            lines.append(str(self.f_test))
        if deviances:
            found = _said({"deviance": self.deviance, "null deviance": self.null_deviance})
            explained = {"explained": self.explained_deviance} if self._n_slopes > 0.0 else {}
            lines.append(", ".join(filter(None, (found, _said(explained, digits=4)))))
        lines.append(_said(self.statistics))
        if self.log_likelihood is not None:
            lines.append(_said({"log-likelihood": self.log_likelihood, "AIC": self.aic, "BIC": self.bic}))
        return [line for line in lines if line]

    def _all_notes(self) -> list[str]:
        notes = list(self.notes)
        open_ = [name for name, error in zip(self.names, self.std_errors, strict=True) if np.isinf(error)]
        if open_:
            notes.append(f"columns are linearly dependent: the rows do not determine {', '.join(open_)}")
        elif self.inflation is not None and len(self.slopes) > 1:
            worst = float(np.nanmax(self.inflation, initial=0.0))
            if worst > NOTED:
                notes.append(
                    f"columns are nearly linearly dependent: variance inflation up to {worst:.4g}"
                    + (f", condition number {self.condition_number:.4g}" if self.condition_number else "")
                )
        return notes


def coefficient_names(estimator: Any, *, intercept: bool) -> tuple[str, ...]:
    """Return the names of the coefficients of a fitted model: its columns, or x0, x1, …; the intercept first.

    Examples
    --------
    >>> import tractable
    >>> coefficient_names(tractable.LinearRegression().fit([[1.0], [2.0]], [1.0, 3.0]), intercept=True)
    ('intercept', 'x0')
    """
    known = getattr(estimator, "feature_names_in_", None)
    columns = [f"x{j}" for j in range(estimator.n_features_in_)] if known is None else map(str, known)
    return (*(["intercept"] if intercept else []), *columns)


def _columns_of(name: str) -> tuple[str, str]:
    """Return the column of a coefficient without its class, and without its category."""
    column = name.rsplit(": ", maxsplit=1)[-1]
    return column, column.split("[")[0]


def _numbers(x: np.ndarray, digits: int) -> list[str]:
    return ["" if np.isnan(v) else f"{v:.{digits}g}" for v in x]


def _said(numbers: Mapping[str, float | None], digits: int = 5) -> str:
    """Return numbers after their names, without those that there are not."""
    known = {name: x for name, x in numbers.items() if x is not None and not np.isnan(x)}
    return ", ".join(f"{name} {x:.{digits}g}" for name, x in known.items())
