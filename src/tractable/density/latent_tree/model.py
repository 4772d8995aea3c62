"""Latent trees over the columns of a table: rows as cells, and parameters."""

from functools import cached_property
from typing import Any

import numpy as np

from tractable.base.table_rows import TableSummary
from tractable.columns import CategoricalColumns, ColumnLikelihoods, indicators
from tractable.data import Batch, TableColumns
from tractable.data.table_columns import MOST_CATEGORIES, columns_of, many_categories
from tractable.density.latent_tree.cells import CategoryCells, NumberCells
from tractable.distributions import LatentTree
from tractable.value import value


@value
class TreeParameters:
    """The parameters of a latent tree over cells, and the priors that they are the modes under."""

    links: np.ndarray  # (m, H, H), p(z_j | z_parent), of the root in every row
    leaves: tuple[np.ndarray, ...]  # (H, C_j), p(cell | z_j) of each column
    pseudocounts: tuple[np.ndarray, ...]  # (H, C_j)


@value
class CodedCells:
    """A block of rows as cells."""

    codes: np.ndarray  # (n, d) of int, -1 where an entry is missing
    indicators: tuple[Any, ...]  # of the cells of each column, sparse (n, C_j)
    weights: np.ndarray | None
    log_base: float  # Σ w log p(entry | cell), which does not depend on the parameters

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes)


@value
class CellEncoding:
    """The cells of the columns of a table: called with a block of rows, it returns `CodedCells`.

    Parameters
    ----------
    columns : TableColumns
        Names, kinds and categories of the columns.
    cells : tuple of CategoryCells or NumberCells
        The cells of each column.
    """

    columns: TableColumns
    cells: tuple[Any, ...]

    @classmethod
    def from_rows(
        cls,
        columns: TableColumns,
        summary: TableSummary,
        x: np.ndarray,
        weights: np.ndarray | None,
        most_cells: int,
    ) -> "CellEncoding":
        """Return the cells of columns.

        Parameters
        ----------
        columns : TableColumns
            Names, kinds and categories of the columns.
        summary : TableSummary
            Of all rows.
        x, weights : arrays (n, d) and (n,)
            Some of the rows.
        most_cells : int
            Most cells of a column of numbers.
        """
        found = summary.columns
        found.check_observed(columns.names)
        discrete = columns.where("categorical", "poisson", "bernoulli")
        columns.check_ranges(discrete, found.low[discrete], found.high[discrete], summary.whole[discrete])
        cells: list[Any] = []
        for j, kind in enumerate(columns.kinds):
            table, high = columns.categories[j], float(found.high[j])
            if kind in {"categorical", "bernoulli"}:
                size = 2 if kind == "bernoulli" else int(high) + 1 if table is None else len(table)
                if size > MOST_CATEGORIES:
                    raise many_categories(columns.label(j), size)
                cells.append(CategoryCells(size=size))
                continue
            seen = ~np.isnan(x[:, j])
            entries = x[seen, j] if seen.any() else found.moments.mean[j : j + 1]
            w = None if weights is None or not seen.any() else weights[seen]
            cells.append(NumberCells.of(entries, w, most_cells, float(found.low[j]), high))
        return cls(columns=columns, cells=tuple(cells))

    @cached_property
    def sizes(self) -> np.ndarray:
        """Number of cells of each column."""
        return np.array([own.n_cells for own in self.cells], dtype=np.int64)

    @cached_property
    def family(self) -> CategoricalColumns:
        """The cells of all columns as columns of categories."""
        d = len(self.cells)
        columns = columns_of(None, d, None, "categorical")
        layout = ColumnLikelihoods(columns=columns, likelihoods=("categorical",) * d)
        return CategoricalColumns(layout, np.arange(d))

    @cached_property
    def families(self) -> tuple[CategoricalColumns, ...]:
        """The cells of each column by itself."""
        return tuple(CategoricalColumns(self.family.layout, np.array([j])) for j in range(len(self.cells)))

    def __call__(self, block: Batch) -> CodedCells:
        """Encode a block of rows; those without an observed entry are left out."""
        x = np.asarray(block.X, dtype=np.float64)
        w = None if block.weights is None else np.asarray(block.weights, dtype=np.float64)
        some = ~np.isnan(x).all(axis=1)
        if not some.all():
            x, w = x[some], None if w is None else w[some]
        each = [own.codes(column) for own, column in zip(self.cells, x.T, strict=True)]
        base = np.sum([log_p for _, log_p in each], axis=0)
        codes = np.stack([own for own, _ in each], axis=1)
        held = np.where(codes >= 0, codes, np.nan)
        return CodedCells(
            codes=codes,
            indicators=tuple(indicators(held[:, [j]], self.sizes[[j]]) for j in range(len(self.cells))),
            weights=w,
            log_base=float(base.sum() if w is None else base @ w),
        )

    def check_rows(self, x: np.ndarray, unseen: str = "error", argument: str = "X") -> np.ndarray:
        """Return rows that the model describes, or refuse them.

        Parameters
        ----------
        x : array (n, d)
            Rows.
        unseen : {"error", "missing"}
            What unknown categories become, as in `TableColumns.known_codes`.
        argument : str
            The name of x in error messages.
        """
        for j in self.columns.where("normal")[np.isinf(x[:, self.columns.where("normal")]).any(axis=0)]:
            raise ValueError(f"{argument} must be finite in the column {self.columns.label(int(j))!r}")
        counted = self.columns.where("poisson", "bernoulli")
        if len(counted):
            self.columns.check_entries(counted, x[:, counted], argument=argument)
        where = self.columns.where("categorical")
        if not len(where):
            return x
        known = self.columns.known_codes(where, x[:, where], self.sizes[where], unseen, argument=argument)
        found = np.array(x)
        found[:, where] = known
        return found

    def distribution(self, parents: tuple[int, ...], params: TreeParameters, names: Any) -> LatentTree:
        """Return the latent tree over the columns, in the units of the table.

        Parameters
        ----------
        parents : tuple of int
            The parent of each column; -1 of the root.
        params : TreeParameters
            Of the tree.
        names : sequence or None
            What the columns are called; left out if they are not all text.
        """
        named = names is not None and all(isinstance(name, str) for name in names)
        return LatentTree(
            parents=parents,
            transitions=params.links,
            leaves=[own.leaf(p) for own, p in zip(self.cells, params.leaves, strict=True)],
            names=names if named else None,
        )


@value
class CellRowCheck:
    """Rows like those of a fit, checked: called with rows, it returns them or refuses their entries."""

    encoding: CellEncoding
    unseen: str

    def __call__(self, x: Any) -> np.ndarray:
        """Return rows that the model describes."""
        return self.encoding.check_rows(np.asarray(x, dtype=np.float64), self.unseen)
