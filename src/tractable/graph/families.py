"""The tables of a network as one vector of cells, and what rows with missing entries say about them.

A family is a column with its parents. Rows in which a whole family was observed are counted in its table.
Where entries are missing, a sum over them is needed, by variable elimination for all rows at once that lack
the same columns.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from scipy.special import xlogy

from tractable.arrays.grouping import by_pattern, first_of_each, group_rows
from tractable.distributions.table.factor import MOST_CELLS, Factor, known_factor
from tractable.graph.elimination import elimination_order
from tractable.value import value

#: Cells of the tables of many rows that are computed at once.
BLOCK_CELLS = 2**21

#: The axis of factors along which rows are, which is no column.
ROWS = ""


@value
class Families:
    """The tables p(x_j | parents) of all columns, table after table in one vector.

    Parameters
    ----------
    parents : tuple of tuples of int
        The columns on which each column depends.
    sizes : tuple of int
        How many levels each column has.
    """

    parents: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]

    @cached_property
    def members(self) -> tuple[tuple[int, ...], ...]:
        """The axes of each table: the parents, and the column itself last."""
        return tuple((*above, j) for j, above in enumerate(self.parents))

    @cached_property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """The shape of each table."""
        return tuple(tuple(self.sizes[i] for i in family) for family in self.members)

    @cached_property
    def starts(self) -> np.ndarray:
        """Where each table begins in the vector; the last entry is where it ends."""
        return np.concatenate([[0], np.cumsum([prod(shape) for shape in self.shapes])])

    @cached_property
    def strides(self) -> np.ndarray:
        """How far apart the levels of column i are in table j, zero where it has no such axis, (d, d)."""
        found = np.zeros((len(self.sizes), len(self.sizes)), dtype=np.int64)
        for j, (family, shape) in enumerate(zip(self.members, self.shapes, strict=True)):
            found[family, j] = [prod(shape[k + 1 :]) for k in range(len(shape))]
        return found

    @property
    def n_cells(self) -> int:
        """Cells of all tables."""
        return int(self.starts[-1])

    @property
    def n_parameters(self) -> int:
        """Free parameters: cells less one for each distribution of a column."""
        return sum(prod(shape) - prod(shape[:-1]) for shape in self.shapes)

    def check(self, names: Sequence[str]) -> None:
        """Refuse tables of too many cells; messages name the columns."""
        cells, j = max((prod(shape), j) for j, shape in enumerate(self.shapes))
        if cells > MOST_CELLS:
            raise ValueError(
                f"graph gives {names[j]!r} {len(self.parents[j])} parents, a table of {cells} cells: use "
                "fewer edges, or group levels"
            )

    def table(self, cells: np.ndarray, j: int) -> np.ndarray:
        """Return the table of a column, from the vector of all."""
        return cells[self.starts[j] : self.starts[j + 1]].reshape(self.shapes[j])

    def normalized(self, counts: np.ndarray) -> np.ndarray:
        """Return counts over their sum for each combination of levels of the parents, uniform where 0."""
        found = np.empty(self.n_cells)
        for j, size in enumerate(self.sizes):
            table = self.table(counts, j).reshape(-1, size)
            total = table.sum(axis=1, keepdims=True)
            p = np.where(total > 0.0, table / np.where(total > 0.0, total, 1.0), 1.0 / size)
            self.table(found, j).reshape(-1, size)[:] = p
        return found

    def bases(self, codes: np.ndarray) -> np.ndarray:
        """Return the cell of every table that rows of codes have, at level 0 of what is missing, (n, d)."""
        return np.where(codes < 0, 0, codes) @ self.strides + self.starts[:-1]

    def axes(self, columns: Iterable[int]) -> list[Any]:
        """Return axes of factors for some columns; their levels are ranges, which compare at once."""
        return [(str(i), range(self.sizes[i])) for i in columns]

    def offsets(self, j: int, missing: Sequence[int]) -> np.ndarray:
        """Return how far the cells of table j are apart over all levels of missing columns, (cells,)."""
        found = np.zeros(1, dtype=np.int64)
        for i in missing:
            found = (found[:, None] + np.arange(self.sizes[i]) * self.strides[i, j]).ravel()
        return found


@value
class HiddenRows:
    """Rows that lack the same columns, which depend on one another given what was observed.

    Parameters
    ----------
    missing : tuple of int
        The columns.
    tables : tuple of int
        The tables that have one of them.
    bases : array (u, len(tables))
        The distinct cells of these tables at level 0 of the missing columns; see `Families.bases`.
    weights : array (u,)
        How often each occurs.
    rows, which : arrays
        The rows, and for each its position in `bases`.
    """

    missing: tuple[int, ...]
    tables: tuple[int, ...]
    bases: np.ndarray
    weights: np.ndarray
    rows: np.ndarray
    which: np.ndarray


@value
class CodedRows:
    """A block of rows: counts of the families that were observed, and the rows that lack columns."""

    counts: np.ndarray  # (n_cells,)
    hidden: tuple[HiddenRows, ...]


def coded_rows(
    families: Families, codes: np.ndarray, weights: np.ndarray, *, prune: bool = True
) -> CodedRows:
    """Return what rows of codes, -1 where an entry is missing, contribute to the tables.

    Parameters
    ----------
    families : Families
        The tables.
    codes : array (n, d) of int
        Rows.
    weights : array (n,)
        How often each counts.
    prune : bool
        Whether a missing column without observed descendants is left out: its tables sum to one.
    """
    counts, bases = np.zeros(families.n_cells), families.bases(codes)
    seen = codes >= 0
    for j, family in enumerate(families.members):
        whole = seen[:, family].all(axis=1)
        a, b = families.starts[j], families.starts[j + 1]
        counts[a:b] = np.bincount(bases[whole, j] - a, weights[whole], minlength=b - a)
    lacking: dict[tuple[tuple[int, ...], tuple[int, ...]], list[np.ndarray]] = {}
    for pattern, rows in by_pattern(~seen):
        for group in connected(families, np.flatnonzero(pattern), prune=prune):
            lacking.setdefault(group, []).append(rows)
    hidden = []
    for (missing, tables), parts in lacking.items():
        rows = np.concatenate(parts)
        cells = bases[np.ix_(rows, np.array(tables))]
        which = group_rows(cells)
        hidden.append(
            HiddenRows(
                missing=missing,
                tables=tables,
                bases=cells[first_of_each(which)],
                weights=np.bincount(which, weights[rows]),
                rows=rows,
                which=which,
            )
        )
    return CodedRows(counts=counts, hidden=tuple(hidden))


def connected(
    families: Families, missing: np.ndarray, *, prune: bool
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield the missing columns in groups that depend on one another given the others, with their tables.

    Two do where a table has both. With `prune`, columns without observed descendants are left out.
    """
    left = set(missing.tolist())
    tables = set(range(len(families.sizes)))
    if prune:
        barren = _barren(families, left)
        left, tables = left - barren, tables - barren
    of = {j: left.intersection(families.members[j]) for j in tables}
    beside: dict[int, set[int]] = {i: set() for i in left}
    for both in of.values():
        for i in both:
            beside[i] |= both
    while left:
        found: set[int] = set()
        waiting = [min(left)]
        while waiting:
            i = waiting.pop()
            if i not in found:
                found.add(i)
                waiting += beside[i] - found
        left -= found
        yield tuple(sorted(found)), tuple(sorted(j for j in tables if of[j] & found))


