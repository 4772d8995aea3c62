"""The native core: threads, the lock of the interpreter, signals, forks and exits; and its levels."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import tractable
from tractable._core import LEVELS, asked_level, native_level
from tractable.primitives import native, native_rows
from tractable.primitives.kmeans import assign
from tractable.primitives.versions import versions

HARMONIC = sum(1.0 / (1 + i) for i in range(3))

#: The core, or nothing to test where it was built without a compiler.
CORE = [core for core in [native(np.ones(1))] if core]


def script(text, **variables):
    """Run a script in a new process and return its result."""
    start = (
        "import atexit, os, sys, threading, time\nimport numpy as np\n"
        "from tractable.primitives import native\n"
        "from tractable.primitives.kmeans import assign\ncore = native(np.ones(1))\n"
    )
    return subprocess.run(
        [sys.executable, "-c", start + text],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **variables},
    )


@pytest.fixture(params=CORE, ids=["native"])
def core(request):
    yield request.param
    request.param.set_threads(0)


def cost(x, centers):
    return assign(x, None, np.zeros(x.shape[1]), 1.0, centers).cost


@pytest.mark.parametrize("threads", [1, 4])
def test_what_a_block_throws_is_raised_once_all_have_stopped(core, threads):
    core.set_threads(threads)
    for _ in range(20):
        with pytest.raises(ValueError, match="block 30"):
            core.probe(100, 20.0, 30)
    assert core.probe(3) == pytest.approx(HARMONIC)


def test_calls_inside_a_block_run_there(core):
    core.set_threads(4)
    alone = core.probe(40, 50.0, -1, 0)
    assert core.probe(40, 5.0, -1, 30) == pytest.approx(alone + 40 * core.probe(30))


def test_sums_have_the_same_bits_on_any_number_of_threads(core):
    found = set()
    for threads in (1, 2, 3, 4, 7, 16):
        core.set_threads(threads)
        found |= {core.probe(1000, 2.0) for _ in range(5)}
    assert len(found) == 1


@pytest.mark.parametrize("callers", [2, 6])
def test_many_python_threads_share_the_pool(core, callers, rng):
    core.set_threads(4)
    x, centers = rng.standard_normal((20_000, 6)), rng.standard_normal((5, 6))
    known, wrong, done = cost(x, centers), [], [0] * callers

    def call(i):
        until = time.monotonic() + 0.3
        while time.monotonic() < until or not done[i]:
            wrong.extend([1] if cost(x, centers) != known else [])
            done[i] += 1

    threads = [threading.Thread(target=call, args=(i,)) for i in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert min(done) > 0


@pytest.mark.parametrize("core", CORE)
def test_control_c_is_answered_within_a_moment(core):
    done = script(
        """
import signal
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.perf_counter()
try:
    core.probe(100_000, 200.0)
except KeyboardInterrupt:
    print(time.perf_counter() - start)
print(core.probe(3))
""",
        TRACTABLE_NUM_THREADS="4",
    )
    taken, after = map(float, done.stdout.split())
    assert 0.3 < taken < 5.0, done
    assert after == pytest.approx(HARMONIC)


FORK = """
if {before}: core.probe(1000, 20.0)
if {during}: threading.Thread(target=core.probe, args=(30_000, 50.0), daemon=True).start()
time.sleep(0.1)
child = os.fork()
x, centers = np.random.default_rng(0).normal(size=(50_000, 20)), np.eye(20)[:5]
found = [assign(x, None, np.zeros(20), 1.0, centers).cost for _ in range(5)] + [core.probe(1000, 20.0)]
if child == 0:
    os._exit(7 if len(set(found)) == 2 else 8)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.parametrize("core", CORE)
@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("during", [False, True])
def test_a_fork_has_threads_of_its_own(core, before, during):
    done = script(FORK.format(before=before, during=during), TRACTABLE_NUM_THREADS="3")
    assert done.stdout.split() == ["7"], done
    assert done.returncode == 0


