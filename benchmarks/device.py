"""Models on a GPU: `python -m benchmarks.device [--only NAME …] [--small] [--turns 3] [--json FILE]`.

Every row is ours beside the bare tensor operations that nothing of its kind is faster than, or beside a peer,
on the same tensors in double precision. Contenders take turns; a figure is the least time of the turns, with
the device waited for before and after, and the memory the most that was held at once above the data. Of an
iteration, a fit of one and a fit of several are subtracted. `--small` tries all rows on tables for a CPU.
"""

import argparse
import json
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

import tractable
from benchmarks.gaussian_process import HEIGHT, NOISE, gpytorch, torch_model, torch_objective
from tractable.gaussian_process.posteriors.exact import Observations, log_evidence
from tractable.kernels import RBF, Scaled


@dataclass(frozen=True, kw_only=True)
class DeviceRow:
    """A question: `ours(data)` or, of so many `iterations`, `ours(data, n)`, beside others by name."""

    shows: str
    size: tuple[int, ...]
    small: tuple[int, ...]
    setup: Callable[[tuple[int, ...], torch.Generator], Any]
    ours: Callable[..., Any]
    others: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    targets: Mapping[str, float] = field(default_factory=dict)  # most times the seconds of another
    check: Callable[[Any], Any] = id  # raises where answers differ
    iterations: int = 0
    matrix: bool = False  # whether memory is counted in matrices of rows × rows
    turns: int = 3


# -- mixtures and clusters ----------------------------------------------------------------------------------


def clusters(size, rng):
    """Return rows about centres, with initial means and precisions."""
    n, d, k = size
    centres = normal(rng, k, d)  # near one another: no search of a few iterations converges
    X = normal(rng, n, d)
    X += centres[torch.randint(k, (n,), generator=rng, device=rng.device)]
    return SimpleNamespace(X=X, start=centres + 0.1 * normal(rng, k, d))


def mixture(data, n_iter):
    k, d = data.start.shape
    model = tractable.GaussianMixture(
        k, weights_init=np.full(k, 1.0 / k), means_init=data.start.cpu().numpy(), tol=0.0, max_iter=n_iter,
        precisions_init=np.tile(np.eye(d), (k, 1, 1)), reg_covar=0.0,
    )  # fmt: skip
    return model.fit(data.X)


def bare_em(data):
    """One iteration as tensor operations: products of columns, two matrix products about a softmax."""
    k, d = data.start.shape
    eye = torch.eye(d, dtype=torch.float64, device=data.X.device).expand(k, d, d)
    return bare_em_step(data.X, torch.full_like(data.start[:, 0], 1.0 / k), data.start, eye)


def bare_em_step(X, weights, means, covariances):
    n, d = X.shape
    precisions = torch.linalg.inv(covariances)
    linear = (precisions @ means[:, :, None])[:, :, 0]
    constant = torch.log(weights) - 0.5 * ((means * linear).sum(1) + torch.logdet(covariances))
    features = (X[:, :, None] * X[:, None, :]).reshape(n, d * d)
    scores = torch.addmm(constant, X, linear.T).addmm_(features, precisions.reshape(-1, d * d).T, alpha=-0.5)
    evidence = torch.logsumexp(scores, 1)
    shares = torch.exp(scores.sub_(evidence[:, None]))
    mass = shares.sum(0)
    means = shares.T @ X / mass[:, None]
    second = (shares.T @ features).reshape(-1, d, d) / mass[:, None, None]
    return mass / n, means, second - means[:, :, None] * means[:, None, :], evidence.sum()


def check_mixture(data):
    model = mixture(data, 1)
    _, means, covariances, _ = bare_em(data)
    close(model.means_, means, 1e-6)
    close(model.covariances_, covariances, 1e-6)


def kmeans(data, n_iter):
    model = tractable.KMeans(
        len(data.start), init=data.start.cpu().numpy(), n_init=1, tol=0.0, max_iter=n_iter
    )
    return model.fit(data.X)


