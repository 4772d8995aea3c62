"""EM for latent trees: expected counts of cells and of links, and where the search begins."""

from functools import cached_property
from operator import add
from typing import Any

import numpy as np

from tractable.arrays.log_space import softmax
from tractable.base import Rows
from tractable.columns import CategoryPrior, Responsibilities
from tractable.data import Batch, Prepared, as_source
from tractable.density.latent_tree.model import CellEncoding, CodedCells, TreeParameters
from tractable.distributions.independent_columns import Categories
from tractable.distributions.latent_tree import downward, downward_order, upward
from tractable.engines.chow_liu import corrected_information, spanning_tree
from tractable.engines.em import EMProblem
from tractable.value import replace, value

#: Rows of a block of the E-step: the messages of a block stay in the cache.
BLOCK = 1024

#: Pseudo-rows of each state: of the marginal, of links, and of the marginal tilted to the state's moments.
FLAT, LINK, TILTED = 0.3, 0.3, 30.0

#: Variances of a state, in normal scores of the column, are within these.
NARROW, WIDE = 0.02, 1.5

#: Steps of the latent class models that the search begins at.
CLASS_STEPS = 10


@value
class TreeSums:
    """Expected counts of the states of rows, the log likelihood, and the log prior."""

    leaves: tuple[Any, ...]  # `Counts` (H, C_j) of the cells of each column
    links: np.ndarray  # (m, H, H), of pairs of states; of the root in the first row
    log_likelihood: float
    penalty: float
    params: TreeParameters  # of the E-step

    @property
    def objective(self) -> float:
        """The penalised log likelihood."""
        return self.log_likelihood + self.penalty

    def __add__(self, other: "TreeSums") -> "TreeSums":
        """Add the counts of two blocks at the same parameters; the log prior counts once."""
        return replace(
            self,
            leaves=tuple(map(add, self.leaves, other.leaves)),
            links=self.links + other.links,
            log_likelihood=self.log_likelihood + other.log_likelihood,
        )


@value
class TreeExpectation:
    """The E-step at some parameters: called with a block of cells, it returns `TreeSums`."""

    encoding: CellEncoding
    parents: tuple[int, ...]
    params: TreeParameters
    penalty: float

    @cached_property
    def tables(self) -> list[np.ndarray]:
        """p(cell | z) with the cells first, and 1 of a missing entry last, (C_j + 1, H)."""
        return [np.append(p.T, np.ones((1, len(p))), axis=0) for p in self.params.leaves]

    def __call__(self, block: CodedCells) -> TreeSums:
        """Return the expected counts of a block of rows."""
        params, parents, order = self.params, self.parents, downward_order(self.parents)
        likelihoods = [table[codes] for table, codes in zip(self.tables, block.codes.T, strict=True)]
        below, message, log_p = upward(params.links, parents, order, likelihoods)
        known, outside = downward(params.links, parents, order, below, message)
        w = None if block.weights is None else block.weights[:, None]
        links, leaves = np.zeros_like(params.links), []
        for j, family in enumerate(self.encoding.families):
            weighted = Responsibilities.of(known[j], block.weights)
            leaves.append(family.summarize(block.indicators[j], weighted))
            if parents[j] < 0:
                links[j, 0] = weighted.total
            else:
                links[j] = (outside[j] if w is None else outside[j] * w).T @ below[j] * params.links[j]
        total = float(log_p.sum() if block.weights is None else log_p @ block.weights)
        return TreeSums(
            leaves=tuple(leaves),
            links=links,
            log_likelihood=total + block.log_base,
            penalty=self.penalty,
            params=params,
        )


