"""The pages about clusters print the right numbers of the worked examples, and show what they say."""

import re

import numpy as np
import pytest

import tractable
from gallery_pages import page, pages

#: Pages that take their time.
SLOW = {
    "plot_bayesian_mixture",
    "plot_gaussian_mixture",
    "plot_kmeans_as_limit",
    "plot_mixture_of_regressors",
    "plot_number_of_clusters",
    "plot_table_mixture",
}
NAMES = [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in pages("clusters")]


@pytest.mark.parametrize("name", NAMES)
def test_every_page_runs_and_draws(name):
    assert page("clusters", name).n_axes >= 1


WORKED = [
    pytest.param(
        "kmeans",
        [
            "update 1: clusters [3 2 1 3 1 2 2 3], J 55.0000, then 26.3333",
            "centres [[7.5, 4.5], [3.0, 3.6667], [3.6667, 9.0]]",
            "update 2: clusters [3 2 1 3 1 1 2 3], J 19.7222, then 14.3333",
            "centres [[7.0, 4.3333], [1.5, 3.5], [3.6667, 9.0]]",
            "update 3: clusters [3 2 1 3 1 1 2 3], J 14.3333, then 14.3333",
            "total 100.75 = within 14.33333 + between 86.41667",
        ],
        marks=pytest.mark.spec("W-02", "CLU-15"),
    ),
    pytest.param(
        "kmeans_starts",
        [
            "J = 14.3333 from 46 starts",
            "J = 45.2500 from  1 starts",
            "J = 45.8000 from  4 starts",
            "J = 47.0833 from  3 starts",
            "J = 47.3000 from  1 starts",
            "J = 56.4167 from  1 starts",
            "the least of all 966 partitions: 14.3333",
            "0/282 25/282 72/282 13/282 50/282 52/282 65/282 5/282",
        ],
        marks=pytest.mark.spec("W-02", "CLU-10", "CLU-12"),
    ),
    pytest.param(
        "number_of_clusters",
        [
            "K = 2: J 51.46667, least of  127 51.46667, index 5.74547",
            "K = 3: J 14.33333, least of  966 14.33333, index 15.07267",
            "K = 4: J 8.66667, least of 1701 8.66667, index 14.16667",
            "K = 5: J 3.66667, least of 1050 3.66667, index 19.85795",
            "K = 6: J 2.00000, least of  266 2.00000, index 19.75000",
            "K = 7: J 1.00000, least of   28 1.00000, index 16.62500",
            "5 clusters: the largest ratio of scatter between to scatter within",
        ],
        marks=[pytest.mark.spec("W-02", "CLU-14"), pytest.mark.slow],
    ),
    pytest.param(
        "em_ten_points",
        [
            "iteration 1: means 0.456878 9.141928, variances 0.254512 0.277255, weights 0.400206 0.599794",
            "log likelihood -13.902119\niteration 2",
            "iteration 2: means 0.451425 9.142583, variances 0.209794 0.269773, weights 0.400000 0.600000",
            "log likelihood -13.865726\niteration 3",
            "iteration 6: means 0.451425 9.142583, variances 0.209794 0.269773, weights 0.400000 0.600000",
        ],
        marks=pytest.mark.spec("W-03", "GMM-15"),
    ),
    pytest.param(
        "partitions",
        [
            "S(3, 2) = 3\n",
            "S(4, 2) = 7\n",
            "S(5, 3) = 25\n",
            "S(8, 3) = 966\n",
            "S(10, 4) = 34105\n",
            "Bell numbers: 1, 2, 5, 15, 52, 203, 877, 4140, 21147, 115975\n",
            "408130093410464274259945600962134706689859323636922532443365594726056131962, about 4.0813e+74",
        ],
        marks=pytest.mark.spec("W-13", "CLU-01", "CLU-02", "CLU-03"),
    ),
]


@pytest.mark.parametrize(("name", "lines"), WORKED)
def test_worked_examples_print_the_right_numbers(name, lines):
    printed = "\n".join(page("clusters", f"plot_{name}").lines) + "\n"
    assert [line for line in lines if line not in printed] == []


@pytest.mark.spec("CLU-10")
def test_good_starts_end_well_more_often():
    found = page("clusters", "plot_kmeans_starts").names
    assert sum(found["times"]) == 56
    assert found["shares"]["k-means++"] > found["shares"]["any three points"]


@pytest.mark.spec("GMM-08", "GMM-11")
def test_em_climbs_and_ends_where_the_search_does():
    found = page("clusters", "plot_em_old_faithful").names
    printed = "\n".join(page("clusters", "plot_em_old_faithful").lines)
    assert "never falls: True" in printed
    free = tractable.GaussianMixture(2, n_init=5, random_state=0).fit(found["X"])
    np.testing.assert_allclose(found["after"](100).score(found["X"]), free.score(found["X"]), atol=1e-3)


@pytest.mark.spec("GMM-10")
def test_a_prior_stops_the_fall():
    found = page("clusters", "plot_collapse").names
    printed = "\n".join(page("clusters", "plot_collapse").lines)
    assert "CollapsedComponentWarning and collapsed_ is [False  True]" in printed
    # log p grows by log 10 for every factor of ten.
    gained = float(re.search(r"factor of ten: ([\d.]+)", printed)[1])
    np.testing.assert_allclose(gained, np.log(10.0), atol=1e-4)
    assert not found["held"].collapsed_.any()
    assert found["held"].score(found["new"]) > found["fallen"].score(found["new"])
    assert found["held"].score(found["x"][:, None]) < found["fallen"].score(found["x"][:, None])


@pytest.mark.spec("GMM-18", "GMM-19")
def test_bounds_touch_where_they_were_made_and_lie_below():
    found = page("clusters", "plot_em_bound").names
    mixture, x = found["mixture"], found["x"]
    for old, new, q in found["path"]:
        touching = tractable.elbo(q, mixture(old).log_joint(x))
        np.testing.assert_allclose(touching, mixture(old).log_prob(x).sum(), rtol=1e-12)
        bounds = np.array([tractable.elbo(q, mixture(m).log_joint(x)) for m in found["grid"]])
        assert np.all(bounds <= np.array(found["likelihood"]) + 1e-9)
        assert tractable.elbo(q, mixture(new).log_joint(x)) >= bounds.max()
        assert mixture(new).log_prob(x).sum() > touching


def test_strays_count_for_little_where_tails_are_heavy():
    found = page("clusters", "plot_robust_mixture").names
    heavy, normal = found["models"]["Student-t"], found["models"]["Gaussian"]
    order = np.argsort(heavy.locations_[:, 0])
    np.testing.assert_allclose(heavy.locations_[order], found["means"], atol=0.3)
    assert np.abs(np.sort(normal.means_[:, 0]) - found["means"][:, 0]).max() > 1.0
    assert found["stray"][-40:].sum() >= 36
    assert found["stray"][:-40].sum() <= 3
