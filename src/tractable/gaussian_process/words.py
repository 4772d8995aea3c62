"""Frames with columns of words and categories, which kernels see as codes."""

from typing import Any

from tractable.data import TableColumns, is_frame
from tractable.data.table_columns import coded_frame, learn_columns, met_categories


class WordColumns:
    """What processes share that read words: the categories of each column, and frames as codes of them.

    Each category that was not in the fit has a code of its own, and equals no other.
    """

    _reads_text = True
    _columns_: TableColumns | None
    n_features_in_: int

    @property
    def categories_(self) -> dict[Any, tuple[Any, ...]]:
        """The categories of each column that has any."""
        columns = self._columns_
        if columns is None:
            return {}
        return {columns.label(j): table for j, table in enumerate(columns.categories) if table is not None}

    def _coded(self, X: Any, *, reset: bool, keep: bool = False) -> Any:
        """Return a frame as numbers, words and categories by their codes; other rows as they are.

        Categories that are new have codes of their own, which are known later where `keep`.
        """
        if is_frame(X):
            if reset:
                columns = learn_columns(X, None)
                self._columns_ = columns if any(columns.categories) else None
            if self._columns_ is not None:
                met = met_categories(X, self._columns_)
                if met != self._columns_:
                    coded_frame(X, self._columns_, "extra")  # which refuses values of another type
                X = coded_frame(X, met)
                if keep:
                    self._columns_ = met
        elif reset:
            self._columns_ = None
        return X

    def _numeric(self, width: int) -> list[int]:
        """Return the positions of the columns that are numbers."""
        columns = self._columns_
        return [j for j in range(width) if columns is None or columns.categories[j] is None]

    def _column_names(self) -> tuple[str, ...]:
        """Return the names of the columns, x0, x1, … where they have none."""
        names = getattr(self, "feature_names_in_", None)
        return tuple(f"x{j}" if names is None else str(names[j]) for j in range(self.n_features_in_))
