"""What the rows of exact neighbours share: the ten nearest of 100,000 points, for 10,000 rows."""

from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors

from benchmarks.row import Row, at_least
from tractable.primitives.threads import default_threads
from tractable.spatial import choose_index

K = 10


def problem(size, folder):  # noqa: ARG001  (no files)
    """Points and rows of one Gaussian; indexes are built beforehand, for the search is timed."""
    n_points, n_rows, dim = size
    rng = np.random.default_rng(2)
    points, x = rng.standard_normal((n_points, dim)), rng.standard_normal((n_rows, dim))
    return SimpleNamespace(points=points, x=x, single=x.astype(np.float32), built={})


def once(name, build):
    """Build an index at the first call with some data, and keep it with them."""

    def built(data):
        if name not in data.built:
            data.built[name] = build(data.points)
        return data.built[name]

    return built


def contender(name, build, search):
    index = once(name, build)

    def find(data):
        distances, indices = search(index(data), data)
        return {"distances": distances, "indices": indices}

    return find


def flat(points):
    import faiss

    index = faiss.IndexFlatL2(points.shape[1])
    index.add(points.astype(np.float32))
    return index


ours = contender("ours", choose_index, lambda index, data: index.query(data.x, K))
scipys = contender("scipy", cKDTree, lambda tree, data: tree.query(data.x, K, workers=-1))
faisses = contender("faiss", flat, lambda index, data: index.search(data.single, K))


def sklearns(algorithm):
    def build(points):
        return NearestNeighbors(n_neighbors=K, algorithm=algorithm, n_jobs=-1).fit(points)

    return contender(f"sklearn {algorithm}", build, lambda model, data: model.kneighbors(data.x))


def check(mine, theirs):
    """The same neighbours at the same distances; of faiss, in single precision, 999 in 1,000 of them."""
    same = np.mean(mine["indices"] == theirs["indices"])
    if theirs["distances"].dtype == np.float32:
        assert same >= 0.999, f"faiss has other neighbours: {same:.4f} are the same"
        return
    assert same == 1.0, f"other neighbours: {same:.6f} are the same"
    np.testing.assert_allclose(mine["distances"], theirs["distances"], rtol=1e-7)  # scikit-learn cancels


def row(name, shows, dim, peers, targets, limit, memory_limit_mb=None):
    known = {
        "SciPy cKDTree": scipys,
        "scikit-learn brute": sklearns("brute"),
        "scikit-learn kd_tree": sklearns("kd_tree"),
        "faiss": faisses,
    }
    wanted = {peer: known[peer] for peer in peers if peer != "faiss" or find_spec("faiss")}
    return Row(
        name=name,
        shows=shows,
        setup=problem,
        size=(100_000, 10_000, dim),
        dry_size=(2_000, 300, dim),
        ours=ours,
        peers=wanted,
        check=check,
        targets={peer: at_least(t) if isinstance(t, float) else t for peer, t in targets.items()},
        memory_limit_mb=memory_limit_mb,
        limit=limit,
        absent=[peer for peer in peers if peer not in wanted],
    )


def memory_limit(dim):
    """Megabytes: points in single precision and their squares, answers, 32 MB a thread."""
    return 1e-6 * 100_000 * (4 * dim + 8 * dim + 16) + 32.0 * default_threads()
