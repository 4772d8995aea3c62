"""The families of columns of a table, each with rows that it is for."""

import numpy as np

from rows.row import Row
from tractable.columns import ColumnLikelihoods, Estimation, families_of
from tractable.conjugate import NormalModel
from tractable.data.table_columns import columns_of
from tractable.testing.column_laws import ColumnCase


def case(*likelihoods, draw, kinds=None, estimation=None, binarize=None, **options):
    columns = columns_of(None, len(likelihoods), kinds or ["normal"] * len(likelihoods))
    layout = ColumnLikelihoods(columns=columns, likelihoods=likelihoods, binarize=binarize)
    [family] = families_of(layout)
    return ColumnCase(family=family, draw=draw, how=Estimation(**(estimation or {})), **options)


def numbers(rng, n):
    return rng.normal([3.0, 1e4], [1.0, 20.0], (n, 2))


def counts(rng, n):
    return rng.poisson([2.0, 9.0, 30.0], (n, 3))


def codes(rng, n):
    return np.column_stack([rng.integers(0, 3, n), np.where(rng.random(n) < 0.7, 4, rng.integers(0, 5, n))])


def truths(rng, n):
    return rng.random((n, 2)) < [0.3, 0.8]


def positive(rng, n):
    return rng.gamma(3.0, 2.0, (n, 1))


def normal(**estimation):
    return case("normal", "normal", draw=numbers, estimation=estimation, prior_mean=lambda prior: prior.mean)


def categorical(*likelihoods, draw=codes, **estimation):
    return case(
        *likelihoods,
        draw=draw,
        kinds=likelihoods,
        estimation=estimation,
        codes=True,
        prior_mean=lambda prior: (prior.sizes - 1.0) / 2.0,
    )


def counted(kind, prior_mean, **estimation):
    return case(kind, kind, kind, draw=counts, estimation=estimation, prior_mean=prior_mean)


ROWS = [
    Row("normal", normal),
    Row("normal, one variance", lambda: normal(shared_variance=True)),
    Row("normal, known variances", lambda: normal(variance=[1.0, 400.0])),
    Row("categorical", lambda: categorical("categorical", "categorical")),
    Row("categorical, α = ½", lambda: categorical("categorical", "categorical", pseudocounts=0.5)),
    Row(
        "categorical, maximum likelihood",
        lambda: case(
            "categorical",
            draw=lambda rng, n: codes(rng, n)[:, 1:],
            estimation={"pseudocounts": 0.0},
            codes=True,
        ),
    ),
    Row("bernoulli", lambda: categorical("bernoulli", "bernoulli", draw=truths)),
    Row(
        "categorical and bernoulli",
        lambda: categorical(
            "categorical",
            "bernoulli",
            draw=lambda rng, n: np.column_stack([codes(rng, n)[:, 0], truths(rng, n)[:, 1]]),
        ),
    ),
    Row("poisson", lambda: counted("poisson", lambda prior: prior.average)),
    Row("poisson, α = 5", lambda: counted("poisson", lambda prior: prior.average, pseudocounts=5.0)),
    Row("multinomial", lambda: counted("multinomial", lambda prior: prior.length * prior.overall[0])),
    Row("gamma", lambda: case("Gamma", draw=positive)),
    Row("kernel", lambda: case("kernel", draw=positive, estimation={"bandwidth": 0.7})),
    Row(
        "conjugate model",
        lambda: case(NormalModel.from_mean_strength(3.0, 1.0, variance=4.0), draw=positive),
    ),
]
