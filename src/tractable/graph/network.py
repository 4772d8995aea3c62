"""Bayesian networks: joint distributions of discrete variables as products of conditional tables."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, device, freeze, is_foreign_array, namespace_of, to_numpy
from tractable.distributions import ProbabilityTable
from tractable.distributions.probabilities import log_or_minus_inf
from tractable.distributions.table.factor import (
    MOST_CELLS,
    Axis,
    Factor,
    code_of,
    codes_of,
    is_exact,
    level_values,
)
from tractable.distributions.table.rows import decoded, encoded, is_labelled
from tractable.distributions.vectors import VectorDistribution, over_observed
from tractable.graph.directed import DirectedGraph
from tractable.graph.elimination import (
    ClusterPlan,
    ClusterTree,
    Eliminated,
    EliminationOrder,
    cluster_plan,
    eliminate,
    elimination_order,
)
from tractable.graph.families import Families, log_probabilities
from tractable.value import set_fields, value

#: Cells of a marginal that is looked up for many rows; with more, the rows themselves are summed out.
MOST_LOOKED_UP = 2**12

_ALL = slice(None)


@value
class BayesianNetwork(VectorDistribution):
    """A joint distribution p(x_1, …, x_k) = Π p(x_j | parents of x_j) over a directed acyclic graph.

    Every answer is exact, by variable elimination in a greedy order, whose width `elimination` says. A
    network is closed under conditioning: `condition` keeps the tables and adds what was observed, and
    everything asked of it then is about the other variables, given that. Events are as in `ProbabilityTable`:
    levels that are numbers count as themselves, others by their position; a missing entry (NaN) is summed
    out.

    Parameters
    ----------
    tables : iterable of ProbabilityTable
        One for each variable, p(x_j | parents): one axis, and the parents as `given`, each of which has a
        table of its own with the same levels.
    evidence : mapping of str to level, optional
        What was observed.

    Examples
    --------
    >>> no_yes = ["no", "yes"]
    >>> rain = ProbabilityTable(probabilities=[0.8, 0.2], axes={"rain": no_yes})
    >>> sprinkler = ProbabilityTable(probabilities=[0.6, 0.4], axes={"sprinkler": no_yes})
    >>> wet = ProbabilityTable(
    ...     probabilities=[[[1.0, 0.0], [0.1, 0.9]], [[0.2, 0.8], [0.01, 0.99]]],
    ...     axes={"wet": no_yes},
    ...     given={"rain": no_yes, "sprinkler": no_yes},
    ... )
    >>> garden = BayesianNetwork(tables=[rain, sprinkler, wet])
    >>> print(garden.graph)
    rain -> wet; sprinkler -> wet
    >>> seen = garden.condition({"wet": "yes"})
    >>> seen.marginal("rain").probabilities.round(3)  # rain is likelier
    array([0.622, 0.378])
    >>> seen.condition({"sprinkler": "yes"}).marginal("rain").probabilities.round(3)  # explained away
    array([0.784, 0.216])
    >>> garden.most_probable()
    {'rain': 'no', 'sprinkler': 'no', 'wet': 'no'}
    """

    discrete: ClassVar[bool] = True

    tables: tuple[ProbabilityTable, ...]
    evidence: tuple[tuple[str, Any], ...]

    def __init__(self, *, tables: Iterable[ProbabilityTable], evidence: Any = ()) -> None:
        found = _checked_tables(tables)
        try:
            seen = {} if evidence is None else dict(evidence)
        except (TypeError, ValueError):
            raise ValueError(
                f"evidence must map names of variables to levels, got {evidence!r:.60}"
            ) from None
        set_fields(self, tables=found, evidence=())
        _ = self.graph  # which refuses a cycle
        self._observe(seen)

    def _observe(self, seen: dict[str, Any]) -> None:
        """Set what was observed, which must be possible."""
        for name, level in seen.items():
            code_of(self._axis(name), level)
        if len(seen) == len(self.tables):
            raise ValueError("evidence must leave at least one variable free")
        set_fields(self, evidence=tuple(seen.items()))
        if seen and not np.isfinite(self.log_evidence):
            said = ", ".join(f"{name}={level!r}" for name, level in seen.items())
            raise ValueError(f"evidence must have positive probability, and {said} has none")

    @cached_property
    def graph(self) -> DirectedGraph:
        """The graph, with an edge from each variable to those whose table is conditional on it."""
        edges = [(parent, table.names[0]) for table in self.tables for parent, _ in table.given]
        return DirectedGraph(nodes=[table.names[0] for table in self.tables], edges=edges)

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The variables that are not observed, with their levels."""
        seen = dict(self.evidence)
        return tuple(table.axes[0] for table in self.tables if table.names[0] not in seen)

    @cached_property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """The variables that are not observed."""
        return tuple(name for name, _ in self.axes)

    @property
    def dim(self) -> int:
        """Number of variables that are not observed."""
        return len(self.axes)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return ()

    def levels(self, name: str) -> tuple[Any, ...]:
        """Return the levels of a variable."""
        return self._axis(name)[1]

    def _axis(self, name: str) -> Axis:
        if name not in self._by_name:
            known = ", ".join(list(self._by_name)[:12]) + (", …" if len(self.tables) > 12 else "")
            raise ValueError(f"there is no variable {name!r}: the network has {known}")
        return self._by_name[name].axes[0]

    @cached_property
    def _variables(self) -> dict[str, tuple[str, ...]]:
        """The variables of the table of each, the given ones first."""
        return {name: tuple(v for v, _ in (*t.given, *t.axes)) for name, t in self._by_name.items()}

    @cached_property
    def _by_name(self) -> dict[str, ProbabilityTable]:
        return {table.names[0]: table for table in self.tables}

    # Inference

    @cached_property
    def log_evidence(self) -> float:
        """Log p(evidence), 0 where nothing was observed."""
        return self._log_mass(dict(self.evidence))

    def _log_mass(self, seen: Mapping[str, Any]) -> float:
        """Return the log probability of levels of some variables."""
        if not seen:
            return 0.0
        if seen == dict(self.evidence):
            tree = self._tree()
            if tree is not None:
                return tree.log_mass
        needed = set(seen) | self.graph.ancestors(seen)
        factors = [table.factor.reduce(seen) for table in self.tables if table.names[0] in needed]
        found = eliminate(factors, _others(factors, ()))
        total = float(found.factor.total)
        return found.log_scale + float(np.log(total)) if total > 0.0 else -np.inf

    def marginal(self, dims: Any) -> ProbabilityTable:
        """Return p(x_dims | evidence) as a table: names, positions or a slice, in the order given."""
        keep = [self.names[i] for i in self._resolved(dims)]
        if not keep:
            raise ValueError("dims must name at least one variable")
        if len(keep) == 1:
            tree = self._tree(keep[0])
            if tree is not None:
                values = tree.marginal(keep[0])
                found = object.__new__(ProbabilityTable)  # of an axis and probabilities that are checked
                p = freeze(values / values.sum())
                set_fields(found, probabilities=p, axes=(self._axis(keep[0]),), given=())
                return found
        return ProbabilityTable.from_factor(self._eliminated(keep).factor.transpose(keep))

    def joint(self) -> ProbabilityTable:
        """Return the table of all variables that are not observed, which must not have too many cells."""
        cells = prod(len(levels) for _, levels in self.axes)
        if cells > MOST_CELLS:
            raise ValueError(
                f"the table of all variables would have {cells} cells: ask for `marginal` of some"
            )
        return self.marginal(self.names)

    def condition(self, dims: Any, values: Any = None) -> Any:
        """Return the distribution of the other variables given some: a network with evidence.

        Parameters
        ----------
        dims : mapping of names to levels, names, positions or a slice
            What was observed; a mapping holds the levels as well, and `values` is left out.
        values : sequence, or array (*batch, len(dims))
            What was observed. Leading axes become batch axes of a `ProbabilityTable`, the joint table of
            what is left, which must not have too many cells.
        """
        if isinstance(dims, Mapping):
            if values is not None:
                raise ValueError("values must not be given twice: dims is a mapping that has them")
            names, levels = [self.names[i] for i in self._resolved(list(dims))], list(dims.values())
        else:
            names = [self.names[i] for i in self._resolved(dims)]
            if values is None:
                raise ValueError("values must be the observed levels of dims, got None")
            whole = is_foreign_array(values) or np.ndim(values) > 1
            one = isinstance(values, str) or np.ndim(values) == 0
            levels = [np.nan] if whole else [values] if one else list(values)
            if whole:
                return self.joint().condition(names, values)
        if len(levels) != len(names):
            raise ValueError(f"values must have {len(names)} entries, got {len(levels)}")
        if any(np.ndim(level) for level in levels):
            return self.joint().condition(dict(zip(names, levels, strict=True)))
        if not names:
            return self
        return self._observing(dict(zip(names, levels, strict=True)))

    def _observing(self, more: Mapping[str, Any]) -> "BayesianNetwork":
        """Return the network with more evidence: the tables are checked, and their graph is known."""
        found = object.__new__(BayesianNetwork)
        set_fields(found, tables=self.tables, evidence=self.evidence)
        shared = ("graph", "_by_name", "_variables", "_plans", "_plain")
        found.__dict__.update({name: getattr(self, name) for name in shared})
        found.__dict__["axes"] = tuple(axis for axis in self.axes if axis[0] not in more)
        found._observe({**dict(self.evidence), **more})
        return found

    def most_probable(self) -> dict[str, Any]:
        """Return the most probable explanation: the levels of all variables of largest p(x | evidence)."""
        found: dict[str, Any] = {}
        for name, factor in reversed(self._eliminated((), maximize=True).steps):
            found[name] = factor.reduce(found).argmax()[name]
        return {name: found[name] for name in self.names}

    def elimination(self, dims: Any = ()) -> EliminationOrder:
        """Return the order in which a marginal is computed, with the width and the size of its tables."""
        keep = [self.names[i] for i in self._resolved(dims)]
        factors = self._relevant(keep)
        return elimination_order([factor.axes for factor in factors], _others(factors, keep))

    def _tree(self, asked: str | None = None) -> ClusterTree | None:
        """Return the sums for the marginal of a variable, or without one for the probability of the evidence.

        None where the tables are not small. One tree gives the marginals of many variables.
        """
        for tree in self._trees:
            if asked in tree:
                return tree
        if not self._plain:
            return None
        seen = dict(self.evidence)
        key = (asked, frozenset(seen))
        if key not in self._plans:
            self._plans[key] = self._plan(asked, seen)
        names, plan = self._plans[key]
        if plan is None:
            return None
        at = {name: code_of(self._axis(name), level) for name, level in seen.items()}
        tree = ClusterTree(
            plan,
            [
                self._by_name[name].probabilities[tuple([at.get(v, _ALL) for v in self._variables[name]])]
                for name in names
            ],
        )
        if not tree.is_accurate:
            return None
        self._trees.append(tree)
        return tree

    def _plan(self, asked: str | None, seen: Iterable[str]) -> tuple[list[str], ClusterPlan | None]:
        """Return the tables that matter to a variable, or to the probability of what is observed; their sums.

        Tables of variables without descendants that are asked or observed sum to one, and those that share
        no variable with the others, once evidence is filled in, are a constant factor.
        """
        roots = {*seen} if asked is None else {asked, *seen}
        needed = roots | self.graph.ancestors(roots)
        free = {name: [v for v in self._variables[name] if v not in seen] for name in self._by_name}
        names = [name for name in free if name in needed]
        if asked is not None:
            found, left = {asked}, names
            while near := [name for name in left if not found.isdisjoint(free[name])]:
                found.update(*(free[name] for name in near))
                left = [name for name in left if name not in near]
            names = [name for name in names if not found.isdisjoint(free[name])]
        return names, cluster_plan([[self._axis(v) for v in free[name]] for name in names])

    @cached_property
    def _trees(self) -> list[ClusterTree]:
        return []

    @cached_property
    def _plans(self) -> dict[tuple[str | None, frozenset[str]], tuple[list[str], ClusterPlan | None]]:
        """The sums for what is asked and what is observed, whichever its levels."""
        return {}

    @cached_property
    def _plain(self) -> bool:
        """Whether the tables are NumPy's, of double precision."""
        values = [table.probabilities for table in self.tables]
        return all(isinstance(p, np.ndarray) and p.dtype == np.float64 for p in values)

    def _eliminated(self, keep: Sequence[str], *, maximize: bool = False) -> Eliminated:
        factors = self._factors if maximize else self._relevant(keep)
        return eliminate(factors, _others(factors, keep), maximize=maximize)

    @cached_property
    def _factors(self) -> list[Factor]:
        seen = dict(self.evidence)
        return [table.factor.reduce(seen) for table in self.tables]

    def _relevant(self, keep: Sequence[str]) -> list[Factor]:
        """Return the factors that matter to some variables: the tables of their and the evidence's ancestors.

        All other tables sum to one.
        """
        asked = {*keep, *dict(self.evidence)}
        needed = asked | self.graph.ancestors(asked)
        pairs = zip(self.tables, self._factors, strict=True)
        return [factor for table, factor in pairs if table.names[0] in needed]

    # What every distribution has

    def log_prob(self, x: Any) -> Array:
        """Return the log probability of rows of values, or of labels in a frame or a mapping of columns.

        It is -inf of what is no level, and a missing entry (NaN) is summed out.
        """
        x = self._rows(x)
        xp = namespace_of(x)
        if bool(xp.any(xp.isnan(x))):
            return over_observed(self._log_marginal, x, ())
        return self._log_joint(x) - self.log_evidence

    def _log_joint(self, x: Array) -> Array:
        """Return log p(x, evidence) of complete rows."""
        xp = namespace_of(x)
        codes: dict[str, Any] = {name: code_of(self._axis(name), level) for name, level in self.evidence}
        known = xp.ones(tuple(x.shape[:-1]), dtype=xp.bool, device=device(x))
        for j, (name, levels) in enumerate(self.axes):
            codes[name], here = codes_of(levels, x[..., j])
            known = known & here
        total = xp.zeros_like(x[..., 0])
        for table in self.tables:
            where: Any = 0
            for name, levels in (*table.given, *table.axes):
                where = where * len(levels) + codes[name]
            cells = xp.reshape(log_or_minus_inf(table._mass), (-1,))  # noqa: SLF001
            flat = xp.reshape(where + xp.zeros_like(codes[self.names[0]]), (-1,))
            total = total + xp.reshape(xp.take(cells, flat), tuple(total.shape))
        return xp.where(known, total, xp.full_like(total, -xp.inf))

    def _log_marginal(self, dims: tuple[int, ...], rows: Array) -> Array:
        """Return the log probability of rows of some of the variables."""
        if len(dims) == self.dim:
            return self._log_joint(rows) - self.log_evidence
        if prod(len(self.axes[i][1]) for i in dims) <= MOST_LOOKED_UP:
            return self.marginal(dims).log_prob(rows)
        flat = to_numpy(rows).reshape(-1, rows.shape[-1])
        codes = np.full((len(flat), len(self.tables)), -1)
        known = np.ones(len(flat), dtype=bool)
        position = self.graph.positions
        for name, level in self.evidence:
            codes[:, position[name]] = code_of(self._axis(name), level)
        for i, x in zip(dims, flat.T, strict=True):
            codes[:, position[self.names[i]]], here = codes_of(self.axes[i][1], x)
            known &= here
        found = log_probabilities(*families_of(self.tables), codes) - self.log_evidence
        return self._numbers(np.where(known, found, -np.inf).reshape(rows.shape[:-1]))

    def _sample(self, n: int, rng: Any) -> Array:
        codes: dict[str, np.ndarray] = {}
        for name, cumulative, others in self._conditionals:
            rows = cumulative[tuple(codes[other] for other in others)]
            u = rng.random(n) * rows[..., -1]
            codes[name] = np.sum(rows <= u[:, None], axis=-1) if others else np.searchsorted(rows, u, "right")
        values = [np.asarray(level_values(levels), dtype=float)[codes[name]] for name, levels in self.axes]
        return self._numbers(np.stack(values, axis=-1))

    @cached_property
    def _conditionals(self) -> list[tuple[str, np.ndarray, tuple[str, ...]]]:
        """Each variable, Σ p(level or before | others) and the others, which come before it.

        Without evidence others are parents (ancestral sampling); with it they are what eliminates it.
        """
        if self.evidence:
            steps = reversed(self._eliminated((self.names[0],)).steps)
            first = self.marginal(self.names[0]).factor
            pairs: list[tuple[str, Factor]] = [(self.names[0], first), *steps]
            left = [name for name in self.names if name not in dict(pairs)]
            pairs += [
                (name, self._by_name[name].factor.reduce(dict(self.evidence))) for name in self._ordered(left)
            ]
        else:
            pairs = [(name, self._by_name[name].factor) for name in self.graph.topological_order]
        return [_cumulative(name, factor) for name, factor in pairs]

    def _ordered(self, names: Sequence[str]) -> list[str]:
        return [name for name in self.graph.topological_order if name in set(names)]

    @cached_property
    def _like(self) -> Array:
        """An array of the library and the precision of the tables."""
        return self._factors[0].values if not is_exact(self._factors[0].values) else np.empty(0)

    def _numbers(self, x: Any) -> Array:
        """Return numbers as an array of the library and the precision of the tables."""
        found = as_reals("numbers", x, self._like)
        return namespace_of(found).astype(found, self._like.dtype)

    @property
    def atoms(self) -> Array:
        """All combinations of levels as events, (cells, d), which must not be too many."""
        return self.joint().atoms

    @property
    def support(self) -> tuple[Array, Array]:
        """Least and greatest value of each variable."""
        values = [level_values(levels) for _, levels in self.axes]
        low, high = (self._numbers([float(end(v)) for v in values]) for end in (min, max))
        return low, high

    @cached_property
    def mean(self) -> Array:
        return self._numbers([float(self.marginal(name).mean[0]) for name in self.names])

    @cached_property
    def variance(self) -> Array:
        return self._numbers([float(self.marginal(name).variance[0]) for name in self.names])

    @property
    def covariance(self) -> Array:
        """Covariance of the variables, (d, d)."""
        found = np.diag(to_numpy(self.variance).astype(np.float64))
        for i in range(self.dim):
            for j in range(i):
                found[i, j] = found[j, i] = float(self.marginal([i, j]).covariance[0, 1])
        return self._numbers(found)

    @property
    def mode(self) -> Array:
        """See `Distribution.mode`: the most probable explanation, as an event."""
        found = self.most_probable()
        values = [level_values(levels)[levels.index(found[name])] for name, levels in self.axes]
        return self._numbers(list(map(float, values)))

    def entropy(self) -> Array:
        """See `Distribution.entropy`: -Σ E[log p(x_j | parents)], by the chain rule."""
        return self._numbers(self.log_evidence - self._expected_log(self))

    def _expected_log(self, other: "BayesianNetwork") -> float:
        """Return E[log q(x, evidence of q)] under this distribution, q another of the same variables."""
        total = 0.0
        for factor in other._factors:  # noqa: SLF001
            values = to_numpy(factor.values).astype(np.float64)
            p = to_numpy(self.marginal(factor.names)._mass) if factor.names else np.ones(())  # noqa: SLF001
            with np.errstate(divide="ignore"):
                total += float(np.sum(p[p > 0] * np.log(values[p > 0])))
        return total

    def _divergence(self, other: "BayesianNetwork") -> Array:
        if dict(other.axes) != dict(self.axes):
            raise ValueError(f"other must have the variables {', '.join(self.names)} with the same levels")
        cross = self._expected_log(other) - other.log_evidence
        found = self.log_evidence - self._expected_log(self)
        return self._numbers(max(-found - cross, 0.0))

    # Labels

    def encode(self, rows: Any) -> Array:
        """Return rows of labels, in a frame, a mapping of columns or an array (n, d), as events."""
        return encoded(self.axes, rows)

    def decode(self, x: Any) -> np.ndarray:
        """Return events (..., d) as an array of their labels."""
        return decoded(self.axes, to_numpy(self._rows(x)))

    def _rows(self, x: Any) -> Array:
        return self._event(self.encode(x) if is_labelled(x) else x, like=self._like)


