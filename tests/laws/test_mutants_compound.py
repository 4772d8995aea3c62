"""The laws of joints, mixtures and products have power: each must reject a planted bug."""

import numpy as np
import pytest

from tractable.distributions import Mixture, MultivariateNormal, Normal, Product, StudentT
from tractable.testing import (
    density_laws,
    distribution_laws,
    joint_laws,
    mixture_laws,
)

NUMBERS = {"weights": [0.3, 0.7], "components": Normal(mean=[-2.0, 3.0], variance=[1.0, 0.25])}
TRIPLE = {
    "weights": [0.6, 0.4],
    "components": MultivariateNormal(
        mean=[[0.0, 1.0, -1.0], [2.0, -1.0, 3.0]],
        covariance=[[4.0, 1.2, 0.0], [1.2, 1.0, -0.3], [0.0, -0.3, 0.5]],
        names=("a", "b", "c"),
    ),
}
TAILS = {
    "weights": [0.115, 0.329, 0.556],
    "components": StudentT(dof=5.0, location=[0.027, 8.159, 9.351], scale=0.3),
}
COLUMNS = {"parts": [Normal(mean=[0.0, 1.0], variance=1.0), Normal(mean=2.0, variance=0.5)]}


class MeanOfLogs(Mixture):
    """Σ π_k log p_k in place of log Σ π_k p_k: Jensen's bound, not the density."""

    def log_prob(self, x):
        return (self.weights * self.components.log_prob(np.asarray(x)[..., None])).sum(axis=-1)


class WeightsForgotten(Mixture):
    def responsibilities(self, x):
        shares = super().responsibilities(x) / self.weights
        return shares / shares.sum(axis=-1, keepdims=True)


class FirstComponentTwice(Mixture):
    """The order of components matters where it should not."""

    def log_prob(self, x):
        return super().log_prob(x) + 1e-3 * self.components[..., 0].mean


class AbsentOnesAreDrawn(Mixture):
    def sample_labelled(self, n_samples=1, *, rng=None):
        labels = rng.integers(self.n_components, size=n_samples)
        return self.components.sample(n_samples, rng=rng)[np.arange(n_samples), labels], labels


class LargestComponent(Mixture):
    """The sum taken for its largest term."""

    def log_prob(self, x):
        return (np.log(self.weights) + self.components.log_prob(np.asarray(x)[..., None])).max(axis=-1)


class LabelsOfAnotherDraw(Mixture):
    def sample_labelled(self, n_samples=1, *, rng=None):
        return super().sample(n_samples, rng=rng), super().sample_labelled(n_samples, rng=rng)[1]


class MeansAreModes(Mixture):
    """Every component's mean called a mode, peak or not."""

    def modes(self):
        means = self.components.mean
        return means[np.argsort(-self.log_prob(means))]


class OneModeOnly(Mixture):
    def modes(self):
        return super().modes()[:1]


class StepsOverValleys(Mixture):
    """A search in steps of the whole mixture's size: it may land on a higher hill."""

    def modes(self):
        modes = super().modes()
        return modes[np.append(True, np.abs(modes[1:] - modes[0]) > 3.0 * self.stddev)]


class VarianceOfComponentsOnly(Mixture):
    """The mean of the variances without the variance of the means."""

    @property
    def variance(self):
        return (self.weights * self.components.variance).sum(axis=-1)


class QuantileOfComponents(Mixture):
    """Σ π_k F_k⁻¹(q): quantiles do not average."""

    def icdf(self, q):
        return (self.weights * self.components.icdf(np.asarray(q)[..., None])).sum(axis=-1)


class EntropyOfComponents(Mixture):
    """Σ π_k H(p_k): the conditional entropy."""

    def entropy(self, **options):
        return (self.weights * self.components.entropy()).sum(axis=-1)


class SameWeightsAfterwards(Mixture):
    """The weights of a conditional are not those of the joint."""

    def condition(self, dims, values=None):
        right = super().condition(dims, values)
        return Mixture(weights=self.weights, components=right.components)


class StepsForget(Mixture):
    """Right at once, wrong in steps."""

    def condition(self, dims, values=None):
        right = super().condition(dims, values)
        return SameWeightsAfterwards(weights=right.weights, components=right.components)


class NothingIsSomething(Mixture):
    def condition(self, dims, values=None):
        right = super().condition(dims, values)
        return right if len(dims) else Mixture(weights=self.weights[::-1], components=right.components)


