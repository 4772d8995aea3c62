"""Pictures of mixtures: words stay words, and rows take the colours of the components they belong to."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

mpl.use("Agg")
from matplotlib import pyplot as plt

import tractable
from tractable.distributions import Categorical, Mixture
from tractable.plotting.style import COLOURS

PENGUINS = tractable.datasets.load("penguins").frame
GEYSER = tractable.datasets.load("old_faithful").frame


@pytest.fixture(scope="module")
def table():
    return tractable.TableMixture(3, random_state=0).fit(PENGUINS)


@pytest.fixture(scope="module")
def geysers():
    return tractable.GaussianMixture(2, random_state=0).fit(GEYSER)


def ticks(ax):
    return [tick.get_text() for tick in ax.get_xticklabels()]


def told(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_words_are_bars_of_the_components(table):
    """Stacked, weight times probability; their tops are what the whole table says."""
    ax = tractable.plot(table, dims=["species"], data=PENGUINS)
    names = table.categories_["species"]
    assert ticks(ax) == list(names)
    bars = np.array([[bar.get_height() for bar in part] for part in ax.containers])
    whole = np.asarray(table.distribution_.marginal(["species"]).prob(np.arange(3.0)[:, None]))
    np.testing.assert_allclose(bars.sum(axis=0), whole)
    np.testing.assert_allclose(bars.sum(axis=1), table.weights_)
    (seen,) = ax.lines
    assert seen.get_linestyle() == "None", "words have nothing between them"
    shares = PENGUINS["species"].value_counts(normalize=True)
    np.testing.assert_allclose(seen.get_ydata(), [shares[name] for name in names])
    assert told(ax) == ["data", "component 0", "component 1", "component 2"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("species", "probability")


def test_what_has_no_order_has_no_interval(table):
    with pytest.raises(TypeError, match="unknown option 'coverage': this picture takes ax, show, data, dims"):
        tractable.plot(table, dims=["species"], coverage=0.5)
    tractable.plot(table, dims=["body_mass_g"], coverage=0.5)


@pytest.mark.parametrize("made", ["Categorical", "Mixture"])
def test_codes_of_categories_have_no_interval_and_no_lines(made):
    p = np.array([[0.2, 0.5, 0.3], [0.6, 0.2, 0.2]])
    one = Categorical(probabilities=p[0])
    x = one if made == "Categorical" else Mixture(components=Categorical(probabilities=p))
    ax = tractable.plot(x)
    assert not any("%" in text for text in told(ax))
    assert {line.get_linestyle() for line in ax.lines} == {"None"}


def test_yes_and_no_are_words():
    table = pd.DataFrame({"rain": [True, False, True, True], "wind": [True, False, False, True]})
    ax = tractable.plot(tractable.TableMixture(1).fit(table), data=table)
    assert ticks(ax) == ["no", "yes"]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [0.25, 0.75])


def test_rows_with_holes_have_no_share(table):
    ax = tractable.plot(table, dims=["sex"], data=PENGUINS)
    assert PENGUINS["sex"].isna().any()
    np.testing.assert_allclose(ax.lines[0].get_ydata().sum(), 1.0)


def test_rows_have_the_colours_of_those_they_belong_to(geysers):
    ax = tractable.plot(geysers, data=GEYSER, show="responsibilities")
    rows = max(ax.collections, key=lambda marks: len(marks.get_offsets()))
    np.testing.assert_allclose(rows.get_offsets(), GEYSER)
    shares = geysers.predict_proba(GEYSER)
    np.testing.assert_allclose(rows.get_facecolors()[:, :3], shares @ [to_rgb(c) for c in COLOURS[1:3]])
    assert told(ax) == ["component 0", "component 1"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("eruptions", "waiting")


def test_responsibilities_along_one_column(geysers):
    ax = tractable.plot(geysers, data=GEYSER, show="responsibilities", dims=["waiting"])
    shares = geysers.predict_proba(GEYSER)
    for k, line in enumerate(ax.lines):
        np.testing.assert_allclose(line.get_xydata(), np.column_stack([GEYSER["waiting"], shares[:, k]]))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("waiting", "responsibility")


def test_responsibilities_of_words_and_of_rows_with_holes(table):
    ax = tractable.plot(table, data=PENGUINS, show="responsibilities", dims=["island", "body_mass_g"])
    assert ticks(ax) == list(table.categories_["island"])
    rows = max(ax.collections, key=lambda marks: len(marks.get_offsets()))
    assert len(rows.get_offsets()) == PENGUINS["body_mass_g"].notna().sum()


def test_responsibilities_are_of_rows(geysers):
    with pytest.raises(ValueError, match="data must be given, the rows"):
        tractable.plot(geysers, show="responsibilities")
    with pytest.raises(ValueError, match="show must be one of density, objective, responsibilities"):
        tractable.plot(geysers, show="stairs")
    assert not plt.get_fignums()