@value
class TreeProblem(EMProblem):
    """EM for a latent tree over the cells of columns; see `tractable.base.EMEstimator`.

    Pseudo-counts of cells, and `LINK` of the states of a child for each state of its parent, are Dirichlet
    priors. They are in the objective, which both steps increase.
    """

    rows: Rows | None  # None for an M-step alone
    encoding: CellEncoding
    parents: tuple[int, ...]
    n_states: int
    marginals: tuple[np.ndarray, ...]  # (C_j,), of the cells of each column
    total: float = 0.0  # weight of the rows with an observed entry
    unseen: float = 0.0  # weight of the others

    @cached_property
    def data(self) -> Prepared:
        """The encoded rows."""
        assert self.rows is not None
        return as_source(self.rows.data, None, self.rows.weights).prepare(self.encoding, rows=BLOCK)

    def initial(self, rng: np.random.Generator) -> TreeParameters:
        """Return the start at one latent class model of whole rows."""
        return self.started("row", rng)

    def expect(self, params: TreeParameters) -> TreeExpectation:
        """Return the E-step at these parameters."""
        penalty = LINK / self.n_states * _log(params.links).sum()
        for p, prior in zip(params.leaves, params.pseudocounts, strict=True):
            penalty += float((prior * _log(p)).sum())
        return TreeExpectation(
            encoding=self.encoding, parents=self.parents, params=params, penalty=float(penalty)
        )

    def maximize(self, sums: TreeSums) -> TreeParameters:
        """Return the relative frequencies of the expected counts, with pseudo-counts."""
        before, leaves = sums.params, []
        for j, (family, counts) in enumerate(zip(self.encoding.families, sums.leaves, strict=True)):
            prior = CategoryPrior(
                sizes=self.encoding.sizes[[j]],
                pseudocounts=before.pseudocounts[j],
                otherwise=self.marginals[j][None],
            )
            leaves.append(family.estimate(counts, prior)["probabilities"])
        links = sums.links + LINK / self.n_states
        root = self.parents.index(-1)
        links[root] = sums.links[root, 0] + LINK
        return replace(before, links=links / links.sum(axis=-1, keepdims=True), leaves=tuple(leaves))

    def tilted(self, sums: TreeSums) -> TreeParameters:
        """Return the M-step under priors that are tilted to the moments of each state.

        In normal scores t of a column of numbers the tilted marginal q(t) ∝ g(t) exp(t m/v + t² (1 - 1/v)/2)
        of a state with the mean m and the variance v is N(m, v) if g is normal, and keeps the heaps of g.
        """
        priors = []
        for own, counts, g in zip(self.encoding.cells, sums.leaves, self.marginals, strict=True):
            prior, t = np.repeat(FLAT * g[None], self.n_states, axis=0), own.scores(g)
            if t is not None:
                n = counts.counts.sum(axis=1) + 2.0
                m = counts.counts @ t / n
                v = np.clip((counts.counts @ (t * t) + 1.0) / n - m * m, NARROW, WIDE)
                log_q = np.log(g) + np.outer(m / v, t) + 0.5 * np.outer(1.0 - 1.0 / v, t * t)
                prior += TILTED * softmax(log_q)
            priors.append(prior)
        return self.maximize(replace(sums, params=replace(sums.params, pseudocounts=tuple(priors))))

    # Where the search begins

    def started(self, start: str, rng: np.random.Generator) -> TreeParameters:
        """Return the M-step from latent class models: of whole rows, or of each column and its neighbours."""
        assert self.rows is not None
        x, weights = self.rows.data, self.rows.weights
        block = self.encoding(Batch(X=np.asarray(x), weights=weights))
        if start == "row":
            states = [self._classes(block, list(range(len(self.parents))), rng)] * len(self.parents)
        else:
            near = [
                [j, *([p] if p >= 0 else []), *_children(self.parents, j)] for j, p in enumerate(self.parents)
            ]
            states = [self._classes(block, some, rng) for some in near]
        links, leaves = np.zeros((len(self.parents), self.n_states, self.n_states)), []
        w = None if block.weights is None else block.weights[:, None]
        for j, (p, r) in enumerate(zip(self.parents, states, strict=True)):
            weighted = Responsibilities.of(r, block.weights)
            leaves.append(self.encoding.families[j].summarize(block.indicators[j], weighted))
            if p < 0:
                links[j, 0] = weighted.total
            else:
                links[j] = states[p].T @ (r if w is None else r * w)
            if start == "row" and p >= 0:  # a tenth of the rows at random links lets columns part
                links[j] += 0.1 * links[j].sum() / links[j].size * rng.random(links[j].shape)
        flat = tuple(np.repeat(FLAT * g[None], self.n_states, axis=0) for g in self.marginals)
        empty = TreeParameters(links=links, leaves=(), pseudocounts=flat)
        sums = TreeSums(leaves=tuple(leaves), links=links, log_likelihood=0.0, penalty=0.0, params=empty)
        return self.tilted(sums)

    def _classes(self, block: CodedCells, some: list[int], rng: np.random.Generator) -> np.ndarray:
        """Return responsibilities (n, H) of a latent class model of some columns."""
        from scipy.sparse import hstack

        H = self.n_states
        x = hstack([block.indicators[j] for j in some], format="csr")
        marginal = np.concatenate([self.marginals[j] for j in some])
        categories = Categories(sizes=self.encoding.sizes[some])
        kinds = np.unique(block.codes[:, some], axis=0, return_index=True)[1]  # rows of a weight are one
        seeds = x[kinds[rng.choice(len(kinds), H, replace=len(kinds) < H)]].toarray()
        p = categories.probabilities(4.0 * marginal + 2.0 * seeds, marginal[None])
        size = np.full(H, 1.0 / H)
        for step in range(CLASS_STEPS + 1):
            r = softmax(x @ np.log(p).T + np.log(size))
            if step < CLASS_STEPS:
                weighted = Responsibilities.of(r, block.weights)
                p = categories.probabilities(weighted.indicator_sums(x) + marginal, marginal[None])
                size = (weighted.total + 0.1) / (weighted.total + 0.1).sum()
        return r


def tree_over(encoding: CellEncoding, block: CodedCells) -> tuple[int, ...]:
    """Return the parent of each column in the tree of greatest mutual information, less its bias.

    The root is the column with the most information about all others.
    """
    d = len(encoding.cells)
    found = np.zeros((d, d))
    for i, j in zip(*np.triu_indices(d, 1), strict=True):
        found[i, j] = found[j, i] = corrected_information(block.codes[:, i], block.codes[:, j], block.weights)
    return tuple(spanning_tree(found, int(found.sum(axis=1).argmax())))


def marginals_of(encoding: CellEncoding, block: CodedCells) -> tuple[np.ndarray, ...]:
    """Return the probabilities of the cells of each column, each with half a row spread over all."""
    found = []
    for codes, size in zip(block.codes.T, encoding.sizes.tolist(), strict=True):
        seen = codes >= 0
        counts = np.bincount(codes[seen], None if block.weights is None else block.weights[seen], size)
        found.append((counts + 0.5 / size) / (counts + 0.5 / size).sum())
    return tuple(found)


def _children(parents: tuple[int, ...], j: int) -> list[int]:
    return [k for k, p in enumerate(parents) if p == j]


def _log(x: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(x, np.finfo(np.float64).tiny))
