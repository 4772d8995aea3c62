"""The estimators that scikit-learn has too, each with tables of many shapes and a check of the answers.

Both are given the peer's defaults, and where a tolerance means the same to both, the peer's. A case times
the fit, or `predict` of rows by a fitted model.
"""

import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn import cluster, discriminant_analysis, linear_model, mixture, naive_bayes, neighbors
from sklearn.base import clone

import tractable
from benchmarks.row import Row

PEER = "scikit-learn"


@dataclass(frozen=True, kw_only=True)
class Case:
    """One estimator: how to make ours and the peer, of which tables, and whether the answers agree.

    `make(n_rows, n_columns, n_groups)` gives the table; `call(model, data)` is what is timed and `check(data,
    ours, peer)` compares what it returned. A case of `fitted` models times the call alone. Of a search that
    begins at `random` centres, both are given random states with which they take as many steps. Of one whose
    tolerance means something else to the peer, ours has the first of `tolerances` with which it passes the
    check: as accurate as the peer is at its defaults.
    """

    name: str
    ours: Callable[[int], Any]
    peer: Callable[[int], Any]
    make: Callable[[int, int, int], SimpleNamespace]
    check: Callable[[Any, Any, Any], None]
    call: Callable[[Any, Any], Any]
    groups: tuple = (0,)
    most_columns: int = 2000
    most_entries: float = 1e8  # of the table; ours or the peer takes minutes for more
    enough: Callable[[int, int, int], bool] = lambda n, _d, k: n >= 3 * k  # rows
    fitted: bool = False
    random: bool = False
    tolerances: tuple = ()

    def row(self, shape):
        """Return the row of the benchmark of one shape."""

        def setup(size, folder):  # noqa: ARG001  (no files)
            data = self.make(*size)
            data.starts = self.starts(data, size[2]) if self.random else {}
            data.options = {"tol": self.tolerance(data, size[2])} if self.tolerances else {}
            if self.fitted:
                data.models = {who: quiet(fit, make(size[2]), data) for who, make in self.makers.items()}
            return data

        def contender(who):
            def run(data):
                model = data.models[who] if self.fitted else self.makers[who](shape[2])
                if self.random:
                    model.set_params(random_state=data.starts[who])
                if who == "ours" and not self.fitted:
                    model.set_params(**data.options)
                return data, quiet(self.call, model, data)

            return run

        return Row(
            name=self.name,
            shows="",
            setup=setup,
            size=shape,
            dry_size=(300, 3, min(shape[2], 3)),
            ours=contender("ours"),
            peers={PEER: contender(PEER)},
            check=lambda mine, theirs: self.check(mine[0], mine[1], theirs[1]),
            limit="",
            memory=False,
        )

    @property
    def makers(self):
        return {"ours": self.ours, PEER: self.peer}

    def tolerance(self, data, n_groups):
        """Return the tolerance of ours: the first with which it is as accurate as the peer."""
        peer = quiet(fit, self.peer(n_groups), data)
        for tol in self.tolerances:
            with suppress(AssertionError):
                self.check(data, quiet(fit, self.ours(n_groups).set_params(tol=tol), data), peer)
                return tol
        return self.tolerances[-1]

    def starts(self, data, n_groups):
        """Return a random state of each, of a few: those whose numbers of steps differ least."""
        steps = {
            who: [quiet(fit, make(n_groups).set_params(random_state=seed), data).n_iter_ for seed in range(5)]
            for who, make in self.makers.items()
        }
        apart = np.abs(np.log(np.divide.outer(steps["ours"], steps[PEER])))
        ours, peer = np.unravel_index(np.argmin(apart), apart.shape)
        return {"ours": int(ours), PEER: int(peer)}

    def shapes(self, rows, columns):
        """Return the shapes of a grid that this case has."""
        return [
            (n, d, k)
            for k in self.groups
            for n in rows
            for d in columns
            if d <= self.most_columns and n * d * max(k, 1) <= self.most_entries and self.enough(n, d, k)
        ]


