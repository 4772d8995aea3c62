"""Distributions of whole numbers, of labels and of vectors of counts."""

from tractable.distributions.discrete.bernoulli import Bernoulli
from tractable.distributions.discrete.beta_binomial import BetaBinomial
from tractable.distributions.discrete.binomial import Binomial
from tractable.distributions.discrete.categorical import Categorical
from tractable.distributions.discrete.counting import Counting, CountVectors
from tractable.distributions.discrete.dirichlet_multinomial import DirichletMultinomial
from tractable.distributions.discrete.multinomial import Multinomial
from tractable.distributions.discrete.negative_binomial import NegativeBinomial
from tractable.distributions.discrete.poisson import Poisson

__all__ = [
    "Bernoulli",
    "BetaBinomial",
    "Binomial",
    "Categorical",
    "CountVectors",
    "Counting",
    "DirichletMultinomial",
    "Multinomial",
    "NegativeBinomial",
    "Poisson",
]
