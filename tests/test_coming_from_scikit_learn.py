"""Constructor calls of scikit-learn run as written, options without effect have none, `adopt` translates."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn import (
    cluster,
    decomposition,
    discriminant_analysis,
    linear_model,
    mixture,
    naive_bayes,
    neighbors,
)
from sklearn.base import clone, is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier, StackingRegressor
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor, kernels
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import all_estimators
from sklearn.utils._param_validation import Interval, Options, StrOptions

import tractable

X, LABELS = load_iris(return_X_y=True)
X, LABELS = X[::3], LABELS[::3]
TARGET = X[:, 0] + X[:, 1] ** 2
THEIRS = dict(all_estimators())
SHARED = sorted(
    name for name in tractable.__all__ if name in THEIRS and inspect.isclass(getattr(tractable, name))
)

#: Calls as they stand in documentation, examples and notebooks.
COMMON = [
    "LinearRegression(n_jobs=-1)",
    "LinearRegression(fit_intercept=False, copy_X=True)",
    "Ridge(alpha=1.0, solver='cholesky')",
    "Ridge(alpha=0.5, random_state=0, solver='sag', tol=1e-6)",
    "Ridge(alpha=1e-2, fit_intercept=False)",
    "RidgeCV(alphas=[1e-3, 1e-2, 1e-1, 1])",
    "RidgeCV(alphas=np.logspace(-6, 6, 13), store_cv_results=True)",
    "Lasso(alpha=0.1, max_iter=10000)",
    "Lasso(alpha=0.01, selection='random', random_state=0)",
    "LassoCV(cv=5, n_jobs=2, random_state=0)",
    "LassoCV(cv=5, max_iter=10000, verbose=False)",
    "ElasticNet(alpha=0.1, l1_ratio=0.7, random_state=42)",
    "LassoLars(alpha=0.1)",
    "BayesianRidge(compute_score=True, verbose=False)",
    "ARDRegression(compute_score=True)",
    "LogisticRegression(max_iter=1000, solver='liblinear')",
    "LogisticRegression(C=1e5, solver='lbfgs')",
    "LogisticRegression(random_state=0, n_jobs=-1)",
    "LogisticRegression(penalty='l2', C=0.1, solver='saga')",
    "LogisticRegression(penalty=None)",
    "LogisticRegression(class_weight='balanced', max_iter=200)",
    "KNeighborsClassifier(n_neighbors=3, algorithm='brute')",
    "KNeighborsClassifier(5, p=1, n_jobs=-1)",
    "KNeighborsClassifier(n_neighbors=5, metric='minkowski', p=2)",
    "KNeighborsClassifier(weights='distance')",
    "KNeighborsClassifier(metric='cityblock')",
    "KNeighborsRegressor(n_neighbors=5, weights='distance')",
    "KNeighborsRegressor(n_neighbors=2, leaf_size=10)",
    "NearestNeighbors(n_neighbors=2, algorithm='ball_tree')",
    "GaussianNB()",
    "GaussianNB(var_smoothing=1e-8)",
    "MultinomialNB(alpha=0.01)",
    "BernoulliNB(force_alpha=True)",
    "KMeans(n_clusters=3, random_state=0, n_init='auto')",
    "KMeans(n_clusters=4, init='k-means++', verbose=0)",
    "KMeans(n_clusters=3, init='random', n_init=10, max_iter=300, tol=1e-4, random_state=0)",
    "GaussianMixture(n_components=2, covariance_type='full', random_state=0)",
    "GaussianMixture(3, verbose=0)",
    "BayesianGaussianMixture(n_components=5, covariance_type='full', weight_concentration_prior=1e-2)",
    "PCA(n_components=2, svd_solver='randomized', whiten=True)",
    "PCA(n_components=0.95)",
    "PCA(n_components=2, copy=True)",
    "PCA(n_components='mle')",
    "PCA(svd_solver='randomized', random_state=0)",
    "KernelPCA(n_components=2, kernel='rbf', gamma=10, fit_inverse_transform=True, alpha=0.1, tol=0)",
    "FactorAnalysis(n_components=2, random_state=0)",
    "FactorAnalysis(n_components=None)",
    "FactorAnalysis(2, rotation='varimax')",
    "MeanShift(bandwidth=2, bin_seeding=True, n_jobs=2)",
    "KernelDensity(kernel='gaussian', bandwidth=0.2)",
    "KernelDensity(bandwidth=0.5, kernel='tophat', algorithm='ball_tree', leaf_size=20)",
    "TSNE(n_components=2, perplexity=10, random_state=0, n_jobs=1)",
    "Isomap(n_neighbors=12, n_components=2, n_jobs=1)",
    "Perceptron(max_iter=40, eta0=0.1, random_state=0)",
    "Perceptron(tol=1e-3, random_state=0)",
]


def documented_values(name):
    """Yield (parameter, value): the default of every parameter, the words it may be, flags, and a number."""
    theirs = THEIRS[name]
    for parameter, p in inspect.signature(theirs.__init__).parameters.items():
        if parameter == "self":
            continue
        yield parameter, p.default
        for constraint in theirs._parameter_constraints.get(parameter, []):
            if parameter in NAMES:
                yield from ((parameter, x) for x in NAMES[parameter])
            elif isinstance(constraint, (StrOptions, Options)):
                yield from ((parameter, x) for x in sorted(constraint.options, key=str))
            elif constraint == "boolean":
                yield from ((parameter, x) for x in (False, True))
            elif constraint == "random_state":
                yield parameter, 0
            elif isinstance(constraint, Interval) and parameter in NUMBERS:
                yield parameter, NUMBERS[parameter]


#: Names of which scikit-learn lists dozens: those in use.
NAMES = {
    "metric": (
        *("euclidean", "manhattan", "minkowski", "chebyshev", "cosine", "l1", "l2", "cityblock"),
        *("hamming", "precomputed", "nan_euclidean", "haversine"),
    ),
    "scoring": ("r2", "neg_mean_squared_error", "neg_mean_absolute_error"),
    "kernel": ("gaussian", "tophat", "epanechnikov", "linear", "rbf"),
}

#: Numbers that a call may give; others have no value that suits every model.
NUMBERS = {
    "n_jobs": 2,
    "verbose": 1,
    "tol": 1e-5,
    "max_iter": 400,
    "alpha": 0.5,
    "C": 2.0,
    "n_neighbors": 4,
    "leaf_size": 20,
    "n_clusters": 3,
    "n_components": 2,
    "bandwidth": 1.0,
    "n_init": 2,
    "l1_ratio": 0.5,
}


def calls():
    for name in SHARED:
        seen = []
        for parameter, x in documented_values(name):
            if (parameter, repr(x)) not in seen:
                seen.append((parameter, repr(x)))
                yield name, {parameter: x}


def run(name, make, source=tractable):
    """Construct and fit as a user would."""
    rows = np.floor(X) if name == "CategoricalNB" else X
    cls = getattr(source, name) if source is tractable else source[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(cls).fit(rows, TARGET if is_regressor(THEIRS[name]()) else LABELS)


def refusal(name, given, source=tractable):
    """Return what a call, and a fit, raise; None where they run."""
    try:
        run(name, lambda cls: cls(**given), source)
    except Exception as error:  # noqa: BLE001  (any refusal counts)
        return f"{type(error).__name__}: {error}"
    return None


@pytest.mark.parametrize("call", COMMON)
def test_calls_of_documentation_and_notebooks_run_as_written(call):
    name = call.partition("(")[0]
    run(name, lambda _: eval(call, {"np": np, **{n: getattr(tractable, n) for n in SHARED}}))


def failures():
    """Return the calls that scikit-learn runs and we refuse, and how many it runs."""
    valid = [(name, given) for name, given in calls() if refusal(name, given, THEIRS) is None]
    refused = {f"{name}({given})": refusal(name, given) for name, given in valid}
    return {call: error for call, error in refused.items() if error}, len(valid)


@pytest.mark.slow
def test_of_every_documented_value_of_every_parameter_nineteen_in_twenty_run():
    failed, n = failures()
    assert n > 300
    assert len(failed) <= 0.05 * n, f"{len(failed)} of {n}: {failed}"


def test_options_without_effect_have_none():
    plain = tractable.Ridge(alpha=2.0).fit(X, TARGET)
    ours = tractable.Ridge(alpha=2.0, solver="lsqr", copy_X=False, random_state=0, tol=1e-2)
    np.testing.assert_array_equal(ours.fit(X, TARGET).coef_, plain.coef_)
    assert ours.get_params() == plain.get_params()
    assert clone(ours).set_params(solver="svd", alpha=3.0).alpha == 3.0


def test_paths_unpack_as_tuples():
    target = TARGET - TARGET.mean()
    centred = X - X.mean(axis=0)
    for method in ("lasso", "lar"):
        alphas, active, coefs = tractable.lars_path(centred, target, method=method)
        theirs = linear_model.lars_path(centred, target, method=method)
        assert active == theirs[1]
        np.testing.assert_allclose(alphas, theirs[0], atol=1e-12)
        np.testing.assert_allclose(coefs, theirs[2], rtol=1e-8, atol=1e-10)
    grid = [0.5, 0.1, 0.01]
    alphas, coefs, gaps = tractable.lasso_path(centred, target, alphas=grid)
    theirs = linear_model.lasso_path(centred, target, alphas=grid, tol=1e-12)
    np.testing.assert_allclose(alphas, theirs[0])
    np.testing.assert_allclose(coefs, theirs[1], atol=1e-6)
    assert gaps.shape == theirs[2].shape


def test_options_that_would_change_the_model_are_refused():
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        tractable.Ridge(nonsense=1)
    with pytest.raises(ValueError, match="penalty of Perceptron must be None"):
        tractable.Perceptron(penalty="l1")
    with pytest.raises(ValueError, match="penalty must be"):
        tractable.LogisticRegression(penalty="elasticnet")
    assert np.inf == tractable.LogisticRegression(penalty=None).C


ADOPTED = [
    linear_model.LinearRegression(fit_intercept=False),
    linear_model.Ridge(alpha=3.0),
    linear_model.Lasso(alpha=0.05),
    linear_model.LogisticRegression(C=0.3),
    naive_bayes.GaussianNB(var_smoothing=1e-6),
    discriminant_analysis.LinearDiscriminantAnalysis(),
    discriminant_analysis.QuadraticDiscriminantAnalysis(reg_param=0.1),
    neighbors.KNeighborsClassifier(5, p=1),
    make_pipeline(StandardScaler(), linear_model.LogisticRegression(C=2.0)),
]


@pytest.mark.parametrize("theirs", ADOPTED, ids=lambda m: type(m).__name__)
def test_adopted_models_predict_as_they_did(theirs):
    ours = tractable.adopt(theirs)
    assert type(ours[-1] if hasattr(ours, "steps") else ours).__module__.startswith("tractable")
    y = TARGET if is_regressor(theirs) else LABELS
    np.testing.assert_allclose(ours.fit(X, y).predict(X), theirs.fit(X, y).predict(X), rtol=1e-2)


TIGHT = {"tol": 1e-10}
COUNTS, AMOUNTS = np.round(TARGET), TARGET + 0.5
TRANSLATED = [
    (linear_model.PoissonRegressor(alpha=0.1, **TIGHT), COUNTS, tractable.PoissonRegression),
    (linear_model.GammaRegressor(alpha=0.1, **TIGHT), AMOUNTS, tractable.GammaRegression),
    (linear_model.TweedieRegressor(power=0, alpha=0.3, **TIGHT), TARGET, tractable.ElasticNet),
    (linear_model.TweedieRegressor(power=1, alpha=0.3, **TIGHT), COUNTS, tractable.PoissonRegression),
    (linear_model.TweedieRegressor(power=2, link="log", **TIGHT), AMOUNTS, tractable.GammaRegression),
    (linear_model.QuantileRegressor(quantile=0.3, alpha=0.0), TARGET, tractable.QuantileRegression),
    (linear_model.RidgeCV([0.1, 1.0], cv=3), TARGET, tractable.RidgeCV),
    (linear_model.LassoCV(cv=3, **TIGHT), TARGET, tractable.LassoCV),
    (linear_model.ElasticNetCV(cv=3, l1_ratio=[0.5, 0.9], **TIGHT), TARGET, tractable.ElasticNetCV),
    (linear_model.LogisticRegressionCV(cv=3, **TIGHT), LABELS > 0, tractable.LogisticRegressionCV),
    (
        GaussianProcessRegressor(2.0 * kernels.RBF([1.0] * 4) + kernels.WhiteKernel(0.1)),
        TARGET,
        tractable.GaussianProcessRegressor,
    ),
    (
        GaussianProcessRegressor(kernels.Matern(nu=2.5) * kernels.RationalQuadratic(), alpha=0.1),
        TARGET,
        tractable.GaussianProcessRegressor,
    ),
    (GaussianProcessClassifier(1.0 * kernels.RBF(1.0)), LABELS > 0, tractable.GaussianProcessClassifier),
]


@pytest.mark.parametrize(("theirs", "y", "cls"), TRANSLATED, ids=lambda x: type(x).__name__)
@pytest.mark.filterwarnings("ignore")
def test_translated_models_predict_as_they_did(theirs, y, cls):
    ours = tractable.adopt(theirs)
    assert type(ours) is cls
    answer = "predict_proba" if hasattr(theirs, "predict_proba") else "predict"
    found, wanted = (getattr(model.fit(X, y), answer)(X) for model in (ours, theirs))
    np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=2e-3)


def test_kernels_become_values_of_the_same_covariances():
    pairs = [
        kernels.RBF([1.0, 2.0]) + kernels.ConstantKernel(0.5),
        3.0 * kernels.Matern(0.7, nu=0.5) * kernels.RBF(2.0),
        kernels.Matern(2.0, nu=np.inf) + kernels.WhiteKernel(0.3),
        kernels.RationalQuadratic(0.5, alpha=2.0) ** 2,
        kernels.DotProduct(0.4) * kernels.ConstantKernel(2.0, "fixed"),
    ]
    for theirs in pairs:
        ours = tractable.adopt(theirs)
        np.testing.assert_allclose(ours(X[:, :2]), theirs(X[:, :2]), rtol=1e-12)
    with pytest.warns(UserWarning, match="equal to ExpSineSquared in one column alone"):
        ours = tractable.adopt(kernels.ExpSineSquared(1.5, 2.0))
    np.testing.assert_allclose(ours(X[:, :1]), kernels.ExpSineSquared(1.5, 2.0)(X[:, :1]), rtol=1e-12)
    for none in (kernels.PairwiseKernel(), kernels.Matern(nu=0.7), kernels.RBF() ** 1.5):
        with pytest.raises(ValueError, match=r"has no equal here|must be whole here"):
            tractable.adopt(none)


def test_models_within_others_are_adopted():
    columns = ColumnTransformer([("a", StandardScaler(), [0]), ("b", decomposition.PCA(2), [1, 2, 3])])
    line = make_pipeline(columns, linear_model.PoissonRegressor(**TIGHT))
    ours = tractable.adopt(line)
    assert isinstance(ours[0].transformers[1][1], tractable.PCA)
    assert isinstance(ours[0].transformers[0][1], StandardScaler)
    np.testing.assert_allclose(ours.fit(X, COUNTS).predict(X), line.fit(X, COUNTS).predict(X), rtol=1e-5)
    stack = StackingRegressor(
        [("ridge", linear_model.Ridge()), ("near", neighbors.KNeighborsRegressor())], linear_model.RidgeCV()
    )
    ours = tractable.adopt(stack)
    np.testing.assert_allclose(ours.fit(X, TARGET).predict(X), stack.fit(X, TARGET).predict(X), rtol=1e-8)
    grid = {"kernel": [kernels.RBF(), kernels.Matern()]}
    search = tractable.adopt(GridSearchCV(GaussianProcessRegressor(alpha=0.1), grid, cv=3)).fit(X, TARGET)
    assert isinstance(search.best_params_["kernel"], tractable.kernels.Kernel)
    assert isinstance(search.best_estimator_, tractable.GaussianProcessRegressor)
    with pytest.raises(ValueError, match="GridSearchCV holds no model that has an equal here"):
        tractable.adopt(GridSearchCV(RandomForestClassifier(), {}))


def test_models_with_an_equal_of_some_parameters_alone():
    with pytest.warns(UserWarning, match="median absolute deviation"):
        ours = tractable.adopt(linear_model.HuberRegressor(epsilon=1.5))
    assert (ours.noise, ours.tuning) == ("huber", 1.5)
    theirs = linear_model.HuberRegressor(epsilon=1.5).fit(X, TARGET)
    np.testing.assert_allclose(ours.fit(X, TARGET).predict(X), theirs.predict(X), rtol=0.05)
    for none in (
        linear_model.HuberRegressor(alpha=1.0),
        linear_model.QuantileRegressor(),
        linear_model.TweedieRegressor(power=1.5),
        linear_model.TweedieRegressor(power=1, link="identity"),
        GaussianProcessRegressor(alpha=np.ones(3)),
        GaussianProcessClassifier(multi_class="one_vs_one"),
    ):
        with pytest.raises(ValueError, match=r"has no equal here|fit\(…, noise_variance=alpha\) here"):
            tractable.adopt(none)


def test_adopted_searches_search_over_ours():
    search = GridSearchCV(linear_model.Ridge(), {"alpha": [0.1, 1.0]}, cv=3)
    found = tractable.adopt(search).fit(X, TARGET)
    assert isinstance(found.best_estimator_, tractable.Ridge)
    assert found.best_params_ == search.fit(X, TARGET).best_params_


def test_what_is_dropped_is_said_and_what_has_no_equal_refused():
    with pytest.warns(UserWarning, match="dropped.*n_jobs, solver"):
        tractable.adopt(linear_model.LogisticRegression(solver="saga", n_jobs=2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tractable.adopt(mixture.GaussianMixture(3))
        tractable.adopt(cluster.KMeans(3))
        tractable.adopt(decomposition.PCA(2))
    with pytest.raises(ValueError, match="RandomForestClassifier has no equal here"):
        tractable.adopt(RandomForestClassifier())
    assert tractable.adopt(linear_model.Ridge(positive=True)).positive
    with pytest.raises(ValueError, match="must be an estimator of scikit-learn"):
        tractable.adopt(linear_model.Ridge)


def test_rules_of_bandwidths_that_mean_something_else_are_said():
    with pytest.warns(UserWarning, match="bandwidth='scott' is one of each column in its units"):
        assert tractable.adopt(neighbors.KernelDensity(bandwidth="scott")).bandwidth == "scott"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tractable.adopt(neighbors.KernelDensity()).bandwidth == 1.0


def test_pseudocounts_are_raised_where_they_are_not_forced():
    assert tractable.MultinomialNB(alpha=0.0, force_alpha=False).alpha == 1e-10
    assert tractable.BernoulliNB(alpha=0.5, force_alpha=False).alpha == 0.5
    assert tractable.CategoricalNB(alpha=0.0, force_alpha=True).alpha == 0.0
    with pytest.raises(ValueError, match="alpha"):
        tractable.MultinomialNB(alpha=-1.0, force_alpha=False).fit(X, LABELS)
