"""Whatever is in the catalogue has a picture: a new row without one fails here.

The laws of `test_pictures` examine each kind of picture; these ask of every row that it has one, that the
axes carry the names of columns, and that drawing leaves the model and all other axes as they were.
"""

import html
import io
import pickle
import re
import warnings

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from sklearn.base import is_classifier, is_regressor

import tractable
from catalogue import CONJUGATE_MODELS, DISTRIBUTIONS, ESTIMATORS, some_of_each_family
from rows.hyperplane_indexes import ROWS as HYPERPLANE_INDEXES
from rows.indexes import ROWS as INDEXES

mpl.use("Agg")

#: What has no picture, and why.
WITHOUT = {
    "Dirichlet-batch": "triangles are drawn one at a time",
    "Wishart-batch": "ellipses of draws are drawn for one belief at a time",
    "InverseWishart-batch": "ellipses of draws are drawn for one belief at a time",
    "NormalWishart-batch": "ellipses of draws are drawn for one belief at a time",
    "NormalGamma-batch": "planes of parameters are drawn one at a time",
    "Multinomial-batch": "bars of counts are drawn for one distribution at a time",
    "DirichletMultinomial-batch": "bars of counts are drawn for one distribution at a time",
    "MultivariateLaplace-l1-batch": "three columns that have no marginals are shown by draws, one at a time",
    "Empirical-matrices": "events are matrices of numbers without a geometry",
    "ProbabilityTable-batch": "tables are drawn one at a time",
    "ContrastCoding": "maps words to numbers",
    "toy-Standardiser": "a toy of the tests, which maps rows to rows",
}
COUNTED = ("Categorical", "Multinomial", "Bernoulli", "BayesianNetwork")
#: Drawn without rows by paths, links between rows, or predictions of several columns at once.
UNNAMED = (
    *(
        "Lasso",
        "ElasticNetCV",
        "NearestNeighbors",
        "KNeighborsRegressor",
        "KernelRidge",
        "NadarayaWatson",
        "LocalLinear",
    ),
    *(
        "NystromGaussianProcess",
        "BayesianCommittee",
        "StateSpaceGaussianProcess",
        "GaussianProcessPoissonRegressor",
    ),
)


#: Which one column has none of.
SUBSPACES = ("PCA", "ProbabilisticPCA", "ProbabilisticPCA-bic", "ProbabilisticPCA-ard")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def parts_of(x, path="", around=()):
    """All that an object holds, by where it is; what it works out when asked may be added to it."""
    if isinstance(x, (tuple, list)):
        inside = {str(i): part for i, part in enumerate(x)}
    elif type(x).__module__.startswith("tractable.") and hasattr(x, "__dict__"):
        inside = vars(x)
    else:
        return {path: pickle.dumps(x)}
    if id(x) in around:  # what was worked out may refer to what it is of
        return {}
    return {
        key: value
        for name, part in inside.items()
        for key, value in parts_of(part, f"{path}.{name}", (*around, id(x))).items()
    }


def drawn(x, **options):
    """Draw on the second of two axes, with everything that a picture must leave alone looked at."""
    figure, (other, ax) = plt.subplots(1, 2, dpi=30)
    other.set_visible(False)  # what it would have drawn on it is counted, and takes no time to render
    before, state = len(other.get_children()), parts_of(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tractable.plot(x, ax=ax, **options) is ax
        figure.canvas.draw()
    assert len(other.get_children()) == before, "other axes were drawn on"
    assert state.items() <= parts_of(x).items(), "drawing changed what was drawn"
    assert ax.has_data()
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    limits = [*ax.get_xlim(), *ax.get_ylim()]
    assert np.isfinite(limits).all()
    return ax


def words(ax):
    """All that is written on the axes."""
    ticks = [tick.get_text() for tick in [*ax.get_yticklabels(), *ax.get_xticklabels()]]
    written = [text.get_text() for text in ax.texts]
    return " ".join([ax.get_xlabel(), ax.get_ylabel(), ax.get_title(), *ticks, *written])


def legend_of(ax):
    return [] if ax.get_legend() is None else [text.get_text() for text in ax.get_legend().get_texts()]


def saved(ax):
    """What can be read on the page that a picture is saved to."""
    with mpl.rc_context({"svg.fonttype": "none"}):
        file = io.StringIO()
        ax.figure.savefig(file, format="svg")
    return html.unescape(re.sub("<!--.*?-->", "", file.getvalue(), flags=re.DOTALL))


def table(name, columns, scale=1.0):
    rng = np.random.default_rng(0)
    rows = np.abs(2.0 * rng.standard_normal((50, len(columns))))
    return pd.DataFrame((np.round(rows) if name.startswith(COUNTED) else rows) * scale, columns=columns)


def fitted(row, X, classes=("ash", "birch"), target="price"):
    """The model of a row, and its targets."""
    model, along = row.make(), np.asarray(X, dtype=float) @ np.arange(1.0, X.shape[1] + 1)
    rng, y = np.random.default_rng(1), None
    if is_classifier(model):
        y = np.where(along > np.median(along), *classes)
    elif is_regressor(model):
        y = pd.Series(along + 0.1 * along.std() * rng.standard_normal(len(along)), name=target)
        y = y.abs() if model.__sklearn_tags__().target_tags.positive_only else y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y), {} if y is None else {"y": y}


