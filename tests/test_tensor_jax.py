"""Arrays of JAX, in double precision: the answers of the host, or one clear error."""

import numpy as np
import pytest

import tractable
from quick import late
from tractable.arrays import to_numpy

jax = pytest.importorskip("jax")

#: Models that take them; most wait for `make test-all`, for JAX compiles each operation at each shape.
TAKES = [
    tractable.GaussianDensity(),
    tractable.GaussianNB(),
    *map(
        late,
        [
            tractable.LinearRegression(),
            tractable.KNeighborsClassifier(3),
            tractable.Ridge(),
            tractable.RidgeCV(),
            tractable.BayesianLinearRegression(),
            tractable.BayesianRidge(),
            tractable.PCA(2),
            tractable.ProbabilisticPCA(2),
            tractable.FactorAnalysis(1, max_iter=4),  # of three columns two factors are not determined
            tractable.GaussianMixture(2, random_state=0, max_iter=4),
            tractable.BayesianGaussianMixture(2, random_state=0, max_iter=4),
            tractable.StudentTMixture(2, random_state=0, max_iter=4),
            tractable.KMeans(2, random_state=0, n_init=1),
            tractable.LinearDiscriminant(),
            tractable.QuadraticDiscriminant(),
            tractable.LogisticRegression(),
            tractable.BayesianLogisticRegression(),
            tractable.KernelDensity(),
            tractable.KNeighborsRegressor(3),
        ],
    ),
]

#: Those with kernels fill matrices in place, which arrays of JAX do not allow.
REFUSES = [
    tractable.KernelRidge(),
    tractable.KernelPCA(2),
    tractable.GaussianProcessRegressor(),
    tractable.GaussianProcessClassifier(),
    tractable.NystromGaussianProcess(n_inducing=5, random_state=0),
]


@pytest.fixture
def rows(rng):
    """Rows of two groups, as NumPy's and as JAX's."""
    y = np.arange(60) % 2
    X = rng.standard_normal((60, 3)) + 2.0 * y[:, None]
    with jax.enable_x64(True):
        yield X, y, jax.numpy.asarray(X), jax.numpy.asarray(y)


@pytest.mark.filterwarnings("ignore:EM did not converge")
@pytest.mark.parametrize("model", TAKES, ids=lambda m: type(m).__name__)
def test_answers_are_those_of_the_host(model, rows):
    X, y, own, labels = rows
    host = type(model)(**model.get_params()).fit(X, y)
    other = model.fit(own, labels)
    for name in ("predict", "predict_proba", "score_samples", "transform", "predict_interval"):
        if hasattr(host, name):
            more = [0.4] if name == "predict_interval" else []
            found = getattr(other, name)(own, *more)
            assert isinstance(found, jax.Array)
            np.testing.assert_allclose(to_numpy(found), getattr(host, name)(X, *more), rtol=1e-9, atol=1e-9)
    ask = "predict" if hasattr(host, "predict") else "score_samples"
    np.testing.assert_allclose(getattr(other.numpy(), ask)(X), getattr(host, ask)(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("model", REFUSES, ids=lambda m: type(m).__name__)
def test_models_with_kernels_refuse_them(model, rows):
    _, _, own, labels = rows
    with pytest.raises(ValueError, match="is an array of JAX, to which nothing can be assigned"):
        model.fit(own, labels)
    assert not [name for name in vars(model) if name.endswith("_")]
