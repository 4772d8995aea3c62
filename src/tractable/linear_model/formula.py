"""Models by a formula, ``"price ~ log(carat) + cut"``, read by the library formulaic (extra `formula`)."""

import re
from typing import Any

import numpy as np
from sklearn.base import clone

from tractable.data.frames import is_frame
from tractable.inference import RegressionSummary
from tractable.value import value

#: How formulaic marks a category of reference and of sum coding.
MARKED = re.compile(r"\[[TS]\.([^\]]*)\]")


@value
class FormulaFit:
    """A model fitted by a formula: the value of `fit_formula`.

    Parameters
    ----------
    formula : str
        As given.
    model : fitted estimator
        To the columns that the formula makes of the data; its intervals, tables and tests are of these.
    spec : object
        formulaic's description of the columns, with the categories and the state of transforms.

    Examples
    --------
    >>> import pandas as pd, tractable
    >>> rows = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "y": [2.1, 3.9, 6.1, 7.9]})
    >>> tractable.fit_formula("y ~ x", rows).predict(pd.DataFrame({"x": [5.0]})).round(2)
    array([9.9])
    """

    formula: str
    model: Any
    spec: Any

    def columns(self, data: Any) -> Any:
        """Return the columns of new rows, as a pandas frame."""
        return _columns(_matrix(self.spec, _frame(data)))

    def predict(self, data: Any, **options: Any) -> Any:
        """Return the model's predictions for new rows; `options` are those of its `predict`."""
        return self.model.predict(self.columns(data), **options)

    def predict_interval(self, data: Any, coverage: float = 0.9) -> np.ndarray:
        """Return the model's prediction intervals for new rows."""
        return self.model.predict_interval(self.columns(data), coverage)

    def summary(self, **options: Any) -> RegressionSummary:
        """Return the regression table; `options` are those of the model's `summary`."""
        return self.model.summary(**options)


def fit_formula(formula: str, data: Any, estimator: Any = None, *, sample_weight: Any = None) -> FormulaFit:
    """Fit a model to the columns that a formula makes of a frame.

    Formulas are those of R as formulaic reads them: ``y ~ x``, ``log(x)``, ``a:b``, ``a * b``,
    ``poly(x, 2)``, ``C(word, contr.sum)``, ``- 1`` for no intercept. Words are coded by reference, the first
    category in the order of its type or of the alphabet. A formula is code: do not take it from strangers.

    Parameters
    ----------
    formula : str
        Target, ``~``, and terms.
    data : pandas, polars or pyarrow frame
        The rows, complete in the columns that the formula names.
    estimator : estimator, optional
        Not fitted; a copy is. :class:`tractable.LinearRegression` when not given. Its `fit_intercept` is set
        by the formula.
    sample_weight : column name or array of shape (n_samples,), optional
        How often each row counts.

    Examples
    --------
    >>> import numpy as np, pandas as pd, tractable
    >>> rows = pd.DataFrame({"carat": [0.3, 0.5, 1.0, 1.2, 2.0], "cut": ["Fair", "Ideal"] * 2 + ["Fair"]})
    >>> rows["price"] = 900.0 + 5000.0 * np.log(rows.carat) + 300.0 * (rows.cut == "Ideal")
    >>> found = tractable.fit_formula("price ~ log(carat) + cut", rows)
    >>> found.summary().names, found.model.coef_.round(6)
    (('intercept', 'log(carat)', 'cut[Ideal]'), array([5000.,  300.]))
    """
    from tractable.linear_model.least_squares import LinearRegression

    if not isinstance(formula, str) or "~" not in formula:
        raise ValueError(f"formula must be a text of target ~ terms, got {formula!r}")
    frame = _frame(data)
    left = formula.split("~", 1)[0].strip()
    parts = _matrix(formula, frame)
    if left in frame.columns:
        y = frame[left]
        if y.isna().any():
            raise ValueError(f"data has missing entries in {left!r}: leave out those rows")
    else:
        targets = getattr(parts, "lhs", None)
        if targets is None or np.shape(targets)[1] != 1:
            raise ValueError(f"formula must have one target before ~, got {formula!r}")
        y = targets.iloc[:, 0]
    model = clone(LinearRegression() if estimator is None else estimator)
    right = getattr(parts, "rhs", parts)
    if "fit_intercept" in model.get_params(deep=False):
        model.set_params(fit_intercept="Intercept" in right.columns)
    columns = _columns(right)
    if not columns.shape[1]:
        raise ValueError(f"formula must have a term after ~, got {formula!r}")
    weights = frame[sample_weight].to_numpy() if isinstance(sample_weight, str) else sample_weight
    options = {} if weights is None else {"sample_weight": weights}
    model.fit(columns, np.asarray(y), **options)
    return FormulaFit(formula=formula, model=model, spec=right.model_spec)


def _frame(data: Any) -> Any:
    if not is_frame(data):
        raise ValueError(f"data must be a frame, got {type(data).__name__}")
    return data.to_pandas() if hasattr(data, "to_pandas") else data


def _matrix(of: Any, frame: Any) -> Any:
    """Return formulaic's matrices of a formula or of a description of columns."""
    try:
        import formulaic
        from formulaic.errors import FormulaicError
    except ImportError as error:
        raise ImportError("formulas need formulaic: pip install 'tractable[formula]'") from error
    try:
        return formulaic.model_matrix(of, frame, context={}, na_action="raise")
    except FormulaicError as error:
        names = ", ".join(map(str, frame.columns))
        raise ValueError(f"formula cannot be read: {error} The columns of data are {names}") from error
    except ValueError as error:
        raise ValueError(f"formula: {error}") from error


def _columns(matrix: Any) -> Any:
    """Return the columns without the intercept, their categories as in ``cut[Ideal]``."""
    import pandas as pd

    found = pd.DataFrame(matrix).drop(columns="Intercept", errors="ignore").astype(float)
    return found.rename(columns=lambda name: MARKED.sub(r"[\1]", name))
