"""The laws reject what usually goes wrong with the statistic of least squares."""

import numpy as np
import pytest

from tractable.primitives.linear import triangle
from tractable.statistics import LinearFactor
from tractable.testing import statistic_laws
from tractable.testing.statistic_laws import StatisticOfRows
from tractable.value import replace


class ForgetsTheStep(LinearFactor):
    """Merges the factors as if both blocks had one mean."""

    def __add__(self, other):
        both = super().__add__(other)
        factor = triangle(np.concatenate([self.factor, other.factor]))
        return ForgetsTheStep(weight=both.weight, mean=both.mean, factor=factor)


class AddsTriangles(LinearFactor):
    """R₁ + R₂ is triangular too, and the factor of nothing."""

    def __add__(self, other):
        both = super().__add__(other)
        return AddsTriangles(weight=both.weight, mean=both.mean, factor=self.factor + other.factor)


class WeightsWithoutRoot(LinearFactor):
    """Rows times w and not √w: squared again in every product."""

    @classmethod
    def of(cls, x, y, weights=None):
        honest = LinearFactor.of(x, y, weights)
        if weights is None:
            return cls(weight=honest.weight, mean=honest.mean, factor=honest.factor)
        rows = (np.column_stack([x, y]) - honest.mean) * np.asarray(weights)[:, None]
        return cls(weight=honest.weight, mean=honest.mean, factor=triangle(rows))


class ForgetsTheFactor(LinearFactor):
    """Believes in fewer rows, but as sure of their spread as before."""

    def __add__(self, other):
        both = super().__add__(other)
        return ForgetsTheFactor(weight=both.weight, mean=both.mean, factor=both.factor)

    def discount(self, rate):
        return replace(super().discount(rate), factor=self.factor)


@pytest.mark.parametrize(
    ("law", "broken"),
    [
        ("sum_is_the_statistic_of_both", ForgetsTheStep),
        ("sum_is_the_statistic_of_both", AddsTriangles),
        ("weights_are_repetitions", WeightsWithoutRoot),
        ("discount_scales_weights_alone", ForgetsTheFactor),
    ],
)
def test_laws_of_the_linear_statistic_have_power(law, broken, rng):
    getattr(statistic_laws, law)(StatisticOfRows(statistic=LinearFactor, n_targets=1), rng)
    with pytest.raises(AssertionError):
        getattr(statistic_laws, law)(StatisticOfRows(statistic=broken, n_targets=1), rng)