def quiet(call, *given):
    """Call without warnings: of steps that ran out, which `check` sees."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*given)


def more_than_columns(n_rows, n_columns, n_groups):
    """Whether every class is likely to have more rows than columns, without which the peer refuses to fit."""
    each = n_rows / n_groups
    return each - 3.0 * np.sqrt(each) > n_columns


# What is timed.


def fit(model, data):
    return model.fit(data.X, data.y)


def predict(model, data):
    return model.predict(data.X[:1])


def predict_proba(model, data):
    return model.predict_proba(data.X[:1])


def fit_and_score(model, data):
    """The log densities of some rows: a fit alone only stores them."""
    return model.fit(data.X).score_samples(data.X[:1000])


def fit_and_predict(model, data):
    return model.fit(data.X, data.y).predict(data.X[:1000])


def fit_and_search(model, data):
    return model.fit(data.X).kneighbors(data.X[:1000])[0]


# Tables.


def regression(n_rows, n_columns, _groups):
    """A linear model of columns that are correlated, a tenth of which matter."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_columns))
    X[:, 1:] += 0.5 * X[:, :-1]
    weights = rng.standard_normal(n_columns) * (np.arange(n_columns) % 10 == 0) * 3.0
    return SimpleNamespace(X=X, y=X @ weights + rng.standard_normal(n_rows))


def dense_regression(n_rows, n_columns, _groups):
    """A linear model to which every column matters; columns beside each other have a correlation of 0.4."""
    data, rng = regression(n_rows, n_columns, 0), np.random.default_rng(1)
    fitted = data.X @ rng.uniform(1.0, 10.0, n_columns)
    return SimpleNamespace(X=data.X, y=fitted + 0.1 * np.std(fitted) * rng.standard_normal(n_rows))


def standardized_regression(n_rows, n_columns, groups):
    """The same in units of standard deviations: in these a threshold of precisions means the same to both."""
    data = regression(n_rows, n_columns, groups)
    X, y = ((part - part.mean(axis=0)) / part.std(axis=0) for part in (data.X, data.y))
    return SimpleNamespace(X=X, y=y)


def classes(n_rows, n_columns, n_groups):
    """Classes by planes and Gumbel noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_columns))
    planes = rng.standard_normal((n_columns, n_groups)) / np.sqrt(n_columns) * 3.0

    def drawn(rows):
        scores = rows @ planes
        return (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)

    y = drawn(X)
    y[:n_groups] = np.arange(n_groups)
    held_out = rng.standard_normal((1000, n_columns))
    return SimpleNamespace(X=X, y=y, held_out=(held_out, drawn(held_out)))


def counts(n_rows, n_columns, n_groups):
    """Counts of words, mostly none, by class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_groups, n_rows)
    y[:n_groups] = np.arange(n_groups)
    rates = rng.gamma(0.3, 1.0, (n_groups, n_columns))
    return SimpleNamespace(X=rng.poisson(rates[y]).astype(float), y=y)


def codes(n_rows, n_columns, n_groups):
    """Codes of five categories, by class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_groups, n_rows)
    X = (rng.integers(0, 4, (n_rows, n_columns)) + (y % 2)[:, None]).astype(np.int64)
    X[:5] = np.arange(5)[:, None]
    return SimpleNamespace(X=X, y=y)


def clusters(n_rows, n_columns, n_groups):
    """Normal clusters that overlap little."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((max(n_groups, 3), n_columns)) * 4.0
    labels = rng.integers(0, len(centres), n_rows)
    return SimpleNamespace(X=centres[labels] + rng.standard_normal((n_rows, n_columns)), y=labels)


# Whether the answers agree.


def same(data, mine, theirs):  # noqa: ARG001  (what answers were to)
    """Compare numbers."""
    np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-8)


def same_distances(data, mine, theirs):  # noqa: ARG001
    """Compare distances; the peer's of equal rows are roots of what rounding left of a difference."""
    np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-5)


def close(data, mine, theirs):  # noqa: ARG001
    """Compare numbers that two searches ended at, each by its tolerance."""
    np.testing.assert_allclose(mine, theirs, rtol=1e-2, atol=1e-2)


