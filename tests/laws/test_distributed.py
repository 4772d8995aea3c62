"""Rows on a cluster: the laws on every estimator of the catalogue, and mutants that they reject."""

import dask
import dask.array as da
import numpy as np
import pytest

import tractable
from catalogue import ESTIMATORS, cross
from tractable.base.by_blocks import by_blocks
from tractable.density import GaussianDensity
from tractable.distributed import source as source_module
from tractable.distributed.source import DaskSource
from tractable.statistics import IncompleteMoments
from tractable.testing import distributed_laws
from tractable.testing.distributed_laws import (
    DISTRIBUTED_LAWS,
    answers_to_collections_are_lazy,
    any_partitioning_is_the_whole,
    collections_are_folded_or_refused,
)
from tractable.value import replace, value

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.parametrize(("law", "make"), cross(DISTRIBUTED_LAWS, ESTIMATORS, most=1))
def test_distributed_laws(law, make):
    law(make(), np.random.default_rng(3))


class BringsRowsHere(GaussianDensity):
    """Computes the collection that it is given."""

    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X.compute() if hasattr(X, "compute") else X, y, sample_weight)


class AnswersAtOnce(GaussianDensity):
    """Has an array for a collection."""

    def score_samples(self, X):
        return super().score_samples(X.compute() if hasattr(X, "compute") else X)


class RoundsOnTheWay(GaussianDensity):
    """Promises another type than it gives."""

    @by_blocks
    def score_samples(self, X):
        found = super().score_samples(X)
        return found.astype(np.float32) if len(X) == 2 else found


def forgets_the_last(monkeypatch):
    own = source_module.tree
    monkeypatch.setattr(source_module, "tree", lambda parts: own(parts[:-1] or parts))


def forgets_weights(monkeypatch):
    own = DaskSource.reduce

    def unweighted(batch):
        return replace(batch, weights=None)

    monkeypatch.setattr(
        DaskSource, "reduce", lambda self, of, **options: own(self.map(unweighted), of, **options)
    )


def averages_partitions(monkeypatch):
    def swapped(self, other):
        total = other.total if self.total is None else self.total
        return source_module.Part(total=total, sizes=self.sizes + other.sizes)

    monkeypatch.setattr(source_module.Part, "__add__", swapped)


@pytest.mark.parametrize("mistake", [forgets_the_last, forgets_weights, averages_partitions])
@pytest.mark.parametrize("make", [GaussianDensity, lambda: tractable.GaussianMixture(n_components=2)])
def test_partitions_that_are_lost_or_unweighted_are_found_out(monkeypatch, mistake, make):
    mistake(monkeypatch)
    with pytest.raises(AssertionError):
        any_partitioning_is_the_whole(make(), np.random.default_rng(3))


def test_a_collection_that_is_brought_here_is_found_out():
    with pytest.raises(AssertionError, match="one machine"):
        collections_are_folded_or_refused(BringsRowsHere(), np.random.default_rng(3))


class KeepsItsRows(GaussianDensity):
    """Remembers what it was fitted to."""

    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.rows_ = X.compute()
        return self


class WideStatistic(GaussianDensity):
    """Its statistic holds a number of every row."""

    def _statistic(self):
        return Deviations.of

    def _require_kind(self, statistic):
        pass

    def _learn(self, statistic):
        super()._learn(statistic.moments)


@value
class Deviations:
    moments: IncompleteMoments
    each: tuple

    @classmethod
    def of(cls, x, weights=None):
        return cls(moments=IncompleteMoments.of(x, weights), each=tuple((x[:, 0] ** 2).tolist()))

    def __add__(self, other):
        return Deviations(moments=self.moments + other.moments, each=self.each + other.each)


def test_rows_that_travel_are_found_out(monkeypatch):
    law, rng = distributed_laws.no_row_travels, np.random.default_rng(3)
    law(GaussianDensity(), rng)
    with pytest.raises(AssertionError, match="entries of rows travel"):
        law(KeepsItsRows(), rng)
    with pytest.raises(AssertionError, match="of four times the rows"):
        law(WideStatistic(), rng)
    monkeypatch.setattr(source_module, "_holds_rows", lambda _: False)
    for model in (tractable.KernelNB(), tractable.Histogram("blocks")):
        with pytest.raises(AssertionError, match="entries of rows travel"):
            law(model, rng)


@pytest.mark.parametrize(
    "model", [tractable.KernelNB(), tractable.NaiveBayes("kernel"), tractable.Histogram("blocks")]
)
def test_models_that_store_rows_refuse_collections(model):
    X, y = np.random.default_rng(3).standard_normal((60, 2)), np.arange(60) % 2
    with pytest.raises(ValueError, match="whose rows this model stores"):
        model.fit(da.from_array(X, chunks=(20, 2)), da.from_array(y, chunks=20))


@pytest.mark.parametrize("make", [AnswersAtOnce, RoundsOnTheWay])
def test_answers_that_are_no_collections_are_found_out(make):
    with pytest.raises(AssertionError):
        answers_to_collections_are_lazy(make(), np.random.default_rng(3))


def test_every_law_is_listed():
    assert {law.__name__ for law in DISTRIBUTED_LAWS} == {
        "any_partitioning_is_the_whole",
        "collections_are_folded_or_refused",
        "answers_to_collections_are_lazy",
        "no_row_travels",
        "one_seed_gives_one_answer",
        "one_seed_gives_one_answer_in_any_order",
    }
    assert distributed_laws.PARTITIONS[1].count(0)
