"""Mixtures with heavy tails: limits, outliers, and the family's own fit."""

import numpy as np
import pytest
from scipy.optimize import minimize

import tractable
from rows.student_t_mixture import heavy_rows
from tractable.base import DegenerateCovarianceWarning


def test_one_component_is_the_familys_fit():
    x = heavy_rows()[40:]
    model = tractable.StudentTMixture(tol=1e-14, max_iter=5000, reg_covar=0.0).fit(x)
    whole = tractable.MultivariateStudentT.fit(x)
    np.testing.assert_allclose(model.dof_[0], whole.dof, rtol=1e-4)
    np.testing.assert_allclose(model.locations_[0], whole.location, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(model.scales_[0], whole.scale, rtol=1e-4)


def test_many_degrees_of_freedom_are_a_gaussian_mixture():
    x = np.concatenate([np.random.default_rng(0).normal(m, 1.0, (100, 2)) for m in (0.0, 6.0)])
    heavy = tractable.StudentTMixture(2, dof=1e9, random_state=0, tol=1e-9).fit(x)
    normal = tractable.GaussianMixture(2, random_state=0, tol=1e-9).fit(x)
    np.testing.assert_allclose(heavy.score_samples(x), normal.score_samples(x), rtol=1e-5)
    learnt = tractable.StudentTMixture(2, random_state=0).fit(x)
    assert learnt.dof_.min() > 10.0


def test_the_search_ends_at_a_maximum():
    """No small change of locations, scales, degrees of freedom or weights raises the likelihood."""
    x = heavy_rows()
    model = tractable.StudentTMixture(
        2, covariance_type="diag", random_state=0, tol=1e-14, max_iter=5000, reg_covar=0.0
    ).fit(x)

    def lost(theta):
        share = 1.0 / (1.0 + np.exp(-theta[0]))
        mixture = tractable.Mixture(
            weights=[share, 1.0 - share],
            components=tractable.MultivariateStudentT(
                dof=np.exp(theta[1:3]),
                location=theta[3:7].reshape(2, 2),
                scale=tractable.covariance.Diagonal(variances=np.exp(theta[7:]).reshape(2, 2)),
            ),
        )
        return -mixture.log_prob(x).sum()

    here = np.concatenate(
        [
            [np.log(model.weights_[0] / model.weights_[1])],
            np.log(model.dof_),
            model.locations_.ravel(),
            np.log(model.scales_).ravel(),
        ]
    )
    best = minimize(lost, here, method="BFGS")
    assert lost(here) == pytest.approx(best.fun, abs=1e-5)


@pytest.mark.slow
def test_outliers_do_not_move_the_components():
    rng = np.random.default_rng(1)
    clean = np.concatenate([rng.normal(m, 1.0, (150, 2)) for m in (0.0, 8.0)])
    spoiled = clean.copy()
    spoiled[::15] += rng.normal(0.0, 40.0, (20, 2))
    heavy = tractable.StudentTMixture(2, random_state=0, n_init=3).fit(spoiled)
    normal = tractable.GaussianMixture(2, random_state=0, n_init=3).fit(spoiled)
    moved = np.abs(np.sort(heavy.locations_[:, 0]) - [0.0, 8.0]).max()
    assert moved < 0.5
    assert moved < np.abs(np.sort(normal.means_[:, 0]) - [0.0, 8.0]).max()
    assert heavy.dof_.min() < 2.0


def test_numbers_of_parameters_and_criteria():
    x = heavy_rows()
    full = tractable.StudentTMixture(2, random_state=0).fit(x)
    diag = tractable.StudentTMixture(2, covariance_type="diag", dof=3.0, random_state=0).fit(x)
    assert full.n_parameters_ == 1 + 2 * (2 + 3 + 1)
    assert diag.n_parameters_ == 1 + 2 * (2 + 2)
    assert np.isfinite([full.aic(x), full.bic(x), full.icl(x)]).all()


def test_it_conditions_by_name():
    import pandas as pd

    x = pd.DataFrame(heavy_rows(), columns=["a", "b"])
    model = tractable.StudentTMixture(2, random_state=0).fit(x)
    given = model.condition({"a": 0.0})
    rows = np.array([[0.5], [-2.0]])
    joint = model.distribution_.log_prob(np.column_stack([[0.0, 0.0], rows[:, 0]]))
    np.testing.assert_allclose(given.log_prob(rows), joint - model.marginal(["a"]).log_prob([[0.0], [0.0]]))


def test_a_component_on_one_point_is_said():
    x = np.concatenate([np.zeros((40, 2)), heavy_rows()[40:] + 20.0])
    with pytest.warns(tractable.mixture.CollapsedComponentWarning, match="collapsed"):
        model = tractable.StudentTMixture(2, dof=4.0, random_state=0).fit(x)
    assert model.collapsed_.sum() == 1


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
@pytest.mark.parametrize("far", [1e4, 1e6, 1e12, 1e100])
def test_one_outlier_however_far_does_not_widen_the_floor(far, covariance_type):
    x = np.random.default_rng(0).normal(size=(400, 2))
    spoiled = np.r_[x, [[far, far]]]
    usual, bare = (
        tractable.StudentTMixture(1, covariance_type=covariance_type, reg_covar=reg).fit(spoiled)
        for reg in (None, 0.0)
    )
    np.testing.assert_allclose(usual.scales_, bare.scales_, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(usual.dof_, bare.dof_, rtol=1e-4)
    assert np.abs(usual.locations_).max() < 5.0 / np.sqrt(400)


@pytest.mark.parametrize("dof", [0.3, 0.5])
def test_the_heaviest_tails_are_found(dof):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.standard_t(dof, size=(250, 1)), rng.standard_t(dof, size=(250, 1))])
    model = tractable.StudentTMixture(1).fit(x)
    assert model.dof_[0] == pytest.approx(dof, rel=0.25)
    assert abs(model.locations_[0, 0]) < 0.5
    assert not model.collapsed_.any()


