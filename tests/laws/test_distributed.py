"""Rows on a cluster: the laws on every estimator of the catalogue, and mutants that they reject."""

import dask
import numpy as np
import pytest

import tractable
from catalogue import ESTIMATORS, cross
from tractable.base.by_blocks import by_blocks
from tractable.density import GaussianDensity
from tractable.distributed import source as source_module
from tractable.distributed.source import DaskSource
from tractable.testing import distributed_laws
from tractable.testing.distributed_laws import (
    DISTRIBUTED_LAWS,
    answers_to_collections_are_lazy,
    any_partitioning_is_the_whole,
    collections_are_folded_or_refused,
)
from tractable.value import replace

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


def test_a_start_of_its_own_is_found_out(monkeypatch):
    own = DaskSource.sample
    monkeypatch.setattr(DaskSource, "sample", lambda self, n, rng: own(self, n - n // 2, rng))
    monkeypatch.setattr("tractable.engines.kmeans.INITIAL_ROWS", 40)
    with pytest.raises(AssertionError):
        any_partitioning_is_the_whole(tractable.GaussianMixture(n_components=2), np.random.default_rng(3))


def test_a_collection_that_is_brought_here_is_found_out():
    with pytest.raises(AssertionError, match="one machine"):
        collections_are_folded_or_refused(BringsRowsHere(), np.random.default_rng(3))


@pytest.mark.parametrize("make", [AnswersAtOnce, RoundsOnTheWay])
def test_answers_that_are_no_collections_are_found_out(make):
    with pytest.raises(AssertionError):
        answers_to_collections_are_lazy(make(), np.random.default_rng(3))


def test_every_law_is_listed():
    assert {law.__name__ for law in DISTRIBUTED_LAWS} == {
        "any_partitioning_is_the_whole",
        "collections_are_folded_or_refused",
        "answers_to_collections_are_lazy",
    }
    assert distributed_laws.PARTITIONS[1].count(0)
