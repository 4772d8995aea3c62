"""The two steps of k-means, as EM sees them."""

import numpy as np

from tractable.data import as_source
from tractable.engines.kmeans import Centers, KMeansProblem, distance_standardizer
from tractable.testing.em_laws import EMCase


def kmeans(kind=KMeansProblem, weighted=False, start=None, moved=0.0, bounds=True):
    """Rows in five clouds, with centres that hold none to begin with, unless a start is given."""
    rng = np.random.default_rng(8)
    x = rng.standard_normal((200, 2)) + 3.0 * rng.standard_normal((5, 2))[rng.integers(5, size=200)] + moved
    w = rng.uniform(0.5, 2.0, 200) if weighted else None
    first = moved + (rng.uniform(-9.0, 9.0, (7, 2)) if start is None else start)
    source = as_source(x, None, w)
    standardizer, variance = distance_standardizer(source)
    problem = kind(source, standardizer, n_clusters=len(first), variance=variance, bounds=bounds)
    return EMCase(
        expect=problem.expect,
        maximize=problem.maximize,
        data=problem.data,
        start=Centers(centers=standardizer.transform(first)),
        numbers=lambda p: p.centers.ravel(),
    )