def same_coefficients(data, mine, theirs):
    """Compare predictions of the rows, on the scale of y."""
    error = np.max(np.abs(mine.predict(data.X[:1000]) - theirs.predict(data.X[:1000])))
    assert error <= 1e-6 * np.std(data.y), f"predictions differ by {error:.1g}"


def near_coefficients(data, mine, theirs):
    """Compare predictions of two searches, each ended by its tolerance."""
    error = np.sqrt(np.mean((mine.predict(data.X[:1000]) - theirs.predict(data.X[:1000])) ** 2))
    assert error <= 1e-2 * np.std(data.y), f"predictions differ by {error:.1g}"


def penalised(data, mine, theirs):
    """Ask that ours has the lower objective, to the peer's tolerance of the duality gap."""

    def objective(model):
        residuals = data.y - model.predict(data.X)
        l1 = getattr(model, "l1_ratio", 1.0)
        size = l1 * np.abs(model.coef_).sum() + 0.5 * (1.0 - l1) * (model.coef_**2).sum()
        return 0.5 * np.mean(residuals**2) + model.alpha * size

    assert objective(mine) <= objective(theirs) + 1e-4 * np.var(data.y)


def likelihood_of_classes(data, mine, theirs):
    """Ask that ours has the lower penalised log loss, to 1e-8 a row."""

    def objective(model):
        scores = data.X @ model.coef_.T + model.intercept_
        if scores.shape[1] == 1:
            scores = np.column_stack([np.zeros(len(scores)), scores])
        loss = logsumexp(scores, axis=1) - scores[np.arange(len(scores)), data.y]
        return np.mean(loss) + 0.5 * np.sum(model.coef_**2) / len(data.y)

    assert objective(mine) <= objective(theirs) + 1e-8


def same_probabilities(data, mine, theirs):
    """Compare the probabilities of the classes of rows."""
    np.testing.assert_allclose(
        mine.predict_proba(data.X[:1000]), theirs.predict_proba(data.X[:1000]), atol=1e-6
    )


def same_classes(data, mine, theirs):
    """Compare the classes of rows; where covariances have other divisors a few differ."""
    assert np.mean(mine.predict(data.X[:1000]) != theirs.predict(data.X[:1000])) <= 0.02


def as_good_classes(data, mine, theirs):
    """Compare the classes of rows; of fewer rows than columns, ask that ours predicts others no worse.

    A covariance within classes is singular then: the peer leaves out the directions in which no class varies,
    and ours gives them a small variance.
    """
    if data.X.shape[0] > data.X.shape[1]:
        same_classes(data, mine, theirs)
    else:
        assert mine.score(*data.held_out) >= theirs.score(*data.held_out) - 0.03


def from_other_starts(data, model, quality):
    """Return the median quality of a model fitted from five other starts."""
    models = [clone(model).set_params(random_state=seed) for seed in range(1, 6)]
    return np.median([quality(quiet(fit, each, data)) for each in models])


def inertia(data, mine, theirs):
    """Ask that ours is no worse a local optimum, to five per cent, or not by the medians over starts."""
    # Starts are random, and one optimum may be a third above another.
    if mine.inertia_ > 1.4 * theirs.inertia_:
        ours, peers = (from_other_starts(data, each, lambda m: m.inertia_) for each in (mine, theirs))
        assert ours <= 1.05 * peers, f"inertia {ours:.4g}, the peer's {peers:.4g}"


def likelihood(data, mine, theirs):
    """Ask that ours has the higher likelihood, to a hundredth a row and column, or medians over starts do."""

    def quality(model):
        return np.mean(model.score_samples(data.X))

    slack = 0.01 * data.X.shape[1]
    if quality(mine) < quality(theirs) - slack:
        ours, peers = (from_other_starts(data, each, quality) for each in (mine, theirs))
        assert ours >= peers - slack, f"log density {ours:.4g}, the peer's {peers:.4g}"


def as_many_clusters(data, mine, theirs):  # noqa: ARG001
    """Compare the number of clusters."""
    assert len(mine.cluster_centers_) == len(theirs.cluster_centers_)