def check_estimator_pictures(row, columns, scale=1.0):
    X = table(row.name, columns, scale)
    model, targets = fitted(row, X)
    named = words(drawn(model, data=X, **targets))
    assert any(name in named for name in (*columns, "predicted price", "component"))
    if row.name != "toy-Average":  # which keeps nothing but one number
        named = words(drawn(model))
        assert row.name.startswith(UNNAMED) or any(name in named for name in (*columns, "component"))


@pytest.mark.parametrize("row", some_of_each_family([r for r in ESTIMATORS if r.name not in WITHOUT]))
def test_estimators_of_two_columns(row):
    check_estimator_pictures(row, ["width", "height"])


@pytest.mark.slow
@pytest.mark.parametrize("columns", [["width"], ["width", "height", "depth"]], ids=["one", "three"])
@pytest.mark.parametrize("row", [r for r in ESTIMATORS if r.name not in WITHOUT], ids=lambda r: r.name)
def test_estimators_of_one_and_three_columns(row, columns):
    if len(columns) == 1 and row.name in SUBSPACES:
        with pytest.raises(ValueError, match=r"columns|components"):
            row.make().fit(table(row.name, columns))
        return
    check_estimator_pictures(row, columns)


#: Names that matplotlib would read as mathematics, leave out of legends, or that a page would read as marks.
ODD = [r"a $\frac$ b", "_x <b>"]
ODD_CLASSES = ["_late", r"$\frac$ & early"]


@pytest.mark.slow
@pytest.mark.parametrize("row", some_of_each_family([r for r in ESTIMATORS if r.name not in WITHOUT]))
def test_names_however_odd_are_written_as_they_are(row):
    X = table(row.name, ODD)
    model, targets = fitted(row, X, ODD_CLASSES, target="cost $ a $_b^ x")
    pictures = [drawn(model, data=X, **targets)]
    pictures += [] if row.name == "toy-Average" else [drawn(model)]
    for ax in pictures:
        page, written = saved(ax), words(ax)
        for text in [ax.get_xlabel(), ax.get_ylabel(), ax.get_title(), *legend_of(ax)]:
            assert text in page
        for name in ODD:
            assert name not in written or name in page
        if is_classifier(model) and ax.get_ylabel() != "column":  # which one plane needs no classes for
            assert set(ODD_CLASSES) <= set(legend_of(ax))
    named = words(pictures[0])
    assert any(name in named for name in (*ODD, "predicted cost $ a $_b^ x", "component"))


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-100, 1e100])
@pytest.mark.parametrize("name", ["GaussianDensity", "LinearRegression", "KMeans", "LinearDiscriminant"])
def test_units_however_odd_are_drawn(name, scale):
    row = next(r for r in ESTIMATORS if r.name.split("-")[0] == name)
    check_estimator_pictures(row, ["width", "height"], scale)


@pytest.mark.parametrize("row", some_of_each_family([r for r in DISTRIBUTIONS if r.name not in WITHOUT]))
def test_distributions(row):
    drawn(row.make())


@pytest.mark.parametrize("row", some_of_each_family(CONJUGATE_MODELS))
def test_conjugate_models(row):
    drawn(row.make())
    drawn(row.make(), show="predictive")


@pytest.mark.parametrize(
    "row", [r for r in [*INDEXES, *HYPERPLANE_INDEXES] if "mah" not in r.name], ids=lambda r: r.name
)
@pytest.mark.parametrize("columns", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_indexes(row, columns, rng):
    drawn(row.make()(rng.standard_normal((60, columns))))


@pytest.mark.parametrize("name", sorted(WITHOUT))
def test_what_has_no_picture_says_what_has(name):
    """The list of exceptions is no longer than it must be."""
    row = next(r for r in [*ESTIMATORS, *DISTRIBUTIONS] if r.name == name)
    x = row.make()
    if hasattr(x, "fit") and not isinstance(x, tractable.distributions.Distribution):
        x = fitted(row, table(name, ["width"]))[0]
    with pytest.raises(ValueError, match="x must be"):
        tractable.plot(x)
    assert not plt.get_fignums()


def test_what_changes_is_seen():
    """The comparison has power: another mean, deep within, is another part."""
    model = fitted(next(r for r in ESTIMATORS if r.name == "GaussianDensity"), table("", ["width"]))[0]
    before = parts_of(model)
    assert len(before) > 5
    moved = tractable.MultivariateNormal(mean=[9.0], covariance=model.distribution_.covariance)
    model.distribution_ = moved
    assert not before.items() <= parts_of(model).items()
