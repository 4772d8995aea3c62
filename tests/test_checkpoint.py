"""A killed search goes on where it was, and ends where it would have."""

import errno
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tractable
from quick import some
from rows import em as rows
from tractable.engines import best_of, em
from tractable.engines.kmeans import KMeansProblem
from tractable.mixture.gaussian import steps as gaussian_steps

PROBLEM = rows.incomplete_gaussian()


def search(expect=PROBLEM.expect, **options):
    return em(expect, PROBLEM.maximize, PROBLEM.start, PROBLEM.data, tol=1e-12, max_iter=500, **options)


def fails_after(calls):
    left = iter(range(calls))

    def expect(params):
        if next(left, None) is None:
            raise MemoryError("killed")
        return PROBLEM.expect(params)

    return expect


def test_a_search_goes_on_where_it_was(tmp_path):
    path = tmp_path / "fit.checkpoint"
    with pytest.raises(MemoryError), tractable.checkpoint(path, every=0.0):
        search(fails_after(7))
    assert path.exists()
    calls = []
    with tractable.checkpoint(path, every=0.0):
        resumed = search(lambda params: calls.append(1) or PROBLEM.expect(params))
    whole = search()
    np.testing.assert_array_equal(PROBLEM.numbers(resumed.params), PROBLEM.numbers(whole.params))
    assert resumed.trace == whole.trace
    assert len(calls) < whole.n_iter
    assert not path.exists()


def test_finished_searches_are_read_not_repeated(tmp_path):
    path = tmp_path / "fit.checkpoint"
    expects = iter([PROBLEM.expect, fails_after(3)])
    first = search()
    with pytest.raises(MemoryError), tractable.checkpoint(path, every=0.0):
        best_of(lambda _: search(next(expects)), 2)
    calls = []
    with tractable.checkpoint(path, every=0.0):
        again = search(lambda params: calls.append(1) or PROBLEM.expect(params))
        assert not calls
        assert again.trace == first.trace
        second = search()
    assert second.trace == first.trace


def test_a_process_killed_outright_leaves_a_file_to_go_on_from(tmp_path):
    path = tmp_path / "fit.checkpoint"
    script = textwrap.dedent(f"""
        import os, signal, sys
        sys.path[:0] = {sys.path!r}
        from rows import em as rows
        import tractable
        from tractable.engines import em
        problem = rows.incomplete_gaussian()
        calls = []
        def expect(params):
            calls.append(1)
            if len(calls) == 9:
                os.kill(os.getpid(), signal.SIGKILL)
            return problem.expect(params)
        with tractable.checkpoint({str(path)!r}, every=0.0):
            em(expect, problem.maximize, problem.start, problem.data, tol=1e-12, max_iter=500)
    """)
    killed = subprocess.run([sys.executable, "-c", script], check=False, env=os.environ)
    assert killed.returncode == -signal.SIGKILL
    with tractable.checkpoint(path):
        resumed = search()
    assert resumed.trace == search().trace


def test_what_is_no_checkpoint_is_not_overwritten(tmp_path):
    path = tmp_path / "model.tractable"
    tractable.save(tractable.Normal(mean=0.0, stddev=1.0), path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="not a checkpoint"), tractable.checkpoint(path):
        pass
    assert path.read_bytes() == before
    with pytest.raises(ValueError, match="every"), tractable.checkpoint(path, every=-1.0):
        pass
    with pytest.raises(ValueError, match="no folder"), tractable.checkpoint(tmp_path / "nowhere" / "x"):
        pass


def test_an_interruption_keeps_the_search_so_far():
    def interrupted(calls):
        left = iter(range(calls))

        def expect(params):
            if next(left, None) is None:
                raise KeyboardInterrupt
            return PROBLEM.expect(params)

        return expect

    result = search(interrupted(6))
    assert result.interrupted
    assert result.trace == search().trace[:6]
    found = PROBLEM.data.reduce(PROBLEM.expect(result.params))
    np.testing.assert_allclose(found.objective, result.objective)

    started = []
    best = best_of(
        lambda start: started.append(start) or search(interrupted(3) if start else PROBLEM.expect), 4
    )
    assert best.interrupted
    assert best.objective == search().objective
    assert started == [0, 1]


