"""Joint and conditional distributions of named discrete variables, as tables of probabilities."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.batched import as_reals, batch_index, positions
from tractable.arrays.grouping import weighted_counts
from tractable.arrays.namespace import Array, freeze, is_foreign_array, namespace_of, to_numpy
from tractable.covariance import other_dims
from tractable.distributions.checks import (
    check_finite,
    check_nonnegative,
    check_probabilities,
    row_weights,
)
from tractable.distributions.discrete.categorical import Categorical
from tractable.distributions.empirical import Empirical
from tractable.distributions.probabilities import (
    as_probabilities,
    divergence_term,
    entropy_term,
    log_or_minus_inf,
)
from tractable.distributions.table.event import Event
from tractable.distributions.table.factor import (
    MOST_CELLS,
    Axis,
    Factor,
    as_axes,
    as_masses,
    check_sizes,
    code_of,
    codes_of,
    is_exact,
    level_values,
    total_over,
)
from tractable.distributions.table.rows import (
    columns_of,
    decoded,
    encoded,
    float_dtype,
    is_labelled,
    levels_of,
    printed,
    row_codes,
)
from tractable.distributions.vectors import VectorDistribution, over_observed
from tractable.value import set_fields, value


@value
class ProbabilityTable(VectorDistribution):
    """A joint distribution of named discrete variables, as a table of probabilities.

    p(x_1, …, x_k) is given for every combination of levels. Tables are closed under the rules of probability:
    `marginal` is the sum rule, `condition` and `conditional` divide by what is given, ``*`` is the product
    rule, `chain_rule` factorises in any order, and `bayes_rule` turns a conditional table around. A
    conditional table p(y | x) is a batch of distributions of y whose batch axes have names, in `given`.

    Tables of `fractions.Fraction` are exact: they stay fractions under all of these, and in probabilities of
    events and expectations. Levels that are numbers count as themselves in events, moments and draws, others
    by their position 0, 1, …, which `encode` and `decode` translate. A missing entry (NaN) is summed out.

    Parameters
    ----------
    probabilities : array (*batch, n_1, …, n_k), or (*given, n_1, …, n_k)
        Not negative, one in sum over the axes.
    axes : mapping of str to int or sequence
        The variables in the order of the axes, each with its levels, or with their number for 0, 1, ….
    given : mapping, optional
        The same of the variables of the first axes, on which the table is conditional.

    Examples
    --------
    >>> from fractions import Fraction
    >>> person = {"person": ["tourist", "local"]}
    >>> prior = ProbabilityTable(probabilities=[Fraction(1, 5), Fraction(4, 5)], axes=person)
    >>> speaks = ProbabilityTable(
    ...     probabilities=[[Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 10), Fraction(9, 10)]],
    ...     axes={"language": ["English", "other"]},
    ...     given=person,
    ... )
    >>> joint = prior * speaks
    >>> joint.probability({"language": "English"})
    Fraction(9, 50)
    >>> joint.condition({"language": "English"}).probability({"person": "tourist"})
    Fraction(5, 9)
    >>> print(joint)
    person   English  other
    tourist     1/10   1/10
    local       2/25  18/25
    columns: language
    """

    discrete: ClassVar[bool] = True
    known: ClassVar[tuple[str, ...]] = ("axes",)

    probabilities: Array
    axes: tuple[Axis, ...]
    given: tuple[Axis, ...]

    def __init__(self, *, probabilities: Any, axes: Any, given: Any = ()) -> None:
        p = as_masses("probabilities", probabilities)
        axes, given = as_axes("axes", axes), as_axes("given", given)
        if not axes:
            raise ValueError("axes must name at least one variable")
        if {name for name, _ in axes} & {name for name, _ in given}:
            raise ValueError("given must not name an axis of `axes`")
        check_sizes("probabilities", p if given else _first(p, len(axes)), (*given, *axes))
        set_fields(self, probabilities=freeze(_normalized(p, len(axes))), axes=axes, given=given)

    @classmethod
    def from_factor(cls, factor: Factor, given: str | Iterable[str] = ()) -> Self:
        """Return the table proportional to a factor, for every level of the variables that are `given`.

        Examples
        --------
        >>> counts = Factor(values=[[3, 1], [2, 2]], axes={"sex": ["f", "m"], "smokes": ["no", "yes"]})
        >>> float(ProbabilityTable.from_factor(counts).prob([0, 1]))
        0.125
        >>> ProbabilityTable.from_factor(counts, given="sex").probabilities
        array([[0.75, 0.25],
               [0.5 , 0.5 ]])
        """
        if not isinstance(factor, Factor):
            raise ValueError(f"factor must be a Factor, got {type(factor).__name__}")
        given = (given,) if isinstance(given, str) else tuple(given)
        rest = [name for name in factor.names if name not in given]
        factor = factor.transpose([*given, *rest])
        k = len(given)
        xp = namespace_of(factor.values)
        if not is_exact(factor.values):
            largest = float(xp.max(factor.values))
            if largest > float(xp.finfo(factor.values.dtype).max) / prod(factor.values.shape):
                factor = factor / factor.max(rest)  # sums of the values themselves might overflow
        total = total_over(factor.values, range(k, factor.values.ndim))
        _check_positive(total, factor.axes[:k])
        total = np.asarray(total) if is_exact(factor.values) else total
        values = factor.values / xp.reshape(total, factor.values.shape[:k] + (1,) * len(rest))
        return cls(probabilities=values, axes=factor.axes[k:], given=factor.axes[:k])

    @classmethod
    def fit(
        cls,
        X: Any,
        sample_weight: Any = None,
        *,
        axes: Any = None,
        pseudocounts: float = 0.0,
        exact: bool = False,
    ) -> Self:
        """Return relative frequencies n_ij / N of rows, or smoothed ones, (n_ij + c) / (N + c · cells).

        Parameters
        ----------
        X : frame, mapping of names to columns, or array (n, d)
            Rows of levels; the columns of an array without `axes` are called x0, x1, ….
        sample_weight : array (n,), optional
            How often each row counts.
        axes : mapping of str to int or sequence, optional
            The variables and their levels; when not given those of X, in order of size or alphabet.
        pseudocounts : float
            c, added to every cell.
        exact : bool
            Whether the frequencies are fractions.

        Examples
        --------
        >>> rows = {"hair": ["red", "fair", "red", "dark"], "eyes": ["green", "blue", "green", "blue"]}
        >>> table = ProbabilityTable.fit(rows, exact=True)
        >>> table.marginal("eyes").probabilities
        array([Fraction(1, 2), Fraction(1, 2)], dtype=object)
        >>> table.condition({"eyes": "blue"}).probability({"hair": "red"})
        Fraction(0, 1)
        """
        columns = columns_of(X, axes)
        axes = as_axes("axes", {name: levels_of(x) for name, x in columns.items()} if axes is None else axes)
        n_cells = prod(len(levels) for _, levels in axes)
        if n_cells > MOST_CELLS:
            raise ValueError(f"X must have fewer levels: the table would have {n_cells} cells")
        codes = [row_codes(axis, columns[axis[0]]) for axis in axes]
        flat = _flat(codes, axes)
        like = X if is_foreign_array(X) else np.empty(flat.shape[0], dtype=float_dtype(X))
        weights = row_weights(sample_weight, like)
        if np.ndim(pseudocounts):
            raise ValueError(
                f"pseudocounts must be one number, added to every cell, got {pseudocounts!r:.60}"
            )
        check_nonnegative("pseudocounts", as_reals("pseudocounts", pseudocounts))
        counts = weighted_counts(flat, weights, n_cells) + pseudocounts
        if exact:
            counts = np.array([Fraction(c) for c in to_numpy(counts).tolist()], dtype=object)
        if not float(total_over(counts, (0,))) > 0:
            raise ValueError("X must have rows of positive weight")
        shape = tuple(len(levels) for _, levels in axes)
        return cls.from_factor(Factor(values=namespace_of(counts).reshape(counts, shape), axes=axes))

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of the batch; of a conditional table, the numbers of levels of what is given."""
        return tuple(self.probabilities.shape[: self.probabilities.ndim - len(self.axes)])

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """The variables, in the order of the axes; those that are given are not among them."""
        return tuple(name for name, _ in self.axes)

    @property
    def dim(self) -> int:
        """Number of variables."""
        return len(self.axes)

    @property
    def is_exact(self) -> bool:
        """Whether the probabilities are fractions."""
        return is_exact(self.probabilities)

    @property
    def factor(self) -> Factor:
        """The probabilities as a factor of all variables, the given ones first."""
        self._check_named("a factor")
        return Factor(values=self.probabilities, axes=(*self.given, *self.axes))

    def levels(self, name: str) -> tuple[Any, ...]:
        """Return the levels of a variable."""
        found = dict((*self.given, *self.axes))
        if name not in found:
            raise ValueError(f"there is no axis {name!r}: the axes are {', '.join(found)}")
        return found[name]

    # Rules of probability.

    def marginal(self, dims: Any) -> "ProbabilityTable":
        """Return p(x_dims) = Σ p(x) over the others: names, positions or a slice, in the order given."""
        keep = self._resolved(dims)
        if not keep:
            raise ValueError("dims must name at least one axis")
        n = len(self.batch_shape)
        summed = total_over(self.probabilities, [n + i for i in other_dims(keep, self.dim)])
        left = sorted(keep)
        order = (*range(n), *(n + left.index(i) for i in keep))
        p = namespace_of(summed).permute_dims(summed, order)
        return ProbabilityTable(probabilities=p, axes=[self.axes[i] for i in keep], given=self.given)

    def condition(self, dims: Any, values: Any = None) -> "ProbabilityTable":
        """Return p(x_rest | x_dims = values), which needs the values to have positive probability.

        Parameters
        ----------
        dims : mapping of names to levels, names, positions, a slice, or an Event
            What was observed; a mapping holds the levels as well, and `values` is left out. Variables on
            which the table is conditional are among them by name. An `Event` keeps all variables.
        values : array (*batch, len(dims))
            What was observed; leading axes become batch axes.
        """
        if isinstance(dims, Event):
            return self._within(dims)
        observed = dict(dims) if isinstance(dims, Mapping) else dict(self._paired(dims, values))
        if isinstance(dims, Mapping) and values is not None:
            raise ValueError("values must not be given twice: dims is a mapping that has them")
        table = self._at({k: v for k, v in observed.items() if k in dict(self.given)})
        observed = {k: v for k, v in observed.items() if k not in dict(self.given)}
        places = table._resolved(list(observed))  # noqa: SLF001
        if len(places) == table.dim:
            raise ValueError("dims must leave at least one axis free")
        codes = [table._codes(i, x) for i, x in zip(places, observed.values(), strict=True)]  # noqa: SLF001
        return table._given_codes(places, codes) if places else table  # noqa: SLF001

    def conditional(self, names: Any) -> "ProbabilityTable":
        """Return the table p(x_rest | x_names) for all levels of some variables, which become `given`.

        Examples
        --------
        >>> joint = ProbabilityTable(probabilities=[[0.1, 0.3], [0.4, 0.2]], axes={"a": 2, "b": 2})
        >>> joint.conditional("a").probabilities.round(3)
        array([[0.25 , 0.75 ],
               [0.667, 0.333]])
        """
        self._check_named("a conditional table")
        keep = [self.names[i] for i in self._resolved(names)]
        if len(keep) == self.dim:
            raise ValueError("names must leave at least one axis free")
        return ProbabilityTable.from_factor(self.factor, [name for name, _ in self.given] + keep)

    def chain_rule(self, order: Any = None) -> tuple["ProbabilityTable", ...]:
        """Return p(x_1), p(x_2 | x_1), p(x_3 | x_1, x_2), …, of which the product is the table.

        Parameters
        ----------
        order : names or positions, optional
            All variables, in the order of the factors; that of the axes when not given.

        Examples
        --------
        >>> joint = ProbabilityTable(probabilities=[[0.1, 0.3], [0.4, 0.2]], axes={"a": 2, "b": 2})
        >>> b, a_given_b = joint.chain_rule(["b", "a"])
        >>> b.names, a_given_b.names, (b * a_given_b).marginal(["a", "b"]).probabilities
        (('b',), ('a',), array([[0.1, 0.3],
               [0.4, 0.2]]))
        """
        places = self._resolved(slice(None) if order is None else order)
        if len(places) < self.dim:
            raise ValueError(f"order must name all of {', '.join(self.names)}, got {order!r}")
        names = [self.names[i] for i in places]
        first = self.marginal(names[:1])
        return (first, *(self.marginal(names[: i + 1]).conditional(names[:i]) for i in range(1, self.dim)))

    def __mul__(self, other: "ProbabilityTable") -> "ProbabilityTable":
        """Return the product rule, p(a, b) = p(a) p(b | a): variables that are given may be of the other.

        Two tables of different variables, neither given the other, are independent.
        """
        if not isinstance(other, ProbabilityTable):
            return NotImplemented
        ours, theirs = set(self.names), set(other.names)
        if ours & theirs:
            raise ValueError(f"both tables are distributions of {', '.join(sorted(ours & theirs))}")
        if ours & axis_names(other.given) and theirs & axis_names(self.given):
            raise ValueError("each table is conditional on the other, which is no distribution")
        factor = self.factor * other.factor
        given = [n for n in factor.names if n in axis_names((*self.given, *other.given)) - ours - theirs]
        free = [*self.names, *other.names]
        if theirs & axis_names(self.given):  # p(b | a) p(a) reads as p(a, b)
            free = [*other.names, *self.names]
        factor = factor.transpose([*given, *free])
        k = len(given)
        return ProbabilityTable(probabilities=factor.values, axes=factor.axes[k:], given=factor.axes[:k])

    def _at(self, observed: Mapping[str, Any]) -> "ProbabilityTable":
        """Return the table at levels of variables that are given."""
        if not observed:
            return self
        factor = self.factor.reduce(observed)
        k = len(self.given) - len(observed)
        return ProbabilityTable(probabilities=factor.values, axes=self.axes, given=factor.axes[:k])

    def _given_codes(self, places: Sequence[int], codes: Sequence[Array]) -> "ProbabilityTable":
        """Return the conditional on some variables, with positions of levels (*values) of each."""
        xp, batch = namespace_of(self.probabilities), self.batch_shape
        n, rest = len(batch), other_dims(places, self.dim)
        axes = [self.axes[i] for i in places]
        code = _flat(codes, axes)
        shape = np.broadcast_shapes(batch, tuple(code.shape))
        n_given, n_rest = (prod(len(self.axes[i][1]) for i in dims) for dims in (places, rest))
        order = (*range(n), *(n + i for i in places), *(n + i for i in rest))
        rows = xp.reshape(xp.permute_dims(self.probabilities, order), (prod(batch) * n_given, n_rest))
        first = xp.reshape(positions(np.arange(prod(batch)) * n_given, code), batch)
        where = xp.reshape(xp.broadcast_to(first + code, shape), (-1,))
        joint = xp.take(rows, where, axis=0)
        mass = xp.sum(joint, axis=-1)
        if not bool(xp.all(mass > 0)):
            at = int(xp.argmax(xp.astype(mass <= 0, xp.int8)))
            found = np.unravel_index(int(where[at]) % n_given, [len(levels) for _, levels in axes])
            raise ValueError(f"values must have positive probability, and {_shown(axes, found)} has none")
        p = xp.reshape(joint / mass[:, None], (*shape, *(len(self.axes[i][1]) for i in rest)))
        given = self.given if shape == batch and not code.ndim else ()
        return ProbabilityTable(probabilities=p, axes=[self.axes[i] for i in rest], given=given)

    def _within(self, event: Event) -> "ProbabilityTable":
        self._check_event(event)
        total = event.probability
        if not total > 0:
            raise ValueError("dims must be an event of positive probability, got one of probability 0")
        xp = namespace_of(self.probabilities)
        p = xp.where(event.outcomes, self.probabilities, 0 * self.probabilities)
        return ProbabilityTable(probabilities=p / total, axes=self.axes)

    # Events, expectations, dependence.

    def event(self, where: Any = None, /, **levels: Any) -> Event:
        """Return the event that variables have some of their levels.

        Parameters
        ----------
        where : mapping of names to a level or several, callable, or array of bool, optional
            The levels of each variable named; or a function of the variables' values, as in `expectation`,
            which is true of the outcomes of the event; or for each cell whether it belongs to the event.
        **levels : level or list of levels
            The same as a mapping, for names that are Python's.

        Examples
        --------
        >>> die = ProbabilityTable(probabilities=[1 / 6] * 6, axes={"eyes": range(1, 7)})
        >>> even, high = die.event(eyes=[2, 4, 6]), die.event(lambda eyes: eyes > 4)
        >>> [round(float(e.probability), 4) for e in (even | high, even & high, ~even)]
        [0.6667, 0.1667, 0.5]
        """
        if self.batch_shape:
            raise ValueError("events are of one distribution, and this is a batch of them")
        if callable(where) and not isinstance(where, Mapping):
            outcomes = np.broadcast_to(np.asarray(self._applied(where), dtype=bool), self.probabilities.shape)
            return Event(table=self, outcomes=outcomes)
        if where is not None and not isinstance(where, Mapping):
            return Event(table=self, outcomes=np.asarray(where))
        outcomes = np.ones(self.probabilities.shape, dtype=bool)
        for name, wanted in {**(where or {}), **levels}.items():
            (place,) = self._resolved([name])
            several = isinstance(wanted, (list, tuple, set, frozenset, range, np.ndarray))
            inside = np.zeros(len(self.axes[place][1]), dtype=bool)
            inside[[code_of(self.axes[place], level) for level in (wanted if several else [wanted])]] = True
            outcomes = outcomes & np.expand_dims(inside, [i for i in range(self.dim) if i != place])
        return Event(table=self, outcomes=outcomes)

    def probability(self, event: Any = None, /, **levels: Any) -> Any:
        """Return P(event), of an `Event` or of what `event` takes."""
        if isinstance(event, Event):
            self._check_event(event)
            return event.probability
        return self.event(event, **levels).probability

    def expectation(self, f: Callable[..., Any], over: Any = None) -> Any:
        """Return E[f], Σ p(x) f(x): of a conditional table the conditional expectation for all that is given.

        Parameters
        ----------
        f : callable
            Its arguments are arrays of the values of variables, which broadcast: of those that the arguments
            are named after, or else of all axes in order.
        over : names or positions, optional
            The marginal expectation over these variables, Σ p(x_over) f(x), which leaves an array over the
            others.

        Examples
        --------
        >>> joint = ProbabilityTable(probabilities=[[0.1, 0.3], [0.4, 0.2]], axes={"x": [0, 1], "y": [1, 3]})
        >>> float(joint.expectation(lambda x, y: x * y)), float(joint.expectation(lambda y: y))
        (1.0, 2.0)
        >>> joint.conditional("x").expectation(lambda y: y).round(4)
        array([2.5   , 1.6667])
        >>> joint.expectation(lambda x, y: x * y, over="x")
        array([0.6, 1.8])
        """
        n, n_axes = len(self.batch_shape), len(self.axes)
        found, p = self._applied(f), self.probabilities
        gone = tuple(range(n, n + n_axes))
        if over is not None:
            keep = self._resolved(over)
            p = total_over(p, [n + i for i in other_dims(keep, self.dim)])
            for i in other_dims(keep, self.dim):
                p = namespace_of(p).expand_dims(p, axis=n + i)
            gone = tuple(n + i for i in keep)
        xp, shape = namespace_of(p), tuple(self.probabilities.shape)
        if over is not None:
            p = xp.broadcast_to(p, shape)
        try:
            terms = p * found
        except (TypeError, ValueError, RuntimeError) as error:
            raise ValueError(f"f must return numbers that broadcast to shape {shape}: {error}") from None
        # Nothing where there is no mass, whatever f is there.
        terms = (
            terms
            if self.is_exact
            else xp.where(xp.broadcast_to(p, terms.shape) > 0, terms, xp.zeros_like(terms))
        )
        return total_over(terms, gone)

    def cross_covariance(self, first: Any, second: Any = None) -> Array:
        """Return cov[x, y] = E[(x - E x)(y - E y)ᵀ] between two groups of variables, (*batch, d, e).

        Probabilities are its weights, so that of observations it is the mean of n products, not of n - 1. Of
        one exact table it is an array of fractions.
        """
        rows = self._resolved(first)
        columns = rows if second is None else self._resolved(second)
        if self.is_exact and not self.batch_shape:
            return np.array([[self._exact_covariance(i, j) for j in columns] for i in rows], dtype=object)
        matrix = self.covariance
        xp = namespace_of(matrix)
        return xp.take(xp.take(matrix, positions(rows, matrix), axis=-2), positions(columns, matrix), axis=-1)

    def _exact_covariance(self, i: int, j: int) -> Fraction:
        """Return E[x_i x_j] - E[x_i] E[x_j] in fractions, which do not cancel."""

        def values(k: int) -> np.ndarray:
            found = np.array([Fraction(x) for x in level_values(self.axes[k][1])], dtype=object)
            return np.expand_dims(found, [axis for axis in range(self.dim) if axis != k])

        def mean(x: np.ndarray) -> Fraction:
            return Fraction(total_over(np.asarray(self.probabilities * x), range(self.dim)))

        return mean(values(i) * values(j)) - mean(values(i)) * mean(values(j))

    def mutual_information(self, first: Any, second: Any, given: Any = ()) -> Array:
        """Return I(x; y | z) = H(x, z) + H(y, z) - H(x, y, z) - H(z) in nats; 0 where independent.

        Parameters
        ----------
        first, second, given : names or positions
            x, y and z, groups of variables without one in common.
        """
        x, y, z = self._groups(first, second, given)
        found = self.marginal([*x, *z]).entropy() + self.marginal([*y, *z]).entropy()
        found = found - self.marginal([*x, *y, *z]).entropy() - (self.marginal(z).entropy() if z else 0.0)
        xp = namespace_of(found)
        return xp.where(found > 0, found, xp.zeros_like(found))

    def is_independent(self, first: Any, second: Any, given: Any = (), *, tol: float | None = None) -> bool:
        """Whether p(x, y, z) p(z) = p(x, z) p(y, z): x and y are independent, given z if there is any.

        Parameters
        ----------
        first, second, given : names or positions
            Groups of variables without one in common.
        tol : float, optional
            The largest difference that is taken for rounding; 0 of fractions, 1e-12 of double precision.
        """
        self._check_named("independence")
        x, y, z = self._groups(first, second, given)
        names = [self.names[i] for i in (*x, *y, *z)]
        joint = self.marginal(names).factor
        apart = [joint.sum([self.names[i] for i in gone]) for gone in ((*x, *y), y, x)]
        difference = (joint * apart[0]).values - (apart[1] * apart[2]).transpose(
            (joint * apart[0]).names
        ).values
        if tol is None:
            xp = namespace_of(difference)
            tol = 0.0 if self.is_exact else 1e4 * float(xp.finfo(difference.dtype).eps)
        return bool(np.max(np.abs(to_numpy(difference))) <= tol)

    def _groups(self, first: Any, second: Any, given: Any) -> tuple[tuple[int, ...], ...]:
        groups = tuple(self._resolved(dims) for dims in (first, second, given))
        if not groups[0] or not groups[1]:
            raise ValueError("first and second must name at least one axis each")
        if len({*groups[0], *groups[1], *groups[2]}) < sum(map(len, groups)):
            raise ValueError("first, second and given must not have an axis in common")
        return groups

    def _applied(self, f: Callable[..., Any]) -> Any:
        """Return f of the values of the variables, each along an axis of its own."""
        if not callable(f):
            raise ValueError(f"f must be a function of the values of variables, got {f!r}")
        n = 0 if self.given else len(self.batch_shape)
        axes = (*self.given, *self.axes)
        grid = {}
        for i, (name, levels) in enumerate(axes):
            shape = [1] * (n + len(axes))
            shape[n + i] = len(levels)
            grid[name] = self._values(levels).reshape(shape)
        wanted = _parameter_names(f)
        by_name = bool(wanted) and set(wanted) <= set(grid)
        found = f(**{k: grid[k] for k in wanted}) if by_name else f(*(grid[k] for k in self.names))
        return found if self.is_exact else np.asarray(found) if not is_foreign_array(found) else found

    def _values(self, levels: Sequence[Any]) -> Any:
        """Return levels as an array for functions: fractions, numbers like the probabilities, or labels."""
        if level_values(levels) != tuple(levels):
            labels = np.empty(len(levels), dtype=object)
            labels[:] = levels
            return labels
        if self.is_exact:
            exact = np.empty(len(levels), dtype=object)
            exact[:] = [Fraction(x) for x in levels]
            return exact
        return as_reals("levels", [float(x) for x in levels], self.probabilities)

    def _check_event(self, event: Event) -> None:
        if event.table.axes != self.axes or self.batch_shape:
            raise ValueError("event must be of a table with the same axes")

    def _check_named(self, what: str) -> None:
        if self.batch_shape and not self.given:
            raise ValueError(f"{what} is of one table, and this is a batch of them: take one by its index")

    # What every distribution has.

    @property
    def atoms(self) -> Array:
        """All combinations of levels as events, (cells, d)."""
        columns = np.meshgrid(
            *[np.asarray(level_values(v), dtype=float) for _, v in self.axes], indexing="ij"
        )
        cells = as_reals("atoms", np.stack(columns, axis=-1).reshape(-1, self.dim), self._mass)
        return namespace_of(cells).astype(cells, self._mass.dtype)

    @property
    def support(self) -> tuple[Array, Array]:
        """Least and greatest value of each variable."""
        ends = [(min(map(float, v)), max(map(float, v))) for _, v in self._numbers()]
        low, high = (as_reals("levels", [end[k] for end in ends], self._mass) for k in (0, 1))
        return low, high

    @cached_property
    def mean(self) -> Array:
        xp = namespace_of(self._mass)
        return xp.stack([xp.sum(p * x, axis=-1) for p, x in self._columns()], axis=-1)

    @cached_property
    def variance(self) -> Array:
        xp, mean = namespace_of(self._mass), self.mean
        away = [(p, x - mean[..., j : j + 1]) for j, (p, x) in enumerate(self._columns())]
        return xp.stack([xp.sum(p * z * z, axis=-1) for p, z in away], axis=-1)

    @property
    def covariance(self) -> Array:
        """Covariance of the variables, (*batch, d, d)."""
        xp, cells = namespace_of(self._mass), self.atoms
        away = cells - self.mean[..., None, :]
        flat = self._flat_mass[..., None] * away
        return xp.matmul(xp.moveaxis(flat, -1, -2), xp.broadcast_to(away, flat.shape))

    @property
    def mode(self) -> Array:
        """See `Distribution.mode`: the most probable combination of levels, of several the first."""
        xp = namespace_of(self._mass)
        best = xp.argmax(self._flat_mass, axis=-1)
        return xp.reshape(xp.take(self.atoms, xp.reshape(best, (-1,)), axis=0), (*self.batch_shape, self.dim))

    def log_prob(self, x: Any) -> Array:
        """Return the log probability of rows of values, or of labels in a frame or a mapping of columns.

        It is -inf of what is no level, and a missing entry (NaN) is summed out.
        """
        return log_or_minus_inf(self.prob(x))

    def prob(self, x: Any) -> Array:
        """See `log_prob`: the probability itself."""
        x = self._rows(x)
        xp = namespace_of(x)
        if bool(xp.any(xp.isnan(x))):
            found = over_observed(self._log_marginal, x, self.batch_shape)
            return xp.exp(found)
        return self._looked_up(x)

    def entropy(self) -> Array:
        """See `Distribution.entropy`: -Σ p log p over the cells."""
        p = self._flat_mass
        return namespace_of(p).sum(entropy_term(p, log_or_minus_inf(p)), axis=-1)

    def _divergence(self, other: "ProbabilityTable") -> Array:
        """Return Σ p log p/q, of tables of the same variables in any order."""
        if dict(other.axes) != dict(self.axes):
            raise ValueError(f"other must have the axes {', '.join(self.names)} with the same levels")
        p, q = self._flat_mass, other.marginal(self.names)._flat_mass  # noqa: SLF001
        terms = divergence_term(p, log_or_minus_inf(p), q, log_or_minus_inf(q))
        return namespace_of(terms).sum(terms, axis=-1)

    def __getitem__(self, index: Any) -> "ProbabilityTable":
        """Return some of the batch; the batch axes then have no names."""
        part = self.probabilities[batch_index(index, self.dim)]
        whole = index is Ellipsis or (isinstance(index, tuple) and not index)
        return ProbabilityTable(probabilities=part, axes=self.axes, given=self.given if whole else ())

    def expand(self, batch_shape: tuple[int, ...]) -> "ProbabilityTable":
        p = self.probabilities
        wide = namespace_of(p).broadcast_to(p, (*batch_shape, *p.shape[p.ndim - self.dim :]))
        given = self.given if tuple(batch_shape) == self.batch_shape else ()
        return ProbabilityTable(probabilities=wide, axes=self.axes, given=given)

    def _one_column(self) -> Any:
        levels = level_values(self.axes[0][1])
        if levels == tuple(range(len(levels))):
            return Categorical(probabilities=self._mass)
        if self.batch_shape:
            raise ValueError("as_univariate of a batch needs levels 0, 1, …")
        return Empirical(values=as_reals("levels", list(map(float, levels)), self._mass), weights=self._mass)

    def _sample(self, n: int, rng: Any) -> Array:
        p = to_numpy(self._flat_mass).astype(np.float64)
        edges = np.cumsum(p.reshape(-1, p.shape[-1]), axis=-1)
        u = rng.random((n, len(edges)))
        # The last edge is 1 whatever the rounding; draws stay below it, and cells of no mass are never drawn.
        cells = [np.searchsorted(e / e[-1], u[:, k], side="right") for k, e in enumerate(edges)]
        where = np.stack(cells, axis=-1) if cells else np.zeros((n, 0), dtype=np.int64)
        atoms = self.atoms
        xp = namespace_of(atoms)
        rows = xp.take(atoms, xp.reshape(positions(where.reshape(-1), atoms), (-1,)), axis=0)
        return xp.reshape(rows, (n, *self.batch_shape, self.dim))

    def _log_marginal(self, dims: tuple[int, ...], rows: Array) -> Array:
        return log_or_minus_inf(self.marginal(dims)._looked_up(rows))  # noqa: SLF001

    def _looked_up(self, x: Array) -> Array:
        xp = namespace_of(x)
        found = [codes_of(levels, x[..., j]) for j, (_, levels) in enumerate(self.axes)]
        code, known = _flat([c for c, _ in found], self.axes), found[0][1]
        for _, here in found[1:]:
            known = known & here
        shape = np.broadcast_shapes(tuple(code.shape), self.batch_shape)
        n_cells = self._flat_mass.shape[-1]
        first = xp.reshape(positions(np.arange(prod(self.batch_shape)) * n_cells, x), self.batch_shape)
        where = xp.reshape(xp.broadcast_to(code + first, shape), (-1,))
        mass = xp.reshape(xp.take(xp.reshape(self._flat_mass, (-1,)), where), shape)
        return xp.where(xp.broadcast_to(known, shape), mass, xp.zeros_like(mass))

    def _rows(self, x: Any) -> Array:
        return self._event(self.encode(x) if is_labelled(x) else x, like=self._mass)

    @cached_property
    def _mass(self) -> Array:
        """The probabilities as floats."""
        return self.probabilities.astype(np.float64) if self.is_exact else self.probabilities

    @property
    def _flat_mass(self) -> Array:
        cells = prod(len(levels) for _, levels in self.axes)
        return namespace_of(self._mass).reshape(self._mass, (*self.batch_shape, cells))

    def _numbers(self) -> list[Axis]:
        return [(name, level_values(levels)) for name, levels in self.axes]

    def _columns(self) -> Iterator[tuple[Array, Array]]:
        """Yield the probabilities (*batch, n) of the levels of each variable, and their values (n,)."""
        n = len(self.batch_shape)
        for j, (_, levels) in enumerate(self._numbers()):
            p = total_over(self._mass, [n + i for i in other_dims([j], self.dim)])
            yield p, as_reals("levels", list(map(float, levels)), self._mass)

    def _paired(self, dims: Any, values: Any) -> Iterator[tuple[Any, Any]]:
        """Yield the name of each variable that was observed, and its values."""
        names = dims if isinstance(dims, str) or not isinstance(dims, Iterable) else list(dims)
        if names in [name for name, _ in self.given]:
            places: Sequence[Any] = [names]
        else:
            named = [] if isinstance(names, str) or not isinstance(names, list) else names
            outside = [name for name in named if name in axis_names(self.given)]
            places = outside or [self.names[i] for i in self._resolved(dims)]
        if values is None:
            raise ValueError("values must be the observed levels of dims, got None; see also `conditional`")
        plain = isinstance(values, (list, tuple)) and not any(np.ndim(v) for v in values)
        if plain or (np.ndim(values) == 0 and not is_foreign_array(values)):
            values = list(values) if plain else [values]
            if len(values) != len(places):
                raise ValueError(f"values must have {len(places)} entries, got {len(values)}")
            yield from zip(places, values, strict=True)
            return
        values = values if is_foreign_array(values) else np.asarray(values)
        if values.shape[-1] != len(places):
            raise ValueError(f"values must have {len(places)} entries on the last axis, got {values.shape}")
        yield from ((name, values[..., k]) for k, name in enumerate(places))

    def _codes(self, place: int, given: Any) -> Array:
        """Return positions of levels, of one level or an array of values."""
        axis, like = self.axes[place], self._mass
        if np.ndim(given) == 0 and not is_foreign_array(given):
            return positions(np.asarray(code_of(axis, given)), like)
        if not is_foreign_array(given) and np.asarray(given).dtype.kind in "OUST":
            labels = np.asarray(given)
            codes = np.array([code_of(axis, level) for level in labels.ravel().tolist()], dtype=np.int64)
            return positions(codes.reshape(labels.shape), like)
        x = as_reals("values", given, like)
        check_finite("values", x)
        codes, known = codes_of(axis[1], x)
        if not bool(namespace_of(x).all(known)):
            raise ValueError(f"values must be levels of {axis[0]!r}: {level_values(axis[1])}")
        return codes

    # Labels, frames and text.

    def encode(self, rows: Any) -> Array:
        """Return rows of labels, in a frame, a mapping of columns or an array (n, d), as events."""
        return as_reals("rows", encoded(self.axes, rows), self._mass)

    def decode(self, x: Any) -> np.ndarray:
        """Return events (..., d) as an array of their labels."""
        return decoded(self.axes, to_numpy(self._event(x, like=self._mass)))

    def to_frame(self) -> Any:
        """Return a pandas frame of all combinations of levels and their probability."""
        import pandas as pd

        self._check_named("a frame")
        axes = (*self.given, *self.axes)
        cells = list(product(*(levels for _, levels in axes)))
        frame = pd.DataFrame(cells, columns=[name for name, _ in axes])
        frame["probability"] = to_numpy(self.probabilities).ravel()
        return frame

    def __str__(self) -> str:
        if self.batch_shape and not self.given:
            return repr(self)
        return printed(self)


