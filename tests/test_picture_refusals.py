"""Pictures that cannot be made say what is wrong, in the reader's words, and leave nothing behind."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

mpl.use("Agg")
from matplotlib import pyplot as plt

import tractable
from catalogue import ESTIMATORS
from tractable.distributions import Beta, Empirical, MultivariateNormal, Normal

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.normal(size=(40, 3)) * [1.0, 5.0, 2.0], columns=["width", "height", "price"])
PAIR = FRAME[["width", "height"]]
LINE = tractable.LinearRegression().fit(FRAME[["width"]], FRAME["price"])
PLANE = tractable.LinearRegression().fit(PAIR, FRAME["price"])
SPECIES = np.where(FRAME["width"] > 0, "ash", "birch")


@pytest.fixture(autouse=True)
def _nothing_left_behind():
    yield
    try:
        assert not plt.get_fignums(), "a refused picture left a figure behind"
    finally:
        plt.close("all")


def refusal(kind, x, **options):
    with pytest.raises(kind) as found:
        tractable.plot(x, **options)
    return str(found.value)


@pytest.mark.parametrize(
    "x", [3.0, "geyser", None, FRAME, [1, 2], plt.Figure()], ids=lambda x: type(x).__name__
)
def test_what_has_no_picture_is_told_what_has_in_plain_words(x):
    said = refusal(ValueError, x)
    assert said.startswith("x must be something with a picture: a distribution")
    assert "a fitted model" in said
    assert said.endswith(f"got {type(x).__name__}")
    assert len(said) < 300
    assert "Mixin" not in said


@pytest.mark.parametrize(
    "row",
    {row.name.split("-")[0]: row for row in ESTIMATORS if not row.name.startswith("toy")}.values(),
    ids=lambda row: row.name.split("-")[0],
)
def test_what_was_not_fitted_is_to_be_fitted_first(row):
    assert "fit" in refusal(NotFittedError, row.make())


@pytest.mark.parametrize(
    ("x", "named"),
    [
        (Normal(mean=0.0, variance=1.0), "data, label, labels, coverage"),
        (Empirical(values=[1.0, 2.0]), "data, label, labels, coverage"),
        (MultivariateNormal(mean=np.zeros(2), covariance=np.eye(2)), "dims"),
        (tractable.GaussianMixture(2, random_state=0).fit(PAIR), "show, data, dims"),
        (tractable.KernelDensity().fit(PAIR), "data, dims"),
        (tractable.BernoulliModel(prior=Beta(alpha=1.0, beta=2.0)), "show, data, label"),
        (LINE, "data, X, y, coverage, grid"),
        (tractable.LassoLars(0.01).fit(PAIR, FRAME["price"]), "against, named"),
        (tractable.KMeans(2, random_state=0).fit(PAIR), "data, dims"),
        (tractable.diagnose(PLANE, PAIR, FRAME["price"]), "takes ax"),
    ],
    ids=lambda part: type(part).__name__,
)
def test_an_unknown_option_is_answered_by_those_there_are(x, named):
    said = refusal(TypeError, x, colour="red")
    assert said.startswith("unknown option 'colour': this picture takes ax")
    assert named in said
    assert "()" not in said


def test_options_of_a_mixture_are_those_of_what_it_shows():
    model = tractable.GaussianMixture(2, random_state=0).fit(PAIR)
    assert "label" in refusal(TypeError, model, show="objective", data=PAIR)


@pytest.mark.parametrize("ax", [3, plt.Figure(), np.array([None, None])], ids=["number", "figure", "array"])
def test_axes_must_be_axes(ax):
    assert refusal(ValueError, LINE, ax=ax).startswith("ax must be matplotlib axes")


@pytest.mark.parametrize(
    "x",
    [
        LINE,
        PLANE,
        tractable.GaussianDensity().fit(PAIR),
        tractable.KernelDensity().fit(PAIR),
        tractable.KMeans(2, random_state=0).fit(PAIR),
        tractable.LinearDiscriminant().fit(PAIR, SPECIES),
        tractable.LogisticRegression().fit(PAIR, SPECIES),
        tractable.MixtureOfRegressors(random_state=0).fit(PAIR, FRAME["price"]),
    ],
    ids=lambda x: type(x).__name__,
)
def test_a_column_that_is_not_there_is_named(x):
    said = refusal(ValueError, x, data=FRAME[["price"]])
    assert "data needs a column 'width', and the columns are price" in said


@pytest.mark.parametrize("x", [LINE, PLANE, tractable.LinearDiscriminant().fit(PAIR, SPECIES)])
def test_targets_are_one_for_each_row(x):
    said = refusal(ValueError, x, data=FRAME, y=SPECIES[:7] if hasattr(x, "classes_") else FRAME["price"][:7])
    assert said == "y must have one entry for each row of data, got 7 for 40 rows"


def test_targets_by_a_name_that_is_not_there():
    assert "y needs a column 'cost'" in refusal(ValueError, PLANE, data=FRAME, y="cost")
    assert "y must be targets" in refusal(ValueError, PLANE, data=PAIR.to_numpy(), y="price")


def test_a_bad_value_of_an_option_leaves_no_figure():
    assert "dims" in refusal(ValueError, tractable.GaussianDensity().fit(FRAME), dims=["width", "size"])


def test_axes_that_were_given_stay():
    figure, ax = plt.subplots()
    with pytest.raises(TypeError):
        tractable.plot(LINE, ax=ax, colour="red")
    assert plt.get_fignums() == [figure.number]
    plt.close(figure)
