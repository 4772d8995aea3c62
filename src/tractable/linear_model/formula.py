"""Models by a formula, ``"price ~ log(carat) + cut"``, read by the library formulaic (extra `formula`)."""

import re
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from tractable.data.frames import is_frame
from tractable.regression_tables import RegressionSummary
from tractable.value import value

#: How formulaic marks a category of reference and of sum coding.
MARKED = re.compile(r"\[[TS]\.([^\]]*)\]")
#: Colours and brackets of a terminal in its messages.
COLOUR = re.compile(r"\x1b\[[0-9;]*m|[\u29db\u29da]")


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

    def __repr__(self) -> str:
        return f"FormulaFit({self.formula!r}, {self.model!r})"

    def columns(self, data: Any) -> Any:
        """Return the columns of new rows, as a pandas frame."""
        return _columns(_matrix(self.spec, _frame(data)))

    def predict(self, data: Any, **options: Any) -> Any:
        """Return the model's predictions for new rows; `options` are those of its `predict`."""
        return self.model.predict(self.columns(data), **_by_name(_frame(data), options))

    def predict_interval(self, data: Any, coverage: float = 0.9, **options: Any) -> np.ndarray:
        """Return the model's prediction intervals for new rows.

        Parameters
        ----------
        data : frame
            New rows.
        coverage : float
            Probability, between 0 and 1.
        **options
            Those of the model's `predict_interval`; `exposure` may be the name of a column.
        """
        return self.model.predict_interval(self.columns(data), coverage, **_by_name(_frame(data), options))

    def summary(self, data: Any = None, **options: Any) -> RegressionSummary:
        """Return the regression table.

        Parameters
        ----------
        data : frame, optional
            The rows of the fit, for robust covariances.
        **options
            Those of the model's `summary`, such as ``covariance="HC3"``; `clusters`, `exposure` and
            `sample_weight` may be names of columns of `data`.
        """
        if data is None:
            return self.model.summary(**options)
        frame = _frame(data)
        y = _target(self.formula, frame, _matrix(self.formula, frame))
        return self.model.summary(self.columns(frame), np.asarray(y), **_by_name(frame, options))


def fit_formula(
    formula: str, data: Any, estimator: Any = None, *, sample_weight: Any = None, exposure: Any = None
) -> FormulaFit:
    """Fit a model to the columns that a formula makes of a frame.

    Formulas are those of R as formulaic reads them: ``y ~ x``, ``log(x)``, ``a:b``, ``a * b``,
    ``poly(x, 2)``, ``C(word, contr.sum)``, ``- 1`` for no intercept. Words are coded by reference, the first
    category in the order of its type or of the alphabet. A formula is code: use only those you trust.

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
    exposure : column name or array of shape (n_samples,), optional
        What each row was exposed to, for models of counts and amounts.

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
    parts = _matrix(formula, frame)
    y = _target(formula, frame, parts)
    model = clone(LinearRegression() if estimator is None else estimator)
    right = getattr(parts, "rhs", parts)
    if "fit_intercept" in model.get_params(deep=False):
        model.set_params(fit_intercept="Intercept" in right.columns)
    columns = _columns(right)
    if not columns.shape[1]:
        raise ValueError(f"formula must have a term after ~, got {formula!r}")
    given = {"sample_weight": sample_weight, "exposure": exposure}
    options = _by_name(frame, {name: part for name, part in given.items() if part is not None})
    model.fit(columns, np.asarray(y), **options)
    return FormulaFit(formula=formula, model=model, spec=right.model_spec)


def _frame(data: Any) -> Any:
    if not is_frame(data):
        raise ValueError(f"data must be a frame, got {type(data).__name__}")
    return data.to_pandas() if hasattr(data, "to_pandas") else data


def _target(formula: str, frame: Any, parts: Any) -> Any:
    """Return what a formula has before ~, complete; words are left as they are."""
    left = formula.split("~", 1)[0].strip()
    if left in frame.columns:
        if frame[left].isna().any():
            raise ValueError(f"data has missing entries in {left!r}: leave out those rows")
        return frame[left]
    targets = getattr(parts, "lhs", None)
    if targets is None or np.shape(targets)[1] != 1:
        raise ValueError(f"formula must have one target before ~, got {formula!r}")
    return targets.iloc[:, 0]


def _by_name(frame: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return options in which names of columns are replaced by the columns."""
    found = dict(options)
    for name in ("sample_weight", "exposure", "clusters"):
        if isinstance(found.get(name), str):
            if found[name] not in frame.columns:
                raise ValueError(f"{name}: data has no column {found[name]!r}")
            found[name] = frame[found[name]].to_numpy()
    return found


def _matrix(of: Any, frame: Any) -> Any:
    """Return formulaic's matrices of a formula or of a description of columns."""
    try:
        import formulaic
        from formulaic.errors import DataMismatchWarning, FormulaicError
    except ImportError as error:
        raise ImportError("formulas need formulaic: pip install 'tractable[formula]'") from error
    if not len(frame):
        raise ValueError("data must have a row at least (n_samples = 0)")
    try:
        with warnings.catch_warnings():  # it would code categories that are new as the reference
            warnings.simplefilter("error", DataMismatchWarning)
            return formulaic.model_matrix(of, frame, context={}, na_action="raise")
    except DataMismatchWarning as error:
        new = re.search(r"\{.*?\}", str(error))
        raise ValueError(f"data has categories that the rows of the fit had not: {new and new[0]}") from error
    except FormulaicError as error:
        names, said = ", ".join(map(str, frame.columns)), COLOUR.sub("", str(error))
        raise ValueError(f"formula cannot be read: {said} The columns of data are {names}") from error
    except ValueError as error:
        raise ValueError(f"formula: {error}") from error


def _columns(matrix: Any) -> Any:
    """Return the columns without the intercept, their categories as in ``cut[Ideal]``."""
    import pandas as pd

    found = pd.DataFrame(matrix).drop(columns="Intercept", errors="ignore").astype(float)
    return found.rename(columns=lambda name: MARKED.sub(r"[\1]", name))
