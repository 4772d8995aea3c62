"""Basis functions: their values, their names, and the same map at prediction as at the fit."""

from math import comb

import numpy as np
import pandas as pd
import pytest
from numpy.polynomial import chebyshev, legendre
from scipy.interpolate import BSpline
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import tractable
from tractable import (
    FourierBasis,
    FunctionBasis,
    GaussianBasis,
    LinearRegression,
    PolynomialBasis,
    RidgeCV,
    SigmoidBasis,
    SplineBasis,
    n_monomials,
)
from tractable.arrays.namespace import to_numpy


@pytest.mark.spec("W-28", "LIN-17")
def test_monomials_are_counted_exactly():
    assert [n_monomials(d, 3) for d in (1, 2, 10, 100)] == [4, 10, 286, 176851]
    assert n_monomials(4, 3, interactions=False) == 13
    for d, degree in ((1, 5), (3, 4), (10, 3)):
        basis = PolynomialBasis(degree, include_bias=True).fit(np.eye(d) + 1.0)
        assert len(basis.powers_) == n_monomials(d, degree) == comb(d + degree, degree)
        apart = PolynomialBasis(degree, include_bias=True, interactions=False).fit(np.eye(d) + 1.0)
        assert len(apart.powers_) == n_monomials(d, degree, interactions=False)


@pytest.mark.spec("LIN-16", "LIN-17")
def test_powers_are_scikit_learns(rng):
    X = rng.normal(size=(9, 3))
    ours = PolynomialBasis(3, kind="monomial", include_bias=True).fit(X)
    theirs = PolynomialFeatures(3).fit(X)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-13)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())


@pytest.mark.parametrize(
    ("kind", "oracle"), [("legendre", legendre.legval), ("chebyshev", chebyshev.chebval)]
)
def test_orthogonal_polynomials_on_the_range_of_the_data(kind, oracle):
    x = np.linspace(10.0, 14.0, 30)
    found = PolynomialBasis(6, kind=kind).fit_transform(x[:, None])
    expected = [oracle((x - 12.0) / 2.0, np.eye(7)[k]) for k in range(1, 7)]
    np.testing.assert_allclose(found, np.stack(expected, axis=1), atol=1e-13)


@pytest.mark.spec("LIN-16", "LIN-20")
def test_a_polynomial_is_found_again_whatever_it_is_written_in():
    x = np.linspace(-9.0, -3.0, 82)
    y = 0.8 + 0.05 * np.cos(1.3 * x)
    curves = {
        kind: make_pipeline(PolynomialBasis(10, kind=kind), LinearRegression()).fit(x[:, None], y)
        for kind in ("legendre", "chebyshev", "monomial")
    }
    new = np.linspace(-9.0, -3.0, 7)[:, None]
    np.testing.assert_allclose(curves["legendre"].predict(new), curves["chebyshev"].predict(new), rtol=1e-13)
    np.testing.assert_allclose(curves["monomial"].predict(new), curves["legendre"].predict(new), rtol=1e-6)
    conditions = [np.linalg.cond(curves[kind][0].transform(x[:, None])) for kind in ("legendre", "monomial")]
    assert conditions[0] < 10.0
    assert conditions[1] > 1e10


@pytest.mark.spec("LIN-18")
def test_gaussian_functions_at_given_centres(rng):
    X, centers = rng.normal(size=(8, 2)), np.array([[0.0, 1.0], [2.0, -1.0], [0.5, 0.5]])
    found = GaussianBasis(centers, width=0.7).fit(X).transform(X)
    squared = ((X[:, None, :] - centers) ** 2).sum(-1)
    np.testing.assert_allclose(found, np.exp(-squared / (2 * 0.7**2)), rtol=1e-13)
    apart = [np.sqrt(0.5), np.sqrt(4.5), np.sqrt(0.5)]
    assert GaussianBasis(centers).fit(X).width_ == pytest.approx(np.mean(apart))
    assert GaussianBasis(centers[:1]).fit(X).width_ == 1.0


@pytest.mark.spec("LIN-18")
def test_centres_are_spread_over_each_column():
    X = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0], [10.0, 5.0]])
    basis = GaussianBasis(4).fit(X)
    assert [c.tolist() for c in basis.centers_] == [[0.0, 1.0, 2.0, 10.0], [5.0]]
    np.testing.assert_allclose(basis.width_, [10.0 / 3.0, 1.0])
    names = list(basis.get_feature_names_out(["a", "b"]))
    assert names == [
        "gaussian(a at 0)",
        "gaussian(a at 1)",
        "gaussian(a at 2)",
        "gaussian(a at 10)",
        "gaussian(b at 5)",
    ]
    assert GaussianBasis(3, strategy="uniform").fit(X).centers_[0].tolist() == [0.0, 5.0, 10.0]
    far = GaussianBasis(3, strategy="uniform").fit([[1e9], [1e9 + 2.0]])
    assert list(far.get_feature_names_out()) == ["gaussian(x0; 0)", "gaussian(x0; 1)", "gaussian(x0; 2)"]


