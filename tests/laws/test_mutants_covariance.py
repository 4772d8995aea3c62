"""The laws of covariance structures must reject planted bugs."""

from functools import partial

import numpy as np
import pytest

from tractable.covariance import Diagonal, Full, Isotropic, LowRankPlusDiagonal
from tractable.testing import covariance_laws

FULL = {"matrix": [[4.0, 1.2, 0.0], [1.2, 1.0, -0.3], [0.0, -0.3, 0.5]]}
BATCH = {"matrix": [[[2.0, 0.5], [0.5, 1.0]], [[1.0, -0.9], [-0.9, 1.0]]]}
LOW_RANK = {"factor": [[1.0], [2.0], [-1.0], [0.0]], "variances": [0.5, 1.0, 0.2, 1.0]}


class LowerOnly(Full):
    def dense(self):
        return np.tril(super().dense())


class HalfLogDet(Full):
    @property
    def log_det(self):
        return 0.5 * super().log_det


class SolvesHalfWay(Full):
    def solve(self, z):
        return self.whiten(z)


class WithoutWoodbury(LowRankPlusDiagonal):
    def solve(self, z):
        return z / self.variances


class WithoutDeterminantLemma(LowRankPlusDiagonal):
    @property
    def log_det(self):
        return np.log(self.variances).sum(axis=-1)


class SquaredWhitening(Diagonal):
    def whiten(self, z):
        return z / self.variances


class CentreAdded(Full):
    def mahalanobis(self, z, center=None):
        return super().mahalanobis(z if center is None else z + 2.0 * center, center)


class ColoursWithVariances(Diagonal):
    def color(self, noise):
        return noise * self.variances


class OneNoiseForBoth(LowRankPlusDiagonal):
    """The factor and the diagonal share their noise."""

    @property
    def noise_dim(self):
        return self.dim

    def color(self, noise):
        return np.sqrt(self.variances) * noise + noise[..., : self.rank] @ self.factor.T


class MarginalInOrder(Full):
    def marginal(self, dims):
        return super().marginal(sorted(np.atleast_1d(dims)))


class ConditionIsMarginal(Full):
    def condition(self, given):
        gain, left = super().condition(given)
        return gain, self.marginal([i for i in range(self.dim) if i not in given]) if len(given) else left


class GainOfTheWrongSign(Full):
    def condition(self, given):
        gain, left = super().condition(given)
        return -gain, left


class BecomesFull(Diagonal):
    def condition(self, given):
        gain, left = super().condition(given)
        return gain, Full(matrix=left.dense())


class ScalesDeviations(Isotropic):
    def scaled(self, factor):
        return type(self)(variance=self.variance * np.square(factor), dim=self.dim)


class AddsDeviations(Diagonal):
    def __add__(self, other):
        return Diagonal(variances=(np.sqrt(self.variances) + np.sqrt(other.diagonal)) ** 2)


class SumOfPrecisions(Full):
    def parallel(self, other):
        return Full(matrix=self.precision() + other.precision())


class MapsOnOneSide(Full):
    def affine(self, A):
        return Full(matrix=2.0 * super().affine(A).dense())


class FirstForAll(Full):
    def __getitem__(self, index):
        return Full(matrix=self.dense()[0])


class Writable(Full):
    def __init__(self, **given):
        super().__init__(**given)
        object.__setattr__(self, "matrix", np.array(self.matrix))


class TakesAnything(Diagonal):
    def __init__(self, *, variances):
        object.__setattr__(self, "variances", np.asarray(variances))


MUTANTS = [
    (covariance_laws.dense_is_symmetric_positive_definite, partial(LowerOnly, **FULL)),
    (covariance_laws.diagonal_and_log_det_are_those_of_dense, partial(HalfLogDet, **FULL)),
    (covariance_laws.diagonal_and_log_det_are_those_of_dense, partial(WithoutDeterminantLemma, **LOW_RANK)),
    (covariance_laws.solve_and_multiply_are_those_of_dense, partial(SolvesHalfWay, **FULL)),
    (covariance_laws.solve_and_multiply_are_those_of_dense, partial(WithoutWoodbury, **LOW_RANK)),
    (covariance_laws.whitening_gives_the_squared_distance, partial(SquaredWhitening, variances=[4.0, 0.25])),
    (covariance_laws.whitening_gives_the_squared_distance, partial(CentreAdded, **FULL)),
    (covariance_laws.coloring_gives_the_covariance, partial(ColoursWithVariances, variances=[4.0, 0.25])),
    (covariance_laws.coloring_gives_the_covariance, partial(OneNoiseForBoth, **LOW_RANK)),
    (covariance_laws.marginals_are_blocks, partial(MarginalInOrder, **FULL)),
    (covariance_laws.conditioning_is_the_schur_complement, partial(ConditionIsMarginal, **FULL)),
    (covariance_laws.conditioning_is_the_schur_complement, partial(GainOfTheWrongSign, **FULL)),
    (covariance_laws.conditioning_is_the_schur_complement, partial(BecomesFull, variances=[4.0, 0.25])),
    (covariance_laws.scaling_and_adding_are_those_of_dense, partial(ScalesDeviations, variance=2.0, dim=2)),
    (covariance_laws.scaling_and_adding_are_those_of_dense, partial(AddsDeviations, variances=[4.0, 0.25])),
    (covariance_laws.parallel_adds_precisions, partial(SumOfPrecisions, **FULL)),
    (covariance_laws.affine_maps_are_sandwiches, partial(MapsOnOneSide, **FULL)),
    (covariance_laws.batch_is_a_loop, partial(FirstForAll, **BATCH)),
    (covariance_laws.cannot_be_changed, partial(Writable, **FULL)),
    (covariance_laws.bad_parameters_are_refused, partial(TakesAnything, variances=[1.0, 2.0])),
]


@pytest.mark.parametrize(("law", "broken"), MUTANTS)
def test_laws_of_covariance_have_power(law, broken, rng):
    with pytest.raises(AssertionError):
        law(broken(), rng)


def test_every_law_has_a_mutant():
    assert {
        law.__name__ for law in set(covariance_laws.COVARIANCE_LAWS) - {law for law, _ in MUTANTS}
    } == set()
