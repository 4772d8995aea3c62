"""Bayes' rule over any density."""

import sys
import warnings

import numpy as np
import pytest

import tractable
from tractable.classification import GenerativeClassifier, LinearDiscriminant, QuadraticDiscriminant
from tractable.data import Batch, Source
from tractable.density import DegenerateCovarianceWarning, GaussianDensity, Histogram, KernelDensity
from tractable.mixture import GaussianMixture, TableMixture
from tractable.statistics import DiagonalMoments, IncompleteMoments, Moments


@pytest.fixture
def classes(rng):
    """Two classes, one of them in two parts."""
    y = np.repeat(["inner", "outer"], [150, 250])
    X = rng.standard_normal((400, 2))
    X[150:, 0] += 5.0 * np.where(np.arange(250) % 2, 1.0, -1.0)
    return X, y


DENSITIES = [
    GaussianDensity(),
    GaussianMixture(2, random_state=0),
    KernelDensity(),
    Histogram(bins=6),
    TableMixture(2, random_state=0),
]


@pytest.mark.spec("CLS-12")
@pytest.mark.parametrize("density", DENSITIES, ids=lambda d: type(d).__name__)
def test_the_posterior_is_bayes_rule(classes, density):
    X, y = classes
    model = GenerativeClassifier(density).fit(X, y)
    alone = [type(density)(**density.get_params()).fit(X[y == k]) for k in ("inner", "outer")]
    with np.errstate(divide="ignore"):
        joint = np.column_stack(
            [d.score_samples(X) + np.log(np.mean(y == k)) for d, k in zip(alone, model.classes_, strict=True)]
        )
    np.testing.assert_allclose(model.predict_joint_log_proba(X), joint, atol=1e-9)
    a = model.decision_function(X)
    np.testing.assert_allclose(a, joint[:, 1] - joint[:, 0], atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1.0 / (1.0 + np.exp(-a)), atol=1e-12)
    drawn, labels = model.sample(50, random_state=0)
    assert np.shape(drawn) == (50, 2)
    assert set(labels) <= {"inner", "outer"}


def test_a_class_in_two_parts_needs_more_than_a_gaussian(classes):
    X, y = classes
    mixture = GenerativeClassifier({"inner": GaussianDensity(), "outer": GaussianMixture(2, random_state=0)})
    assert mixture.fit(X, y).score(X, y) > 0.97
    assert mixture.score(X, y) > GenerativeClassifier(GaussianDensity()).fit(X, y).score(X, y)
    assert tractable.tags(mixture).streaming == "no"


def test_gaussian_densities_make_the_quadratic_discriminant(classes, rng):
    X, y = classes
    X = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    w = rng.integers(0, 4, len(X)).astype(float)
    ours = GenerativeClassifier(GaussianDensity()).fit(X, y, sample_weight=w)
    peer = QuadraticDiscriminant().fit(X, y, sample_weight=w)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(ours.score_samples(X), ours.distribution_.log_prob(X))


def test_what_the_density_can_do_the_classifier_can(classes):
    X, y = classes
    once, often = GenerativeClassifier(GaussianDensity()), GenerativeClassifier(KernelDensity())
    assert all(hasattr(once, name) for name in ("partial_fit", "merge", "summarize", "from_statistic"))
    assert not any(hasattr(often, name) for name in ("partial_fit", "merge", "summarize", "from_statistic"))
    with pytest.raises(ValueError, match="contains NaN"):
        often.fit(np.where(X > 6.0, np.nan, X), y)


