"""Every law of conjugate models rejects a planted bug; the printed errors of the courses are among them."""

import numpy as np
import pytest

from tractable.arrays.namespace import as_float_array
from tractable.conjugate import (
    BernoulliModel,
    BinomialModel,
    NormalMeanModel,
    NormalModel,
    NormalPrecisionModel,
    PoissonModel,
    Updates,
)
from tractable.conjugate.counts import CountTotals
from tractable.distributions import (
    Bernoulli,
    Beta,
    Gamma,
    Normal,
    NormalGamma,
    StudentT,
    Wishart,
)
from tractable.statistics import Moments, Totals
from tractable.testing import conjugate_laws

COIN = {"prior": Beta(alpha=2.0, beta=3.0)}
MEAN = {"prior": Normal(mean=0.0, variance=1.0), "variance": 4.0}
MATRIX = {"prior": Wishart(dof=7.0, scale=[[1.0, 0.3], [0.3, 0.5]]), "known_mean": [1.0, -2.0]}


class VarianceSquaredAgain(NormalMeanModel):
    """E001-35: the variance of the posterior is stored as its standard deviation."""

    def update(self, statistic):
        after = super().update(statistic)
        return self._with_prior(Normal(mean=after.prior.mean, stddev=after.prior.variance))


class DofOfThePrior(NormalPrecisionModel):
    """E000-13: the mode of the precision with the prior's degrees of freedom."""

    def mode(self):
        return (7.0 - self.dim - 1.0) * self.prior.scale


class OddsForMean(BernoulliModel):
    """E000-05: α / β taken for the mean."""

    def mean(self):
        return self.prior.alpha / self.prior.beta

    def predictive(self):
        return Bernoulli(probability=min(self.mean(), 1.0))


class CountsFromOne(BernoulliModel):
    def _added(self, statistic):
        return super()._added(statistic) + 1.0


class KeepsDof(NormalPrecisionModel):
    def update(self, statistic):
        after = super().update(statistic)
        return self._with_prior(Wishart(dof=self.prior.dof, scale=after.prior.scale))


class ForgetsPriorMean(NormalModel):
    """The scatter of the sample's mean about the prior's is left out."""

    def update(self, statistic):
        prior, after = self.prior, super().update(statistic).prior
        rate = prior.rate + 0.5 * statistic.scatter[0, 0]
        return self._with_prior(
            NormalGamma(mean=after.location, strength=after.strength, shape=after.shape, rate=rate)
        )


class NoOrders(BinomialModel):
    def _log_base(self, statistic):
        return 0.0


class NoFactorials(PoissonModel):
    def _log_base(self, statistic):
        return 0.0


class PlugIn(NormalMeanModel):
    """The predictive distribution of a mean that is taken for certain."""

    def predictive(self):
        return self.likelihood(self.prior.mean)


class ScaleIsSquared(NormalPrecisionModel):
    def predictive(self):
        right = super().predictive()
        return StudentT(dof=right.dof, location=right.location, scale=right.scale**2)


class IgnoresWeights(NormalMeanModel):
    def _summarize(self, X, weights):
        return Moments.of(np.asarray(X).reshape(-1, 1))


class RemembersEverything(BernoulliModel):
    def _summarize(self, X, weights):
        found = super()._summarize(X, weights)
        return Undiscounted(weight=found.weight, total=found.total)


class Undiscounted(Totals):
    def __add__(self, other):
        return Undiscounted(weight=self.weight + other.weight, total=self.total + other.total)

    def discount(self, rate):
        return self


class WritesToRows(NormalMeanModel):
    def _summarize(self, X, weights):
        X += 1.0
        return super()._summarize(X, weights)


class CopiedWithoutKnowledge(NormalMeanModel):
    def _parameters(self):
        return {"prior": self.prior, "variance": 1.0}


class TraceFromTheFirstData(NormalMeanModel):
    def trace(self, statistics):
        return Updates(models=super().trace(statistics).models[1:])


class AcceptsAnything(NormalMeanModel):
    def _summarize(self, X, weights):
        return Moments.of(np.nan_to_num(np.asarray(X).reshape(len(X), -1)[:, :1]), weights)


class TooSure(BernoulliModel):
    def _added(self, statistic):
        return 4.0 * super()._added(statistic)


class NeverLearns(NormalMeanModel):
    def update(self, statistic):
        return self


class MeanForMode(PoissonModel):
    def mode(self):
        return self.mean()


class FixedMode(BernoulliModel):
    def mode(self):
        return as_float_array(0.5)


