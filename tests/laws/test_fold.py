"""The fold: any blocking, any number of threads, any source, one answer."""

import threading
from collections.abc import Sequence

import numpy as np
import pytest

from catalogue import STATISTICS
from tractable import fold
from tractable.arrays import to_numpy
from tractable.data import Batch, Source, as_source
from tractable.data.blocks import block_rows, map_rows, tree_sum
from tractable.primitives.threads import default_threads, ordered_map, single_threaded_blas
from tractable.statistics import LinearFactor, Moments
from tractable.testing.statistic_laws import assert_same_statistic


@pytest.fixture
def x(rng):
    return rng.standard_normal((5_000, 3)) + 1e6


@pytest.mark.parametrize("row", STATISTICS, ids=lambda row: row.name)
@pytest.mark.parametrize("rows", [1, 7, 1000, 10_000])
def test_any_blocking_is_the_whole(row, rows, rng):
    statistic = row.make()
    x = statistic.draw(rng, (101, 3)) if hasattr(statistic, "draw") else rng.standard_normal((101, 3))
    assert_same_statistic(fold(statistic.of, x, rows=rows), statistic.of(x), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads_do_not_change_a_bit(x, threads):
    alone = fold(Moments.of, x, rows=64, n_threads=1)
    together = fold(Moments.of, x, rows=64, n_threads=threads)
    assert_same_statistic(alone, together, rtol=0, atol=0)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_do_not_change_a_bit_of_a_triangle(x, threads):
    alone = fold(LinearFactor.of, x, x[:, 0], rows=64)
    together = fold(LinearFactor.of, x, x[:, 0], rows=64, n_threads=threads)
    np.testing.assert_array_equal(alone.factor, together.factor)


def test_a_statistic_may_ask_for_larger_blocks(rng):
    seen = []

    class Sizes:
        @staticmethod
        def least_rows(n_columns):
            return 50 * n_columns

        @classmethod
        def of(cls, X, weights=None):
            seen.append(len(X))
            return len(X)

    x = rng.standard_normal((8 * block_rows(400), 400))
    assert fold(Sizes.of, x, n_threads=1) == len(x)
    assert max(seen) == min(len(x), 2**23 // (8 * 400))  # a batch has no more
    seen.clear()
    assert fold(Sizes.of, x, rows=100, n_threads=1) == len(x)
    assert max(seen) == 100


def test_weights_follow_their_rows(x, rng):
    w = rng.integers(0, 3, len(x)).astype(float)
    folded = fold(Moments.of, x, weights=w, rows=333)
    assert_same_statistic(folded, Moments.of(np.repeat(x, w.astype(int), axis=0)), rtol=1e-10, atol=1e-6)


def test_targets_are_passed_on(x):
    def total(X, y, weights=None):
        return float(X[:, 0] @ y)

    y = np.arange(len(x), dtype=float)
    assert fold(total, x, y, rows=100) == pytest.approx(x[:, 0] @ y)


def test_layout_and_dtype_do_not_matter(x):
    whole = fold(Moments.of, x)
    for same in (np.asfortranarray(x), x[::-1][::-1], np.repeat(x, 2, axis=1)[:, ::2]):
        assert_same_statistic(fold(Moments.of, same), whole)
    frozen = x.copy()
    frozen.setflags(write=False)
    assert_same_statistic(fold(Moments.of, frozen), whole, rtol=0, atol=0)
    single = (x - 1e6).astype(np.float32)
    assert_same_statistic(fold(Moments.of, single), Moments.of(single.astype(np.float64)))


def test_arrays_of_other_libraries_stay_there(backend, rng):
    x = rng.standard_normal((50, 2))
    folded = fold(Moments.of, backend.asarray(x))
    assert backend.owns(folded.mean)
    np.testing.assert_allclose(to_numpy(folded.scatter), Moments.of(x).scatter, rtol=1e-12, atol=1e-13)


def test_nothing_to_fold_is_said():
    with pytest.raises(ValueError, match="no rows"):
        tree_sum([])


def test_an_error_in_a_block_reaches_the_caller_and_leaves_blas_as_it_was(x, threads_of_blas):
    from threadpoolctl import threadpool_info

    def fails(X, weights=None):
        raise ZeroDivisionError("in a block")

    before = [lib["num_threads"] for lib in threadpool_info()]
    with pytest.raises(ZeroDivisionError, match="in a block"):
        fold(fails, x, rows=10)
    assert [lib["num_threads"] for lib in threadpool_info()] == before


def test_the_blas_guard_is_counted_across_threads(threads_of_blas):
    from threadpoolctl import threadpool_info

    def blas():
        return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}

    before = blas()
    assert before == {2}
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with single_threaded_blas():
            inside.set()
            leave.wait(10)

    other = threading.Thread(target=hold)
    other.start()
    inside.wait(10)
    with single_threaded_blas():
        assert blas() == {1}
    assert blas() == {1}  # the other thread still holds it
    leave.set()
    other.join()
    assert blas() == before


def test_folds_may_be_nested():
    def inner(k):
        return sum(ordered_map(lambda i: i * k, range(10), 2))

    assert list(ordered_map(inner, range(20), 2)) == [45 * k for k in range(20)]


def test_a_stream_is_read_no_faster_than_it_is_used():
    read = []

    def items():
        for i in range(1000):
            read.append(i)
            yield i

    results = ordered_map(lambda i: i, items(), 2)
    assert next(results) == 0
    assert len(read) <= 20
    results.close()


def test_map_rows_is_the_function_on_all_rows(x):
    np.testing.assert_array_equal(
        map_rows(lambda r: r.sum(axis=1), np.repeat(x, 20, axis=0)), np.repeat(x.sum(1), 20)
    )


@pytest.mark.parametrize("n", [1, 99, 100, 101, 300, 1001])
def test_blocks_of_a_fold_are_equal_and_even(n):
    """Two threads have the same to do, and no block is too small for the code of the others."""
    sizes = []

    class Sizes:
        def block_rows(self, n_columns):
            return 100

        def __call__(self, block):
            sizes.append(block.n_rows)
            return 0

    as_source(np.ones((n, 1))).reduce(Sizes(), n_threads=1)
    assert sum(sizes) == n
    assert max(sizes) <= 110  # a tenth more than asked for, rather than two more blocks
    if n > 100:
        assert len(sizes) % 2 == 0
        assert max(sizes) - min(sizes) < len(sizes)


def test_no_block_of_rows_waits_for_the_first():
    """The results of two blocks need each other's threads: in turns they would wait for ever."""
    meeting = threading.Barrier(2, timeout=20)

    def both(rows):
        meeting.wait()
        return rows[:, 0]

    x = np.arange(8.0)[:, None]
    np.testing.assert_array_equal(map_rows(both, x, rows=4, n_threads=2), x[:, 0])


def test_block_size_ignores_the_threads(monkeypatch):
    sizes = []
    for threads in ("1", "7"):
        monkeypatch.setenv("TRACTABLE_NUM_THREADS", threads)
        assert default_threads() == int(threads)
        sizes.append(block_rows(32))
    assert sizes[0] == sizes[1]


def test_a_users_own_source_folds(x):
    class Halves(Source):
        n_rows, n_features, feature_names = len(x), 3, None

        def batches(self):
            yield Batch(X=x[:1234])
            yield Batch(X=x[1234:])

    assert_same_statistic(fold(Moments.of, Halves()), Moments.of(x), rtol=1e-10, atol=1e-8)


def test_progress_appears_after_a_second_and_leaves(monkeypatch, capfd):
    import tractable.data.progress as module

    monkeypatch.setenv("TRACTABLE_PROGRESS", "1")
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    with module.progress("counting", total=4) as line:
        for _ in range(4):
            line.advance(note="objective -1")
    assert "counting" in capfd.readouterr().err
    monkeypatch.setenv("TRACTABLE_PROGRESS", "0")
    with module.progress("counting", total=4) as line:
        line.advance()
    assert capfd.readouterr().err == ""


class Cut(Sequence):
    """Items made where they are asked for; one cannot be."""

    def __len__(self):
        return 50

    def __getitem__(self, i):
        if i == 7:
            raise OSError("item seven")
        return i


@pytest.mark.parametrize("items", [Cut, lambda: iter(range(50)), lambda: range(50)])
def test_an_error_is_raised_in_its_turn_and_the_pool_goes_on(items):
    def square(i):
        if i == 7:
            raise OSError("item seven")
        return i * i

    results = ordered_map(square, items(), 3)
    assert [next(results) for _ in range(7)] == [i * i for i in range(7)]
    with pytest.raises(OSError, match="item seven"):
        next(results)
    assert list(ordered_map(lambda i: i, range(100), 3)) == list(range(100))


def test_the_caller_works_on_no_item_and_its_own_folds_have_threads():
    """It waits: Ctrl-C ends it at once, and its state of numerical errors is not that of blocks."""
    here = threading.get_ident()
    together = threading.Barrier(3)

    def both(_):
        together.wait(timeout=60)  # three threads at once
        return threading.get_ident()

    for _ in ordered_map(lambda i: i, range(4), 2):
        assert here not in set(ordered_map(both, range(3), 3))
    with np.errstate(all="raise"):
        assert list(ordered_map(lambda _: float(np.exp(np.float64(-1e4))), range(8), 2)) == [0.0] * 8


def test_a_slow_consumer_holds_few_results():
    made = []
    results = ordered_map(made.append, range(500), 2)
    next(results)
    assert len(made) <= 20
    results.close()


@pytest.mark.parametrize("n", [2, 5])
def test_as_many_tasks_run_at_once_as_there_are_threads(n):
    for _ in range(100):  # none passes the barrier before the last is there
        barrier = threading.Barrier(n, timeout=30)
        assert sorted(ordered_map(lambda _, wait=barrier.wait: wait(), range(n), n)) == list(range(n))


def test_several_callers_share_the_pool():
    found = []

    def caller():
        found.append(sum(ordered_map(lambda i: i, range(200), 2)))

    threads = [threading.Thread(target=caller) for _ in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found == [19900] * 6


def test_callers_that_come_at_once_start_the_threads_of_one_pool():
    n, barrier = 19, threading.Barrier(8)  # no other test asks for so many threads

    def caller():
        barrier.wait()
        assert sum(ordered_map(lambda i: i, range(200), n)) == 19900

    before = sum(each.name.startswith("tractable") for each in threading.enumerate())
    callers = [threading.Thread(target=caller) for _ in range(8)]
    for each in callers:
        each.start()
    for each in callers:
        each.join()
    assert sum(each.name.startswith("tractable") for each in threading.enumerate()) == before + n