def test_a_column_of_mostly_one_value_has_the_width_of_the_others():
    rng = np.random.default_rng(0)
    x = np.concatenate([np.zeros(250), rng.normal(size=150), [1e6]])[:, None]
    with pytest.warns(tractable.mixture.CollapsedComponentWarning, match="dof of your own"):
        model = tractable.StudentTMixture(1).fit(x)
    assert model._standardizer_.scale[0] == pytest.approx(1.0, rel=0.3)
    calm = tractable.StudentTMixture(1, dof=4.0).fit(x)  # the advice helps
    assert not calm.collapsed_.any()


def test_a_warm_start_refuses_scales_of_another_shape():
    model = tractable.StudentTMixture(2, random_state=0, warm_start=True).fit(heavy_rows())
    with pytest.raises(ValueError, match='covariance_type="full"'):
        model.set_params(covariance_type="diag").fit(heavy_rows())
    assert model.scales_.shape == (2, 2, 2)


def test_missing_entries_are_refused_with_advice():
    x = heavy_rows()
    model = tractable.StudentTMixture(2, random_state=0).fit(x)
    x[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"X contains NaN.*GaussianMixture"):
        tractable.StudentTMixture(2).fit(x)
    with pytest.raises(ValueError, match=r"X contains NaN.*GaussianMixture"):
        model.predict(x)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"dof": 0.0}, "dof"),
        ({"covariance_type": "tied"}, "covariance_type"),
        ({"reg_covar": -1.0}, "reg_covar"),
    ],
)
def test_bad_parameters_are_named(options, named):
    with pytest.raises(ValueError, match=named):
        tractable.StudentTMixture(**options).fit(heavy_rows())


def test_a_component_that_constant_rows_leave_without_weight_is_said():
    """As in `GaussianMixture`: it has weight zero, not the smallest number."""
    for model in (tractable.StudentTMixture(2, random_state=0), tractable.GaussianMixture(2, random_state=0)):
        with (
            pytest.warns(tractable.mixture.CollapsedComponentWarning, match=r"components \[1\] collapsed"),
            pytest.warns(DegenerateCovarianceWarning, match=r"columns \[0, 1\] of X are constant"),
        ):
            model.fit(np.ones((20, 2)))
        np.testing.assert_array_equal(model.weights_, [1.0, 0.0])
        np.testing.assert_array_equal(model.collapsed_, [False, True])
