"""Six models side by side, beside the fits that it takes."""

from types import SimpleNamespace

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

import tractable
from benchmarks.row import Row, within

FOLDS = 5


def setup(size, folder):  # noqa: ARG001  (no files)
    n, d = size
    rng = np.random.default_rng(0)
    centres = 2.0 * rng.standard_normal((3, d))
    return SimpleNamespace(X=centres[rng.integers(3, size=n)] + rng.standard_normal((n, d)))


def models():
    options = {"random_state": 0}
    return {
        "one": tractable.GaussianDensity(),
        "three": tractable.GaussianMixture(3, **options),
        "six": tractable.GaussianMixture(6, **options),
        "diagonal": tractable.GaussianMixture(6, covariance_type="diag", **options),
        "tied": tractable.GaussianMixture(6, covariance_type="tied", **options),
        "heavy tails": tractable.StudentTMixture(3, **options),
    }


def ours(data):
    found = tractable.compare(models(), data.X, cv=FOLDS)
    return float(found.means[0])


def fits(data):
    """The fits alone, of every model to every training part and to all rows, and one score to compare."""
    folds = list(KFold(FOLDS, shuffle=True, random_state=0).split(data.X))
    score = 0.0
    for name, model in models().items():
        for train, test in folds:
            fitted = clone(model).fit(data.X[train])
            if name == "one":
                score += fitted.score_samples(data.X[test]).sum()
        clone(model).fit(data.X)
    return score / len(data.X)


def check(mine, theirs):
    np.testing.assert_allclose(mine, theirs, rtol=1e-9)


ROW = Row(
    name="compare",
    shows="Six densities compared by 5 folds of 5,000 × 20 rows, with AIC and BIC, beside their fits.",
    setup=setup,
    size=(5_000, 20),
    dry_size=(300, 3),
    ours=ours,
    peers={"the fits": fits},
    check=check,
    targets={"the fits": within(1.2)},
    limit="thirty-six fits; the densities of 30,000 rows left out, and of 30,000 more for AIC and BIC.",
)
