"""Latent trees: columns that depend on each other through hidden states on a tree."""
# ruff: noqa: SLF001  (functions of the module are the class's own)

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.devices import beside, on_host
from tractable.arrays.namespace import Array, freeze, is_numpy_array, namespace_of
from tractable.arrays.random import either_seed_name
from tractable.data.blocks import map_rows
from tractable.distributions.checks import check_nonnegative
from tractable.distributions.discrete.categorical import Categorical
from tractable.distributions.distribution import Distribution, broadcast_batches
from tractable.distributions.histogram import HistogramDensity
from tractable.distributions.mixture import Mixture, log_ratio
from tractable.distributions.probabilities import over_batch
from tractable.distributions.vectors import VectorDistribution, as_names
from tractable.value import replace, set_fields, value

#: Draws of which entropies and divergences are averages, unless told otherwise.
N_DRAWS = 2**14

#: Sweeps over the columns in the search of a mode, at most, and its starts.
MAX_SWEEPS, N_STARTS = 50, 8


@value
class LatentTree(VectorDistribution):
    """A latent tree: p(x) = Σ_z p(z_root) Π_j p(z_j | z_parent(j)) Π_i p(x_i | z_node(i)).

    Every node of the tree is a hidden variable with H states. A column depends on the state of its node
    alone, so sums over states are exact, by messages along the tree (Pearl 1988), in time O(m H²) for m
    nodes. A missing entry (NaN) is integrated out.

    Parameters
    ----------
    parents : sequence of int
        The parent of each of m nodes; -1 of the root.
    transitions : array (m, H, H)
        p(z_j = b | z_parent(j) = a) in row a and column b; of the root, p(z) in every row.
    leaves : sequence of Distribution
        p(x_i | z) of each column, a batch of H distributions of numbers.
    nodes : sequence of int, optional
        The node of each column; column i has node i when not given.
    evidence : array (*batch, m, H), optional
        Likelihoods of the states of each node, of what is given: `condition` multiplies them.
    names : sequence of str, optional
        What the columns are called.

    Examples
    --------
    >>> from tractable import Categorical, Normal
    >>> states = [[[0.5, 0.5], [0.5, 0.5]], [[0.9, 0.1], [0.1, 0.9]]]
    >>> pet = Categorical(probabilities=[[0.8, 0.2], [0.3, 0.7]])
    >>> age = Normal(mean=[2.0, 9.0], variance=[1.0, 4.0])
    >>> d = LatentTree(parents=[-1, 0], transitions=states, leaves=[pet, age], names=["pet", "age"])
    >>> d.mean, d.condition({"pet": 1}).mean.round(3)
    (array([0.45, 5.5 ]), array([7.056]))
    """

    parameter_ndims: ClassVar = {"evidence": 2}

    parents: tuple[int, ...]
    transitions: np.ndarray
    leaves: tuple[Any, ...]
    nodes: tuple[int, ...]
    evidence: Array
    names: tuple[str, ...] | None

    def __init__(
        self,
        *,
        parents: Sequence[int],
        transitions: Any,
        leaves: Sequence[Any],
        nodes: Sequence[int] | None = None,
        evidence: Any = None,
        names: Iterable[str] | None = None,
    ) -> None:
        transitions = as_reals("transitions", transitions)
        parents, leaves, m = tuple(map(int, parents)), tuple(leaves), len(parents)
        if transitions.ndim != 3 or transitions.shape[0] != m or transitions.shape[1] != transitions.shape[2]:
            raise ValueError(
                f"transitions must have shape ({m}, H, H), one matrix for each of {m} parents, "
                f"got {tuple(transitions.shape)}"
            )
        check_nonnegative("transitions", transitions)
        xp = namespace_of(transitions)
        if not bool(xp.max(xp.abs(xp.sum(transitions, axis=-1) - 1.0)) <= 1e-6):
            raise ValueError("transitions must have rows that sum to 1")
        H = transitions.shape[-1]
        _check_tree(parents)
        nodes = tuple(range(len(leaves))) if nodes is None else tuple(map(int, nodes))
        if not leaves or len(nodes) != len(leaves) or not all(0 <= j < m for j in nodes):
            raise ValueError(f"nodes must be one of 0 to {m - 1} for each of the leaves, got {nodes}")
        for leaf in leaves:
            if not isinstance(leaf, Distribution) or leaf.batch_shape != (H,) or leaf.event_shape:
                raise ValueError(f"leaves must be distributions of numbers, of batch {H}, got {leaf!r:.80}")
        evidence = xp.ones_like(transitions[:, 0, :]) if evidence is None else as_reals("evidence", evidence)
        if evidence.shape[-2:] != (m, H):
            raise ValueError(f"evidence must have shape (*batch, {m}, {H}), got {evidence.shape}")
        check_nonnegative("evidence", evidence)
        set_fields(
            self,
            parents=parents,
            transitions=freeze(transitions),
            leaves=leaves,
            nodes=nodes,
            evidence=freeze(evidence),
            names=as_names(names, len(leaves)),
        )

    @property
    def dim(self) -> int:
        return len(self.leaves)

    @property
    def n_states(self) -> int:
        """H."""
        return int(self.transitions.shape[-1])

    @property
    def discrete(self) -> bool:  # type: ignore[override]
        """Whether the events of all columns are counted."""
        return all(leaf.discrete for leaf in self.leaves)

    @property
    def support(self) -> tuple[Any, Any] | None:
        """See `Distribution.support`: from the least of the leaves' to the greatest."""
        ends = [[np.broadcast_to(end, (self.n_states,)) for end in leaf.support] for leaf in self.leaves]
        low, high = (np.stack([end[i] for end in ends], axis=-1) for i in (0, 1))
        return low.min(axis=0), high.max(axis=0)

    # Messages

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The nodes, every parent before its children."""
        return downward_order(self.parents)

    def log_prob(self, x: Any) -> Array:
        x = self._event(x)
        one = not self.batch_shape and x.ndim == 2 and is_numpy_array(x)
        return map_rows(self._log_prob, x) if one else self._log_prob(x)

    def _log_prob(self, x: Array) -> Array:
        likelihoods, scale = self._likelihoods(x)
        return self._upward(likelihoods)[2] + scale - self._log_evidence

    @cached_property
    def _log_evidence(self) -> Array:
        """Log probability of what is given, (*batch,)."""
        return self._upward(self._evidence)[2]

    @property
    def _evidence(self) -> list[Array]:
        """Likelihoods of the states of each node, of what is given."""
        return [self.evidence[..., j, :] for j in range(len(self.parents))]

    def _upward(self, likelihoods: list[Array]) -> tuple[list[Array], list[Array], Array]:
        return upward(self.transitions, self.parents, self.order, likelihoods)

    def _likelihoods(self, x: Array) -> tuple[list[Array], Array]:
        """Return likelihoods of the states of each node, (*samples, *batch, H), and their log scale."""
        xp, found = namespace_of(x), self._evidence
        scale = xp.zeros_like(x[..., 0])
        for i, (leaf, j) in enumerate(zip(self.leaves, self.nodes, strict=True)):
            entry = x[..., i, None]
            log_p = leaf.log_prob(entry)
            log_p = xp.where(xp.isnan(entry), xp.zeros_like(log_p), log_p)
            top = xp.max(log_p, axis=-1)
            top = xp.where(top > -xp.inf, top, xp.zeros_like(top))
            found[j] = found[j] * xp.exp(log_p - top[..., None])
            scale = scale + top
        return found, scale

    # Moments; those of parameters on a device are found on the host

    @cached_property
    def _host(self) -> Any:
        return on_host(self)

    def _beside(self, x: Any) -> Array:
        """Return results in the library and the precision of the parameters."""
        like = self._host.transitions.dtype
        return beside(np.asarray(x).astype(like, copy=False), self.transitions)

    @cached_property
    def state_probabilities(self) -> Array:
        """p(z_j | what is given) of every node, (*batch, m, H)."""
        return self._beside(np.stack(self._host._known, axis=-2))

    @cached_property
    def _known(self) -> list[np.ndarray]:
        below, message, _ = self._upward(self._evidence)
        return downward(self.transitions, self.parents, self.order, below, message)[0]

    @cached_property
    def _leaf_means(self) -> np.ndarray:
        """The mean of each column in each state, (d, H)."""
        return np.stack([np.asarray(leaf.mean, dtype=np.float64) for leaf in self.leaves])

    @property
    def _leaf_states(self) -> np.ndarray:
        """p(z | what is given) of the node of each column, (*batch, d, H)."""
        return np.stack([self._known[j] for j in self.nodes], axis=-2)

    @property
    def mean(self) -> Array:
        host = self._host
        return self._beside(np.sum(host._leaf_states * host._leaf_means, axis=-1))

    @property
    def variance(self) -> Array:
        """The law of total variance: the mean of the variances, and the variance of the means."""
        host = self._host
        variances = np.stack([np.asarray(leaf.variance, dtype=np.float64) for leaf in host.leaves])
        step = host._leaf_means - np.asarray(host.mean, dtype=np.float64)[..., None]
        return self._beside(np.sum(host._leaf_states * (variances + step * step), axis=-1))

    @property
    def covariance(self) -> Array:
        """Covariance of the columns, (*batch, d, d): of means given the state where their paths meet."""
        return self._beside(_covariance(self._host))

    @cached_property
    def mode(self) -> Array:
        """A point of great density, by search: the greatest is intractable in general.

        It begins at the mode of each column given its most probable state, all states taken together
        (Viterbi) with each state of the root, and goes from column to column: each takes its mode given all
        other columns, until nothing changes.
        """
        host = self._host
        return self._beside(over_batch(_searched_mode, host.batch_shape, host, shape=host.event_shape))

    # Parts

    def marginal(self, dims: Any) -> "LatentTree":
        """Return p(x_dims): positions, names or a slice, in the order given."""
        keep = self._resolved(dims)
        if not keep:
            raise ValueError("dims must name at least one column")
        leaves, nodes = (tuple(each[i] for i in keep) for each in (self.leaves, self.nodes))
        return replace(self, leaves=leaves, nodes=nodes, names=self._named(keep))

    def condition(self, dims: Any, values: Any = None) -> "LatentTree":
        """Return p(x_rest | x_dims = values): the same tree, with likelihoods of the states of its nodes.

        Arguments as of `MultivariateNormal.condition`. NaN says nothing; values that no state explains are
        left out.
        """
        given, rest, values = self._given(dims, values, self.transitions, missing=True)
        if not rest:
            raise ValueError("dims must leave at least one column free")
        kept = self.marginal(rest)
        if not given:
            return kept
        xp = namespace_of(self.transitions)
        batch = broadcast_batches(self=self.batch_shape, values=tuple(values.shape[:-1]))
        likelihoods, _ = self.marginal(given)._likelihoods(values)
        log_p = self._upward(likelihoods)[2]
        shape = (*batch, self.n_states)
        found = xp.stack([xp.broadcast_to(x, shape) for x in likelihoods], axis=-2)
        found = found / _positive(xp.max(found, axis=-1, keepdims=True))
        explained = xp.broadcast_to(log_p > -xp.inf, batch)[..., None, None]
        return replace(kept, evidence=xp.where(explained, found, xp.broadcast_to(self.evidence, found.shape)))

    def _one_column(self) -> Any:
        weights = self._host._leaf_states[..., 0, :]
        weights = weights / weights.sum(axis=-1, keepdims=True)
        return Mixture(weights=self._beside(weights), components=self.leaves[0])

    def _sample(self, n: int, rng: Any) -> Array:
        return self._beside(_drawn(self._host, n, rng))

    @either_seed_name
    def entropy(self, *, n_samples: int = N_DRAWS, rng: Any = 0) -> Array:
        """See `Distribution.entropy`: the average of -log p over draws; one seed gives one answer."""

        def averaged(p: Any) -> Array:
            return -p.log_prob(p.sample(n_samples, rng=rng)).mean(axis=0)

        return self._beside(over_batch(averaged, self.batch_shape, self._host))

    @either_seed_name
    def kl_divergence(self, other: Any, *, n_samples: int = N_DRAWS, rng: Any = 0) -> Array:
        """See `Distribution.kl_divergence`: an average over draws, of any distribution of the same events.

        Parameters
        ----------
        other : Distribution
            The distribution that is compared.
        n_samples, rng
            How many draws; where randomness comes from.
        """
        self._check_events(other)

        def averaged(p: Any, q: Any) -> Array:
            return log_ratio(p, q, p.sample(n_samples, rng=rng)).mean(axis=0)

        batch = broadcast_batches(self=self.batch_shape, other=other.batch_shape)
        found = over_batch(averaged, batch, self._host, on_host(other))
        return self._beside(np.maximum(found, 0.0))


def _searched_mode(d: LatentTree) -> np.ndarray:
    """Return the mode that the search finds, (d,), of one tree."""
    modes = np.stack([np.broadcast_to(leaf.mode, (d.n_states,)) for leaf in d.leaves])
    starts = []
    for state in range(d.n_states):
        fixed = np.array(d.evidence)
        fixed[d.order[0]] *= np.arange(d.n_states) == state
        states = most_probable_states(d.transitions, d.parents, d.order, fixed)
        starts.append(modes[np.arange(d.dim), states[list(d.nodes)]])
    points = np.unique(np.stack(starts), axis=0)
    points = points[np.argsort(-d.log_prob(points), kind="stable")[:N_STARTS]]
    found = [_climbed(d, x) for x in points]
    return max(found, key=lambda x: float(d.log_prob(x)))


def _climbed(d: LatentTree, x: np.ndarray) -> np.ndarray:
    """Return where coordinate ascent from a point ends."""
    best = float(d.log_prob(x))
    for _ in range(MAX_SWEEPS):
        before = best
        for i in range(d.dim):
            rest = [k for k in range(d.dim) if k != i]
            own = d.condition(rest, x[rest]) if rest else d
            tried = np.array(x)
            tried[i] = _column_mode(own.as_univariate())
            score = float(d.log_prob(tried))
            if score > best:
                x, best = tried, score
        if best <= before + 1e-12 * abs(before):
            break
    return x


def _column_mode(d: Mixture) -> float:
    """Return the mode of one column: of categories and of histograms, the best entry of an average."""
    leaf = d.components
    if isinstance(leaf, Categorical):
        return float((d.weights @ leaf.probabilities).argmax())
    if isinstance(leaf, HistogramDensity):
        return float(HistogramDensity(edges=leaf.edges, counts=d.weights @ leaf.probabilities).mode)
    return float(d.mode)


def downward_order(parents: Sequence[int]) -> tuple[int, ...]:
    """Return the nodes of a tree, every parent before its children.

    Examples
    --------
    >>> downward_order([1, -1, 0])
    (1, 0, 2)
    """
    children: list[list[int]] = [[] for _ in parents]
    for j, p in enumerate(parents):
        if p >= 0:
            children[p].append(j)
    found = [j for j, p in enumerate(parents) if p < 0]
    for j in found:
        found.extend(children[j])
    return tuple(found)


def upward(
    transitions: Array, parents: Sequence[int], order: Sequence[int], likelihoods: Sequence[Array]
) -> tuple[list[Array], list[Array], Array]:
    """Pass messages to the root: what the likelihoods below each node say of its states.

    Parameters
    ----------
    transitions : array (m, H, H)
        See `LatentTree`.
    parents, order : sequences of int
        The parents of the nodes, and the nodes with every parent before its children.
    likelihoods : sequence of m arrays (..., H)
        Of the states of each node, of the node's own evidence.

    Returns
    -------
    below : list of m arrays (..., H)
        p(evidence below | z_j), each scaled to a largest entry of 1.
    message : list of m arrays (..., H)
        The same given the state of the parent, Σ_b p(z_j = b | z_p) below_b.
    log_p : array (...)
        Log probability of the evidence.
    """
    xp = namespace_of(transitions)
    below, message, log_p = list(likelihoods), list(likelihoods), 0.0
    for j in reversed(order):
        top = xp.max(below[j], axis=-1)
        below[j] = below[j] / _positive(top)[..., None]
        message[j] = below[j] @ transitions[j, ...].T
        with np.errstate(divide="ignore"):
            log_p = log_p + xp.log(top)
            if parents[j] < 0:
                log_p = log_p + xp.log(message[j][..., 0])
        if parents[j] >= 0:
            below[parents[j]] = below[parents[j]] * message[j]
    return below, message, log_p


def downward(
    transitions: np.ndarray,
    parents: Sequence[int],
    order: Sequence[int],
    below: Sequence[np.ndarray],
    message: Sequence[np.ndarray],
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Pass messages from the root, after `upward`.

    Returns
    -------
    known : list of m arrays (..., H)
        p(z_j | all evidence).
    outside : list of m arrays (..., H)
        p(z_parent | all evidence) over the node's message: with `below` and the transitions it gives the
        probabilities of pairs, p(z_p, z_j | evidence) = outside_p p(z_j | z_p) below_j. Of the root, its own.
    """
    known, outside = list(below), list(below)
    for j in order:
        p = parents[j]
        if p >= 0:
            outside[j] = known[p] / _positive(message[j])
        q = below[j] * (outside[j] @ transitions[j] if p >= 0 else transitions[j][0])
        known[j] = q / _positive(q.sum(axis=-1, keepdims=True))
    return known, outside