@pytest.mark.parametrize("core", CORE)
@pytest.mark.parametrize("work", ["core.probe(100_000, 50.0)", "assign(x, None, x[0], 1.0, x[:30])"])
def test_the_process_exits_while_daemons_work(core, work):
    for _ in range(3):
        done = script(
            f"""
x = np.ones((200_000, 30))
def forever():
    while True:
        {work}
for _ in range(3):
    threading.Thread(target=forever, daemon=True).start()
time.sleep(0.3)
print(core.probe(3))
""",
            TRACTABLE_NUM_THREADS="4",
        )
        assert done.returncode == 0, done
        assert not done.stderr
        assert done.stdout.startswith("1.83")


def test_variables_and_limits_set_the_number_of_threads(core, monkeypatch):
    monkeypatch.setenv("TRACTABLE_NUM_THREADS", "3")
    assert core.threads() == 3
    monkeypatch.setenv("TRACTABLE_NUM_THREADS", "5")
    assert core.threads() == 5
    core.set_threads(2)
    assert core.threads() == 2
    core.set_threads(0)
    monkeypatch.delenv("TRACTABLE_NUM_THREADS")
    monkeypatch.setenv("OMP_NUM_THREADS", "1,4")
    assert core.threads() == 1
    monkeypatch.delenv("OMP_NUM_THREADS")
    tractable.KMeans(2).fit(np.eye(4))  # scikit-learn brings OpenMP
    with threadpool_limits(1, user_api="openmp"):
        assert core.threads() == 1


def test_what_is_no_number_of_threads_is_said(core, monkeypatch):
    monkeypatch.setenv("TRACTABLE_NUM_THREADS", "2.75")
    with pytest.warns(UserWarning, match="from 1, got '2.75'"):
        core.probe(1)


def test_blas_has_one_thread_in_a_pass_and_its_own_again_after(core, rng, threads_of_blas):
    x, centers, seen, stop = (
        rng.standard_normal((200_000, 64)),
        rng.standard_normal((30, 64)),
        [],
        threading.Event(),
    )

    def look():
        while not stop.is_set():
            seen.append(max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"))

    cost(x, centers)
    before = threadpool_info()
    watcher = threading.Thread(target=look)
    watcher.start()
    for _ in range(10):
        cost(x, centers)
    stop.set()
    watcher.join()
    assert 1 in seen
    assert threadpool_info() == before


@pytest.mark.parametrize(
    "make", [np.asfortranarray, lambda x: x[::-1], lambda x: x.astype(">f8"), np.float16]
)
def test_rows_in_any_memory_are_read(make, rng):
    x = make(rng.standard_normal((50, 3)))
    np.testing.assert_array_equal(native_rows(x), x)
    assert cost(x, np.eye(3)) == pytest.approx(cost(np.array(x, dtype=float), np.eye(3)), rel=1e-12)


def test_a_field_of_a_record_is_read(rng):
    record = np.zeros((5, 2), dtype=[("a", "f8"), ("b", "i2")])["a"]  # strides of 10 bytes
    record[:] = rng.standard_normal((5, 2))
    assert cost(record, np.eye(2)) == pytest.approx(cost(record.copy(), np.eye(2)), rel=1e-12)


def test_a_level_is_chosen_by_its_variable():
    ask = "from tractable._core import native_level; print(native_level(), core is None)"
    for level in (0, *reversed(LEVELS)):
        found, none = script(ask, TRACTABLE_LEVEL=str(level)).stdout.split()
        assert int(found) <= level
        assert (none == "True") == (found == "0")


def test_what_is_no_level_is_said(monkeypatch):
    monkeypatch.setenv("TRACTABLE_LEVEL", "two")
    with pytest.warns(UserWarning, match="must be 0, 1, 3 or 4, got 'two'"):
        assert asked_level() == max(LEVELS)


def test_versions_name_the_form_of_the_loops(capsys):
    tractable.show_versions()
    said = capsys.readouterr().out
    assert all(name in said and text in said for name, text in versions().items())
    assert (f"level {native_level()}" in said) == bool(CORE)
