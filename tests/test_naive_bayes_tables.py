"""Naive Bayes over tables: columns of every kind, missing entries, categories that come late."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tractable
from tractable import GaussianNB, NaiveBayes
from tractable.conjugate import BernoulliModel, CategoricalModel, NormalModel, PoissonModel
from tractable.distributions import Beta, Dirichlet, Gamma, Laplace, Normal, NormalGamma

LIKELIHOODS = {"size": "normal", "visits": "poisson", "wait": "Gamma"}


def table(n=240, holes=0.15, seed=0):
    """A table of every kind of column, with three classes and some entries missing."""
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 3, n)
    frame = pd.DataFrame({
        "size": rng.normal(2.0 * z, 1.0 + 0.3 * z),
        "colour": np.array(["red", "green", "blue"])[np.where(rng.random(n) < 0.7, z, rng.integers(0, 3, n))],
        "member": pd.array(rng.random(n) < 0.2 + 0.3 * z, dtype="boolean"),
        "visits": rng.poisson(1.0 + 2.0 * z).astype(float),
        "wait": rng.gamma(1.0 + z, 2.0),
    })  # fmt: skip
    for name in frame.columns:
        frame.loc[rng.random(n) < holes, name] = None
    return frame, np.array(["ash", "birch", "cedar"])[z]


def numbers(n=300, d=4, K=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n)
    spread = rng.uniform(0.5, 2.0, (K, d))[y]
    return rng.standard_normal((n, d)) * spread + rng.standard_normal((K, d))[y], y


@pytest.mark.spec("CLS-20")
def test_predictives_are_those_of_conjugate_models():
    X, y = table(holes=0.1)
    model = NaiveBayes({"visits": "poisson"}, estimate="bayes", pseudocounts=2.0).fit(
        X.drop(columns="wait"), y
    )
    whole = X["size"].to_numpy()
    prior = NormalModel.from_mean_strength(np.nanmean(whole), 2.0, variance=np.nanvar(whole))
    seen = X["visits"].dropna()
    rates = PoissonModel(prior=Gamma(shape=2.0 * seen.mean(), rate=2.0))
    total = 0.0
    for k, label in enumerate(model.classes_):
        own = X[y == label]
        normal = prior.update_rows(own["size"].dropna().to_numpy())
        part = model.class_distributions_.parts[0]
        for ours, theirs in zip((part.dof, part.location, part.scale), _student(normal), strict=True):
            np.testing.assert_allclose(ours[k], theirs, rtol=1e-10)
        visits = own["visits"].dropna().to_numpy()
        counts = rates.update_rows(visits).predictive()
        x = np.arange(12.0)
        part = model.class_distributions_.parts[3]
        np.testing.assert_allclose(part[k].log_prob(x), counts.log_prob(x), rtol=1e-10)
        colours = own["colour"].dropna().map({"blue": 0, "green": 1, "red": 2}).to_numpy()
        shares = CategoricalModel(prior=Dirichlet(concentration=np.full(3, 2.0)))
        np.testing.assert_allclose(
            model.class_distributions_.parts[1].probabilities[k],
            shares.update_rows(colours).predictive().probabilities,
            rtol=1e-12,
        )
        member = own["member"].dropna().astype(int).to_numpy()
        odds = BernoulliModel(prior=Beta(alpha=2.0, beta=2.0))
        total += prior.log_evidence(prior.summarize(own["size"].dropna().to_numpy()))
        total += rates.log_evidence(rates.summarize(visits))
        total += shares.log_evidence(shares.summarize(colours)) + odds.log_evidence(odds.summarize(member))
    classes = CategoricalModel(prior=Dirichlet(concentration=np.full(3, 2.0)))
    total += classes.log_evidence(classes.summarize(np.searchsorted(model.classes_, y)))
    np.testing.assert_allclose(model.log_evidence_, total, rtol=1e-10)
    np.testing.assert_allclose(model.class_prior_, (model.class_count_ + 2.0) / (len(y) + 6.0))


def _student(model):
    found = model.predictive()
    return found.dof, found.location, found.scale


def test_a_missing_entry_is_a_column_less(rng):
    X, y = table()
    model = NaiveBayes(LIKELIHOODS).fit(X, y)
    rows = X.iloc[:40].copy()
    rows["colour"], rows["visits"] = None, np.nan
    fewer = NaiveBayes({"wait": "Gamma"}).fit(X[["size", "member", "wait"]], y)
    np.testing.assert_allclose(
        model.predict_proba(rows), fewer.predict_proba(rows[["size", "member", "wait"]]), atol=1e-12
    )
    nothing = pd.DataFrame([[None] * 5], columns=X.columns)
    np.testing.assert_allclose(model.predict_proba(nothing)[0], model.class_prior_, atol=1e-12)


def test_columns_learn_from_what_they_have():
    X, y = table()
    model = NaiveBayes(LIKELIHOODS).fit(X, y)
    assert model.likelihoods_ == {
        "size": "normal",
        "colour": "categorical",
        "member": "bernoulli",
        "visits": "poisson",
        "wait": "Gamma",
    }
    assert model.categories_ == {"colour": ("blue", "green", "red")}
    parts = dict(zip(X.columns, model.class_distributions_.parts, strict=True))
    for k, label in enumerate(model.classes_):
        own = X[y == label]
        np.testing.assert_allclose(parts["size"].mean[k], own["size"].mean(), rtol=1e-12)
        member = own["member"].dropna().astype(float)
        np.testing.assert_allclose(parts["member"].probability[k], (member.sum() + 1) / (len(member) + 2))
        rate = (own["visits"].sum() + X["visits"].mean()) / (own["visits"].count() + 1.0)
        np.testing.assert_allclose(parts["visits"].rate[k], rate, rtol=1e-12)
        wait = Gamma.fit(own["wait"].dropna().to_numpy())
        np.testing.assert_allclose(parts["wait"].members[k].shape, wait.shape, rtol=1e-9)


@pytest.mark.parametrize("kind", [Laplace, "Laplace", "StudentT", Normal, "Uniform"])
def test_any_family_that_can_be_fitted(kind):
    X, y = numbers(n=90, d=1, K=2)
    model = NaiveBayes(kind).fit(X, y)
    family = getattr(tractable, kind) if isinstance(kind, str) else kind
    for k in range(2):
        own = family.fit(X[y == k, 0])
        mine = model.class_distributions_[k].log_prob(X)
        np.testing.assert_allclose(mine, own.log_prob(X[:, 0]), rtol=1e-7)
    both = NaiveBayes(kind).partial_fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
    np.testing.assert_allclose(both.predict_proba(X), model.predict_proba(X), atol=1e-7)


def test_a_conjugate_model_of_ones_own():
    X, y = numbers(n=90, d=2, K=2)
    known = NormalModel(prior=NormalGamma(mean=0.0, strength=3.0, shape=2.0, rate=1.0))
    model = NaiveBayes({0: known}, estimate="bayes").fit(X, y)
    for k in range(2):
        after = known.update_rows(X[y == k, 0]).predictive()
        np.testing.assert_allclose(
            model.class_distributions_.parts[0].members[k].log_prob(X[:, 0]), after.log_prob(X[:, 0])
        )
    assert np.isfinite(model.log_evidence_)


@pytest.mark.spec("CLS-30")
def test_rows_are_drawn_as_a_table_like_the_one_fitted():
    X, y = table(n=600, holes=0.1)
    model = NaiveBayes(LIKELIHOODS).fit(X, y)
    drawn, labels = model.sample(20_000, random_state=0)
    assert list(drawn.columns) == list(X.columns)
    assert set(drawn["colour"]) == {"red", "green", "blue"}
    assert drawn["member"].dtype == "boolean"
    means, spread = model.class_distributions_.mean, model.class_distributions_.stddev
    for k, label in enumerate(model.classes_):
        own = labels == label
        share = model.class_prior_[k]
        assert abs(own.mean() - share) < 5.0 * np.sqrt(share * (1 - share) / len(labels))
        for j in (0, 3, 4):
            error = abs(drawn.loc[own].iloc[:, j].astype(float).mean() - means[k, j])
            assert error < 5.0 * spread[k, j] / np.sqrt(own.sum())
    again, _ = NaiveBayes(LIKELIHOODS).fit(pl.from_pandas(X), y).sample(5, random_state=0)
    assert isinstance(again, pl.DataFrame)


def test_some_columns_given_others():
    X, y = table(holes=0.0)
    model = NaiveBayes(LIKELIHOODS).fit(X, y)
    given = model.condition({"colour": "red", "visits": 2})
    row = pd.DataFrame([[np.nan, "red", None, 2.0, np.nan]], columns=X.columns)
    np.testing.assert_allclose(given.weights, model.predict_proba(row)[0], rtol=1e-10)
    assert given.names == ("size", "member", "wait")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_category_that_was_not_seen_is_scored_as_if_it_had_been_declared(library):
    X, y = table(holes=0.0)
    X, kinds = X[["colour", "size"]], ["blue", "green", "red", "grey"]
    asked = pd.DataFrame({"colour": ["grey", "red"], "size": [1.0, 1.0]})
    declared = X.assign(colour=pd.Categorical(X["colour"], categories=kinds))
    expected = NaiveBayes().fit(declared, y).predict_proba(asked)[0]
    if library == "polars":
        X, asked = pl.from_pandas(X), pl.from_pandas(asked)
    np.testing.assert_allclose(NaiveBayes().fit(X, y).predict_proba(asked)[0], expected, rtol=1e-12)
    with pytest.raises(ValueError, match="no category 'grey'"):
        NaiveBayes(unseen="error").fit(X, y).predict(asked)
    with pytest.warns(UserWarning, match="taken as missing"):
        missing = NaiveBayes(unseen="missing").fit(X, y).predict_proba(asked)[0]
    size = np.array(asked["size"])[:, None]
    only = NaiveBayes().fit(np.array(X["size"])[:, None], y).predict_proba(size)[0]
    np.testing.assert_allclose(missing, only, rtol=1e-12)
    with pytest.raises(ValueError, match="pseudocounts"):
        NaiveBayes(pseudocounts=0.0).fit(X, y).predict(asked)


def test_codes_that_were_not_seen():
    X, y = np.array([[0], [1], [1], [2]]), [0, 0, 1, 1]
    wider = tractable.CategoricalNB(min_categories=4).fit(X, y).predict_proba([[3]])
    np.testing.assert_allclose(tractable.CategoricalNB().fit(X, y).predict_proba([[3], [17]]), wider[[0, 0]])
    with pytest.raises(ValueError, match="no category 3"):
        tractable.CategoricalNB(unseen="error").fit(X, y).predict([[3]])
    with pytest.warns(UserWarning, match="taken as missing"):
        lost = tractable.CategoricalNB(unseen="missing").fit(X, y).predict_proba([[3]])
    np.testing.assert_allclose(lost, [[0.5, 0.5]])


def test_categories_that_come_later_are_learned():
    X, y = table(holes=0.0)
    X = X.drop(columns="wait").assign(colour=np.where(np.arange(len(X)) < 80, "red", X["colour"]))
    whole = NaiveBayes().fit(X, y)
    pieces = NaiveBayes()
    for part in (slice(80), slice(80, 150), slice(150, None)):
        pieces.partial_fit(X.iloc[part], y[part])
    assert set(pieces.categories_["colour"]) == {"red", "green", "blue"}
    np.testing.assert_allclose(pieces.predict_proba(X), whole.predict_proba(X), atol=1e-12)


def test_statistics_of_tables_know_their_columns():
    X, y = table()
    halves = [NaiveBayes(LIKELIHOODS).summarize(X.iloc[p], y[p]) for p in (slice(100), slice(100, None))]
    learned = NaiveBayes(LIKELIHOODS).from_statistic(halves[0] + halves[1])
    whole = NaiveBayes(LIKELIHOODS).fit(X, y)
    np.testing.assert_allclose(learned.predict_proba(X), whole.predict_proba(X), atol=1e-10)


def test_models_that_met_other_categories_merge(rng):
    X = pd.DataFrame({"size": rng.standard_normal(90), "c": rng.choice(list("wxyz"), 90)})
    y = np.where(rng.random(90) < 0.5, "ash", "birch")
    y[:30] = "cedar"
    X.loc[:29, "c"] = rng.choice(list("zv"), 30)
    whole = NaiveBayes().fit(X, y)
    a, b = (NaiveBayes().fit(X.iloc[part], y[part]) for part in (slice(50), slice(50, None)))
    for both in (a.merge(b), b.merge(a)):
        np.testing.assert_allclose(both.predict_proba(X), whole.predict_proba(X), atol=1e-12)
        assert set(both.categories_["c"]) == set("vwxyz")
        again = both.merge(a)
        np.testing.assert_allclose(
            again.class_count_, whole.class_count_ + [sum(y[:50] == k) for k in whole.classes_]
        )
    with pytest.raises(ValueError, match="same columns"):
        a.merge(NaiveBayes({"size": "kernel"}).fit(X, y))


def test_tags_say_whether_values_are_kept():
    assert tractable.tags(NaiveBayes()).parametric
    assert not tractable.tags(NaiveBayes({"a": "kernel"})).parametric
    assert not tractable.tags(tractable.KernelNB()).parametric


def test_targets_of_frames_batches_and_files(tmp_path):
    penguins = tractable.datasets.load("penguins").frame.dropna()
    columns = ["bill_length_mm", "bill_depth_mm", "body_mass_g"]
    X, y = penguins[columns].to_numpy(), penguins["species"].to_numpy()
    expected = GaussianNB().fit(X, y).predict_proba(X)
    path = tmp_path / "penguins.parquet"
    penguins[[*columns, "species"]].to_parquet(path, index=False)
    fits = [
        GaussianNB().fit(penguins[[*columns, "species"]], y="species"),
        GaussianNB().fit([(X[:100], y[:100]), (X[100:], y[100:])]),
        GaussianNB().fit(tractable.scan(path, target="species")),
    ]
    for model in fits:
        asked = penguins[columns] if hasattr(model, "feature_names_in_") else X
        np.testing.assert_allclose(model.predict_proba(asked), expected, atol=1e-10)
        assert model.classes_.tolist() == ["Adelie", "Chinstrap", "Gentoo"]


def test_a_table_with_its_target_and_weights_as_columns():
    X, y = table()
    whole = X.assign(tree=y, times=np.arange(len(y)) % 3 + 1.0)
    named = NaiveBayes(LIKELIHOODS).fit(whole, y="tree", sample_weight="times")
    plain = NaiveBayes(LIKELIHOODS).fit(X, y, sample_weight=whole["times"].to_numpy())
    np.testing.assert_allclose(named.predict_proba(X), plain.predict_proba(X), atol=1e-12)
    assert named.n_features_in_ == 5


def test_a_fitted_table_survives_saving(tmp_path):
    X, y = table()
    model = NaiveBayes({**LIKELIHOODS, "size": "kernel"}).fit(X, y)
    tractable.save(model, tmp_path / "model")
    back = tractable.load(tmp_path / "model")
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))
    assert back.partial_fit(X, y).class_count_.sum() == 2 * len(y)
