"""What rows of t-SNE and of Isomap share: data, contenders, and one judge of divergence."""

from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
from scipy.spatial.distance import cdist
from sklearn import manifold

from benchmarks.row import Row
from tractable import TSNE, Isomap

#: What a map may cost in divergence, compared with openTSNE's.
WORSE = 1.02


def clusters(size, folder):  # noqa: ARG001  (no files)
    """Twenty overlapping Gaussian clusters."""
    n_rows, dim = size
    rng = np.random.default_rng(0)
    centers = 4.0 / np.sqrt(3.0) * rng.standard_normal((20, dim))
    X = centers[rng.integers(20, size=n_rows)] + rng.standard_normal((n_rows, dim))
    return SimpleNamespace(X=X)


def ours(data):
    return data, TSNE(random_state=0).fit(data.X).embedding_


def opentsnes(data):
    from openTSNE import TSNE as Peer  # noqa: N811

    return data, np.asarray(Peer(n_jobs=1, random_state=0).fit(data.X))


def scikit_learns(data):
    peer = manifold.TSNE(n_jobs=1, random_state=0, perplexity=min(30.0, (len(data.X) - 1) / 3.0))
    return data, peer.fit_transform(data.X).astype(float)


def divergence(data, points):
    """KL(P‖Q) of the nearest neighbours, by one judge of every map, with the normaliser of all pairs."""
    if not hasattr(data, "joint"):
        model = TSNE(method="fft", max_iter=1).fit(data.X)
        data.joint = model._joint(exact=False)  # noqa: SLF001  (the probabilities are not public)
    blocks = (points[start : start + 500] for start in range(0, len(points), 500))
    z = sum((1.0 / (1.0 + cdist(block, points, "sqeuclidean"))).sum() for block in blocks) - len(points)
    return data.joint.kl_divergence(points, z)


def check(mine, theirs):
    """Ours is at most two percent above theirs."""
    a, b = divergence(*mine), divergence(*theirs)
    assert a <= WORSE * b, f"KL {a:.4f}, against {b:.4f}"


def note(answers):
    said = ", ".join(f"{who} {divergence(*found):.4f}" for who, found in answers.items())
    return f"KL(P‖Q): {said}"


OPENTSNE = {"openTSNE": opentsnes} if find_spec("openTSNE") else {}
ABSENT = () if OPENTSNE else ("openTSNE",)


def tsne_row(name, shows, size, targets):
    """Return a row of t-SNE with the defaults of each library."""
    return Row(
        name=name,
        shows=shows,
        setup=clusters,
        size=size,
        dry_size=(1_300, 6),
        ours=ours,
        peers={**OPENTSNE, "scikit-learn": scikit_learns},
        check=check,
        targets=targets,
        note=note,
        limit="the transforms of a grid and a gather for each neighbour, 500 times; and the neighbours once.",
        absent=ABSENT,
    )


def isomaps(data):
    model = Isomap(n_neighbors=10).fit(data)
    return model.embedding_, model.geodesic_distances_


def scikit_learns_isomaps(data):
    model = manifold.Isomap(n_neighbors=10, n_jobs=1).fit(data)
    return model.embedding_, model.dist_matrix_


def check_maps(mine, theirs):
    """The same paths to rounding, and the same map to 1e-5 of its size and its signs."""
    np.testing.assert_allclose(mine[1], theirs[1], rtol=1e-9)
    signs = np.sign(np.sum(mine[0] * theirs[0], axis=0))
    np.testing.assert_allclose(mine[0] * signs, theirs[0], rtol=0.0, atol=1e-5 * np.abs(theirs[0]).max())
