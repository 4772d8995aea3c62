"""Mixtures over categories, yes-or-no and the columns of tables."""

from functools import partial

import numpy as np
import pandas as pd

from rows.row import Row
from tractable.base import Rows
from tractable.base.table_rows import TableSummary
from tractable.data.table_columns import columns_of
from tractable.mixture import BernoulliMixture, CategoricalMixture, TableMixture
from tractable.mixture.base import standardized_prior
from tractable.mixture.table.model import TableEncoding
from tractable.mixture.table.steps import TableProblem
from tractable.testing.em_laws import EMCase
from tractable.value import parameters

FRACTIONS = {
    "check_sample_weight_equivalence_on_dense_data": "the check gives fractions, whatever the tags say"
}

ROWS = [
    Row("BernoulliMixture", BernoulliMixture),
    Row(
        "BernoulliMixture-3",
        lambda: BernoulliMixture(3, binarize=2.0, random_state=0),
        {"extreme_scales_change_the_scale_alone": "a threshold other than zero has the units of the columns"},
    ),
    Row("CategoricalMixture", CategoricalMixture, FRACTIONS),
    Row("CategoricalMixture-2", lambda: CategoricalMixture(2, alpha=0.5, random_state=0), FRACTIONS),
    Row("TableMixture", TableMixture),
    Row("TableMixture-3", lambda: TableMixture(3, n_init=2, random_state=0)),
    Row("TableMixture-full", lambda: TableMixture(2, covariance_type="full", random_state=0)),
    Row(
        "TableMixture-prior",
        lambda: TableMixture(2, covariance_type="full", covariance_prior="data", random_state=0),
    ),
]


KINDS = ("normal", "poisson", "categorical", "bernoulli", "normal")


def table(n=150, holes=0.1, seed=0):
    """Rows of every kind from three components, in which some entries are missing."""
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 3, n)
    x = np.column_stack([
        rng.normal(3.0 * z, 1.0),
        rng.poisson(np.array([2.0, 6.0, 15.0])[z]),
        np.where(rng.random(n) < 0.8, z, rng.integers(0, 3, n)),
        rng.random(n) < 0.1 + 0.35 * z,
        rng.normal(1e4 - 50.0 * z, 20.0),
    ])  # fmt: skip
    return np.where(rng.random(x.shape) < holes, np.nan, x)


def frame(n=150):
    """The same as a frame: numbers, text and yes-or-no."""
    x = table(n)
    names = {0.0: "low", 1.0: "mid", 2.0: "high"}
    return pd.DataFrame({
        "size": x[:, 0],
        "visits": x[:, 1],
        "class": pd.Series([names.get(v) for v in x[:, 2]], dtype=object),
        "member": pd.array([None if np.isnan(v) else bool(v) for v in x[:, 3]], dtype="boolean"),
        "price": x[:, 4],
    })  # fmt: skip


def table_steps(
    x, kinds=KINDS, n_components=3, alpha=1.0, reg=1e-6, weights=None, *, joint=False, prior=None
):
    rows = Rows(data=x, weights=weights)
    summary = TableSummary.of(x, weights)
    encoding = TableEncoding.from_summary(columns_of(None, x.shape[1], kinds), summary, joint=joint)
    reg_covar = np.full(len(encoding.normal), reg)
    return TableProblem(
        rows=rows,
        encoding=encoding,
        n_components=n_components,
        alpha=alpha,
        reg_covar=reg_covar,
        prior=standardized_prior(prior, None, np.ones(len(encoding.normal)), n_components),
        total=summary.columns.total,
    )


def expected(steps, params):
    """Return the statistic of one E-step over all rows."""
    return steps.data.reduce(steps.expect(params))


def table_problem(alpha=1.0, columns=slice(None), holes=0.1, *, joint=False, prior=None):
    rng = np.random.default_rng(1)
    x = table(holes=holes)[:, columns]
    weights = rng.uniform(0.5, 2.0, len(x))
    steps = table_steps(x, KINDS[columns], alpha=alpha, weights=weights, joint=joint, prior=prior)
    return EMCase(
        expect=steps.expect,
        maximize=steps.maximize,
        data=steps.data,
        start=steps.initial(rng),
        numbers=table_numbers,
    )


def table_numbers(params):
    return np.concatenate([a.ravel() for a in parameters(params).values()])


EM_ROWS = [
    Row("table of every kind, with holes", table_problem),
    Row("table of every kind, complete", partial(table_problem, holes=0.0)),
    Row("table of correlated numbers, with holes", partial(table_problem, joint=True)),
    Row("table of correlated numbers, complete", partial(table_problem, holes=0.0, joint=True)),
    Row("table with a prior on variances", partial(table_problem, prior="data")),
    Row("table with a prior on covariances", partial(table_problem, joint=True, prior="data")),
    Row("table, maximum likelihood", partial(table_problem, alpha=0.0)),
    Row("counted columns, with holes", partial(table_problem, columns=slice(1, 4))),
    Row("counted columns, with a prior", partial(table_problem, columns=slice(1, 4), prior="data")),
    Row("counted columns, maximum likelihood", partial(table_problem, alpha=0.0, columns=slice(1, 4))),
]