def _covariance(d: LatentTree) -> np.ndarray:
    """Return the covariance of the columns, (*batch, d, d)."""
    below, message, _ = d._upward(d._evidence)
    center = np.asarray(d.mean, dtype=np.float64)
    found = np.zeros((*d.batch_shape, d.dim, d.dim))
    found[..., np.arange(d.dim), np.arange(d.dim)] = d.variance
    steps: list[dict[int, np.ndarray]] = [{} for _ in d.parents]  # E[x_i | z_j] - E[x_i] of columns below j

    def meet(j: int, more: dict[int, np.ndarray]) -> None:
        for i, mine in more.items():
            for k, theirs in steps[j].items():
                found[..., i, k] = found[..., k, i] = np.sum(d._known[j] * mine * theirs, axis=-1)
        steps[j].update(more)

    for i, j in enumerate(d.nodes):
        meet(j, {i: d._leaf_means[i] - center[..., i, None]})
    for j in reversed(d.order):
        if d.parents[j] >= 0:
            onward = d.transitions[j] * below[j][..., None, :] / _positive(message[j])[..., None]
            meet(d.parents[j], {i: (onward @ step[..., None])[..., 0] for i, step in steps[j].items()})
    return found


def _drawn(d: LatentTree, n: int, rng: Any) -> np.ndarray:
    """Draw states from the root on, then the columns, (n, *batch, d)."""
    shape = (n, *d.batch_shape)
    below, _, _ = d._upward(d._evidence)
    states = [np.zeros(shape, dtype=np.int64)] * len(d.parents)
    for j in d.order:
        above = states[d.parents[j]] if d.parents[j] >= 0 else np.zeros(shape, dtype=np.int64)
        edges = np.cumsum(d.transitions[j][above] * below[j], axis=-1)
        drawn = rng.random((*shape, 1)) * edges[..., -1:]
        states[j] = np.minimum((drawn >= edges).sum(axis=-1), d.n_states - 1)
    x = np.zeros((*shape, d.dim))
    for i, (leaf, j) in enumerate(zip(d.leaves, d.nodes, strict=True)):
        for k in np.unique(states[j]):
            own = states[j] == k
            x[own, i] = leaf[int(k)].sample(int(own.sum()), rng=rng)
    return x