@pytest.mark.parametrize("density", [GaussianDensity(), GaussianMixture(2, random_state=0), KernelDensity()])
def test_sources_are_walked_class_by_class(classes, density, tmp_path):
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y = classes
    pq.write_table(pa.table({"p": X[:, 0], "q": X[:, 1], "kind": y}), tmp_path / "rows.parquet")
    held = GenerativeClassifier(density).fit(X, y)
    for source, rows in (
        (tractable.scan(tmp_path / "rows.parquet", target="kind"), pd.DataFrame(X, columns=["p", "q"])),
        ([(X[:170], y[:170]), (X[170:], y[170:])], X),
    ):
        streamed = GenerativeClassifier(density).fit(source)
        np.testing.assert_allclose(streamed.predict_proba(rows), held.predict_proba(X), atol=1e-8)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_with_words(rng, library):
    frames = pytest.importorskip(library)
    y = np.where(np.arange(300) % 3 > 0, "yes", "no")
    table = frames.DataFrame(
        {
            "size": rng.normal(np.where(y == "yes", 2.0, 0.0), 1.0),
            "colour": np.where(rng.random(300) < np.where(y == "yes", 0.8, 0.2), "red", "blue"),
            "often": rng.integers(1, 4, 300).astype(float),
            "answer": y,
        }
    )
    model = GenerativeClassifier(TableMixture(1, random_state=0))
    named = model.fit(table, "answer", sample_weight="often")
    X = table[["size", "colour"]]
    p = named.predict_proba(X)
    assert named.score(X, y) > 0.8
    given = GenerativeClassifier(TableMixture(1, random_state=0)).fit(
        X, y, sample_weight=np.asarray(table["often"])
    )
    np.testing.assert_allclose(given.predict_proba(X), p)
    drawn, labels = named.sample(40, random_state=0)
    assert list(drawn.columns) == ["size", "colour"]
    assert len(drawn) == len(labels) == 40
    reds = np.asarray(drawn["colour"])[labels == "yes"] == "red"
    assert reds.mean() > 0.5
    with pytest.raises(ValueError, match="columns"):
        named.predict(table[["size", "often"]])
    with pytest.raises(ValueError, match="'nothing' is not a column"):
        model.fit(table, "nothing")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_class_may_lack_a_word(rng, library):
    """Words are known from the whole table, though the rows of a class have only some of them."""
    import pandas as pd

    frame = pd.DataFrame({"size": rng.normal(size=40), "colour": ["red"] * 20 + ["red", "blue"] * 10})
    pytest.importorskip(library)
    table = frame
    if library == "polars":
        table = sys.modules["polars"].from_pandas(frame)
    elif library == "pyarrow":
        table = sys.modules["pyarrow"].Table.from_pandas(frame)
    y = np.repeat(["plain", "mixed"], 20)
    model = GenerativeClassifier(TableMixture(1, random_state=0)).fit(table, y)
    p = model.predict_proba(table)
    blue = (frame["colour"] == "blue").to_numpy()
    assert np.all(p[blue, 0] > 0.8)
    assert np.mean(p[~blue, 0]) < 0.5
    assert len(model.sample(7, random_state=0)[0]) == 7


@pytest.mark.spec("CLS-30")
def test_new_rows_follow_their_classes(classes):
    X, y = classes
    drawn, labels = (
        GenerativeClassifier(GaussianMixture(2, random_state=0)).fit(X, y).sample(5000, random_state=0)
    )
    share = np.mean(labels == "outer")
    assert abs(share - 0.625) < 5.0 * np.sqrt(0.625 * 0.375 / 5000)
    assert np.mean(np.abs(drawn[labels == "outer", 0]) > 2.5) > 0.97
    assert np.mean(np.abs(drawn[labels == "inner", 0]) > 3.0) < 0.03


def test_another_librarys_densities(classes):
    from sklearn.neighbors import KernelDensity as Peer

    X, y = classes
    model = GenerativeClassifier(Peer(bandwidth=0.5)).fit(X, y)
    assert model.score(X, y) > 0.95
    assert not hasattr(model, "distribution_")


def test_a_promised_class_without_rows_is_impossible(classes):
    X, y = classes
    model = GenerativeClassifier(GaussianDensity()).partial_fit(X, y, classes=["inner", "lost", "outer"])
    np.testing.assert_array_equal(model.predict_proba(X)[:, 1], 0.0)
    assert model.estimators_[1] is None
    assert set(model.sample(100, random_state=0)[1]) == {"inner", "outer"}
    open_ = GenerativeClassifier(GaussianDensity(), priors=[0.4, 0.2, 0.4])
    open_.partial_fit(X, y, classes=["inner", "lost", "outer"])
    with pytest.raises(ValueError, match="no rows of class 'lost'"):
        open_.predict(X)