def test_steps_and_waves(rng):
    x = rng.uniform(0.0, 9.0, size=7)
    steps = SigmoidBasis([[3.0], [1.0]]).fit(x[:, None])
    np.testing.assert_allclose(
        steps.transform(x[:, None]), 1.0 / (1.0 + np.exp(-(x[:, None] - [3.0, 1.0]) / 2.0)), rtol=1e-13
    )
    waves = FourierBasis(2, period=4.0).fit(x[:, None])
    angles = np.outer(x, [1.0, 2.0]) * 2.0 * np.pi / 4.0
    expected = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(7, 4)
    np.testing.assert_allclose(waves.transform(x[:, None]), expected, atol=1e-13)
    own = FourierBasis(1).fit(x[:, None])
    np.testing.assert_allclose(own.transform([[x.min()], [x.max()]]), [[0.0, 1.0]] * 2, atol=1e-13)


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
def test_splines_are_scipys(degree, strategy, rng):
    x = rng.gamma(2.0, size=40)
    basis = SplineBasis(6, degree=degree, strategy=strategy, include_bias=True).fit(x[:, None])
    knots = basis.middle_[0] + basis.half_[0] * basis.knots_[0]
    t = np.r_[[knots[0]] * degree, knots, [knots[-1]] * degree]
    inside = np.clip(x, knots[0], knots[-1])
    expected = BSpline.design_matrix(inside, t, degree).toarray()
    found = basis.transform(x[:, None])
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(basis.transform([[-9.0], [99.0]]).sum(1), 1.0)
    assert SplineBasis(6, degree=degree).fit_transform(x[:, None]).shape[1] == 6 + degree - 2


@pytest.mark.spec("LIN-19")
def test_functions_of_ones_own():
    x = np.linspace(0.0, 2.0, 12)[:, None]
    y = 1.0 - 2.0 * x[:, 0] + 0.5 * np.exp(x[:, 0])
    for functions in (["identity", "exp"], [lambda X: X, np.exp]):
        model = make_pipeline(FunctionBasis(functions), LinearRegression()).fit(x, y)
        np.testing.assert_allclose(model[-1].coef_, [-2.0, 0.5], rtol=1e-9)
        np.testing.assert_allclose(model.predict([[3.0]]), 1.0 - 6.0 + 0.5 * np.exp(3.0))
    several = FunctionBasis([lambda X: X[:, :1] ** np.arange(3), lambda X: X.sum(1)], names=["powers", "sum"])
    several.fit(np.ones((2, 2)))
    assert list(several.get_feature_names_out()) == ["powers[0]", "powers[1]", "powers[2]", "sum"]
    twice = FunctionBasis([lambda X: X, lambda X: X]).fit(x)
    assert len(set(twice.get_feature_names_out())) == 2


@pytest.mark.spec("LIN-19")
def test_saving_keeps_names_and_refuses_callables(tmp_path):
    known = FunctionBasis(("sin",)).fit([[1.0]])
    tractable.save(known, tmp_path / "known")
    np.testing.assert_array_equal(tractable.load(tmp_path / "known").transform([[2.0]]), [[np.sin(2.0)]])
    with pytest.raises(ValueError, match="functions"):
        tractable.save(FunctionBasis((np.sin,)).fit([[1.0]]), tmp_path / "unknown")


@pytest.mark.spec("LIN-15", "LIN-20")
def test_the_map_of_the_fit_is_the_map_of_the_prediction(rng):
    """New rows, few and in another range, are mapped as the rows of the fit were."""
    frame = pd.DataFrame({"a": rng.normal(size=40), "b": rng.uniform(size=40)})
    for basis in (PolynomialBasis(3), GaussianBasis(4), SigmoidBasis(4), FourierBasis(2), SplineBasis(4)):
        mapped = basis.set_output(transform="pandas").fit_transform(frame)
        assert list(mapped.columns) == list(basis.get_feature_names_out())
        assert "(a" in mapped.columns[0]
        pd.testing.assert_frame_equal(basis.transform(frame.iloc[3:5]), mapped.iloc[3:5])
        model = make_pipeline(basis, LinearRegression()).fit(frame, frame["a"] ** 2)
        weights, constant = model[-1].coef_, model[-1].intercept_
        np.testing.assert_allclose(
            model.predict(frame.iloc[:4]),
            constant + mapped.iloc[:4].to_numpy() @ weights,
            rtol=1e-9,
            atol=1e-12,
        )