def _barren(families: Families, missing: set[int]) -> set[int]:
    """Return the missing columns of which no descendant was observed."""
    children: dict[int, set[int]] = {i: set() for i in missing}
    for j, above in enumerate(families.parents):
        for i in missing.intersection(above):
            children[i].add(j)
    found = [i for i in missing if not children[i]]
    for i in found:  # grows while it is read
        for parent in missing.intersection(families.parents[i]):
            children[parent].discard(i)
            if not children[parent]:
                found.append(parent)
    return set(found)


@value
class Cliques:
    """What elimination of the missing columns of some rows leaves: their probabilities given the others.

    Parameters
    ----------
    steps : tuple of (column, Factor, int)
        In the order of elimination each column, p(column | those that go after it and are next to it), and
        the position of the step that has these; -1 where there are none.
    homes : tuple of int
        The step in which each table was multiplied.
    log_mass : array (u,)
        The logarithm of the sum of the product of the tables over the missing columns.
    """

    steps: tuple[tuple[str, Factor, int], ...]
    homes: tuple[int, ...]
    log_mass: np.ndarray

    @cached_property
    def marginals(self) -> list[Factor]:
        """The joint probabilities of the columns of each step, given what was observed."""
        found: list[Any] = [None] * len(self.steps)
        for i in reversed(range(len(self.steps))):
            name, conditional, above = self.steps[i]
            found[i] = conditional
            if above >= 0:
                shared = {*conditional.names} - {name}
                found[i] = conditional * found[above].sum([n for n in found[above].names if n not in shared])
        return found


