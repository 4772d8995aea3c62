"""Negative binomial and geometric counts."""

from rows.row import Row
from tractable.distributions import Geometric, NegativeBinomial

ROWS = [
    Row("NegativeBinomial", lambda: NegativeBinomial(shape=2.5, mean=4.0)),
    Row("NegativeBinomial-geometric", lambda: NegativeBinomial(shape=1.0, probability=0.25)),
    Row("NegativeBinomial-bursts", lambda: NegativeBinomial(shape=0.3, mean=2.0)),
    Row("NegativeBinomial-near-Poisson", lambda: NegativeBinomial(shape=1e4, mean=7.0)),
    Row("NegativeBinomial-large", lambda: NegativeBinomial(shape=50.0, mean=300.0)),
    Row("Geometric", lambda: Geometric(probability=0.25)),
    Row("Geometric-rare", lambda: Geometric(probability=1e-4)),
    Row("Geometric-batch", lambda: Geometric(probability=[[0.5, 0.9], [0.01, 0.3]])),
    Row("NegativeBinomial-batch", lambda: NegativeBinomial(shape=[[0.5], [20.0]], mean=[0.1, 1.0, 9.0])),
]
