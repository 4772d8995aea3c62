"""Latent trees over the columns of a table."""

from functools import partial

import numpy as np

from rows.discrete_mixtures import KINDS, table
from rows.row import Row
from tractable import LatentTreeDensity
from tractable.base import Rows
from tractable.base.table_rows import TableSummary
from tractable.data import Batch
from tractable.data.table_columns import columns_of
from tractable.density.latent_tree.model import CellEncoding
from tractable.density.latent_tree.steps import TreeProblem, marginals_of, tree_over
from tractable.testing.em_laws import EMCase

GROWS = {"no_row_travels": "columns have `max_cells` cells at most, more of them the more rows there are"}
ROWS = [
    Row("LatentTreeDensity", lambda: LatentTreeDensity(4, start="near", max_cells=16, random_state=0), GROWS),
    Row("LatentTreeDensity-1", lambda: LatentTreeDensity(1, max_cells=16), GROWS),
    Row(
        "LatentTreeDensity-auto",
        lambda: LatentTreeDensity((1, 3), max_cells=16, random_state=0),
        GROWS,
    ),
]


def tree_steps(x, kinds=KINDS, n_states=3, weights=None, most_cells=12):
    summary = TableSummary.of(x, weights)
    encoding = CellEncoding.from_rows(columns_of(None, x.shape[1], kinds), summary, x, weights, most_cells)
    block = encoding(Batch(X=x, weights=weights))
    return TreeProblem(
        rows=Rows(data=x, weights=weights),
        encoding=encoding,
        parents=tree_over(encoding, block),
        n_states=n_states,
        marginals=marginals_of(encoding, block),
        total=summary.columns.total,
    )


def tree_problem(start="row", holes=0.1, n_states=3):
    rng = np.random.default_rng(1)
    x = table(holes=holes)
    steps = tree_steps(x, n_states=n_states, weights=rng.uniform(0.5, 2.0, len(x)))
    return EMCase(
        expect=steps.expect,
        maximize=steps.maximize,
        data=steps.data,
        start=steps.started(start, rng),
        numbers=lambda params: np.concatenate([params.links.ravel(), *(p.ravel() for p in params.leaves)]),
    )


EM_ROWS = [
    Row("latent tree, from whole rows", tree_problem),
    Row("latent tree, from neighbours", partial(tree_problem, "near")),
    Row("latent tree, complete", partial(tree_problem, holes=0.0)),
    Row("latent tree of one state", partial(tree_problem, n_states=1)),
]
