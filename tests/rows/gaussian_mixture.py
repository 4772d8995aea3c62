"""Gaussian mixtures."""

from functools import partial

from rows.row import Row
from tractable.mixture import GaussianMixture

RANDOM = "random start: the check shuffles the rows, and other rows are drawn"
EXEMPT = {f"check_sample_weight_equivalence_on_{kind}_data": RANDOM for kind in ("dense", "sparse")}


def row(name, **parameters):
    return Row(name, partial(GaussianMixture, random_state=0, **parameters), exempt=EXEMPT)


ROWS = [
    Row("GaussianMixture", GaussianMixture),
    row("GaussianMixture-2", n_components=2),
    row("GaussianMixture-tied", n_components=2, covariance_type="tied"),
    row("GaussianMixture-diag", n_components=2, covariance_type="diag"),
    row("GaussianMixture-spherical", n_components=2, covariance_type="spherical"),
    row("GaussianMixture-low-rank", n_components=2, covariance_type="low_rank"),
    row("GaussianMixture-prior", n_components=2, covariance_prior="data", init_params="k-means++", n_init=2),
]