@pytest.mark.spec("LIN-30", "LIN-42")
def test_a_penalty_holds_a_rich_basis(rng):
    """Bumps to spare overfit by least squares; a penalty chosen on rows left out does not."""
    x = rng.uniform(0.0, 1.0, size=(40, 1))
    y = np.sin(2 * np.pi * x[:, 0]) + 0.3 * rng.normal(size=40)
    new = np.linspace(0.05, 0.95, 50)[:, None]
    basis = GaussianBasis(25, width=0.05)
    free = make_pipeline(basis, LinearRegression()).fit(x, y)
    held = make_pipeline(basis, RidgeCV(alphas=np.logspace(-6, 3, 30))).fit(x, y)
    errors = [np.mean((m.predict(new) - np.sin(2 * np.pi * new[:, 0])) ** 2) for m in (free, held)]
    assert errors[1] < 0.5 * errors[0]
    curve = held[-1].cv_curve_.scores
    assert curve.min() < 0.9 * min(curve[0], curve[-1])


@pytest.mark.parametrize(
    "basis",
    [
        PolynomialBasis(3),
        GaussianBasis(3),
        SigmoidBasis(3),
        FourierBasis(2),
        SplineBasis(4),
        FunctionBasis(["exp"]),
    ],
    ids=lambda basis: type(basis).__name__,
)
def test_every_array_library(basis, backend, rng):
    X = rng.normal(size=(12, 2))
    expected = basis.fit(X).transform(X)
    found = basis.fit(backend.asarray(X)).transform(backend.asarray(X))
    assert backend.owns(found)
    np.testing.assert_allclose(to_numpy(found), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("basis", "named"),
    [
        (PolynomialBasis(0), "degree"),
        (PolynomialBasis(True), "degree"),
        (PolynomialBasis(kind="hermite"), "kind"),
        (GaussianBasis(0), "centers"),
        (GaussianBasis([[0.0, 1.0]]), "centers"),
        (GaussianBasis([[np.nan]]), "centers"),
        (GaussianBasis(width=0.0), "width"),
        (GaussianBasis(strategy="random"), "strategy"),
        (SigmoidBasis(width=np.nan), "width"),
        (FourierBasis(0), "n_frequencies"),
        (FourierBasis(period=-1.0), "period"),
        (SplineBasis(1), "n_knots"),
        (SplineBasis(degree=0), "degree"),
        (SplineBasis(strategy="x"), "strategy"),
        (FunctionBasis("exp"), "functions"),
        (FunctionBasis([]), "functions"),
        (FunctionBasis(["no such"]), "functions"),
        (FunctionBasis(["exp"], names=["a", "b"]), "names"),
        (FunctionBasis([lambda X: 3.0]), "functions"),
    ],
)
def test_bad_parameters_are_refused(basis, named):
    with pytest.raises(ValueError, match=named):
        basis.fit([[0.0], [1.0]])


def test_what_is_no_number_is_refused():
    basis = FunctionBasis(["identity", "log"]).fit([[1.0], [2.0]])
    with pytest.raises(ValueError, match=r"log\(x0\) is not a finite number"):
        basis.transform([[-1.0]])
    powers = PolynomialBasis(3, kind="monomial").fit([[1e150]])
    with pytest.raises(ValueError, match=r"x0\^3"):
        powers.transform([[1e150]])
    with pytest.raises(ValueError, match="input_features"):
        basis.get_feature_names_out(["a", "b"])
    changing = FunctionBasis([lambda X: X if len(X) > 1 else X[:, 0]]).fit([[1.0], [2.0]])
    with pytest.raises(ValueError, match="as many columns"):
        changing.transform([[1.0]])
    for bad, named in ((-1, "n_features"), (2.5, "n_features")):
        with pytest.raises(ValueError, match=named):
            n_monomials(bad, 3)


def test_sizes_are_refused_one_beyond_their_limit(monkeypatch):
    """Work and memory grow with them, and a saved model may name any."""
    X = np.linspace(0.0, 1.0, 12).reshape(4, 3)
    assert SplineBasis(2, degree=64).fit(X).degree == 64
    with pytest.raises(ValueError, match=r"degree must be .* to 64, got 65"):
        SplineBasis(degree=65).fit(X)
    assert FourierBasis(65_536).fit(X).n_frequencies == 65_536
    with pytest.raises(ValueError, match=r"n_frequencies must be .* to 65536, got 65537"):
        FourierBasis(65_537).fit(X)
    monkeypatch.setattr("tractable.linear_model.basis.polynomial.MOST_EXPONENTS", 16 * 9)
    assert PolynomialBasis(2).fit(X).powers_.shape == (9, 3)
    with pytest.raises(
        ValueError, match="degree=3 makes 19 products of the 3 columns of X, and 9 are the most"
    ):
        PolynomialBasis(3).fit(X)
    assert PolynomialBasis(3, interactions=False).fit(X).powers_.shape == (9, 3)
