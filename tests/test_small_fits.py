"""Fits of small tables hold BLAS to one thread, and leave it as it was."""

import numpy as np
from threadpoolctl import threadpool_info

from tractable.base.estimator import Estimator, all_or_nothing
from tractable.distributions import MultivariateNormal
from tractable.primitives.linear import agnostic


def blas_threads():
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


class Watches(Estimator):
    """Remembers the threads of BLAS during its fit."""

    @all_or_nothing(afresh=True)
    def fit(self, X, y=None):
        self.threads_ = blas_threads()
        return self


def test_blas_has_one_thread_in_a_narrow_fit_and_all_of_them_after(threads_of_blas):
    Watches().fit(np.zeros((3, 2)))  # finds the libraries
    before = blas_threads()
    assert set(before) == {2}
    assert set(Watches().fit(np.zeros((300, 300))).threads_) == {1}
    assert blas_threads() == before
    assert Watches().fit(np.zeros((2, 2000))).threads_ == before
    assert Watches().fit(X=None).threads_ == before


def test_a_wide_fit_has_the_threads_that_are_asked_for(threads_of_blas, monkeypatch):
    Watches().fit(np.zeros((3, 2)))
    monkeypatch.setenv("TRACTABLE_NUM_THREADS", "1")
    assert set(Watches().fit(np.zeros((2, 2000))).threads_) == {1}
    assert set(blas_threads()) == {2}


def test_blas_has_one_thread_in_moments_and_densities_outside_a_fit(threads_of_blas, monkeypatch, rng):
    Watches().fit(np.zeros((3, 2)))
    X, seen = rng.standard_normal((2000, 40)), []
    for name in ("moments", "squared_mahalanobis"):
        of = getattr(agnostic, name)
        monkeypatch.setattr(agnostic, name, lambda *given, of=of: seen.append(blas_threads()) or of(*given))
    MultivariateNormal.fit(X).log_prob(X)
    assert len(seen) == 2
    assert {threads for each in seen for threads in each} == {1}