@pytest.mark.parametrize(
    ("density", "match"),
    [
        ("gaussian", "density must be an estimator"),
        ({"inner": GaussianDensity()}, "no estimator for the class 'outer'"),
        (GaussianDensity(covariance_type="round"), "covariance_type"),
    ],
)
def test_bad_densities_are_one_clear_error(classes, density, match):
    with warnings.catch_warnings(), pytest.raises(ValueError, match=match):
        GenerativeClassifier(density).fit(*classes)


class Counted(Source):
    """A source that counts how often it is walked."""

    n_rows, n_features, feature_names = 400, 2, None

    def __init__(self, X, y):
        self.rows, self.passes = (X, y), 0

    def batches(self):
        self.passes += 1
        X, y = self.rows
        for part in np.array_split(np.arange(len(X)), 5):
            yield Batch(X=X[part], y=y[part], weights=np.where(part % 7 > 0, 1.0, 0.0))


@pytest.mark.parametrize(("density", "most"), [(GaussianDensity(), 1), (KernelDensity(), 3)])
def test_a_source_is_walked_once_where_once_is_enough(classes, density, most):
    X, y = classes
    source = Counted(X, y)
    streamed = GenerativeClassifier(density).fit(source)
    weights = np.where(np.arange(400) % 7 > 0, 1.0, 0.0)
    held = GenerativeClassifier(density).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(streamed.predict_proba(X), held.predict_proba(X), atol=1e-9)
    np.testing.assert_array_equal(streamed.class_count_, held.class_count_)
    assert source.passes <= most


@pytest.mark.parametrize("density", [GaussianDensity(), KernelDensity()], ids=["one-pass", "kept"])
@pytest.mark.parametrize(
    "names",
    [
        np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[ns]"),
        np.array([3, 7], dtype=np.int8),
        np.array(["a", "bb"], dtype=object),
    ],
    ids=lambda names: str(names.dtype),
)
@pytest.mark.spec("CLS-12")
def test_labels_come_back_in_the_type_they_came_in(density, names, rng):
    X, codes = rng.standard_normal((40, 2)) + 5.0 * (np.arange(40) % 2)[:, None], np.arange(40) % 2
    y = names[codes]
    for given in ((X, y), ([(X[:20], y[:20]), (X[20:], y[20:])],)):
        model = GenerativeClassifier({names[0]: density, names[1]: density}).fit(*given)
        assert model.classes_.dtype == names.dtype
        np.testing.assert_array_equal(model.predict(X), y)
        assert model.sample(3, random_state=0)[1].dtype == names.dtype


@pytest.mark.spec("CLS-12")
def test_warnings_name_the_classes_and_point_to_the_caller():
    X, y = np.ones((9, 2)), np.repeat(["ash", "birch", "cedar"], 3)
    X[:6, 0] = [1.0, 2.0, 4.0, 3.0, 4.0, 6.0]  # the second column is constant within two classes
    X[6:] = [[0.0, 1.0], [1.0, 0.0], [0.5, 2.0]]
    model = GenerativeClassifier(GaussianDensity())
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(X, y)
        model.from_statistic(model.statistic_)
    assert [warning.filename for warning in said] == [__file__] * 2
    assert all(str(warning.message).startswith("classes 'ash', 'birch': ") for warning in said)


@pytest.mark.parametrize("density", [GaussianDensity, {"a": GaussianDensity, "b": GaussianDensity}])
@pytest.mark.spec("CLS-12")
def test_a_class_is_no_estimator(density):
    with pytest.raises(
        ValueError, match=r"density must be an estimator and not its class: GaussianDensity\(\)"
    ):
        GenerativeClassifier(density).fit([[0.0], [1.0]], ["a", "b"])


@pytest.mark.parametrize(
    "make",
    [
        LinearDiscriminant,
        QuadraticDiscriminant,
        lambda **given: GenerativeClassifier(GaussianDensity(), **given),
    ],
    ids=["linear", "quadratic", "generative"],
)
@pytest.mark.spec("CLS-12")
def test_a_class_that_may_be_and_has_no_rows_leaves_the_model_open(make, rng):
    X, y = rng.standard_normal((30, 2)) + 3.0 * (np.arange(30) % 3)[:, None], np.arange(30) % 3
    model = make(priors=[0.3, 0.3, 0.4])
    model.partial_fit(X[y < 2], y[y < 2], classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"no rows of class 2, whose prior is 0\.4"):
        model.predict_proba(X)
    model.partial_fit(X[y == 2], y[y == 2])
    np.testing.assert_allclose(
        model.predict_proba(X), make(priors=[0.3, 0.3, 0.4]).fit(X, y).predict_proba(X)
    )


