"""Rows in memory, and what a search for many coefficients asks of them: losses, gradients, products."""

from collections.abc import Callable
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np

from tractable.engines.glm.losses import UNSCALED, Logit, Probit, RowCurvature, Scaling
from tractable.primitives import SILENT
from tractable.primitives.glm import single_curvature_product, single_features, single_loss
from tractable.primitives.threads import even_blocks, ordered_map, single_threaded_blas
from tractable.value import value

#: Multiplications from which rough losses, and products with the curvature, are in single precision.
SINGLE_PRODUCTS = 2**18
#: Entries of a block of rows, of its linear predictors where there are several, and its rows where there is
#: one.
ROW_ENTRIES, PREDICTOR_ENTRIES, BLOCK_ROWS = 2**20, 2**16, 2**12
#: Multiplications of a product, and linear predictors, up to which BLAS copies nothing.
SMALL_PRODUCT, FEW_PREDICTORS = 10**6, 32
#: Multiplications of two tasks, and the most tasks that threads share: fewer are not worth their waking.
SHARED_PRODUCTS, TASKS = 2**22, 8


@value
class DesignRows:
    """Rows in memory, whose products with coefficients are taken by blocks.

    Parameters
    ----------
    x : array (n, p), or (n, d) where there is a scaling
        The design matrix; or the rows, which are standardized within the products, less accurate by as many
        digits as the means of columns have in standard deviations.
    codes, weights : arrays (n,), weights may be None
        Classes and how often each row counts.
    scaling : shift and scale (d,), optional
        Of the columns.
    width : int
        p, the columns of the design matrix: d, or 1 + d with a leading 1.
    n_predictors : int
        Linear predictors of a row.
    """

    x: np.ndarray
    codes: np.ndarray
    weights: np.ndarray | None
    scaling: Scaling
    width: int
    n_predictors: int

    def expand(self, link: Logit | Probit, coef: np.ndarray, *, rough: bool = False) -> "RowExpansion":
        """Return the loss of all rows, its gradient and its curvature.

        Parameters
        ----------
        link, coef
            The link, and coefficients (n_predictors, p).
        rough : bool
            Whether the precision of `design` is enough: the first steps of a search need no more.
        """
        if rough and isinstance(link, Logit) and self.of_one_predictor:
            return self._expand_single(coef)
        x, (shift, scale) = (self.design, UNSCALED) if rough else (self.x, self.scaling)
        inner, first, curvatures = coef.astype(x.dtype, copy=False), None, {}
        if shift is not None:
            inner = coef[:, self.width - x.shape[1] :] * scale
            first = -(inner @ shift) if self.width == x.shape[1] else coef[:, 0] - inner @ shift

        def of(rows: slice, eta: np.ndarray) -> tuple[np.ndarray, Any]:
            weights = None if self._relative is None else self._relative[rows]
            eta = eta if first is None else eta + first[:, None]
            loss, slopes, curvatures[rows.start] = link.expand_rows(eta, self.codes[rows], weights)
            others = np.zeros(1 + len(slopes))
            others[-1] = loss
            if first is not None:
                others[:-1] = slopes.sum(axis=1)
            return slopes, others

        gradient, sums = self.sums(of, x, inner)
        if shift is not None:
            gradient = (gradient - sums[:-1, None] * shift) * scale
            if self.width > x.shape[1]:
                gradient = np.column_stack([sums[:-1], gradient])
        return RowExpansion(
            rows=self,
            loss=self.unit * float(sums[-1]),
            gradient=self.unit * gradient.astype(np.float64, copy=False),
            curvatures=curvatures,
        )

    def _expand_single(self, coef: np.ndarray) -> "RowExpansion":
        """Return the loss of two classes and its gradient, of one linear predictor in single precision."""
        beta = coef[0].astype(np.float32)

        def of(rows: slice) -> np.ndarray:
            weights = None if self._relative is None else self._relative[rows]
            return single_loss(self.design[rows], self._bytes[rows], weights, beta)

        found = self.unit * self._summed(of)
        return RowExpansion(rows=self, loss=float(found[-1]), gradient=found[None, :-1], curvatures={})

    def curved(self, curvatures: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return Σ_n c_n z_n z_nᵀ v of one linear predictor, with the curvature c of each row, (1, p)."""
        single = v.astype(np.float32)
        return self._summed(
            lambda rows: single_curvature_product(self.design[rows], curvatures[rows], single)
        )[None, :]

    def _summed(self, of: Callable[[slice], np.ndarray]) -> np.ndarray:
        """Return the sum of a function of the rows of each task."""
        tasks = [slice(blocks[0].start, blocks[-1].stop) for blocks in self._tasks]
        return reduce(add, ordered_map(of, tasks))

    def sums(
        self, of: Callable[[slice, np.ndarray], tuple[np.ndarray, Any]], x: np.ndarray, coef: np.ndarray
    ) -> tuple[np.ndarray, Any]:
        """Return Σ r xᵀ of what a function returns for linear predictors of blocks, and its other sums.

        Parameters
        ----------
        of : callable
            ``of(rows, eta)`` returns r (c, n) for a slice of the rows with linear predictors eta (c, n), and
            more that adds.
        x, coef : arrays (n, p) and (c, p)
        """
        by_column = np.ascontiguousarray(coef.T)

        def task(blocks: list[slice]) -> tuple[np.ndarray, Any]:
            found, others = np.zeros(coef.shape, dtype=x.dtype), 0.0
            for rows in blocks:
                block = x[rows]
                r, other = of(rows, self._linear_predictors(block, by_column))
                r, others = r.astype(x.dtype, copy=False), others + other
                if len(r) == 1:
                    found += np.dot(r[0], block)
                else:
                    for part in self._parts(len(block)):
                        found += np.dot(r[:, part], block[part])
            return found, others

        if len(self._tasks) == 1:
            with single_threaded_blas():  # digits do not depend on the number of threads
                return task(self._tasks[0])
        parts = list(ordered_map(task, self._tasks))
        return sum(each for each, _ in parts), sum(each for _, each in parts)  # type: ignore[return-value]

    def _linear_predictors(self, block: np.ndarray, by_column: np.ndarray) -> np.ndarray:
        """Return the linear predictors of a block of rows, (c, n)."""
        if by_column.shape[1] == 1:
            return np.dot(block, by_column[:, 0])[None, :]
        found = np.empty((by_column.shape[1], len(block)), dtype=block.dtype)
        for part in self._parts(len(block)):
            found[:, part] = np.dot(block[part], by_column).T
        return found

    def _parts(self, n_rows: int) -> list[slice]:
        """Return the rows of each product with several linear predictors: so few that BLAS copies nothing."""
        step = SMALL_PRODUCT // (self.width * self.n_predictors) // 32 * 32
        step = step if step and self.n_predictors <= FEW_PREDICTORS else n_rows
        return [slice(start, start + step) for start in range(0, n_rows, step)]

    @cached_property
    def unit(self) -> float:
        """The mean weight of a row, which sums over rows are relative to."""
        return 1.0 if self.weights is None else float(np.mean(self.weights)) or 1.0

    @cached_property
    def _relative(self) -> np.ndarray | None:
        return None if self.weights is None else self.weights / self.unit

    @cached_property
    def _bytes(self) -> np.ndarray:
        """The classes of rows of two."""
        return self.codes.astype(np.uint8)

    @cached_property
    def _tasks(self) -> list[list[slice]]:
        """The rows of each block of each task; several tasks are shared by threads."""
        n, c = len(self.x), self.n_predictors
        most = min(BLOCK_ROWS if c == 1 else PREDICTOR_ENTRIES // c, ROW_ENTRIES // self.width)
        n_tasks = min(TASKS, max(1, 2 * (self._n_products // SHARED_PRODUCTS)))
        blocks = even_blocks(n, max(32, min(most, -(-n // n_tasks))))
        each = -(-len(blocks) // n_tasks)
        return [blocks[a : a + each] for a in range(0, len(blocks), each)]

    @property
    def _n_products(self) -> int:
        return len(self.x) * self.width * self.n_predictors

    @cached_property
    def design(self) -> np.ndarray:
        """The design matrix, in single precision where there is much to multiply.

        Where its entries are too large for that, there is a `FloatingPointError`.
        """
        shift, scale = self.scaling
        if shift is None and self._n_products < SINGLE_PRODUCTS:
            return self.x
        found = np.empty((len(self.x), self.width), dtype=np.float32)
        ones = np.ones(self.width, dtype=np.float32)

        @SILENT
        def fill(blocks: list[slice]) -> bool:
            finite = True
            for rows in blocks:
                single_features(self.x[rows], shift, scale, found[rows])
                finite = finite and bool(np.isfinite(np.dot(found[rows], ones)).all())
            return finite

        with single_threaded_blas():
            finite = all(list(ordered_map(fill, self._tasks)))
        if not finite:
            raise FloatingPointError("entries are too large for single precision")
        return found

    @property
    def of_one_predictor(self) -> bool:
        """Whether rows have one linear predictor, and their design matrix is in single precision."""
        return self.n_predictors == 1 and self.design.dtype == np.float32


@value
class RowExpansion:
    """The loss of rows at some coefficients, its gradient, and products with its curvature.

    Parameters
    ----------
    rows : DesignRows
    loss : float
    gradient : array (c, p)
    curvatures : dict of RowCurvature
        Those of each block, by its first row.
    """

    rows: DesignRows
    loss: float
    gradient: np.ndarray
    curvatures: dict[int, RowCurvature]

    def product(self, v: np.ndarray) -> np.ndarray:
        """Return H v, in the precision of `DesignRows.design`: it only guides a search."""
        z = self.rows.design
        if self.rows.of_one_predictor:
            return self.rows.unit * self.rows.curved(self._single_curvatures, v[0])
        return self.rows.unit * self.rows.sums(self._curved, z, v.astype(z.dtype))[0]

    def _curved(self, rows: slice, u: np.ndarray) -> tuple[np.ndarray, Any]:
        return self._in_precision[rows.start].times(u), 0.0

    @cached_property
    def _single_curvatures(self) -> np.ndarray:
        """Those of the rows of one linear predictor, (n,)."""
        each: list[Any] = [self.curvatures[first].weights for first in sorted(self.curvatures)]
        return np.concatenate(each, dtype=np.float32)

    @cached_property
    def _in_precision(self) -> dict[int, RowCurvature]:
        dtype = self.rows.design.dtype
        return {first: each.astype(dtype) for first, each in self.curvatures.items()}

    def total(self) -> np.ndarray:
        """Return the sums over rows of the second derivatives by each linear predictor, (c,)."""
        # In the order of the rows, not of the threads that were there first.
        each = [self.curvatures[first].total() for first in sorted(self.curvatures)]
        return self.rows.unit * np.sum(each, axis=0)
