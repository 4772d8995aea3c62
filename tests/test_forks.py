"""Processes that are forked while other threads fit: children fit too, and none waits for ever."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from threading import Event, Lock, Thread

import numpy as np
import pytest

import tractable
from quick import some
from tractable.columns.likelihoods import ColumnLikelihoods

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here"),
    pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning"),  # JAX says so of any fork
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

#: Seconds after which a child hangs: its work takes a hundredth.
PATIENCE = 60.0


def status_of_a_child(work):
    """Return how a forked process ends that does some work; None if it hangs."""
    child = os.fork()
    if not child:
        try:
            work()
        except BaseException:  # noqa: BLE001  (a child must not run the other tests)
            os._exit(1)
        os._exit(0)
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


RNG = np.random.default_rng(0)
X = RNG.standard_normal((600, 3)) + 4.0 * RNG.integers(0, 2, 600)[:, None]
Y = (X[:, 0] > 2.0).astype(int)
MODELS = (
    tractable.LinearRegression,
    tractable.GaussianNB,
    tractable.LogisticRegression,
    tractable.PCA,
    lambda: tractable.KMeans(2, random_state=0),
    lambda: tractable.GaussianMixture(2, random_state=0, max_iter=3, tol=0.0),
)


def fit(number):
    return MODELS[number % len(MODELS)]().fit(X, Y)


@pytest.mark.parametrize("n_children", some([12, 400]))
def test_children_of_a_process_that_fits_do_not_hang(n_children):
    done = Event()

    def fits(first):
        number = first
        while not done.is_set():
            fit(number)
            number += 1

    threads = [Thread(target=fits, args=(first,)) for first in range(3)]
    for thread in threads:
        thread.start()
    try:
        ends = [status_of_a_child(lambda n=n: fit(n)) for n in range(n_children)]
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert ends == [0] * n_children


def test_a_child_has_a_property_that_another_thread_was_computing():
    descriptor = vars(ColumnLikelihoods)["one_kind"]
    held, forked = Event(), Event()

    def computing():
        with getattr(descriptor, "lock", Lock()):  # Python 3.12 has none
            held.set()
            forked.wait(PATIENCE)

    other = Thread(target=computing)
    other.start()
    held.wait()
    try:
        assert status_of_a_child(lambda: tractable.GaussianNB().fit(X, Y)) == 0
    finally:
        forked.set()
        other.join()


def test_fits_import_nothing():
    """A child that is forked during an import would wait for the lock of the module."""
    script = """
        import sys
        sys.path[:0] = [{tests!r}]
        import test_forks
        for make in test_forks.MODELS:  # the name of a model imports its module
            make()
        for number in range(len(test_forks.MODELS)):
            before = set(sys.modules)
            test_forks.fit(number)
            new = sorted(set(sys.modules) - before)
            assert not new, (test_forks.MODELS[number], new)
    """
    script = textwrap.dedent(script).format(tests=os.path.dirname(__file__))  # noqa: PTH120
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
