"""What the rows of generalised linear models share: data, contenders, and the deviance they lower."""

from types import SimpleNamespace

import numpy as np
import statsmodels.api as sm
from sklearn import linear_model

import tractable
from benchmarks.row import Row, at_least, no_slower


def problem(size, folder):  # noqa: ARG001  (no files)
    """Counts, and amounts, of a logarithm that is a plane."""
    n_rows, n_columns = size
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_columns))
    mean = np.exp(0.5 + X @ rng.normal(0.0, 0.2, n_columns))
    return SimpleNamespace(
        X=X, counts=rng.poisson(mean).astype(float), amounts=mean * rng.gamma(2.0, 0.5, n_rows)
    )


def check(mine, theirs):
    """Coefficients agree to six digits."""
    np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-7)


def row(*, name, shows, model, peer, family, target):
    """Return a row: a model of ours, scikit-learn's by Newton's method, and statsmodels' family."""

    def ours(data):
        return getattr(tractable, model)().fit(data.X, getattr(data, target)).coef_

    def scikit_learns(data):
        found = getattr(linear_model, peer)(alpha=0.0, solver="newton-cholesky", tol=1e-8)
        return found.fit(data.X, getattr(data, target)).coef_

    def statsmodels(data):
        found = sm.GLM(getattr(data, target), sm.add_constant(data.X), family=family)
        return found.fit().params[1:]

    return Row(
        name=name,
        shows=shows,
        setup=problem,
        size=(500_000, 20),
        dry_size=(1000, 3),
        ours=ours,
        peers={"scikit-learn": scikit_learns, "statsmodels": statsmodels},
        check=check,
        targets={"scikit-learn": no_slower(), "statsmodels": at_least(3)},
        limit=(
            "reading the rows: three steps from the maximum of a sample, one pass for the units, and two for "
            "standard errors and deviances, which scikit-learn does not compute."
        ),
    )