class BesselForML(NormalPrecisionModel):
    def maximum_likelihood(self, statistic):
        return super().maximum_likelihood(statistic) * 29.0 / 30.0


class OneTail(BernoulliModel):
    def interval(self, coverage=0.9):
        return 0.0 * self.prior.mean, self.prior.icdf(coverage)


class BasePerRow(PoissonModel):
    """The base measure counts rows, not their weights."""

    def _summarize(self, X, weights):
        right = super()._summarize(X, weights)
        return CountTotals(totals=right.totals, log_base=super()._summarize(X, None).log_base)


GAMMA = {"prior": Gamma(shape=3.0, rate=2.0)}
EVENTS = {"prior": Gamma(shape=30.0, rate=3.0)}
MUTANTS = [
    (conjugate_laws.updating_with_nothing_changes_nothing, CountsFromOne(**COIN)),
    (conjugate_laws.updates_merge, VarianceSquaredAgain(**MEAN)),
    (conjugate_laws.updates_merge, CountsFromOne(**COIN)),
    (
        conjugate_laws.updates_merge,
        ForgetsPriorMean(prior=NormalGamma(mean=1.0, strength=2.0, shape=4.0, rate=3.0)),
    ),
    (conjugate_laws.weights_are_repetitions, IgnoresWeights(**MEAN)),
    (conjugate_laws.weights_are_repetitions, BasePerRow(**EVENTS)),
    (conjugate_laws.discounting_forgets, RemembersEverything(**COIN)),
    (conjugate_laws.updating_changes_nothing_else, WritesToRows(**MEAN)),
    (conjugate_laws.models_survive_pickling_and_copying, CopiedWithoutKnowledge(**MEAN)),
    (conjugate_laws.trace_is_the_sequence_of_updates, TraceFromTheFirstData(**MEAN)),
    (conjugate_laws.bad_rows_are_refused, AcceptsAnything(**MEAN)),
    (conjugate_laws.posterior_is_prior_times_likelihood, VarianceSquaredAgain(**MEAN)),
    (conjugate_laws.posterior_is_prior_times_likelihood, KeepsDof(**MATRIX)),
    (conjugate_laws.evidence_is_a_chain_of_predictives, NoOrders(**COIN, n_trials=5)),
    (conjugate_laws.evidence_is_a_chain_of_predictives, OddsForMean(**COIN)),
    (conjugate_laws.evidence_is_an_integral, NoFactorials(**EVENTS)),
    (conjugate_laws.evidence_is_the_prior_average_of_the_likelihood, NoFactorials(**EVENTS)),
    (conjugate_laws.predictive_is_the_average_of_the_likelihood, PlugIn(**MEAN)),
    (conjugate_laws.predictive_is_the_average_of_the_likelihood, OddsForMean(**COIN)),
    (conjugate_laws.predictive_is_an_integral, ScaleIsSquared(**GAMMA, known_mean=0.0)),
    (conjugate_laws.predictive_is_a_ratio, PlugIn(**MEAN)),
    (conjugate_laws.posterior_concentrates, NeverLearns(**MEAN)),
    (conjugate_laws.posterior_concentrates, VarianceSquaredAgain(**MEAN)),
    (conjugate_laws.mode_has_the_greatest_density, DofOfThePrior(**MATRIX)),
    (conjugate_laws.mode_has_the_greatest_density, MeanForMode(**GAMMA)),
    (conjugate_laws.map_tends_to_maximum_likelihood, FixedMode(**COIN)),
    (conjugate_laws.map_tends_to_maximum_likelihood, OddsForMean(**COIN)),
    (conjugate_laws.maximum_likelihood_has_the_greatest_likelihood, BesselForML(**GAMMA, known_mean=0.0)),
    (conjugate_laws.intervals_hold_their_coverage, OneTail(**COIN)),
    (conjugate_laws.posterior_is_prior_times_likelihood, TooSure(**COIN)),
]


@pytest.mark.spec("E000-05", "E000-13", "E001-35", "DIST-36")
@pytest.mark.parametrize(
    ("law", "broken"), MUTANTS, ids=[f"{law.__name__}-{type(broken).__name__}" for law, broken in MUTANTS]
)
def test_laws_have_power(law, broken, rng):
    with pytest.raises(AssertionError):
        law(broken, rng)


def test_every_law_has_a_mutant():
    assert {law for law, _ in MUTANTS} == set(conjugate_laws.CONJUGATE_LAWS)