def _others(factors: Iterable[Factor], keep: Sequence[str]) -> list[str]:
    """Return the variables of factors but for some, each once."""
    names = dict.fromkeys(name for factor in factors for name in factor.names)
    return [name for name in names if name not in set(keep)]


def families_of(tables: Sequence[ProbabilityTable]) -> tuple[Families, np.ndarray]:
    """Return the tables of a network as one vector of cells."""
    position = {table.names[0]: j for j, table in enumerate(tables)}
    families = Families(
        parents=tuple(tuple(position[name] for name, _ in table.given) for table in tables),
        sizes=tuple(len(table.axes[0][1]) for table in tables),
    )
    return families, np.concatenate([to_numpy(t._mass).astype(np.float64).ravel() for t in tables])  # noqa: SLF001


def _cumulative(name: str, factor: Factor) -> tuple[str, np.ndarray, tuple[str, ...]]:
    others = tuple(other for other in factor.names if other != name)
    values = to_numpy(factor.transpose([*others, name]).values).astype(np.float64)
    return name, np.cumsum(values, axis=-1), others


def _checked_tables(tables: Any) -> tuple[ProbabilityTable, ...]:
    found = tuple(tables) if isinstance(tables, Iterable) else ()
    wrong = [table for table in found if not isinstance(table, ProbabilityTable) or table.dim != 1]
    if wrong or not found:
        raise ValueError("tables must be tables p(x | parents) of one variable each, at least one")
    axes = {table.names[0]: table.axes[0] for table in found}
    if len(axes) < len(found):
        names = [table.names[0] for table in found]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"tables must have one for each variable, and {twice!r} has several")
    for table in found:
        if table.batch_shape and not table.given:
            raise ValueError(f"tables must not be batches: {table.names[0]!r} is one")
        for name, levels in table.given:
            if name not in axes:
                raise ValueError(f"tables must have one of {name!r}, on which {table.names[0]!r} depends")
            if axes[name][1] != levels:
                raise ValueError(
                    f"tables must agree on levels: {name!r} has {axes[name][1]!r:.60} and, where "
                    f"{table.names[0]!r} depends on it, {levels!r:.60}"
                )
    return found
