"""The laws of kernels must reject planted bugs."""

from functools import partial

import numpy as np
import pytest

from tractable.distributions import Gamma
from tractable.kernels import RBF, Constant, Feature, Kernel, Linear, Matern, Product, Scaled, Sum, White
from tractable.kernels.base import column_of
from tractable.testing import kernel_laws
from tractable.value import replace


class Lopsided(RBF):
    def block(self, x, y, same):
        return super().block(x, y, same) + 0.1 * (x[:, :1] - y[:, 0])


class DistanceOfPeriods(RBF):
    """The periodic formula of the Euclidean distance: no kernel in two dimensions."""

    def _profile(self, s):
        return np.exp(-2.0 * np.sin(np.pi * np.sqrt(s)) ** 2 / 0.3)


class DiagonalWithoutNoise(White):
    def block_diagonal(self, x):
        return column_of(x, 0.0)


class NoiseOfBlocks(White):
    """Noise at the start of every block of rows."""

    def block(self, x, y, same):
        return super().block(x, y, 0 if same is not None and same < y.shape[0] else same)


class HalfGradient(RBF):
    def derivatives(self, *arguments):
        return {name: 0.5 * x for name, x in super().derivatives(*arguments).items()}


class GradientInNaturalUnits(Constant):
    """∂k/∂c in place of ∂k/∂log c."""

    def derivatives(self, weights, matrix, x, y, same):
        return {"constant_value": weights.sum()}


class ForgetsTheOtherFactor(Product):
    def pullback(self, x, y, same):
        matrices, below = zip(*(f.pullback(x, y, same) for f in self.factors), strict=True)
        return matrices[0] * matrices[1], lambda w: np.concatenate([each(w) for each in below])


class GradientOfTheFirstBlock(RBF):
    def pullback(self, x, y, same):
        matrix, below = super().pullback(x, y, same)
        return matrix, lambda w: below(w) * (same == 0)


class PriorWithoutTheChainRule(RBF):
    def log_prior_gradient(self):
        return super().log_prior_gradient() / np.exp(self.theta)


class GreedySum(Sum):
    """A product swallows the terms of a sum; at depth one it looks right."""

    def __mul__(self, other):
        return Product([*self.terms, other])


class AddsGreedily(Matern):
    def __add__(self, other):
        return GreedySum([self, other if isinstance(other, Kernel) else Constant(other)])


class CalledStationary(Linear):
    is_stationary = True


class CalledIsotropic(RBF):
    is_isotropic = True


class MonomialsWithoutRoots(Linear):
    def block_features(self, x):
        return np.hstack([np.full((len(x), 1), self.sigma_0**2), x])


class VarianceAsPrecision(RBF):
    def frequencies(self, n, columns, rng):
        return rng.standard_normal((n, columns)) * self.length_scale


class ForgetsItsScale(Scaled):
    def _with_theta(self, theta):
        next(theta)
        return type(self)(kernel=self.kernel._with_theta(theta), scale=self.scale)


class ComparedByIdentity(RBF):
    __eq__ = object.__eq__
    __hash__ = object.__hash__


class AlwaysDouble(RBF):
    def block(self, x, y, same):
        return super().block(x.astype(float), y.astype(float), same)

    def __call__(self, x, y=None):
        return super().__call__(np.asarray(x, dtype=float), None if y is None else np.asarray(y, dtype=float))


class TakesAnything(RBF):
    def diagonal(self, x):
        return np.ones(len(x))


def by_three(x):
    return 3.0 * x


class TakesNoFeatures(Feature):
    def n_features(self, columns):
        return 1


class RateOfTheRoughest(Matern):
    """Takes 1/ℓ for the rate of every smoothness, and not √(2ν)/ℓ."""

    def markov_terms(self):
        (term,) = super().markov_terms()
        return (replace(term, rate=1.0 / self.length_scale),)


class NoDerivative(Matern):
    """Its states are not stationary: the variance of the derivative is that of the function, halved."""

    def markov_terms(self):
        (term,) = super().markov_terms()
        return (replace(term, stationary=term.stationary * np.array([[1.0, 0.0], [0.0, 0.5]])),)


PRIOR = {"length_scale": 2.0, "length_scale_prior": Gamma(shape=3.0, rate=2.0)}
MUTANTS = [
    (kernel_laws.matrix_is_symmetric, Lopsided),
    (kernel_laws.matrix_is_positive_semidefinite, DistanceOfPeriods),
    (kernel_laws.diagonal_is_that_of_the_matrix, DiagonalWithoutNoise),
    (kernel_laws.blocks_of_rows_make_the_matrix, NoiseOfBlocks),
    (kernel_laws.states_have_the_covariance_of_the_kernel, RateOfTheRoughest),
    (kernel_laws.states_have_the_covariance_of_the_kernel, NoDerivative),
    (kernel_laws.gradient_is_the_derivative, HalfGradient),
    (kernel_laws.gradient_is_the_derivative, partial(GradientInNaturalUnits, 3.0)),
    (kernel_laws.gradient_is_the_derivative, partial(ForgetsTheOtherFactor, [RBF(), Linear()])),
    (kernel_laws.gradient_is_the_derivative, GradientOfTheFirstBlock),
    (kernel_laws.prior_gradient_is_the_derivative, partial(PriorWithoutTheChainRule, **PRIOR)),
    (kernel_laws.algebra_is_pointwise, AddsGreedily),
    (kernel_laws.invariances_are_as_declared, CalledStationary),
    (kernel_laws.invariances_are_as_declared, partial(CalledIsotropic, [1.0, 5.0])),
    (kernel_laws.features_reproduce_the_kernel, partial(MonomialsWithoutRoots, 0.5)),
    (kernel_laws.features_reproduce_the_kernel, partial(TakesNoFeatures, by_three)),
    (kernel_laws.random_features_are_unbiased, partial(VarianceAsPrecision, 0.5)),
    (kernel_laws.theta_round_trips, partial(ForgetsItsScale, RBF())),
    (kernel_laws.parameters_rebuild_the_kernel, ComparedByIdentity),
    (kernel_laws.precision_is_preserved, AlwaysDouble),
    (kernel_laws.bad_arguments_are_refused, TakesAnything),
]


@pytest.mark.parametrize(("law", "broken"), MUTANTS)
def test_laws_of_kernels_have_power(law, broken, rng):
    with pytest.raises(AssertionError):
        law(broken(), rng)


def test_every_law_has_a_mutant():
    assert {law.__name__ for law in set(kernel_laws.KERNEL_LAWS) - {law for law, _ in MUTANTS}} == set()
