"""Word columns as columns of numbers, by reference or sum coding."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import _check_feature_names_in

from tractable.arrays.limits import check_squarable
from tractable.arrays.namespace import Array
from tractable.base import Estimator, ModelTags, all_or_nothing, check_choice, check_columns, check_fitted
from tractable.base.by_blocks import by_blocks, keeps_float32
from tractable.base.validation import check_names, check_weights
from tractable.data import is_frame
from tractable.data.frames import split_frame
from tractable.linear_model.rows import as_floats

CODINGS = ("reference", "sum")


class ContrastCoding(TransformerMixin, Estimator):
    """Columns of words as columns of numbers, so that linear models take them; numbers stay as they are.

    A column of k categories becomes k - 1 columns, named after their category: ``island[Dream]``. By
    reference coding each is 1 in its category and 0 elsewhere: its coefficient is the difference to the
    reference. By sum coding it is 1 in its category and -1 in the reference: its coefficient is the
    difference to the mean of all categories, and that of the reference is minus the sum of the others.

    Parameters
    ----------
    coding : {"reference", "sum"}
        Which.
    reference : dict of column name to category, optional
        The categories without a column of their own; when not given, the first by reference coding, and the
        last by sum coding. Categories are in the order of their column's type, or of the alphabet.

    Attributes
    ----------
    categories_ : dict
        The categories of each column of words, the reference first.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    Examples
    --------
    >>> import pandas as pd, tractable
    >>> from sklearn.pipeline import make_pipeline
    >>> X = pd.DataFrame({"island": ["Biscoe", "Dream", "Dream", "Biscoe"], "bill": [1.0, 2.0, 3.0, 4.0]})
    >>> tractable.ContrastCoding().fit_transform(X)
       island[Dream]  bill
    0            0.0   1.0
    1            1.0   2.0
    2            1.0   3.0
    3            0.0   4.0
    >>> model = make_pipeline(tractable.ContrastCoding(), tractable.LinearRegression())
    >>> model.fit(X, [1.0, 5.1, 5.9, 4.0])[-1].summary().names
    ('intercept', 'island[Dream]', 'bill')
    """

    model_tags = ModelTags(kind="mapping", parametric=True, streaming="no")

    def __init__(self, coding: str = "reference", *, reference: Any = None) -> None:
        self.coding = coding
        self.reference = reference

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the categories of each column of words.

        Parameters
        ----------
        X : frame or array of shape (n_samples, n_features)
            Rows; columns of words are those of a frame.
        y, sample_weight : ignored
            Of a frame, they may be names of columns, which are left out.
        """
        check_choice("coding", self.coding, CODINGS)
        if not (self.reference is None or isinstance(self.reference, Mapping)):
            raise ValueError(
                f"reference must be a dict of column names to categories, got {self.reference!r:.60}"
            )
        if is_frame(X):
            X, _, sample_weight = split_frame(X, y if isinstance(y, str) else None, sample_weight)
        self.categories_: dict[str, np.ndarray] = {}
        if not _has_words(X):
            check_weights(sample_weight, check_columns(self, X, reset=True))
        else:
            frame = _as_pandas(X)
            if not len(frame):
                raise ValueError(f"X: found 0 sample(s) (shape={frame.shape}), and ContrastCoding needs 1")
            check_weights(sample_weight, np.empty((len(frame), 0)))
            check_names(self, list(frame.columns), frame.shape[1], reset=True)
            words = {c: _categories(c, frame[c]) for c in frame.columns if _is_words(frame[c])}
            self.categories_ = {c: self._in_order(c, found) for c, found in words.items()}
            for column in frame.columns:
                self._coded(column, frame[column])
        unknown = [c for c in self.reference or {} if c not in self.categories_]
        if unknown:
            raise ValueError(f"reference has the column {unknown[0]!r}, which X has no words in")
        return self

    @by_blocks
    def transform(self, X: Any) -> Any:
        """Return the rows with the columns of words coded, as a frame; of numbers alone, as an array."""
        check_fitted(self)
        if not self.categories_:
            return self._numbers(X)
        if not is_frame(X):
            raise ValueError(f"X must be a frame with the columns {list(self.feature_names_in_)}")
        import pandas as pd

        frame = _as_pandas(X)
        check_names(self, list(frame.columns), frame.shape[1], reset=False)
        columns = [self._coded(c, frame[c]) for c in frame.columns]
        found = np.column_stack(columns)
        return pd.DataFrame(found, columns=list(self.get_feature_names_out()), index=frame.index)

    @keeps_float32
    def _numbers(self, X: Any) -> Array:
        return as_floats(check_columns(self, X))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns, such as ``island[Dream]``."""
        check_fitted(self)
        names: list[str] = []
        for column in _check_feature_names_in(self, input_features):
            known = self.categories_.get(column)
            names += [str(column)] if known is None else [f"{column}[{category}]" for category in known[1:]]
        return np.asarray(names, dtype=object)

    def _in_order(self, column: Any, categories: list[Any]) -> np.ndarray:
        """Return the categories, the reference first."""
        given = dict(self.reference or {})
        first = given.get(column, categories[0] if self.coding == "reference" else categories[-1])
        if first not in categories:
            raise ValueError(f"reference must be one of {categories} in the column {column!r}, got {first!r}")
        return np.array([first, *(each for each in categories if each != first)], dtype=object)

    def _coded(self, column: Any, values: Any) -> np.ndarray:
        known = self.categories_.get(column)
        if known is None:
            if _is_words(values):
                raise ValueError(f"X has words in the column {column!r}, which had numbers in fit")
            found = np.asarray(values, dtype=np.float64)
            if not np.isfinite(found).all():
                raise ValueError(f"X contains NaN or infinity in the column {column!r}")
            return check_squarable("X", found)[:, None]
        given = np.asarray(values, dtype=object)
        is_of = given[:, None] == known
        if not is_of.any(axis=1).all():
            odd = given[~is_of.any(axis=1)][0]
            raise ValueError(f"X has {odd!r} in the column {column!r}, which is none of {known.tolist()}")
        return is_of[:, 1:].astype(np.float64) - (is_of[:, :1] if self.coding == "sum" else 0.0)


def _as_pandas(frame: Any) -> Any:
    return frame.to_pandas() if hasattr(frame, "to_pandas") else frame


def _has_words(X: Any) -> bool:
    """Return whether a table is a frame with a column of words."""
    if not is_frame(X):
        return False
    frame = _as_pandas(X)
    return any(_is_words(frame[c]) for c in frame.columns)


def _is_words(values: Any) -> bool:
    """Return whether a column of a pandas frame holds words or categories: not numbers, nor dates."""
    from pandas.api.types import is_object_dtype, is_string_dtype

    if is_object_dtype(values.dtype):
        return any(isinstance(each, str) for each in values)
    return is_string_dtype(values.dtype) or hasattr(values, "cat")


def _categories(column: Any, values: Any) -> list[Any]:
    """Return the categories of a column, in the order of its type or of the alphabet."""
    if values.isna().any():
        raise ValueError(
            f"X has missing entries in the column {column!r}: leave out those rows, or fill them"
        )
    found = list(values.unique())
    if hasattr(values, "cat"):
        return [each for each in values.cat.categories if each in found]
    try:
        return sorted(found)
    except TypeError:
        raise ValueError(f"X must have words of one type in the column {column!r}, got {found[:3]}") from None
