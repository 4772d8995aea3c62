"""First fits of 500 × 5 rows, each in a new process: `python -m benchmarks.first_call [--only NAME …]`.

Ours begins with an empty folder for compiled code. Imports of the estimator and its fit are timed apart: what
a fit imports, and compiles, is in its seconds. The interpreter and NumPy are there before. A peer is
scikit-learn's estimator of the same model. The limit is on CPU seconds of all threads in the fit, which other
users of the machine disturb least; the ratio is of imports and fit together.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from fnmatch import fnmatch
from statistics import median

from benchmarks.clock import Sample

LIMIT = 1.0  # CPU seconds

#: Scikit-learn's estimators of the same model.
PEERS = {
    "ARDRegression": "linear_model.ARDRegression",
    "BayesianGaussianMixture": "mixture.BayesianGaussianMixture",
    "BayesianRidge": "linear_model.BayesianRidge",
    "BernoulliNB": "naive_bayes.BernoulliNB",
    "CategoricalNB": "naive_bayes.CategoricalNB",
    "ElasticNet": "linear_model.ElasticNet",
    "GaussianMixture": "mixture.GaussianMixture",
    "GaussianNB": "naive_bayes.GaussianNB",
    "ClassicalMDS": "manifold.ClassicalMDS",
    "Isomap": "manifold.Isomap",
    "KMeans": "cluster.KMeans",
    "KNeighborsClassifier": "neighbors.KNeighborsClassifier",
    "KNeighborsRegressor": "neighbors.KNeighborsRegressor",
    "KernelDensity": "neighbors.KernelDensity",
    "KernelRidge": "kernel_ridge.KernelRidge",
    "Lasso": "linear_model.Lasso",
    "LassoCV": "linear_model.LassoCV",
    "LassoLars": "linear_model.LassoLars",
    "LinearDiscriminant": "discriminant_analysis.LinearDiscriminantAnalysis",
    "LinearRegression": "linear_model.LinearRegression",
    "LogisticRegression": "linear_model.LogisticRegression",
    "MeanShift": "cluster.MeanShift",
    "MetricMDS": "manifold.MDS",
    "MultinomialNB": "naive_bayes.MultinomialNB",
    "NaiveBayes": "naive_bayes.GaussianNB",
    "NearestNeighbors": "neighbors.NearestNeighbors",
    "Perceptron": "linear_model.Perceptron",
    "PolynomialBasis": "preprocessing.PolynomialFeatures",
    "QuadraticDiscriminant": "discriminant_analysis.QuadraticDiscriminantAnalysis",
    "Ridge": "linear_model.Ridge",
    "RidgeCV": "linear_model.RidgeCV",
    "RobustRegression": "linear_model.HuberRegressor",
    "SplineBasis": "preprocessing.SplineTransformer",
    "TSNE": "manifold.TSNE",
}
#: What an estimator, and its peer, is given beside its defaults.
OPTIONS = {
    "BayesianGaussianMixture": "n_components=3, random_state=0",
    "BernoulliMixture": "n_components=3, random_state=0",
    "CategoricalMixture": "n_components=3, random_state=0",
    "GaussianMixture": "n_components=3, random_state=0",
    "GenerativeClassifier": "density=tractable.GaussianDensity()",
    "KMeans": "n_clusters=8, random_state=0",
    "MixtureOfExperts": "n_components=3, random_state=0",
    "MixtureOfRegressors": "n_components=3, random_state=0",
    "StudentTMixture": "n_components=3, random_state=0",
    "TableMixture": "n_components=3, random_state=0",
}
#: Models of codes of categories, or of counts.
COUNTED = (
    "BayesianNetworkDensity",
    "BernoulliMixture",
    "BernoulliNB",
    "CategoricalMixture",
    "CategoricalNB",
    "MultinomialNB",
)
#: Models of counts, or of amounts, as the target.
POSITIVE = (
    "GammaRegression",
    "GaussianProcessPoissonRegressor",
    "NegativeBinomialRegression",
    "PoissonRegression",
)

FIRST = """
import sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.standard_normal((500, 5)) @ rng.standard_normal((5, 5)) + 3.0 * rng.integers(0, 3, (500, 1))
y = X @ np.arange(1.0, 6.0) + rng.standard_normal(500)
if {classes}:
    y = (y > np.median(y)).astype(int)