class FirstValueForAll(Mixture):
    def condition(self, dims, values=None):
        right = super().condition(dims, values)
        if not right.batch_shape:
            return right
        first = np.broadcast_to(right.weights[0], right.weights.shape)
        return Mixture(weights=first, components=right.components)


class SortedColumns(Mixture):
    def marginal(self, dims):
        return super().marginal(sorted(dims) if isinstance(dims, list) else dims)


class ImputesTheMean(Mixture):
    def log_prob(self, x):
        return super().log_prob(np.where(np.isnan(x), self.mean, x))


class NamesGoBackwards(Mixture):
    def marginal(self, dims):
        return super().marginal(self.names[-1 - self.names.index(dims)] if isinstance(dims, str) else dims)


class SumOfDensities(Product):
    def log_prob(self, x):
        return np.logaddexp(*(part.log_prob(np.asarray(x)[..., j]) for j, part in enumerate(self.parts)))


class LargestEntropy(Product):
    def entropy(self):
        return np.maximum(*(part.entropy() for part in self.parts))


class ColumnsLean(Product):
    """Conditioning on a column moves the others."""

    def condition(self, dims, values=None):
        moved = [Normal(mean=part.mean + 0.1, variance=part.variance) for part in self.parts]
        return Product(parts=moved).condition(dims, values)


MUTANTS = [
    (mixture_laws.density_is_the_weighted_sum, MeanOfLogs(**NUMBERS)),
    (mixture_laws.responsibilities_are_bayes_rule, WeightsForgotten(**NUMBERS)),
    (mixture_laws.order_of_components_is_immaterial, FirstComponentTwice(**NUMBERS)),
    (mixture_laws.absent_components_change_nothing, AbsentOnesAreDrawn(**NUMBERS)),
    (mixture_laws.splitting_a_component_changes_nothing, LargestComponent(**NUMBERS)),
    (mixture_laws.labels_follow_the_weights, LabelsOfAnotherDraw(**NUMBERS)),
    (
        mixture_laws.modes_are_local_maxima,
        MeansAreModes(weights=[0.5, 0.5], components=Normal(mean=[0.0, 1.0], variance=1.0)),
    ),
    (mixture_laws.modes_on_a_line_are_the_maxima_on_a_grid, StepsOverValleys(**TAILS)),
    (mixture_laws.separate_components_have_a_mode_each, OneModeOnly(**TRIPLE)),
    (mixture_laws.separate_components_have_a_mode_each, StepsOverValleys(**TAILS)),
    (distribution_laws.samples_match_mean_and_variance, VarianceOfComponentsOnly(**NUMBERS)),
    (density_laws.icdf_inverts_cdf, QuantileOfComponents(**NUMBERS)),
    (distribution_laws.entropy_is_the_expected_negative_log_prob, EntropyOfComponents(**NUMBERS)),
    (joint_laws.chain_rule_holds_for_columns, SameWeightsAfterwards(**TRIPLE)),
    (joint_laws.conditioning_twice_is_conditioning_once, StepsForget(**TRIPLE)),
    (joint_laws.conditioning_on_nothing_is_idle, NothingIsSomething(**TRIPLE)),
    (joint_laws.values_become_batch_axes, FirstValueForAll(**TRIPLE)),
    (joint_laws.marginals_compose, SortedColumns(**TRIPLE)),
    (joint_laws.missing_columns_are_integrated_out, ImputesTheMean(**TRIPLE)),
    (joint_laws.names_are_positions, NamesGoBackwards(**TRIPLE)),
    (joint_laws.density_is_the_product_of_the_parts, SumOfDensities(**COLUMNS)),
    (joint_laws.entropies_of_parts_add_up, LargestEntropy(**COLUMNS)),
    (joint_laws.parts_are_independent, ColumnsLean(**COLUMNS)),
]


@pytest.mark.parametrize(("law", "broken"), MUTANTS)
def test_laws_of_compounds_have_power(law, broken, rng):
    with pytest.raises(AssertionError):
        law(broken, rng)


def test_every_law_of_compounds_has_a_mutant():
    tried = {law for law, _ in MUTANTS}
    laws = {*mixture_laws.MIXTURE_LAWS, *joint_laws.JOINT_LAWS, *joint_laws.PRODUCT_LAWS}
    assert {law.__name__ for law in laws - tried} == set()