@pytest.mark.spec("CLS-12")
def test_a_belief_says_what_a_class_without_rows_is_like(rng):
    X, y = rng.standard_normal((20, 2)), np.arange(20) % 2
    model = LinearDiscriminant(priors=[0.3, 0.3, 0.4], estimate="bayes")
    model.partial_fit(X, y, classes=[0, 1, 2])
    assert np.all(model.predict_proba(X)[:, 2] > 0.0)


ONE_ROW = {
    "full": GaussianDensity(),
    "diag": GaussianDensity(covariance_type="diag"),
    "spherical": GaussianDensity(covariance_type="spherical"),
    "unbiased": GaussianDensity(ddof=1.0),
    "kernel": KernelDensity(),
    "mixture": GaussianMixture(2, random_state=1),
}


@pytest.fixture
def one_row(rng):
    """Two classes of many rows, and one of a single row."""
    y = np.repeat(["a", "b", "one"], [30, 20, 1])
    return rng.standard_normal((51, 2)) * [1.0, 3.0] + 10.0 * np.repeat([0.0, 1.0, -1.0], [30, 20, 1])[
        :, None
    ], y


@pytest.mark.parametrize("name", ONE_ROW)
@pytest.mark.spec("CLS-12")
def test_a_class_of_one_row_spreads_as_the_others_do(name, one_row):
    X, y = one_row
    with pytest.warns(DegenerateCovarianceWarning, match="class 'one': there is one sample"):
        model = GenerativeClassifier(ONE_ROW[name]).fit(X, y)
    moved = [X[y == k] - X[y == k].mean(axis=0) + X[-1] for k in ("a", "b")]
    alone = type(ONE_ROW[name])(**ONE_ROW[name].get_params()).fit(np.concatenate(moved))
    np.testing.assert_allclose(model.estimators_[2].score_samples(X), alone.score_samples(X), rtol=1e-8)
    np.testing.assert_allclose(model.class_prior_, [30 / 51, 20 / 51, 1 / 51])
    p = model.predict_proba(X)
    assert np.all(np.isfinite(p))
    assert model.predict(X[-1:]) == "one"


@pytest.mark.parametrize("name", ONE_ROW)
@pytest.mark.spec("CLS-12")
def test_rows_all_alike_are_one_row_of_their_weight(name, one_row, rng):
    X, y = one_row
    w = np.append(rng.integers(1, 3, 50), 3)
    often = np.repeat(np.arange(51), w)
    with pytest.warns(DegenerateCovarianceWarning):
        weighted = GenerativeClassifier(ONE_ROW[name]).fit(X, y, sample_weight=w.astype(float))
    with pytest.warns(DegenerateCovarianceWarning):
        repeated = GenerativeClassifier(ONE_ROW[name]).fit(X[often], y[often])
    np.testing.assert_allclose(weighted.predict_log_proba(X), repeated.predict_log_proba(X), rtol=1e-6)


@pytest.mark.parametrize("name", ONE_ROW)
@pytest.mark.spec("CLS-12")
def test_a_class_of_one_row_in_a_source(name, one_row):
    X, y = one_row
    with pytest.warns(DegenerateCovarianceWarning, match="class 'one'"):
        held = GenerativeClassifier(ONE_ROW[name]).fit(X, y)
    with pytest.warns(DegenerateCovarianceWarning, match="class 'one'"):
        read = GenerativeClassifier(ONE_ROW[name]).fit([(X[:35], y[:35]), (X[35:], y[35:])])
    np.testing.assert_allclose(read.predict_log_proba(X), held.predict_log_proba(X), rtol=1e-8)


