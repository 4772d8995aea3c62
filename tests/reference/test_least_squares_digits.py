"""Correct digits of least squares, against exact rational arithmetic on the same float64 numbers.

Wampler (1970), A report on the accuracy of some widely used least squares computer programs, Journal of the
American Statistical Association 65; Longley (1967), An appraisal of least squares programs for the electronic
computer from the point of view of the user, the same journal 62.
"""

from fractions import Fraction

import numpy as np
import pytest

from tractable import LinearRegression
from tractable.engines.least_squares import least_squares, refine
from tractable.statistics import LinearFactor

LONGLEY = np.array(
    [
        [60323, 83.0, 234289, 2356, 1590, 107608, 1947],
        [61122, 88.5, 259426, 2325, 1456, 108632, 1948],
        [60171, 88.2, 258054, 3682, 1616, 109773, 1949],
        [61187, 89.5, 284599, 3351, 1650, 110929, 1950],
        [63221, 96.2, 328975, 2099, 3099, 112075, 1951],
        [63639, 98.1, 346999, 1932, 3594, 113270, 1952],
        [64989, 99.0, 365385, 1870, 3547, 115094, 1953],
        [63761, 100.0, 363112, 3578, 3350, 116219, 1954],
        [66019, 101.2, 397469, 2904, 3048, 117388, 1955],
        [67857, 104.6, 419180, 2822, 2857, 118734, 1956],
        [68169, 108.4, 442769, 2936, 2798, 120445, 1957],
        [66513, 110.8, 444546, 4681, 2637, 121950, 1958],
        [68655, 112.6, 482704, 3813, 2552, 123366, 1959],
        [69564, 114.2, 502601, 3931, 2514, 125368, 1960],
        [69331, 115.7, 518173, 4806, 2572, 127852, 1961],
        [70551, 116.9, 554894, 4007, 2827, 130081, 1962],
    ]
)
#: Wampler's disturbance of the polynomials 1 + x + x² + x³ + x⁴ + x⁵ at x = 0, …, 20.
_HALF = [759, -2048, 2048, -2048, 2523, -2048, 2048, -2048, 1838, -2048]
DELTA = np.array([*_HALF, 2048, *_HALF[::-1]])


def powers(x, degree):
    return np.stack([x**k for k in range(1, degree + 1)], axis=1)


def wampler(kind):
    """Polynomials of degree 5, exact in float64; 3 to 5 with a disturbance orthogonal to all of them."""
    x = np.arange(21.0)
    design = powers(x, 5)
    if kind == 2:
        return design, np.round(1 + design @ [0.1, 0.01, 0.001, 0.0001, 0.00001], 5)
    return design, 1 + design.sum(axis=1) + {1: 0, 3: 1, 4: 100, 5: 10_000}[kind] * DELTA


def steep(seed=0):
    """A polynomial of degree 10 in raw monomials on [-9, -3], 82 rows: condition near 1e15."""
    rng = np.random.default_rng(seed)
    x = np.round(np.linspace(-9, -3, 82) + 0.02 * np.sin(np.arange(82)), 9)
    y = np.round(0.8 + 0.05 * np.cos(1.3 * x) + 0.003 * rng.standard_normal(82), 4)
    return powers(x, 10), y


def exact(X, y, weights=None):
    """The rational solution of the normal equations of [1, X]."""
    rows = [
        [Fraction(1), *map(Fraction, row.tolist()), Fraction(t)] for row, t in zip(X, y.tolist(), strict=True)
    ]
    counts = [Fraction(1)] * len(rows) if weights is None else list(map(Fraction, weights.tolist()))
    d = X.shape[1] + 1
    a = [
        [sum(w * r[i] * r[j] for w, r in zip(counts, rows, strict=True)) for j in range(d + 1)]
        for i in range(d)
    ]
    for i in range(d):
        for k in (k for k in range(d) if k != i):
            ratio = a[k][i] / a[i][i]
            a[k] = [u - ratio * v for u, v in zip(a[k], a[i], strict=True)]
    return [a[i][d] / a[i][i] for i in range(d)]


def digits(model, solution):
    """The least number of correct decimal digits over the intercept and the coefficients."""
    found = [Fraction(float(v)) for v in (model.intercept_, *model.coef_)]
    error = max(abs(f - s) / abs(s) for f, s in zip(found, solution, strict=True))
    return 17.0 if error == 0 else -np.log10(float(error))


def streamed(X, y, rows):
    """Fitted to one block after the other."""
    model = LinearRegression()
    for a in range(0, len(X), rows):
        model.partial_fit(X[a : a + rows], y[a : a + rows])
    return model


def merged(X, y, rows):
    """Fitted to each block alone, then merged in pairs."""
    models = [
        LinearRegression().partial_fit(X[a : a + rows], y[a : a + rows]) for a in range(0, len(X), rows)
    ]
    while len(models) > 1:
        models = [a.merge(b) for a, b in zip(models[::2], models[1::2], strict=False)] + models[
            len(models) // 2 * 2 :
        ]
    return models[0]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("solver", ["qr", "svd"])
@pytest.mark.spec("MATH-11", "LIN-08")
def test_a_steep_polynomial_keeps_six_digits_in_memory(seed, solver):
    X, y = steep(seed)
    design = np.column_stack([np.ones(82), X])
    assert np.linalg.cond(design) > 1e15
    model = LinearRegression(solver=solver).fit(X, y)
    assert model.rank_ == 10
    assert digits(model, exact(X, y)) >= 6


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("read", [streamed, merged])
def test_and_in_a_stream_and_merged(seed, read):
    X, y = steep(seed)
    assert digits(read(X, y, 7), exact(X, y)) >= 6


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_refined_it_has_them_all(seed):
    X, y = steep(seed)
    model = LinearRegression(refine=True).fit(X, y)
    assert digits(model, exact(X, y)) >= 15
    assert 1 <= model.n_refinements_ <= 3
    batches = [(X[a : a + 7], y[a : a + 7]) for a in range(0, 82, 7)]
    assert digits(LinearRegression(refine=True).fit(batches), exact(X, y)) >= 15


