"""Every law of joints and of tables on every table of probabilities, exact ones too; laws with power."""

import numpy as np
import pytest

from catalogue import cross
from rows.tables import EXACT, ROWS
from tractable.distributions import Event, Factor, ProbabilityTable
from tractable.testing import distribution_laws, joint_laws, table_laws
from tractable.testing.table_laws import TABLE_LAWS


@pytest.mark.parametrize(("law", "make"), cross(joint_laws.JOINT_LAWS, [*ROWS, *EXACT]))
def test_joint_law(law, make, rng):
    law(make(), rng)


@pytest.mark.spec("PROB-01", "PROB-02", "PROB-03", "PROB-04", "PROB-05", "PROB-07", "PROB-09", "PROB-10")
@pytest.mark.spec("PROB-11", "PROB-12", "PROB-19", "PROB-20", "PROB-21", "PROB-22")
@pytest.mark.parametrize(("law", "make"), cross(TABLE_LAWS, [*ROWS, *EXACT]))
def test_table_law(law, make, rng):
    law(make(), rng)


#: What exact tables cannot be asked: they have no single precision, and are no arrays of floats.
OF_FLOATS = {"float32_gives_float32", "repr_rebuilds"}


@pytest.mark.parametrize(
    ("law", "make"),
    cross([f for f in distribution_laws.DISTRIBUTION_LAWS if f.__name__ not in OF_FLOATS], EXACT[:1]),
)
def test_exact_tables_are_distributions(law, make, rng):
    law(make(), rng)


TABLE = {
    "probabilities": np.array([[[0.1, 0.05], [0.2, 0.15]], [[0.05, 0.15], [0.1, 0.2]]]),
    "axes": {"a": ["x", "y"], "b": [1, 4], "c": 2},
}

PAIR = {"probabilities": [[0.1, 0.3], [0.4, 0.2]], "axes": {"a": ["x", "y"], "b": [1, 4]}}


class ForgetsToNormalise(ProbabilityTable):
    """A condition that is the joint, not divided by what is given."""

    def condition(self, dims, values=None):
        if isinstance(dims, Event):
            return self
        return super().condition(dims, values)


class WrongOrder(ProbabilityTable):
    """The chain rule with a factor that is not conditional."""

    def chain_rule(self, order=None):
        names = self.names if order is None else tuple(order)
        return tuple(self.marginal(name) for name in names)


class FirstLevelOnly(ProbabilityTable):
    def marginal(self, dims):
        found = super().marginal(dims)
        return ProbabilityTable(probabilities=found.probabilities[::-1], axes=found.axes)


class Twice(ProbabilityTable):
    def expectation(self, f, over=None):
        return super().expectation(f, over) * (2 if over is not None else 1)


class AlwaysIndependent(ProbabilityTable):
    def is_independent(self, first, second, given=(), *, tol=None):
        return True


class Certain(ProbabilityTable):
    """Conditioning on nothing is allowed."""

    def condition(self, dims, values=None):
        return self if isinstance(dims, Event) and not dims.probability else super().condition(dims, values)


class OtherLabels(ProbabilityTable):
    def decode(self, x):
        return super().decode(x)[:, ::-1]


class Unaligned(Factor):
    """A product by position."""

    def __mul__(self, other):
        found = super().__mul__(other)
        return Factor(values=found.values + 1.0, axes=found.axes)


class OfUnaligned(ProbabilityTable):
    @property
    def factor(self):
        return Unaligned(values=self.probabilities, axes=(*self.given, *self.axes))


class NoComplement(Event):
    def __invert__(self):
        return NoComplement(table=self.table, outcomes=self.outcomes)

    def __and__(self, other):
        return NoComplement(table=self.table, outcomes=self.outcomes & other.outcomes)


class OfNoComplement(ProbabilityTable):
    def event(self, where=None, /, **levels):
        found = super().event(where, **levels)
        return NoComplement(table=self, outcomes=found.outcomes)


class Halved(Event):
    @property
    def probability(self):
        return super().probability / 2


class OfHalved(ProbabilityTable):
    def event(self, where=None, /, **levels):
        return Halved(table=self, outcomes=super().event(where, **levels).outcomes)


class NotTurned(ProbabilityTable):
    """The conditional on x is that on what is not x."""

    def conditional(self, names):
        other = [name for name in self.names if name != names]
        return super().conditional(other)


@pytest.mark.parametrize(
    ("mutant", "law"),
    [
        (ForgetsToNormalise, table_laws.condition_is_division),
        (WrongOrder, table_laws.chain_rule_rebuilds_in_any_order),
        (FirstLevelOnly, table_laws.marginals_are_sums_over_events),
        (Twice, table_laws.expectations_are_towers),
        (AlwaysIndependent, table_laws.independence_is_a_product),
        (Certain, table_laws.nonsense_is_refused),
        (OtherLabels, table_laws.labels_are_translated),
        (OfUnaligned, table_laws.factors_multiply_by_name),
        (OfNoComplement, table_laws.nonsense_is_refused),
        (OfHalved, table_laws.axioms_hold),
        (NotTurned, table_laws.bayes_rule_turns_conditionals_around),
    ],
    ids=lambda x: x.__name__,
)
def test_laws_reject_mutants(mutant, law, rng):
    law(ProbabilityTable(**TABLE), rng)
    with pytest.raises((AssertionError, ValueError)):
        law(mutant(**(PAIR if mutant in (AlwaysIndependent, NotTurned) else TABLE)), rng)


def test_events_that_forget_their_complement_are_rejected(rng, monkeypatch):
    law = table_laws.events_obey_their_algebra
    law(ProbabilityTable(**TABLE), rng)
    monkeypatch.setattr(Event, "__invert__", lambda event: event)
    with pytest.raises(AssertionError):
        law(ProbabilityTable(**TABLE), rng)
