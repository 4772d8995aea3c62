"""Principal components by every solver, against the singular value decomposition and each other."""

import numpy as np
import pandas as pd
import pytest

from tractable import scan
from tractable.engines import principal_components
from tractable.engines.principal_components import components_of, randomized_components
from tractable.statistics import ScatterFactor

EXACT = ["auto", "full", "covariance_eigh", "arpack"]


def table(rng, n, d, decay=0.8):
    """Rows whose variances fall geometrically, turned, and far from the origin."""
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return rng.standard_normal((n, d)) * decay ** np.arange(d) @ turn + 7.0


def by_lapack(x, weights=None):
    w = np.ones(len(x)) if weights is None else weights
    centred = x - np.average(x, axis=0, weights=w)
    _, s, vt = np.linalg.svd(np.sqrt(w)[:, None] * centred, full_matrices=False)
    largest = vt[np.arange(len(vt)), np.argmax(np.abs(vt), axis=1)]
    return s, vt * np.sign(largest)[:, None]


@pytest.mark.spec("DR-01", "DR-02", "DR-07")
@pytest.mark.parametrize("shape", [(60, 8), (9, 30), (8, 8)], ids=str)
@pytest.mark.parametrize("solver", EXACT)
def test_every_solver_finds_the_singular_vectors(solver, shape, rng):
    x = table(rng, *shape)
    s, vt = by_lapack(x)
    found = principal_components(x, 3, solver=solver)
    np.testing.assert_allclose(found.components, vt[:3], atol=1e-11)
    np.testing.assert_allclose(found.singular_values, s[:3], rtol=1e-12)
    np.testing.assert_allclose(found.scatter, np.sum(s**2), rtol=1e-12)
    np.testing.assert_allclose(found.components @ found.components.T, np.eye(3), atol=1e-12)


@pytest.mark.spec("DR-13", "E000-64")
def test_the_dual_has_unit_directions_and_those_of_the_primal(rng):
    x = table(rng, 7, 40, decay=0.95)
    dual, primal = (principal_components(x, 6, solver=how) for how in ("dual", "covariance_eigh"))
    np.testing.assert_allclose(dual.components, primal.components, atol=1e-11)
    np.testing.assert_allclose(dual.variances(), primal.variances(), rtol=1e-11)
    np.testing.assert_allclose(np.linalg.norm(dual.components, axis=1), 1.0, rtol=1e-12)
    # With v = Xu in place of a unit v, 1/√(Nλ) leaves a vector whose length is √(Nλ) and not 1.
    centred, (value, u) = x - x.mean(axis=0), (dual.variances()[0], dual.components[0])
    printed = centred.T @ (centred @ u) / np.sqrt(7 * value)
    np.testing.assert_allclose(np.linalg.norm(printed), np.sqrt(7 * value), rtol=1e-10)


@pytest.mark.spec("DR-02")
def test_the_second_direction_is_the_first_of_what_is_left(rng):
    x = table(rng, 50, 5)
    first = principal_components(x, 1)
    deflated = x - (x - first.mean) @ first.components.T @ first.components
    again, both = principal_components(deflated, 1), principal_components(x, 2)
    np.testing.assert_allclose(again.components[0], both.components[1], atol=1e-10)


@pytest.mark.spec("DR-08", "DR-09")
@pytest.mark.parametrize("solver", EXACT)
@pytest.mark.parametrize("shape", [(200, 12), (12, 40)], ids=str)
def test_a_fraction_takes_as_few_as_reach_it(solver, shape, rng):
    x = table(rng, *shape)
    s, _ = by_lapack(x)
    wanted = int(np.searchsorted(np.cumsum(s**2) / np.sum(s**2), 0.9)) + 1
    found = principal_components(x, 0.9, solver=solver)
    assert found.n_components == wanted
    assert found.explained_variance_ratio.sum() >= 0.9
    assert found.explained_variance_ratio[:-1].sum() < 0.9


@pytest.mark.spec("DR-09")
def test_few_eigenvectors_of_a_large_matrix_are_found_one_by_one(rng):
    x = table(rng, 900, 700, decay=0.9)
    found, all_of_them = principal_components(x, 5), principal_components(x, 5, solver="covariance_eigh")
    np.testing.assert_allclose(found.components, all_of_them.components, atol=1e-10)
    np.testing.assert_allclose(found.explained_variance_ratio.sum(), 1.0 - 0.9**10, rtol=0.1)


def test_directions_of_little_variance_keep_their_digits(rng):
    x = rng.standard_normal((40, 3)) * [1.0, 1e-6, 1e-11]
    exact = principal_components(x, solver="full")
    s, _ = by_lapack(x)
    np.testing.assert_allclose(exact.singular_values, s, rtol=1e-4)
    wide = rng.standard_normal((3, 40)) * np.array([1.0, 1e-6, 1e-11])[:, None]
    np.testing.assert_allclose(
        principal_components(wide, 2).singular_values, by_lapack(wide)[0][:2], rtol=1e-9
    )


def test_all_components_of_few_rows_are_those_in_which_they_vary(rng):
    x = table(rng, 6, 20, decay=0.95)
    for solver in ("auto", "full", "dual"):
        found = principal_components(x, solver=solver)
        assert found.components.shape == (5, 20)
        np.testing.assert_allclose(found.components @ found.components.T, np.eye(5), atol=1e-11)
        np.testing.assert_allclose(found.inverse_transform(found.transform(x)), x, rtol=1e-11)
    one_more = principal_components(x, 6)  # asked for by number: a direction of no variance is made up
    np.testing.assert_allclose(one_more.components @ one_more.components.T, np.eye(6), atol=1e-11)
    np.testing.assert_allclose(one_more.singular_values[-1], 0.0, atol=1e-12)