@pytest.mark.filterwarnings("ignore::tractable.density.DegenerateCovarianceWarning")
@pytest.mark.spec("CLS-12")
def test_a_stream_forgets_what_it_took_from_others_once_it_has_more_rows(one_row, rng):
    """The answer follows from the statistic alone, and is the one of all rows at once."""
    X, y = one_row
    more = rng.standard_normal((10, 2)) - 10.0
    model = GenerativeClassifier(GaussianDensity())
    for part in (slice(50, 51), slice(0, 30), slice(30, 50)):  # the single row comes first
        model.partial_fit(X[part], y[part])
    np.testing.assert_allclose(
        model.predict_log_proba(X), GenerativeClassifier(GaussianDensity()).fit(X, y).predict_log_proba(X)
    )
    model.partial_fit(more, np.repeat("one", 10))
    whole = GenerativeClassifier(GaussianDensity()).fit(
        np.append(X, more, axis=0), np.append(y, ["one"] * 10)
    )
    np.testing.assert_allclose(model.predict_log_proba(X), whole.predict_log_proba(X))
    mine = np.append(X[50:], more, axis=0)
    np.testing.assert_allclose(model.estimators_[2].covariance_, np.cov(mine.T, ddof=0))


@pytest.mark.filterwarnings("ignore::tractable.density.DegenerateCovarianceWarning")
@pytest.mark.spec("CLS-12")
def test_a_gaussian_class_of_one_row_is_that_of_the_quadratic_discriminant(one_row):
    X, y = one_row
    ours, peer = GenerativeClassifier(GaussianDensity()).fit(X, y), QuadraticDiscriminant().fit(X, y)
    np.testing.assert_allclose(ours.predict_log_proba(X), peer.predict_log_proba(X), rtol=1e-9)


def test_moved_moments_are_those_of_moved_rows(rng):
    X, step = rng.standard_normal((20, 3)), np.array([1.0, -2.0, 100.0])
    holes = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    found = IncompleteMoments.of(holes)
    whole = IncompleteMoments.of(holes + step)
    pairs = [(found.moved(step).parts[pattern], part) for pattern, part in whole.parts.items()]
    assert len(pairs) > 1
    pairs += [(Moments.of(X).moved(step), Moments.of(X + step))]
    pairs += [(DiagonalMoments.of(holes).moved(step), DiagonalMoments.of(holes + step))]
    for moved, wanted in pairs:
        for name in ("weight", "mean", "scatter"):
            np.testing.assert_allclose(getattr(moved, name), getattr(wanted, name), rtol=1e-12, atol=1e-12)


def test_a_density_that_needs_no_spread_keeps_its_own(one_row):
    X, y = one_row
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = GenerativeClassifier(KernelDensity(bandwidth=0.5)).fit(X, y)
    np.testing.assert_allclose(
        model.estimators_[2].score_samples(X), KernelDensity(bandwidth=0.5).fit(X[-1:]).score_samples(X)
    )


@pytest.mark.filterwarnings("ignore::tractable.density.DegenerateCovarianceWarning")
@pytest.mark.parametrize("name", ONE_ROW)
@pytest.mark.parametrize("streamed", [False, True])
def test_classes_of_one_row_each_are_refused(name, streamed, rng):
    """Nothing is known of any spread, and Gaussians would give probabilities of exactly 0 and 1."""
    X, y = rng.standard_normal((2, 2)), np.array(["one", "other"])
    model = GenerativeClassifier(ONE_ROW[name])
    with pytest.raises(ValueError, match=r"one sample|more than one row|minimum of 2|1 sample|1 row"):
        model.fit(*(([(X[:1], y[:1]), (X[1:], y[1:])],) if streamed else (X, y)))


@pytest.mark.parametrize("density", [GaussianDensity(), GaussianMixture(2, random_state=0), KernelDensity()])
def test_the_density_of_a_row_is_that_of_a_part_and_of_the_rest_given_it(classes, density):
    """`condition` was documented, and had no distribution to ask."""
    X, y = classes
    model = GenerativeClassifier(density).fit(X, y)
    given = model.condition([1], X[:5, 1:])
    assert given.batch_shape == (5,)
    parts = model.marginal([1]).log_prob(X[:5, 1:]) + given.log_prob(X[:5, :1])
    np.testing.assert_allclose(parts, model.score_samples(X[:5]), rtol=1e-10)
    one = model.condition({1: X[0, 1]})
    np.testing.assert_allclose(one.log_prob(X[:1, :1]), given.log_prob(X[0, :1])[:1], rtol=1e-10)