def any_clusters(data, mine, theirs):
    """Compare nothing: clusters have other numbers, and starts are random."""


LINEAR: dict[str, Any] = {"make": regression, "call": fit, "check": same_coefficients}
CLASSES: dict[str, Any] = {"make": classes, "call": fit, "groups": (2, 10, 100), "check": same_probabilities}
NEAR: dict[str, Any] = {"most_columns": 200, "most_entries": 1e7}


def plain(kind, **options):
    """Return a maker that ignores the number of groups."""
    return lambda _groups: kind(**options)


FITS = [
    Case(
        name="LinearRegression",
        ours=plain(tractable.LinearRegression),
        peer=plain(linear_model.LinearRegression),
        **LINEAR,
    ),
    Case(name="Ridge", ours=plain(tractable.Ridge), peer=plain(linear_model.Ridge), **LINEAR),
    Case(
        name="RidgeCV",
        ours=plain(tractable.RidgeCV),
        peer=plain(linear_model.RidgeCV),
        most_entries=1e7,
        **LINEAR,
    ),
    Case(
        name="BayesianRidge",
        ours=plain(tractable.BayesianRidge),
        peer=plain(linear_model.BayesianRidge),
        **{**LINEAR, "check": near_coefficients},
    ),
    Case(
        name="ARDRegression",
        ours=plain(tractable.ARDRegression),
        peer=plain(linear_model.ARDRegression),
        most_columns=200,
        most_entries=1e7,
        **{**LINEAR, "make": standardized_regression, "check": near_coefficients},
    ),
    Case(
        name="Lasso",
        ours=plain(tractable.Lasso, tol=1e-4),
        peer=plain(linear_model.Lasso),
        **{**LINEAR, "check": penalised},
    ),
    Case(
        name="ElasticNet",
        ours=plain(tractable.ElasticNet, tol=1e-4),
        peer=plain(linear_model.ElasticNet),
        **{**LINEAR, "check": penalised},
    ),
    Case(
        name="ElasticNet, all columns used",
        ours=plain(tractable.ElasticNet, alpha=0.1, tol=1e-4),
        peer=plain(linear_model.ElasticNet, alpha=0.1),
        most_entries=1e7,
        **{**LINEAR, "make": dense_regression, "check": penalised},
    ),
    Case(
        name="LassoCV",
        ours=plain(tractable.LassoCV, tol=1e-4),
        peer=plain(linear_model.LassoCV),
        most_entries=1e7,
        **{**LINEAR, "check": near_coefficients},
    ),
    Case(
        name="LassoLars",
        ours=plain(tractable.LassoLars),
        peer=plain(linear_model.LassoLars),
        **{**LINEAR, "check": penalised},
    ),
    Case(
        name="LogisticRegression",
        ours=plain(tractable.LogisticRegression),
        peer=plain(linear_model.LogisticRegression),
        tolerances=(1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6),  # the peer's is of the largest gradient
        **{**CLASSES, "check": likelihood_of_classes},
    ),
    Case(
        name="GaussianNB",
        ours=plain(tractable.GaussianNB),
        peer=plain(naive_bayes.GaussianNB),
        **CLASSES,
    ),
    Case(
        name="MultinomialNB",
        ours=plain(tractable.MultinomialNB),
        peer=plain(naive_bayes.MultinomialNB),
        **{**CLASSES, "make": counts},
    ),
    Case(
        name="BernoulliNB",
        ours=plain(tractable.BernoulliNB),
        peer=plain(naive_bayes.BernoulliNB),
        **CLASSES,
    ),
    Case(
        name="CategoricalNB",
        ours=plain(tractable.CategoricalNB),
        peer=plain(naive_bayes.CategoricalNB),
        **{**CLASSES, "make": codes},
    ),
    Case(
        name="LinearDiscriminant",
        ours=plain(tractable.LinearDiscriminant),
        peer=plain(discriminant_analysis.LinearDiscriminantAnalysis),
        **{**CLASSES, "check": as_good_classes},
    ),
    Case(
        name="QuadraticDiscriminant",
        ours=plain(tractable.QuadraticDiscriminant),
        peer=plain(discriminant_analysis.QuadraticDiscriminantAnalysis),
        most_columns=200,
        enough=more_than_columns,
        **{**CLASSES, "check": same_classes, "groups": (2, 10)},
    ),
    Case(
        name="KNeighborsClassifier",
        ours=plain(tractable.KNeighborsClassifier),
        peer=plain(neighbors.KNeighborsClassifier),
        make=classes,
        call=fit_and_predict,
        groups=(2,),
        check=same,
        **NEAR,
    ),
    Case(
        name="KNeighborsRegressor",
        ours=plain(tractable.KNeighborsRegressor),
        peer=plain(neighbors.KNeighborsRegressor),
        make=regression,
        call=fit_and_predict,
        check=same,
        **NEAR,
    ),
    Case(
        name="NearestNeighbors",
        ours=plain(tractable.NearestNeighbors),
        peer=plain(neighbors.NearestNeighbors),
        make=clusters,
        call=fit_and_search,
        check=same_distances,
        **NEAR,
    ),
    Case(
        name="KernelDensity",
        ours=plain(tractable.KernelDensity, bandwidth=1.0),
        peer=plain(neighbors.KernelDensity),
        make=clusters,
        call=fit_and_score,
        check=same,
        most_columns=20,
        most_entries=1e6,
    ),
    Case(
        name="KMeans",
        ours=lambda k: tractable.KMeans(k, random_state=0),
        peer=lambda k: cluster.KMeans(k, random_state=0),
        make=clusters,
        call=fit,
        groups=(8, 100),
        check=inertia,
        random=True,
    ),
    Case(
        name="GaussianMixture",
        ours=lambda k: tractable.GaussianMixture(k, tol=1e-3, max_iter=100, reg_covar=1e-6, random_state=0),
        peer=lambda k: mixture.GaussianMixture(k, random_state=0),
        make=clusters,
        call=fit,
        groups=(1, 3, 20),
        check=likelihood,
        most_columns=200,
        most_entries=2e7,
    ),
    Case(
        name="BayesianGaussianMixture",
        ours=lambda k: tractable.BayesianGaussianMixture(
            n_components=k, tol=1e-3, max_iter=100, reg_covar=1e-6, random_state=0
        ),
        peer=lambda k: mixture.BayesianGaussianMixture(n_components=k, random_state=0),
        make=clusters,
        call=fit,
        groups=(3,),
        check=likelihood,
        most_columns=200,
        most_entries=2e7,
    ),
    Case(
        name="MeanShift",
        ours=plain(tractable.MeanShift, bandwidth=4.0, assign="nearest"),  # as the peer's rows are labelled
        peer=plain(cluster.MeanShift, bandwidth=4.0),
        make=clusters,
        call=fit,
        groups=(3,),
        check=as_many_clusters,
        most_columns=20,
        most_entries=3e4,
    ),
]


#: How predictions of one row are compared, by how fits are; else they are the same.
ONE_ROW = {
    near_coefficients: close,
    penalised: close,
    likelihood_of_classes: close,
    same_classes: close,
    as_good_classes: close,
    inertia: any_clusters,
    likelihood: any_clusters,
    as_many_clusters: any_clusters,
}


def one_row(case, call):
    """Return the case of a prediction of one row by fitted models."""
    return Case(
        name=f"{case.name}.{call.__name__}",
        ours=case.ours,
        peer=case.peer,
        make=case.make,
        call=call,
        check=ONE_ROW.get(case.check, same),
        groups=case.groups[:1],
        fitted=True,
        most_columns=case.most_columns,
        enough=case.enough,
        most_entries=1e5,
    )


PREDICTED = [case for case in FITS if case.name not in {"NearestNeighbors", "KernelDensity"}]
CLASSIFIED = [case for case in FITS if case.make in {classes, counts, codes}]

#: Fits, then predictions of one row.
CASES = {
    case.name: case
    for case in [
        *FITS,
        *(one_row(case, predict) for case in PREDICTED),
        *(one_row(case, predict_proba) for case in CLASSIFIED),
    ]
}
