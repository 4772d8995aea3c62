"""Ridge regression in each of its penalties and criteria."""

from rows.row import Row
from tractable.linear_model import Ridge, RidgeCV

GRID = (0.01, 1.0, 100.0)


def folds_are_refused(reason):
    """Scikit-learn's checks of weights set `cv`, in every model that has it."""
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}


ROWS = [
    Row("Ridge", Ridge),
    Row("Ridge-origin", lambda: Ridge(alpha=0.3, fit_intercept=False)),
    Row("Ridge-penalised", lambda: Ridge(alpha=0.3, penalize_intercept=True)),
    Row("Ridge-none", lambda: Ridge(alpha=0.0)),
    Row("Ridge-positive", lambda: Ridge(alpha=0.3, positive=True)),
    Row(
        "RidgeCV-scored",
        lambda: RidgeCV(alphas=GRID, scoring="neg_mean_absolute_error", store_cv_results=True),
        exempt=folds_are_refused("the check sets cv, and results of single rows are of leave-one-out"),
    ),
    Row("RidgeCV", lambda: RidgeCV(alphas=GRID)),
    Row(
        "RidgeCV-gcv",
        lambda: RidgeCV(alphas=GRID, method="gcv"),
        exempt=folds_are_refused("the check sets cv, and generalised cross-validation leaves out no rows"),
    ),
    Row("RidgeCV-penalised", lambda: RidgeCV(alphas=GRID, penalize_intercept=True)),
    Row("RidgeCV-origin", lambda: RidgeCV(alphas=GRID, fit_intercept=False)),
]
