"""Mixtures of regressions."""

from rows.row import Row
from tractable.mixture import MixtureOfExperts, MixtureOfRegressors

ROWS = [
    Row("MixtureOfRegressors", lambda: MixtureOfRegressors(random_state=0)),
    Row(
        "MixtureOfRegressors-separate",
        lambda: MixtureOfRegressors(noise="separate", alpha=0.1, n_init=3, random_state=0),
    ),
    Row("MixtureOfRegressors-one", lambda: MixtureOfRegressors(1)),
    Row(
        "MixtureOfRegressors-origin",
        lambda: MixtureOfRegressors(3, fit_intercept=False, n_init=2, random_state=0),
    ),
    Row("MixtureOfExperts", lambda: MixtureOfExperts(random_state=0)),
    Row(
        "MixtureOfExperts-separate",
        lambda: MixtureOfExperts(noise="separate", gate_alpha=1.0, n_init=2, random_state=0),
    ),
    Row("MixtureOfExperts-one", lambda: MixtureOfExperts(1)),
]
