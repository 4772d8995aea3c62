"""A killed search goes on where it was, and ends where it would have."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tractable
from rows import em as rows
from tractable.engines import best_of, em

PROBLEM = rows.incomplete_gaussian()


def search(expect=PROBLEM.expect, **options):
    return em(expect, PROBLEM.maximize, PROBLEM.start, tol=1e-12, max_iter=500, **options)


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
        assert len(calls) == 1
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
            em(expect, problem.maximize, problem.start, tol=1e-12, max_iter=500)
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
    np.testing.assert_allclose(PROBLEM.expect(result.params).objective, result.objective)

    started = []
    best = best_of(
        lambda start: started.append(start) or search(interrupted(3) if start else PROBLEM.expect), 4
    )
    assert best.interrupted
    assert best.objective == search().objective
    assert started == [0, 1]


def test_the_best_start_wins():
    results = [search(), em(PROBLEM.expect, PROBLEM.maximize, PROBLEM.start, tol=1e-12, max_iter=2)]
    assert best_of(lambda start: results[1 - start], 2).trace == results[0].trace
    with pytest.raises(ValueError, match="n_init"):
        best_of(lambda start: results[0], 0)
