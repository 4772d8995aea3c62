"""Stepwise EM: a mixture learned from rows that are seen once."""

from typing import Any

from tractable.base import all_or_nothing
from tractable.mixture.shell import OF_A_SEARCH

__all__ = ["StepwiseMixin"]

#: A batch's share in the statistic is (t + 2)^-POWER: averages forget their start, and settle.
POWER = 0.7


class StepwiseMixin:
    """`partial_fit` of a mixture whose expected statistics add and discount."""

    @all_or_nothing(afresh=False)
    def partial_fit(self: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Learn from a batch of rows that will not be seen again; approximate.

        The first batch is fitted by EM. From then on (Cappé and Moulines 2009) expected statistics of a row
        follow s ← (1 - ρ) s + ρ s_batch with ρ = (t + 2)^-0.7, and each batch ends with an M-step. Give
        batches of hundreds of rows, in random order. For exact fits of data larger than memory give
        :meth:`fit` a source.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        self
        """
        self._check_parameters()
        if not hasattr(self, "distribution_"):
            self.fit(X, sample_weight=sample_weight)
            self.n_batches_, self.weight_seen_ = 1, self.units_.total
            return self
        rows = self._rows(X, sample_weight, reset=False)
        problem, params = self._problem(rows, self._look_again(rows)), self._restart(self.units_)
        batch = problem.expect(params)
        batches = getattr(self, "n_batches_", 1)
        before = getattr(self, "weight_seen_", self.units_.total)
        weight = float(batch.weight.sum())
        if weight > 0.0:
            rate, seen = (batches + 2.0) ** -POWER, before + weight
            if not hasattr(self, "statistic_"):
                self.statistic_ = problem.implied(params, before).discount(1.0 / before)
            self.statistic_ = self.statistic_.discount(1.0 - rate) + batch.discount(rate / weight)
            self._adopt(problem.maximize(self.statistic_.discount(seen)), self.units_)
            self._forget(*OF_A_SEARCH)
            self.lower_bound_ = batch.objective / weight
            self.weight_seen_ = seen
        self.n_batches_ = batches + 1
        return self