def cliques(families: Families, cells: np.ndarray, hidden: HiddenRows, rows: slice) -> Cliques:
    """Eliminate the missing columns of rows, one after the other; numbers are scaled row by row.

    Parameters
    ----------
    families : Families
        The tables.
    cells : array (n_cells,)
        Their probabilities.
    hidden : HiddenRows
        Rows that lack the same columns.
    rows : slice
        Which of its distinct rows.
    """
    bases = hidden.bases[rows]
    n = len(bases)
    along_rows: Any = (ROWS, range(n))
    factors: list[Factor] = []
    for k, j in enumerate(hidden.tables):
        inside = [i for i in families.members[j] if i in hidden.missing]
        values = cells[bases[:, k, None] + families.offsets(j, inside)]
        axes = (along_rows, *families.axes(inside))
        factors.append(known_factor(values.reshape([len(levels) for _, levels in axes]), axes))
    order = elimination_order([f.axes[1:] for f in factors], map(str, hidden.missing)).order
    turn = {name: i for i, name in enumerate(order)}
    waiting: list[list[Factor]] = [[] for _ in order]
    homes = [min(turn[name] for name in factor.names[1:]) for factor in factors]
    for home, factor in zip(homes, factors, strict=True):
        waiting[home].append(factor)
    steps, log_mass = [], np.zeros(n)
    for i, name in enumerate(order):
        product = known_factor(np.ones(n), (along_rows,))
        for factor in waiting[i]:
            product, log_size = _scaled(product * factor)
            log_mass += log_size
        message = product.sum(name)
        above = min((turn[other] for other in message.names[1:]), default=-1)
        steps.append((name, product / message, above))
        if above >= 0:
            waiting[above].append(message)
        else:
            with np.errstate(divide="ignore"):
                log_mass += np.log(message.values)
    return Cliques(steps=tuple(steps), homes=tuple(homes), log_mass=log_mass)