def test_the_best_start_wins():
    results = [
        search(),
        em(PROBLEM.expect, PROBLEM.maximize, PROBLEM.start, PROBLEM.data, tol=1e-12, max_iter=2),
    ]
    assert best_of(lambda start: results[1 - start], 2).trace == results[0].trace
    with pytest.raises(ValueError, match="n_init"):
        best_of(lambda start: results[0], 0)


def killed_at(monkeypatch, path, n_steps, fit):
    """Run a fit that a kill ends after so many of k-means's steps, and take it up again."""
    go_on, left = KMeansProblem.maximize, iter(range(n_steps))

    def maximize(self, clusters):
        if next(left, None) is None:
            raise MemoryError("killed")
        return go_on(self, clusters)

    with monkeypatch.context() as patch:
        patch.setattr(KMeansProblem, "maximize", maximize)
        with pytest.raises(MemoryError), tractable.checkpoint(path, every=0.0):
            fit()
    with tractable.checkpoint(path, every=0.0):
        return fit()


def overlapping(rng, n_rows):
    centers = ([0, 0, 0], [3, 1, 1], [2, 4, 1], [0, 3, 4])
    return np.concatenate([rng.normal(c, 1.5, (n_rows // 4, 3)) for c in centers])


#: Rows of tables that NumPy searches, and of one that compiled code searches.
SIZES = pytest.mark.parametrize("n_rows", [600, 1200, 3000])


def uninterrupted(path, n_rows, fit):
    """Run a fit to its end: compiled code in one call adds in another order than steps one by one."""
    if n_rows < 3000:
        return fit()
    with tractable.checkpoint(path, every=0.0):
        return fit()


@SIZES
def test_a_finished_search_with_a_rule_of_its_own_takes_no_step_more(tmp_path, rng, n_rows):
    """The rule looks at two sets of parameters, of which a checkpoint has one."""
    X = overlapping(rng, n_rows)

    def fit():
        return tractable.KMeans(6, random_state=0, tol=1e-2).fit(X)

    def killed_after_the_fit():
        fit()
        raise MemoryError("killed")

    whole = uninterrupted(tmp_path / "whole", n_rows, fit)
    with pytest.raises(MemoryError), tractable.checkpoint(tmp_path / "fit", every=0.0):
        killed_after_the_fit()
    with tractable.checkpoint(tmp_path / "fit", every=0.0):
        resumed = fit()
    assert resumed.n_iter_ == whole.n_iter_
    assert resumed.converged_
    np.testing.assert_array_equal(resumed.cluster_centers_, whole.cluster_centers_)


@SIZES
@pytest.mark.parametrize("n_steps", some([1, 4, 9, 17]))
def test_a_resumed_search_that_keeps_bounds_is_the_same_to_the_last_digit(
    monkeypatch, tmp_path, rng, n_steps, n_rows
):
    X = overlapping(rng, n_rows)

    def fit():
        return tractable.KMeans(6, init="random", n_init=3, random_state=1, tol=0.0).fit(X)

    whole = uninterrupted(tmp_path / "whole", n_rows, fit)
    resumed = killed_at(monkeypatch, tmp_path / "fit", n_steps, fit)
    np.testing.assert_array_equal(resumed.cluster_centers_, whole.cluster_centers_)
    np.testing.assert_array_equal(resumed.objective_trace_, whole.objective_trace_)


@pytest.mark.parametrize("seed", [0, 1, 3, 4])
def test_a_kill_between_a_start_and_its_search(monkeypatch, tmp_path, seed):
    """The k-means that a mixture begins with is a finished search when the mixture's own begins."""
    X = overlapping(np.random.default_rng(0), 1200)

    def fit():
        return tractable.GaussianMixture(6, tol=1e-3, random_state=seed).fit(X)

    def killed(self, params):
        raise MemoryError("killed")

    whole = fit()
    with monkeypatch.context() as patch:
        patch.setattr(gaussian_steps.GaussianProblem, "expect", killed)
        with pytest.raises(MemoryError), tractable.checkpoint(tmp_path / "fit", every=0.0):
            fit()
    with tractable.checkpoint(tmp_path / "fit", every=0.0):
        resumed = fit()
    np.testing.assert_array_equal(resumed.means_, whole.means_)
    np.testing.assert_array_equal(resumed.objective_trace_, whole.objective_trace_)


def test_a_checkpoint_of_another_search_is_refused(tmp_path, rng):
    X = overlapping(rng, 1200)

    def killed(n_clusters):
        tractable.KMeans(n_clusters, random_state=0).fit(X)
        raise MemoryError("killed")

    path = tmp_path / "fit"
    with pytest.raises(MemoryError), tractable.checkpoint(path, every=0.0):
        killed(4)
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    for other, given in ((tractable.KMeans(2, random_state=0), X), (tractable.GaussianDensity(), holes)):
        with pytest.raises(ValueError, match="another search"), tractable.checkpoint(path, every=0.0):
            other.fit(given)
    assert path.exists()


ROWS = np.random.default_rng(0).normal(size=(200, 2)) + np.repeat([[0.0], [4.0]], 100, axis=0)


def mixture(**options):
    return tractable.GaussianMixture(2, **{"random_state": 0, "tol": 1e-9, **options})


def interrupted(path, X, **options):
    """Leave the checkpoint of a fit that was done, in a block that failed afterwards."""

    def fails():
        with tractable.checkpoint(path, every=0.0):
            mixture(**options).fit(X)
            raise MemoryError

    with pytest.raises(MemoryError):
        fails()


@pytest.mark.parametrize(
    ("X", "options", "other"),
    [
        (ROWS + 1.0, {}, "other data"),
        (np.vstack([ROWS[:-1], ROWS[-1:] + 1e-9]), {}, "other data"),
        (ROWS[::-1].copy(), {}, "other data"),
        (ROWS, {"random_state": 1}, "other parameters"),
        (ROWS, {"reg_covar": 1e-3}, "other parameters"),
        (ROWS + 1.0, {"tol": 1e-8}, "other data and other parameters"),
    ],
)
def test_other_data_of_the_same_shape_are_refused(tmp_path, X, options, other):
    path = tmp_path / "fit.checkpoint"
    interrupted(path, ROWS)
    with pytest.raises(ValueError, match=f"path: the checkpoint is of {other}; "), tractable.checkpoint(path):
        mixture(**options).fit(X)
    with tractable.checkpoint(path):
        resumed = mixture().fit(ROWS)
    np.testing.assert_array_equal(resumed.means_, mixture().fit(ROWS).means_)


def test_a_fit_without_a_seed_is_resumed(tmp_path):
    path = tmp_path / "fit.checkpoint"
    interrupted(path, ROWS, random_state=None)
    with tractable.checkpoint(path):
        assert mixture(random_state=None).fit(ROWS).converged_


def test_a_full_disk_does_not_end_the_fit(tmp_path, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "fit.checkpoint"
    monkeypatch.setattr(os, "fsync", full)
    with (
        pytest.warns(RuntimeWarning, match="the fit goes on: .*No space left") as said,
        tractable.checkpoint(path, every=0.0),
    ):
        fitted = mixture(n_init=2).fit(ROWS)
    assert len(said) == 1
    assert not list(tmp_path.iterdir())
    monkeypatch.undo()
    np.testing.assert_array_equal(fitted.means_, mixture(n_init=2).fit(ROWS).means_)