if {positive}:
    y = rng.poisson(np.exp(1.0 + 0.1 * X[:, 0])) + 1.0
if {counted}:
    X = (X > X.mean(axis=0)).astype({entries})
def clocks():
    return np.array([time.perf_counter(), time.process_time()])
begin = clocks()
import {module}
model = {module}.{name}({options})
imported = clocks()
model.fit({rows})
print(*(imported - begin), *(clocks() - imported))
"""


@dataclass(frozen=True)
class First:
    """What a new process took to import an estimator, and to fit it."""

    imports: Sample
    fit: Sample

    @property
    def cpu(self):
        return self.imports.cpu + self.fit.cpu

    @property
    def cells(self):
        """Its part of a row of the table."""
        return "".join(f"{seconds:8.2f}" for seconds in (self.imports.cpu, self.fit.wall, self.fit.cpu))


@dataclass(frozen=True)
class Found:
    """A first fit, that of the peer where there is one, and what went wrong."""

    name: str
    ours: First | None = None
    peer: First | None = None
    problem: str = ""

    @property
    def line(self):
        """One row of the table."""
        ratio = f"{self.peer.cpu / self.ours.cpu:8.2f}" if self.peer else ""
        parts = (first.cells for first in (self.ours, self.peer) if first)
        return "".join([f"{self.name:28s}", *parts, ratio, self.problem])

    @property
    def late(self):
        """Whether the fit took longer than it may, or did not end."""
        return self.ours is None or self.ours.fit.cpu >= LIMIT


def once(module, name, *, kind, of):
    """Return the seconds of one first fit of a class, wall and CPU of the imports, then of the fit."""
    code = FIRST.format(
        module=module,
        name=name,
        classes=kind == "classification",
        counted=of in COUNTED,
        positive=of in POSITIVE,
        entries="int" if of.startswith(("Categorical", "BayesianNetwork")) else "float",
        options=OPTIONS.get(of, ""),
        rows="X[:, :1], y" if of == "FlattenedEmpirical" else "X, y",
    )
    with tempfile.TemporaryDirectory(prefix="tractable-first-") as folder:
        path = os.pathsep.join(filter(None, sys.path))
        environment = {**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # packages that are installed have theirs
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise RuntimeError(f"{module}.{name}: {done.stderr.strip().splitlines()[-1]}")
    return [float(word) for word in done.stdout.split()]


def first_fit(name, kind, repeats=3):
    """Measure one estimator of the catalogue and its peer, in turns."""
    module, _, peer = PEERS.get(name, "").partition(".")
    contenders = [("tractable", name)] + ([(f"sklearn.{module}", peer)] if peer else [])
    try:
        rounds = [[once(*each, kind=kind, of=name) for each in contenders] for _ in range(repeats)]
    except RuntimeError as error:
        return Found(name=name, problem=f"  {error}")
    middle = [[median(clock) for clock in zip(*each, strict=True)] for each in zip(*rounds, strict=True)]
    return Found(name, *(First(imports=Sample(*each[:2]), fit=Sample(*each[2:])) for each in middle))


def main(arguments=None):
    """Print the table row by row; 1 where a first fit took a second or more, or failed."""
    from tractable.cli.models import describe, model_classes

    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_call", description=__doc__)
    parser.add_argument("--only", nargs="*", default=["*"], metavar="NAME", help="* matches anything")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(arguments)
    print(f"{'first fit of 500 × 5 rows':28s}" + f"{'':18s}{'ours':6s}{'scikit-learn':>24s}")
    heads = (*("imports", "fit", "CPU") * 2, "ratio")
    print(" " * 28 + "".join(f"{head:>8s}" for head in heads))
    late = []
    for name, kind in model_classes().items():
        if any(fnmatch(name, pattern) for pattern in options.only):
            found = first_fit(name, describe(kind)["kind"], options.repeats)
            print(found.line, flush=True)
            late += [name] if found.late else []
    if late:
        print(f"{LIMIT:g} s or more, or failed: {', '.join(late)}")
    return int(bool(late))


if __name__ == "__main__":
    sys.exit(main())