def distance_product(data):
    """|c|² - 2 xᵀc of all rows and centres, and nothing else."""
    squares = (data.start**2).sum(1)
    return torch.addmm(squares, data.X, data.start.T, alpha=-2.0)


def nearest_centres(data):
    return distance_product(data).argmin(1)


def check_kmeans(data):
    labels, k = nearest_centres(data), len(data.start)
    sums = torch.zeros_like(data.start).index_add_(0, labels, data.X)
    close(kmeans(data, 1).cluster_centers_, sums / torch.bincount(labels, minlength=k)[:, None], 1e-8)


# -- Gaussian processes -------------------------------------------------------------------------------------


def process(size, rng):
    n, d = size
    X = normal(rng, n, d)
    y = torch.sin(X[:, 0]) + 0.3 * X[:, 1] * X[:, 2] + 0.3 * normal(rng, n)
    return SimpleNamespace(X=X, y=y, lengths=np.linspace(1.0, 4.0, d), held={})


def evidence(data):
    rows = Observations(
        x=data.X, y=data.y[:, None], basis=data.X[:, :0], noise_scale=torch.ones_like(data.X[:, 0])
    )
    return log_evidence(Scaled(RBF(data.lengths), HEIGHT), NOISE, rows)


def gpytorch_evidence(data):
    model, likelihood = torch_model(data)
    return float(torch_objective(data, model, likelihood))


def three_choleskys(data):
    """Three Cholesky factors of the covariance: as much arithmetic as a factor and an inverse."""
    if "matrix" not in data.held:
        data.held["matrix"] = Scaled(RBF(data.lengths), HEIGHT)(data.X)
        data.held["matrix"].diagonal().add_(NOISE)
        data.held["factor"] = torch.empty_like(data.held["matrix"])
    for _ in range(3):
        torch.linalg.cholesky(data.held["matrix"], out=data.held["factor"])


def check_evidence(data):
    found = evidence(data)
    assert np.isfinite(found.value)
    assert np.all(np.isfinite(found.kernel_gradient))
    if gpytorch is not None and len(data.X) <= 20_000:
        close(found.value, gpytorch_evidence(data), 1e-8)


# -- components and neighbours ------------------------------------------------------------------------------


def columns(size, rng):
    n, d = size
    return SimpleNamespace(
        X=normal(rng, n, d) * torch.linspace(3.0, 0.5, d, dtype=torch.float64).to(rng.device)
    )


def components(data):
    return tractable.PCA().fit(data.X)


def bare_components(data):
    """The product of the centred rows with themselves, and its eigenvectors."""
    centred = data.X - data.X.mean(0)
    return torch.linalg.eigh(centred.T @ centred)


def check_components(data):
    close(components(data).explained_variance_, bare_components(data)[0].flip(0) / (len(data.X) - 1), 1e-8)


def points(size, rng):
    n, d, q = size
    return SimpleNamespace(X=normal(rng, n, d), new=normal(rng, q, d))


def neighbours(data):
    return tractable.NearestNeighbors(n_neighbors=10, algorithm="brute").fit(data.X).kneighbors(data.new)


def all_distances(data):
    return torch.topk(torch.cdist(data.new, data.X), 10, largest=False)


def check_neighbours(data):
    close(neighbours(data)[0], all_distances(data).values, 1e-6)


# -- rows on the host ---------------------------------------------------------------------------------------


