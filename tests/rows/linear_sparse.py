"""Sparse linear models."""

from rows.row import Row
from tractable.linear_model import ElasticNet, ElasticNetCV, Lasso, LassoCV, LassoLars

ROWS = [
    Row("Lasso", Lasso),
    Row("Lasso-small", lambda: Lasso(alpha=0.01)),
    Row("Lasso-origin", lambda: Lasso(alpha=0.1, fit_intercept=False)),
    Row("Lasso-positive", lambda: Lasso(alpha=0.1, positive=True)),
    Row("Lasso-none", lambda: Lasso(alpha=0.0)),
    Row("ElasticNet", ElasticNet),
    Row("ElasticNet-ridge", lambda: ElasticNet(alpha=0.1, l1_ratio=0.0)),
    Row("LassoLars", LassoLars),
    Row("LassoLars-small", lambda: LassoLars(alpha=0.01)),
    Row("ElasticNetCV", lambda: ElasticNetCV(l1_ratio=[0.5, 1.0], alphas=8, cv=3)),
    Row(
        "LassoCV",
        lambda: LassoCV(alphas=20),
        exempt={"weights_are_repetitions": "a row that counts twice is one row to the splitter"},
    ),
]
