"""Generalised linear models of counts and of positive amounts."""

from rows.row import Row
from tractable.linear_model import GammaRegression, NegativeBinomialRegression, PoissonRegression

ROWS = [
    Row("PoissonRegression", PoissonRegression),
    Row("PoissonRegression-origin", lambda: PoissonRegression(fit_intercept=False)),
    Row("PoissonRegression-penalised", lambda: PoissonRegression(alpha=0.01)),
    Row("GammaRegression", GammaRegression),
    Row("GammaRegression-inverse", lambda: GammaRegression(link="inverse")),
    Row("GammaRegression-penalised", lambda: GammaRegression(alpha=0.01)),
    Row("NegativeBinomialRegression", NegativeBinomialRegression),
    Row("NegativeBinomialRegression-given", lambda: NegativeBinomialRegression(dispersion=0.2)),
]