def in_blocks(families: Families, hidden: HiddenRows) -> Iterator[slice]:
    """Yield blocks of the distinct rows, whose tables on the way are not too large."""
    inside = ([i for i in families.members[j] if i in hidden.missing] for j in hidden.tables)
    plan = elimination_order(map(families.axes, inside), map(str, hidden.missing))
    if plan.cells > MOST_CELLS:
        raise ValueError(
            f"X has rows that lack {len(hidden.missing)} columns which depend on each other: exact sums over "
            f"them need a table of {plan.cells} cells; use a graph with fewer edges"
        )
    step = max(1, BLOCK_CELLS // plan.cells)
    for start in range(0, len(hidden.bases), step):
        yield slice(start, start + step)


def expected_counts(families: Families, cells: np.ndarray, block: CodedRows) -> tuple[np.ndarray, float]:
    """Return the expected counts of all cells given what was observed, and the log likelihood of the rows.

    Parameters
    ----------
    families : Families
        The tables.
    cells : array (n_cells,)
        Their probabilities.
    block : CodedRows
        Rows.
    """
    counts = block.counts.copy()
    total = float(np.sum(xlogy(counts, cells)))
    for hidden in block.hidden:
        for rows in in_blocks(families, hidden):
            found, weights = cliques(families, cells, hidden, rows), hidden.weights[rows]
            total += float(weights @ found.log_mass)
            for k, (j, home) in enumerate(zip(hidden.tables, found.homes, strict=True)):
                inside = [i for i in families.members[j] if i in hidden.missing]
                names = [ROWS, *map(str, inside)]
                clique = found.marginals[home]
                share = clique.sum([n for n in clique.names if n not in names]).transpose(names).values
                where = hidden.bases[rows, k, None] + families.offsets(j, inside) - families.starts[j]
                mass = share.reshape(len(weights), -1) * weights[:, None]
                table = families.table(counts, j).reshape(-1)
                table += np.bincount(where.ravel(), mass.ravel(), minlength=table.size)
    return counts, total


def log_probabilities(families: Families, cells: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the log probability of what was observed in each row of codes, -1 where missing, (n,).

    Parameters
    ----------
    families : Families
        The tables.
    cells : array (n_cells,)
        Their probabilities.
    codes : array (n, d) of int
        Rows.
    """
    with np.errstate(divide="ignore"):
        logs = np.log(cells)
    bases, seen = families.bases(codes), codes >= 0
    found = np.zeros(len(codes))
    for j, family in enumerate(families.members):
        whole = seen[:, family].all(axis=1)
        found[whole] += logs[bases[whole, j]]
    for hidden in coded_rows(families, codes, np.ones(len(codes))).hidden:
        parts = [cliques(families, cells, hidden, rows).log_mass for rows in in_blocks(families, hidden)]
        found[hidden.rows] += np.concatenate(parts)[hidden.which]
    return found


def missing_probabilities(families: Families, cells: np.ndarray, codes: np.ndarray, j: int) -> np.ndarray:
    """Return p(column j | what was observed in each row), (n, levels), of rows that all lack the column.

    Parameters
    ----------
    families, cells, codes
        As in `log_probabilities`.
    j : int
        The column.
    """
    found = np.empty((len(codes), families.sizes[j]))
    for hidden in coded_rows(families, codes, np.ones(len(codes)), prune=False).hidden:
        if j in hidden.missing:
            parts = [
                _marginal(cliques(families, cells, hidden, rows), j) for rows in in_blocks(families, hidden)
            ]
            found[hidden.rows] = np.concatenate(parts)[hidden.which]
    return found


def completed(families: Families, cells: np.ndarray, codes: np.ndarray, rng: Any = None) -> np.ndarray:
    """Return rows with missing codes replaced: by the most probable level of each, or (with `rng`) drawn.

    Parameters
    ----------
    families, cells, codes
        As in `log_probabilities`.
    rng : Generator, optional
        From which the missing entries of a row are drawn, jointly, given the others.
    """
    found = codes.copy()
    for hidden in coded_rows(families, codes, np.ones(len(codes)), prune=False).hidden:
        for block in in_blocks(families, hidden):
            tree = cliques(families, cells, hidden, block)
            here = (hidden.which >= block.start) & (hidden.which < block.stop)
            rows, which = hidden.rows[here], hidden.which[here] - block.start
            if rng is None:
                for j in hidden.missing:
                    found[rows, j] = np.argmax(_marginal(tree, j), axis=1)[which]
                continue
            for name, conditional, _ in reversed(tree.steps):  # those that go later are drawn before
                others = [n for n in conditional.names[1:] if n != name]
                p = conditional.transpose([ROWS, *others, name]).values
                p = p[(which, *(found[rows, int(n)] for n in others))]
                edges = np.cumsum(p, axis=1)
                u = rng.random((len(rows), 1)) * edges[:, -1:]
                found[rows, int(name)] = np.sum(u >= edges[:, :-1], axis=1)
    return found


def _marginal(found: Cliques, j: int) -> np.ndarray:
    """Return p(column | observed) of each distinct row, (u, levels)."""
    home = next(i for i, (name, _, _) in enumerate(found.steps) if name == str(j))
    clique = found.marginals[home]
    return clique.sum([n for n in clique.names if n not in (ROWS, str(j))]).transpose([ROWS, str(j)]).values


def _scaled(factor: Factor) -> tuple[Factor, np.ndarray]:
    """Return a factor over its largest value in each row, and the logarithms of those; rows of 0 as are."""
    largest = factor.values.max(axis=tuple(range(1, factor.values.ndim)))
    largest = np.where(largest > 0.0, largest, 1.0)
    shape = (-1, *(1,) * (factor.values.ndim - 1))
    return known_factor(factor.values / largest.reshape(shape), factor.axes), np.log(largest)