def axis_names(axes: Sequence[Axis]) -> set[str]:
    """Return the names of axes."""
    return {name for name, _ in axes}


def _first(p: Array, n_axes: int) -> Array:
    """Return the first table of a batch, for its shape."""
    if p.ndim < n_axes:
        return p
    return np.broadcast_to(0.0, tuple(p.shape[p.ndim - n_axes :]))


def _normalized(p: Array, n_axes: int) -> Array:
    """Return probabilities, checked and, up to rounding, one in sum over the last axes."""
    xp, batch = namespace_of(p), tuple(p.shape[: p.ndim - n_axes])
    flat = xp.reshape(p, (*batch, prod(p.shape[p.ndim - n_axes :])))
    if is_exact(p):
        wrong = [total for total in np.asarray(flat.sum(axis=-1)).ravel().tolist() if total != 1]
        if wrong:
            raise ValueError(f"probabilities must be probabilities that add up to 1, got {wrong[0]}")
        return p
    check_probabilities("probabilities", flat)
    return xp.reshape(as_probabilities(flat), tuple(p.shape))


def _check_positive(total: Any, axes: Sequence[Axis]) -> None:
    """Refuse to condition on levels of probability zero, and name the first."""
    zero = np.asarray(to_numpy(np.asarray(total) if not is_foreign_array(total) else total) <= 0)
    if zero.any():
        at = np.unravel_index(int(np.argmax(zero)), zero.shape)
        what = _shown(axes, at) if axes else "the factor"
        raise ValueError(f"given must have levels of positive probability, and {what} has none")


def _shown(axes: Sequence[Axis], at: Sequence[Any]) -> str:
    return ", ".join(f"{name}={levels[int(i)]!r}" for (name, levels), i in zip(axes, at, strict=True))


def _flat(codes: Sequence[Array], axes: Sequence[Axis]) -> Array:
    """Return the positions of cells, of the positions of levels along each axis."""
    code = codes[0]
    for more, (_, levels) in zip(codes[1:], axes[1:], strict=True):
        code = code * len(levels) + more
    return code


def _parameter_names(f: Callable[..., Any]) -> tuple[str, ...]:
    try:
        found = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return ()
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return tuple(p.name for p in found if p.kind in named and p.default is p.empty)
