"""The guide's table of pictures says which options there are: each is one, and every picture is drawn."""

import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

mpl.use("Agg")

import tractable
from tractable.distributions import Beta, MultivariateNormal, Normal
from tractable.linear_model import lars_path, lasso_path
from tractable.metrics import calibration_curve, class_calibration, confusion_matrix
from tractable.selection import bias_variance, select_components, select_n_clusters
from tractable.spatial import KDTree

RNG = np.random.default_rng(0)
ROWS, NUMBERS = RNG.normal(size=(60, 2)), RNG.normal(size=60)
SPECIES = np.where(NUMBERS > 0, "ash", "birch")
COIN = tractable.BernoulliModel(prior=Beta(alpha=2.0, beta=5.0))
PAGE = Path(__file__).parents[1] / "docs" / "guide" / "pictures.md"


def two_classes():
    return class_calibration(NUMBERS > 0, 1 / (1 + np.exp(-NUMBERS)), n_bins=5)


def errors_of_a_line():
    return bias_variance(
        tractable.LinearRegression(), lambda X: X[:, 0], 0.3, ROWS[:20, :1], n_repeats=5, rng=0
    )


#: What the first column of the table speaks of, by how it begins.
SPOKEN_OF = {
    "a distribution": lambda: [Normal(mean=0.0, variance=1.0), Beta(alpha=[1.0, 2.0], beta=2.0)],
    "a density": lambda: [
        MultivariateNormal(mean=np.zeros(3), covariance=np.eye(3)),
        tractable.GaussianDensity().fit(ROWS),
        tractable.KernelDensity().fit(ROWS),
    ],
    "a mixture": lambda: [tractable.GaussianMixture(2, random_state=0).fit(ROWS)],
    "a regression": lambda: [
        tractable.LinearRegression().fit(ROWS, NUMBERS),
        make_pipeline(StandardScaler(), tractable.Ridge(1.0)).fit(ROWS, NUMBERS),
    ],
    "a classifier": lambda: [
        tractable.LinearDiscriminant().fit(ROWS, SPECIES),
        make_pipeline(StandardScaler(), tractable.LogisticRegression()).fit(ROWS, SPECIES),
    ],
    "`cv_curve_`": lambda: [
        tractable.RidgeCV(alphas=[0.1, 1.0]).fit(ROWS, NUMBERS).cv_curve_,
        calibration_curve(Normal(mean=0.0, variance=1.0), NUMBERS, rng=0),
        two_classes(),
    ],
    "`select_components`": lambda: [
        select_components(ROWS, [1, 2]),
        select_n_clusters(ROWS, range(2, 4), criterion=["silhouette"], random_state=0),
    ],
    "`lasso_path`": lambda: [lasso_path(ROWS, NUMBERS, n_alphas=5), lars_path(ROWS, NUMBERS)],
    "`LassoCV`": lambda: [
        tractable.LassoCV(alphas=5).fit(ROWS, NUMBERS),
        tractable.LassoLars(0.01).fit(ROWS, NUMBERS),
    ],
    "a conjugate model": lambda: [COIN, COIN.trace([COIN.summarize([1, 0])])],
    "`diagnose`": lambda: [
        tractable.diagnose(tractable.LinearRegression().fit(ROWS, NUMBERS), ROWS, NUMBERS),
        confusion_matrix(SPECIES, SPECIES[::-1]),
        errors_of_a_line(),
        tractable.KNeighborsClassifier("loo").fit(ROWS, SPECIES).loo_curve_,
    ],
    "a basis": lambda: [
        tractable.PolynomialBasis(2).fit(ROWS),
        tractable.KMeans(2, random_state=0).fit(ROWS),
        tractable.MeanShift(bandwidth=1.0).fit(ROWS),
        tractable.NearestNeighbors().fit(ROWS),
    ],
    "an index": lambda: [KDTree(ROWS)],
}


def table():
    """The rows of the page's table: what one has, and the options."""
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")][1:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [(row[0], re.findall(r"`(\w+)`", row[-1])) for row in cells]


@pytest.mark.parametrize(("has", "options"), table(), ids=lambda part: part if isinstance(part, str) else "")
def test_the_options_there_are(has, options):
    (shown,) = [make for begins, make in SPOKEN_OF.items() if has.startswith(begins)]
    for x in shown():
        with pytest.raises(TypeError) as refused:
            tractable.plot(x, no_such_option=1)
        known = str(refused.value).rpartition("takes ax")[2].strip(", ").split(", ")
        assert set(options) <= set(known), f"{type(x).__name__} takes {known}"


def test_everything_in_the_table_was_asked():
    assert len(table()) == len(SPOKEN_OF)


def test_every_value_of_show_is_one():
    """What the page names in `show="…"` is drawn."""
    named = set(re.findall(r'show="(\w+)"', PAGE.read_text()))
    assert named == {"responsibilities", "objective", "predictive"}
    mixture = tractable.GaussianMixture(2, random_state=0).fit(ROWS)
    assert tractable.plot(mixture, show="objective").has_data()
    assert tractable.plot(mixture, show="responsibilities", data=ROWS).has_data()
    assert tractable.plot(COIN, show="predictive").has_data()
