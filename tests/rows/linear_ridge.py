"""Ridge regression in each of its penalties and criteria."""

from rows.row import Row
from tractable.linear_model import Ridge, RidgeCV

GRID = (0.01, 1.0, 100.0)
ROWS = [
    Row("Ridge", Ridge),
    Row("Ridge-origin", lambda: Ridge(alpha=0.3, fit_intercept=False)),
    Row("Ridge-penalised", lambda: Ridge(alpha=0.3, penalize_intercept=True)),
    Row("Ridge-none", lambda: Ridge(alpha=0.0)),
    Row("Ridge-positive", lambda: Ridge(alpha=0.3, positive=True)),
    Row(
        "RidgeCV-scored",
        lambda: RidgeCV(alphas=GRID, scoring="neg_mean_absolute_error", store_cv_results=True),
    ),
    Row("RidgeCV", lambda: RidgeCV(alphas=GRID)),
    Row("RidgeCV-gcv", lambda: RidgeCV(alphas=GRID, method="gcv")),
    Row("RidgeCV-penalised", lambda: RidgeCV(alphas=GRID, penalize_intercept=True)),
    Row("RidgeCV-origin", lambda: RidgeCV(alphas=GRID, fit_intercept=False)),
]