def most_probable_states(
    transitions: np.ndarray, parents: Sequence[int], order: Sequence[int], likelihood: np.ndarray
) -> np.ndarray:
    """Return the most probable states of all nodes together (Viterbi), (..., m); see `upward`."""
    with np.errstate(divide="ignore"):
        best, links = np.log(likelihood), np.log(transitions)
    choice = np.zeros(likelihood.shape, dtype=np.int64)  # of each node, by the state of its parent
    for j in reversed(order):
        each = links[j] + best[..., j, None, :]
        choice[..., j, :] = each.argmax(axis=-1)
        if parents[j] >= 0:
            best[..., parents[j], :] += each.max(axis=-1)
    states = np.zeros(likelihood.shape[:-1], dtype=np.int64)
    for j in order:
        above = states[..., parents[j], None] if parents[j] >= 0 else np.zeros_like(states[..., :1])
        states[..., j] = np.take_along_axis(choice[..., j, :], above, axis=-1)[..., 0]
    return states


def _positive(x: Array) -> Array:
    xp = namespace_of(x)
    return xp.where(x > 0, x, xp.ones_like(x))


def _check_tree(parents: tuple[int, ...]) -> None:
    roots = [j for j, p in enumerate(parents) if p < 0]
    inside = all(-1 <= p < len(parents) for p in parents)
    if len(roots) != 1 or not inside or len(downward_order(parents)) != len(parents):
        raise ValueError(f"parents must be those of a tree, -1 of its root alone, got {parents!r:.80}")
