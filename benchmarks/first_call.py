"""First fits of 500 × 5 rows, each in a new process: `python -m benchmarks.first_call [--only NAME …]`.

Ours begins with an empty folder for compiled code. Seconds count the import of the library and the fit; the
interpreter and NumPy are there before. A peer is scikit-learn's estimator of the same model.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from fnmatch import fnmatch
from statistics import median

#: Scikit-learn's estimators of the same model, and what both are given beside their defaults.
PEERS = {
    "ARDRegression": "linear_model.ARDRegression",
    "BayesianGaussianMixture": "mixture.BayesianGaussianMixture",
    "BayesianRidge": "linear_model.BayesianRidge",
    "BernoulliNB": "naive_bayes.BernoulliNB",
    "CategoricalNB": "naive_bayes.CategoricalNB",
    "ElasticNet": "linear_model.ElasticNet",
    "GaussianMixture": "mixture.GaussianMixture",
    "GaussianNB": "naive_bayes.GaussianNB",
    "KMeans": "cluster.KMeans",
    "KNeighborsClassifier": "neighbors.KNeighborsClassifier",
    "KNeighborsRegressor": "neighbors.KNeighborsRegressor",
    "KernelDensity": "neighbors.KernelDensity",
    "Lasso": "linear_model.Lasso",
    "LassoCV": "linear_model.LassoCV",
    "LassoLars": "linear_model.LassoLars",
    "LinearDiscriminant": "discriminant_analysis.LinearDiscriminantAnalysis",
    "LinearRegression": "linear_model.LinearRegression",
    "LogisticRegression": "linear_model.LogisticRegression",
    "MeanShift": "cluster.MeanShift",
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
}
OPTIONS = {
    "BayesianGaussianMixture": "n_components=3, random_state=0",
    "GaussianMixture": "n_components=3, random_state=0",
    "GenerativeClassifier": "density=tractable.GaussianDensity()",
    "KMeans": "n_clusters=8, random_state=0",
    "StudentTMixture": "n_components=3, random_state=0",
    "TableMixture": "n_components=3, random_state=0",
}
#: Models of codes of categories, or of counts.
COUNTED = ("BernoulliMixture", "BernoulliNB", "CategoricalMixture", "CategoricalNB", "MultinomialNB")

FIRST = """
import sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.standard_normal((500, 5)) @ rng.standard_normal((5, 5)) + 3.0 * rng.integers(0, 3, (500, 1))
y = X @ np.arange(1.0, 6.0) + rng.standard_normal(500)
if {classes}:
    y = (y > np.median(y)).astype(int)
if {counted}:
    X = (X > X.mean(axis=0)).astype(float)
start = time.perf_counter()
import {module}
{module}.{name}({options}).fit(X, y)
print(time.perf_counter() - start)
"""


@dataclass(frozen=True)
class FirstFit:
    """Seconds of a first fit, and those of the peer where there is one."""

    name: str
    ours: float
    peer: float | None

    @property
    def line(self):
        """One row of the table."""
        if self.peer is None:
            return f"{self.name:28s}{self.ours:8.2f}"
        return f"{self.name:28s}{self.ours:8.2f}{self.peer:8.2f}{self.peer / self.ours:8.2f}"


def seconds(module, name, *, classes, of, repeats):
    """Return the median time of a first fit of a class; `of` is the name of our model."""
    code = FIRST.format(
        module=module, name=name, classes=classes, counted=of in COUNTED, options=OPTIONS.get(of, "")
    )
    found = []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory(prefix="tractable-first-") as folder:
            path = os.pathsep.join(filter(None, sys.path))
            environment = {**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": folder}
            done = subprocess.run(
                [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
            )
        found.append(float(done.stdout))
    return median(found)


def first_fit(name, kind, repeats=3):
    """Measure one estimator of the catalogue."""
    how = {"classes": kind == "classification", "of": name, "repeats": repeats}
    module, _, peer = PEERS.get(name, "").partition(".")
    other = seconds(f"sklearn.{module}", peer, **how) if peer else None
    return FirstFit(name=name, ours=seconds("tractable", name, **how), peer=other)


def main(arguments=None):
    """Print the table row by row; 1 where a first fit took a second or more."""
    from tractable.cli.models import describe, model_classes

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=["*"], metavar="NAME", help="* matches anything")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(arguments)
    print(f"{'first fit of 500 × 5 rows':28s}{'ours s':>8s}{'peer s':>8s}{'ratio':>8s}")
    slow = []
    for name, kind in model_classes().items():
        if any(fnmatch(name, pattern) for pattern in options.only):
            found = first_fit(name, describe(kind)["kind"], options.repeats)
            print(found.line, flush=True)
            slow += [name] if found.ours >= 1.0 else []
    if slow:
        print(f"a second or more: {', '.join(slow)}")
    return int(bool(slow))


if __name__ == "__main__":
    sys.exit(main())