@pytest.mark.parametrize("seed", [0, 1, 4, 5])
@pytest.mark.parametrize(("x0", "y0"), [(1e6, 1e10), (1e8, 1e10), (1e10, 0.0), (1e10, 1e10)])
def test_refined_it_has_them_all_far_from_the_origin(seed, x0, y0):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((20, 3)) + x0, rng.standard_normal(20) + y0
    model = LinearRegression(refine=True).fit(X, y)
    assert digits(model, exact(X, y)) >= 15.5
    assert model.n_refinements_ <= 4


def test_refined_with_weights(rng):
    X, y = steep()
    weights = rng.random(82)
    model = LinearRegression(refine=True).fit(X, y, sample_weight=weights)
    assert digits(model, exact(X, y, weights)) >= 15


def test_the_residual_is_refined_too():
    X, y = steep()
    solution = exact(X, y)
    rows = [[Fraction(1), *map(Fraction, row.tolist())] for row in X]
    residual = sum(
        (Fraction(t) - sum(b * v for b, v in zip(solution, row, strict=True))) ** 2
        for row, t in zip(rows, y.tolist(), strict=True)
    )
    refined = LinearRegression(refine=True).fit(X, y)
    assert float(refined.noise_variance_ml_ * 82) == pytest.approx(float(residual), rel=1e-14)


@pytest.mark.spec("LIN-04", "MATH-11")
def test_the_normal_equations_have_no_digit_left():
    X, y = steep()
    with pytest.warns(UserWarning, match="normal equations"):
        assert digits(LinearRegression(solver="normal").fit(X, y), exact(X, y)) < 1
    A, _ = steep()
    scaled = A / np.sqrt((A**2).sum(axis=0))
    condition = np.linalg.cond(scaled[:, :4])
    assert np.linalg.cond(scaled[:, :4].T @ scaled[:, :4]) == pytest.approx(condition**2, rel=1e-3)


@pytest.mark.parametrize(("kind", "least"), [(1, 9), (2, 9), (3, 9), (4, 7), (5, 5)])
@pytest.mark.parametrize("read", [lambda X, y: LinearRegression().fit(X, y), lambda X, y: streamed(X, y, 7)])
def test_wampler(kind, least, read):
    X, y = wampler(kind)
    solution = exact(X, y)
    if kind != 2:  # the disturbance is orthogonal to every polynomial of degree 5
        assert solution == [1] * 6
    assert digits(read(X, y), solution) >= least


@pytest.mark.parametrize("kind", [1, 2, 3, 4, 5])
def test_wampler_refined(kind):
    X, y = wampler(kind)
    assert digits(LinearRegression(refine=True).fit(X, y), exact(X, y)) >= 15


@pytest.mark.parametrize("read", [lambda X, y: LinearRegression().fit(X, y), lambda X, y: streamed(X, y, 5)])
def test_longley(read):
    X, y = LONGLEY[:, 1:], LONGLEY[:, 0]
    solution = exact(X, y)
    # As certified by the National Institute of Standards and Technology.
    certified = [-3482258.63459582, 15.0618722713733, -0.358191792925910e-1, -2.02022980381683]
    certified += [-1.03322686717359, -0.511041056535807e-1, 1829.15146461355]
    np.testing.assert_allclose([float(s) for s in solution], certified, rtol=1e-12)
    model = read(X, y)
    assert digits(model, solution) >= 9
    errors = [84.9149257747669, 0.334910077722432e-1, 0.488399681651699, 0.214274163161675]
    np.testing.assert_allclose(
        model.coef_std_errors_, [*errors, 0.226073200069370, 455.478499142212], rtol=1e-9
    )
    assert model.intercept_std_error_ == pytest.approx(890420.383607373, rel=1e-9)
    assert np.sqrt(model.noise_variance_) == pytest.approx(304.854073561965, rel=1e-9)
    assert model.score(X, y) == pytest.approx(0.995479004577296, rel=1e-9)
    assert digits(LinearRegression(refine=True).fit(X, y), solution) >= 15


def test_a_fit_that_is_singular_is_left_where_it_was(rng):
    X = rng.standard_normal((20, 2))
    X = np.column_stack([X, X.sum(axis=1)])
    y = X[:, 0] + rng.standard_normal(20)
    plain, refined = LinearRegression().fit(X, y), LinearRegression(refine=True).fit(X, y)
    assert plain.rank_ == refined.rank_ == 2
    np.testing.assert_allclose(refined.coef_, plain.coef_, rtol=1e-12)


def test_numbers_beyond_the_splitting_are_left_as_they_were(rng):
    X = rng.standard_normal((20, 2))
    y = X[:, 0] + rng.standard_normal(20)
    fit = least_squares(LinearFactor.of(X, y))
    again, passes = refine(fit, X * 1e305, y)
    assert passes == 1
    np.testing.assert_array_equal(again.coef, fit.coef)


@pytest.mark.parametrize("refined", [False, True])
def test_directions_that_squaring_loses_are_said(refined):
    X, y = steep()
    with pytest.warns(UserWarning, match=r"resolve 8 of the 10 directions.*qr"):
        model = LinearRegression(solver="normal", refine=refined).fit(X, y)
    assert model.rank_ == 8
    # Columns that follow from others are no loss.
    twice = np.column_stack([X[:, 0], 2.0 * X[:, 0]])
    assert LinearRegression(solver="normal", refine=refined).fit(twice, y).rank_ == 1
