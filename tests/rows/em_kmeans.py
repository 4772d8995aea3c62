"""The two steps of k-means, as EM sees them."""

import numpy as np

from tractable.engines.kmeans import Centers, HeldRows, frame_of
from tractable.testing.em_laws import EMProblem


def kmeans(kind=HeldRows, weighted=False, start=None, moved=0.0):
    """Rows in five clouds, with centres that hold none to begin with, unless a start is given."""
    rng = np.random.default_rng(8)
    x = rng.standard_normal((200, 2)) + 3.0 * rng.standard_normal((5, 2))[rng.integers(5, size=200)] + moved
    w = rng.uniform(0.5, 2.0, 200) if weighted else None
    first = moved + (rng.uniform(-9.0, 9.0, (7, 2)) if start is None else start)
    frame = frame_of(x, w)
    rows = kind(x, w, frame)
    return EMProblem(
        expect=rows.expect,
        maximize=rows.maximize,
        start=Centers(centers=frame.inside(first)),
        numbers=lambda p: p.centers.ravel(),
    )