def host_rows(size, rng):
    n, d = size
    X = normal(rng, -(-n // 20), d).cpu().numpy()
    return SimpleNamespace(X=np.tile(X, (20, 1))[:n], device=str(rng.device))


def streamed(data):
    return tractable.GaussianDensity().fit(tractable.scan(data.X, device=data.device))


def copied(data):
    return torch.from_numpy(data.X).to(data.device)


def check_streamed(data):
    close(streamed(data).location_, data.X.mean(axis=0), 1e-9)


ROWS = {
    "gmm": DeviceRow(
        shows="GaussianMixture, an iteration, 4,000,000 × 16, 32 full covariances",
        size=(4_000_000, 16, 32), small=(4_000, 4, 3), setup=clusters, ours=mixture, iterations=20,
        others={"tensor operations": bare_em}, targets={"tensor operations": 1.5}, check=check_mixture,
    ),
    "kmeans": DeviceRow(
        shows="KMeans, an iteration, 10,000,000 × 32, 256 clusters",
        size=(10_000_000, 32, 256), small=(5_000, 4, 6), setup=clusters, ours=kmeans, iterations=10,
        others={"distance product": distance_product, "product and argmin": nearest_centres},
        targets={"distance product": 2.0}, check=check_kmeans,
    ),
    "pca": DeviceRow(
        shows="PCA, a fit, 1,000,000 × 512",
        size=(1_000_000, 512), small=(3_000, 8), setup=columns, ours=components,
        others={"product and eigensolver": bare_components}, targets={"product and eigensolver": 1.5},
        check=check_components,
    ),
    "stream": DeviceRow(
        shows="GaussianDensity, a fit of rows on the host, 20,000,000 × 32, streamed to the device",
        size=(20_000_000, 32), small=(3_000, 8), setup=host_rows, ours=streamed,
        others={"copy to the device": copied}, targets={"copy to the device": 1.0}, check=check_streamed,
    ),
    "neighbours": DeviceRow(
        shows="NearestNeighbors, brute: 10 of 1,000,000 × 128, of 10,000 rows",
        size=(1_000_000, 128, 10_000), small=(3_000, 8, 50), setup=points, ours=neighbours,
        others={"cdist and topk": all_distances}, targets={"cdist and topk": 1.0}, check=check_neighbours,
    ),
    "gp_20000": DeviceRow(
        shows="Gaussian process, evidence with gradient, 20,000 × 10",
        size=(20_000, 10), small=(300, 4), setup=process, ours=evidence, matrix=True,
        others={} if gpytorch is None else {"GPyTorch, Cholesky": gpytorch_evidence},
        targets={"GPyTorch, Cholesky": 1.0}, check=check_evidence,
    ),
    "gp_60000": DeviceRow(
        shows="Gaussian process, evidence with gradient, 60,000 × 10",
        size=(60_000, 10), small=(500, 4), setup=process, ours=evidence, matrix=True, turns=2,
        others={"three Choleskys": three_choleskys}, targets={"three Choleskys": 2.0},
    ),
    "gp_100000": DeviceRow(
        shows="Gaussian process, evidence with gradient, 100,000 × 10: it fits",
        size=(100_000, 10), small=(700, 4), setup=process, ours=evidence, matrix=True, turns=1,
    ),
}  # fmt: skip


# -- measuring ----------------------------------------------------------------------------------------------


def normal(rng, *shape):
    return torch.randn(*shape, dtype=torch.float64, device=rng.device, generator=rng)


def close(mine, theirs, digits):
    mine, theirs = (x.cpu().numpy() if isinstance(x, torch.Tensor) else x for x in (mine, theirs))
    np.testing.assert_allclose(mine, theirs, rtol=digits, atol=digits * float(np.max(np.abs(theirs))))


class Clock:
    """Seconds and memory of a function on a device."""

    def __init__(self, device):
        self.cuda = torch.device(device).type == "cuda"

    def wait(self):
        if self.cuda:
            torch.cuda.synchronize()

    def __call__(self, function, *given):
        """Return seconds, and bytes above those held before; None on a CPU."""
        self.wait()
        if self.cuda:
            before = torch.cuda.memory_allocated()
            torch.cuda.reset_peak_memory_stats()
        start = time.perf_counter()
        found = function(*given)
        self.wait()
        seconds = time.perf_counter() - start
        self.n_iter = getattr(found, "n_iter_", None)
        del found
        return seconds, torch.cuda.max_memory_allocated() - before if self.cuda else None

    def of(self, row, data):
        """Return the seconds of ours; of an iteration where it has several."""
        if not row.iterations:
            return self(row.ours, data)
        few, _ = self(row.ours, data, 1)
        first = self.n_iter
        many, memory = self(row.ours, data, 1 + row.iterations)
        return (many - few) / (self.n_iter - first), memory  # it may have converged sooner


def measured(row, options):
    """Return what was found of a row, as JSON."""
    rng = torch.Generator(device=options.device).manual_seed(0)
    size, clock = row.small if options.small else row.size, Clock(options.device)
    data = row.setup(size, rng)
    row.check(data)
    for other in row.others.values():  # what is done the first time
        other(data)
    ours, others, memory = [], {name: [] for name in row.others}, {}
    for _ in range(options.turns or row.turns):
        seconds, memory["ours"] = clock.of(row, data)
        ours.append(seconds)
        for name, other in row.others.items():
            seconds, memory[name] = clock(other, data)
            others[name].append(seconds)
    best = min(ours)
    found = {"shows": row.shows, "size": size, "ours_s": best, "all_s": ours, "memory": memory, "others": {}}
    if row.matrix and memory["ours"] is not None:
        found["matrices"] = memory["ours"] / (8.0 * size[0] ** 2)
    for name, seconds in others.items():
        ratio, most = best / min(seconds), row.targets.get(name)
        met = None if most is None or options.small else ratio <= most
        found["others"][name] = {"s": min(seconds), "ratio": ratio, "at_most": most, "met": met}
    return found


def words(name, found):
    """Return what is printed of a row."""
    if "problem" in found:
        return f"{name}: {found['problem']}"
    lines = [f"{name}: {found['shows']}", f"  ours {found['ours_s']:.5f} s"]
    taken = found["memory"]["ours"]
    if taken is not None:
        lines[-1] += f", {taken / 1e9:.2f} GB"
    if "matrices" in found:
        lines[-1] += f", {found['matrices']:.2f} matrices of rows × rows"
    for other, pair in found["others"].items():
        goal = "" if pair["at_most"] is None else f", at most {pair['at_most']:g}"
        lines.append(f"  {other} {pair['s']:.5f} s: ours takes {pair['ratio']:.2f} times as long{goal}")
    return "\n".join(lines)


def main(arguments=None):
    """Print every row; 1 where one breaks or answers differ."""
    options = parse(arguments)
    name = torch.cuda.get_device_name() if torch.device(options.device).type == "cuda" else "CPU"
    print(f"{name} · torch {torch.__version__} · tractable {tractable.__version__}", flush=True)
    warnings.simplefilter("ignore")  # a few iterations do not converge
    outcomes = {}
    for row_name, row in ROWS.items():
        if any(fnmatch(row_name, pattern) for pattern in options.only):
            try:
                torch.cuda.empty_cache()  # of the row before
                outcomes[row_name] = measured(row, options)
            except Exception as error:  # noqa: BLE001  (one broken row does not end the run)
                traceback.print_exc()
                outcomes[row_name] = {"problem": f"{type(error).__name__}: {str(error).strip()[:300]}"}
            print(words(row_name, outcomes[row_name]), flush=True)
            if options.json:
                options.json.write_text(json.dumps({"device": name, "rows": outcomes}, indent=1))
    return int(any("problem" in found for found in outcomes.values()))


def parse(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", default=["*"], help="names of rows, or patterns")
    parser.add_argument("--small", action="store_true", help="tables that a CPU can do")
    parser.add_argument("--turns", type=int, help="how often each is timed")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    if not options.small and torch.device(options.device).type != "cuda":
        parser.error("torch finds no GPU here: try --small")
    return options


if __name__ == "__main__":
    sys.exit(main())
