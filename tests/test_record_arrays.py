"""Structured arrays and the largest whole numbers are a fit, or one ValueError that names the argument."""

import inspect
import warnings

import numpy as np
import pytest

from quick import late
from tractable.cli.models import model_classes

RECORDS = np.array([(1.0, 2.0), (3.0, 1.0), (2.0, 5.0)] * 8, dtype=[("a", float), ("b", float)])
BIG = 2**64 - 1
X = np.random.default_rng(0).normal(size=(24, 3))
Y = X @ [1.0, 2.0, 3.0]

#: Parameters by which the time of a fit grows, whatever its rows are.
REPEATS = ("n_init", "n_restarts_optimizer", "n_epochs", "max_iter")

#: Models whose other parameters make a fit of the largest number long: the degree of a polynomial, say.
LONG = {"PolynomialBasis": ("degree",), "TSNE": ("n_components",)}

MODELS = {
    name: kind
    for name, kind in model_classes().items()
    if all(p.default is not p.empty for p in inspect.signature(kind).parameters.values())
}


def fits_or_names(fit, *names):
    """Fit, or be refused by a ValueError that names one of the arguments, if any are given."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            fit()
        except ValueError as error:
            said = str(error)
        else:
            return "accepted"
    assert not names or any(name in said for name in names), said
    return "refused"


def target(name, kind):
    if hasattr(kind, "predict_proba") and hasattr(kind, "decide"):
        return np.array(["a", "b"])[(Y > 0.0).astype(int)]
    return np.round(np.abs(Y)) if "Poisson" in name or "Binomial" in name else Y


@pytest.mark.parametrize("name", MODELS)
def test_records_are_refused(name):
    kind = MODELS[name]
    y = target(name, kind)
    assert fits_or_names(lambda: kind().fit(RECORDS, y), "X", "y") == "refused"
    assert fits_or_names(lambda: kind().fit([(RECORDS, y)]), "X", "y", "batch") == "refused"


@pytest.mark.parametrize(
    "name", [n if n in ("ClassicalMDS", "LeastMeanSquares") else late(n) for n in MODELS]
)
def test_the_largest_whole_number_as_a_parameter(name):
    kind = MODELS[name]
    for p in inspect.signature(kind).parameters.values():
        number = p.default is None or isinstance(p.default, int | float)
        if number and not isinstance(p.default, bool) and p.name not in (*REPEATS, *LONG.get(name, ())):
            fits_or_names(lambda p=p: kind(**{p.name: BIG}).fit(X, target(name, kind)))


@pytest.mark.parametrize("name", [n if n in ("GaussianNB", "TableMixture") else late(n) for n in MODELS])
def test_the_largest_whole_number_in_rows_targets_and_weights(name):
    kind, y = MODELS[name], target(name, MODELS[name])
    for dtype in (np.uint64, object):
        rows = np.array([[BIG, 1, 2], [3, BIG, 5]] * 12, dtype=dtype)
        fits_or_names(lambda rows=rows: kind().fit(rows, y), "X", "y")
        big = np.array([BIG, 1] * 12, dtype=dtype)
        fits_or_names(lambda big=big: kind().fit(X, big), "X", "y")
