"""Initial parameters of many Gaussian mixtures of one shape at once.

The components of all mixtures are the rows of one matrix, so that a step of all of them is two matrix
products and sums over ranges of rows: as few calls as a step of one. On a few thousand rows the calls are
what a step costs.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tractable.arrays.log_space import LOG_2PI
from tractable.covariance import Full
from tractable.covariance.shapes import FullShape, collapsed_components, compact_form
from tractable.engines.kmeans import INITIAL_ROWS, initial_rows
from tractable.mixture.gaussian.model import (
    GaussianParameters,
    GaussianSums,
    destandardize,
)
from tractable.mixture.gaussian.steps import WIDE, GaussianProblem, natural_parameters
from tractable.primitives.em import LINEAR, PRODUCTS, SQUARES, packed, unpacked
from tractable.primitives.kmeans import kmeans_plus_plus, n_trials
from tractable.statistics.rows import counts
from tractable.value import replace, value

#: Steps of k-means before EM. After few, the starts differ more, and the best of them is better.
LLOYD_STEPS = 3

#: Entries of a matrix of responsibilities: of more, fewer mixtures take their steps together.
ENTRIES = 2**20


@value
class Layout:
    """Where the components of mixtures lie in a list: mixture g has `sizes[g]` of them."""

    sizes: np.ndarray  # (G,)

    @property
    def begins(self) -> np.ndarray:
        """The first component of each mixture."""
        return np.cumsum(self.sizes) - self.sizes

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Return a value of each mixture for each of its components."""
        return np.repeat(values, self.sizes, axis=0)


@value
class Start:
    """Where a short run ended."""

    objective: float  # the penalised log-likelihood
    regular: bool  # whether no component has collapsed
    params: GaussianParameters

    @property
    def merit(self) -> tuple[bool, float]:
        """What the best has most of: the objective has no bound where a component collapses."""
        return self.regular, self.objective


def best_starts(
    problem: GaussianProblem,
    numbers: list[int],
    n_init: int,
    rng: np.random.Generator,
    *,
    tol: float,
    max_iter: int,
) -> dict[int, GaussianParameters]:
    """Return initial parameters of mixtures of so many components: the best of `n_init` short runs of EM.

    A run begins at the clusters that few steps of k-means find from k-means++ seeds, greedy and plain by
    turns; of one start, mixtures of fewer components have the first of the seeds. It ends when a step raises
    the mean log-likelihood of a row by less than `tol`. Missing entries are taken at the mean of their
    column, and 16,384 rows at most take part: this finds a start, and EM then looks at all rows.

    Parameters
    ----------
    problem : GaussianProblem
        Of complete covariance shapes (not "low_rank"), without a prior; its `n_components` is not used.
    numbers : list of int
        Numbers of components.
    n_init : int
        Runs of each.
    rng : numpy.random.Generator
        Where the seeds come from.
    tol : float
        Growth of the mean log-likelihood at which a run ends.
    max_iter : int
        Most steps of a run.
    """
    most = max(numbers)
    z, weights = initial_rows(problem.source, problem.standardizer, most, rng)
    trials = [1 if start % 2 else n_trials(most) for start in range(n_init)]  # none is best on every table
    seeds = [kmeans_plus_plus(z, weights, most, rng.random((most, tried))) for tried in trials]
    runs = [(number, seed[:number]) for number in numbers for seed in seeds]
    runner = ShortRuns(problem=problem, z=z, weights=counts(weights, z), tol=tol, max_iter=max_iter)
    best: dict[int, Start] = {}
    for number, found in runner.ends(runs):
        if number not in best or found.merit > best[number].merit:
            best[number] = found
    return {number: start.params for number, start in best.items()}