def test_weights_are_repetitions(rng):
    x, times = table(rng, 30, 4), rng.integers(0, 4, size=30)
    a = principal_components(x, 2, weights=times.astype(float))
    b = principal_components(np.repeat(x, times, axis=0), 2)
    np.testing.assert_allclose(a.components, b.components, atol=1e-11)
    np.testing.assert_allclose(a.variances(1), b.variances(1), rtol=1e-11)
    wide = principal_components(table(rng, 5, 9), 2, weights=[2.0, 1.0, 1.0, 0.0, 1.0])
    assert wide.weight == 5.0


@pytest.mark.parametrize("solver", ["auto", "full"])
def test_merged_statistics_have_the_components_of_all_rows(solver, rng):
    x = table(rng, 50, 20)
    of = ScatterFactor.triangle_of if solver == "full" else ScatterFactor.of
    parts = [of(part) for part in (x[:3], x[3:10], x[10:45], x[45:])]  # rows, and then scatter
    merged = parts[0] + parts[1] + parts[2] + parts[3]
    found, wanted = components_of(merged, 4, solver=solver), principal_components(x, 4, solver=solver)
    np.testing.assert_allclose(found.components, wanted.components, atol=1e-11)
    np.testing.assert_allclose(found.singular_values, wanted.singular_values, rtol=1e-11)


def test_the_randomised_solver_nears_the_components(rng):
    x = table(rng, 300, 80, decay=0.7)
    near, exact = randomized_components(x, 4, rng=0), principal_components(x, 4)
    np.testing.assert_allclose(near.components, exact.components, atol=1e-9)
    np.testing.assert_allclose(near.explained_variance_ratio, exact.explained_variance_ratio, rtol=1e-10)
    assert np.array_equal(near.components, principal_components(x, 4, solver="randomized", rng=0).components)
    times = rng.integers(1, 4, size=300)
    a = randomized_components(x, 3, weights=times.astype(float), rng=0)
    np.testing.assert_allclose(
        a.components, principal_components(np.repeat(x, times, axis=0), 3).components, atol=1e-8
    )


def test_a_file_has_the_components_of_its_rows(rng, tmp_path):
    x = table(rng, 400, 6)
    pd.DataFrame(x, columns=list("abcdef")).to_parquet(tmp_path / "rows.parquet", row_group_size=90)
    source, wanted = scan(tmp_path / "rows.parquet"), principal_components(x, 2)
    for solver in ("auto", "full", "randomized"):
        found = principal_components(source, 2, solver=solver, rng=0)
        np.testing.assert_allclose(found.components, wanted.components, atol=1e-9)


def test_rows_that_are_all_equal_have_no_variance():
    found = principal_components(np.ones((4, 3)), 2)
    assert found.scatter == 0.0
    np.testing.assert_array_equal(found.explained_variance_ratio, 0.0)
    np.testing.assert_allclose(found.components @ found.components.T, np.eye(2), atol=1e-12)


@pytest.mark.parametrize("bad", [0, 4, 1.5, 0.0, True, "two"], ids=str)
def test_more_components_than_rank_are_refused(bad, rng):
    with pytest.raises(ValueError, match="n_components must be a whole number from 1 to min"):
        principal_components(rng.standard_normal((9, 3)), bad)


def test_what_does_not_fit_together_is_refused(rng):
    x = rng.standard_normal((9, 3))
    with pytest.raises(ValueError, match="solver must be one of"):
        principal_components(x, solver="power")
    with pytest.raises(ValueError, match="solver='dual' is for fewer rows"):
        principal_components(x, solver="dual")
    with pytest.raises(ValueError, match="whole number for the randomised"):
        principal_components(x, 0.9, solver="randomized")
    x[2, 1] = np.nan
    for solver in ("auto", "full", "randomized"):
        with pytest.raises(ValueError, match="X contains NaN"):
            principal_components(x, 2, solver=solver)


@pytest.mark.parametrize("shape", [(400, 500), (500, 400)])
def test_many_columns_without_variance_have_components(shape):
    """Few eigenvectors of many are found one by one, also of a matrix of zeros."""
    found = principal_components(np.full(shape, 3.0), 2)
    np.testing.assert_array_equal(found.singular_values, 0.0)
    np.testing.assert_allclose(found.components @ found.components.T, np.eye(2), atol=1e-12)


@pytest.mark.parametrize("spectrum", [[], [5.0, 5.0, 5.0], [3.0, 2.0]])
def test_repeated_eigenvalues_of_many_columns(spectrum, rng):
    values = np.r_[spectrum, np.full(400 - len(spectrum), 1.0 if len(spectrum) != 2 else 0.0)]
    basis = np.linalg.qr(rng.standard_normal((400, 400)))[0]
    statistic = ScatterFactor(weight=1.0, mean=np.zeros(400), scatter=(basis * values) @ basis.T)
    found = components_of(statistic, 5)
    np.testing.assert_allclose(found.singular_values**2, values[:5], atol=1e-12)
    np.testing.assert_allclose(found.components @ found.components.T, np.eye(5), atol=1e-12)