@value
class ShortRuns:
    """K-means and a few steps of EM of several mixtures, side by side, on standardized rows."""

    problem: GaussianProblem
    z: np.ndarray  # (n, d)
    weights: np.ndarray  # (n,)
    tol: float
    max_iter: int

    def ends(self, runs: list[tuple[int, np.ndarray]]) -> Iterator[tuple[int, Start]]:
        """Yield the number of components of each run and where it ends, given those and the rows of seeds."""
        at_once = max(1, ENTRIES // (len(self.z) * max((number for number, _ in runs), default=1)))
        for first in range(0, len(runs), at_once):
            some = runs[first : first + at_once]
            layout = Layout(sizes=np.array([number for number, _ in some]))
            found = self.run(layout, self.z[np.concatenate([seed for _, seed in some])])
            yield from ((number, start) for (number, _), start in zip(some, found, strict=True))

    def run(self, layout: Layout, centers: np.ndarray) -> list[Start]:
        """Return where the runs end that begin with these centres, (all components, d)."""
        features = self._features()
        total, shape = float(self.weights.sum()), self.problem.shape
        r, centers = self._clusters(layout, centers)
        params = GaussianParameters(weights=np.ones(len(r)), means=centers, structure=None)
        ended: dict[int, Start] = {}
        alive, before = np.arange(len(layout.sizes)), np.full(len(layout.sizes), -np.inf)
        for step in range(self.max_iter + 1):
            params = self._maximize(layout, r, features, params)
            constants = self.problem.log_weights(params) - 0.5 * params.structure.log_det
            constants = constants - 0.5 * self.z.shape[1] * LOG_2PI
            joint = natural_parameters(constants, params, shape.features) @ features
            top = np.maximum.reduceat(joint, layout.begins, axis=0)
            r = np.exp(joint - layout.spread(top), out=joint)
            sums = np.add.reduceat(r, layout.begins, axis=0)
            objective = (top + np.log(sums)) @ self.weights
            if shape.features == LINEAR:  # what components of one covariance share
                precision = params.structure.precision()[layout.begins]
                objective = objective - 0.5 * np.sum(precision * self._products, axis=(1, 2))
            r *= layout.spread(self.weights / sums)
            done = (objective - before <= self.tol * total) | (step == self.max_iter)
            flat = self._collapsed(params) if np.any(done) else np.zeros(len(r), bool)
            for g in np.flatnonzero(done):
                own = slice(layout.begins[g], layout.begins[g] + layout.sizes[g])
                own_params = _components(params, own, shared=shape.shared)
                ended[int(alive[g])] = Start(
                    objective=float(objective[g]), regular=not np.any(flat[own]), params=own_params
                )
            if np.all(done):
                break
            kept = layout.spread(~done)
            r, params = r[kept], _components(params, kept, shared=False)
            alive, before, layout = alive[~done], objective[~done], Layout(sizes=layout.sizes[~done])
        return [ended[g] for g in range(len(ended))]

    @property
    def _products(self) -> np.ndarray:
        return self.z.T @ (self.z * self.weights[:, None])

    def _features(self) -> np.ndarray:
        """Return T(z), (features, n): 1, z and the second-order terms of the shape."""
        z, kind = self.z.T, self.problem.shape.features
        parts = [np.ones((1, z.shape[1])), z]
        if kind == PRODUCTS:
            parts.append(packed((z[:, None] * z).transpose(2, 0, 1)).T)
        elif kind != LINEAR:
            squares = z * z
            parts.append(squares if kind == SQUARES else squares.sum(axis=0, keepdims=True))
        return np.concatenate(parts)

    def _clusters(self, layout: Layout, centers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the weight of each row in its cluster, (components, n), and the centres, after k-means."""
        z = self.z
        for _ in range(LLOYD_STEPS):
            scores = np.sum(centers * centers, axis=1)[:, None] - 2.0 * (centers @ z.T)
            nearest = np.minimum.reduceat(scores, layout.begins, axis=0)
            own = (scores == layout.spread(nearest)).astype(np.float64)  # of equal centres, in equal parts
            r = own * layout.spread(self.weights / np.add.reduceat(own, layout.begins, axis=0))
            held = r.sum(axis=1)
            moved = np.where(held[:, None] > 0, r @ z / np.where(held > 0, held, 1.0)[:, None], centers)
            still = np.allclose(moved, centers, rtol=0.0, atol=1e-3)
            centers = moved
            if still:
                break
        return r, centers

    def _maximize(
        self, layout: Layout, r: np.ndarray, features: np.ndarray, before: GaussianParameters
    ) -> GaussianParameters:
        problem, d = self.problem, self.z.shape[1]
        sums = r @ features.T
        second = sums[:, 1 + d :]
        if problem.shape.features == PRODUCTS:
            second = unpacked(second, d)
        elif problem.shape.features != SQUARES:
            second = second[:, :1].sum(axis=1)
        found = GaussianSums(
            origin=np.zeros((len(r), d)),
            weight=sums[:, 0],
            first=sums[:, 1 : 1 + d],
            second=second,
            log_likelihood=0.0,
            penalty=0.0,
            params=before,
        )
        if problem.shape.features != LINEAR:
            params = problem.maximize(found)
        else:
            outer = np.einsum("k,ki,kj->kij", found.weight, found.means, found.means)
            scatter = self._products - np.add.reduceat(outer, layout.begins, axis=0)
            weight = np.add.reduceat(found.weight, layout.begins)
            given: dict[str, Any] = {"floor": problem.floor, "prior": problem.prior, "before": None}
            pooled = FullShape().maximize(weight, scatter, **given)
            assert isinstance(pooled, Full)
            structure = Full(cholesky=layout.spread(pooled.cholesky))
            params = GaussianParameters(weights=found.weight, means=found.means, structure=structure)
        within = layout.spread(np.add.reduceat(found.weight, layout.begins))
        return replace(params, weights=found.weight / within)

    def _collapsed(self, params: GaussianParameters) -> np.ndarray:
        varies = self.problem.standardizer.varies
        return collapsed_components(params.weights, params.structure, self.problem.floor, varies)


def can_share_starts(problem: GaussianProblem) -> bool:
    """Whether the second-order terms of the rows that a start looks at are few enough to hold."""
    assert problem.source is not None
    d, n = len(problem.standardizer.scale), min(problem.source.n_rows or INITIAL_ROWS, INITIAL_ROWS)
    return problem.shape.features != PRODUCTS or (d <= WIDE and n * d * d <= 8 * ENTRIES)


def initial_values(params: GaussianParameters, problem: GaussianProblem) -> dict[str, np.ndarray]:
    """Return parameters as the `*_init` of a mixture, in the columns' own units."""
    weights, means, structure = destandardize(params, problem.standardizer)
    precisions = compact_form(structure, structure.precision())
    return {"weights_init": weights, "means_init": means, "precisions_init": precisions}


def _components(params: GaussianParameters, which: Any, *, shared: bool) -> GaussianParameters:
    structure = params.structure[which]
    return GaussianParameters(
        weights=params.weights[which],
        means=params.means[which],
        structure=structure[0] if shared else structure,
    )
