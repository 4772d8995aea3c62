"""What every test may ask for: a seeded generator, and the array libraries."""

import gc
import os
import sys
import typing
import zlib
from collections import Counter
from functools import cache
from importlib import import_module

# Scikit-learn's checks of other array libraries ask for this, before SciPy is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
os.environ.setdefault("MPLBACKEND", "Agg")
# Processes of tests use every core: threads of BLAS would wait for each other, at the cost of a fifth of all.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Threads of OpenMP, scikit-learn's, do not spin where they wait: another process has work for the core.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import array_api_strict
import numpy as np
import pytest
from _pytest.doctest import DoctestModule
from _pytest.runner import runtestprotocol
from array_api_strict._dtypes import DType
from hypothesis import settings
from threadpoolctl import threadpool_limits

import quick

settings.register_profile("dev", max_examples=25, derandomize=True, deadline=None)
settings.register_profile("nightly", max_examples=500, deadline=None)
settings.load_profile(os.environ.get("TRACTABLE_HYPOTHESIS", "dev"))


def _quicken_strict_arrays():
    """Let array-api-strict find the type of an array, and of an index, faster: it looks at each step.

    Two types of entries are compared as before, but without asking whether one is NumPy's; what a protocol
    consists of is found once, as from Python 3.12 on.
    """
    own, kind = DType.__eq__, DType

    def equal(self, other):
        return self._np_dtype == other._np_dtype if type(other) is kind else own(self, other)

    DType.__eq__ = equal
    if sys.version_info < (3, 12):
        typing._get_protocol_attrs = cache(typing._get_protocol_attrs)


_quicken_strict_arrays()

#: The name of this process of tests; None where it runs them all.
WORKER = os.environ.get("PYTEST_XDIST_WORKER")

#: What tests import later than the library. In a new environment workers compile what they import: one begins
#: at this end, and each reads what the other has compiled.
LATER_IMPORTS = ("polars", "networkx", "dask.dataframe", "matplotlib.pyplot", "statsmodels.api")


def pytest_configure(config):
    """Say whether slow cases are asked for before any test is collected."""
    quick.ALONE = config.option.markexpr == "not slow"
    if WORKER == "gw1":
        for name in LATER_IMPORTS:
            import_module(name)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect the tests: thousands that stay, through which the garbage collector does not look again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(100_000, 20, 100)  # looking after every 700 objects is a twentieth of all
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Look for examples in the docstrings of the library, not in those of the tests."""
    found = yield
    return [one for one in found if not isinstance(one, DoctestModule)]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Checks of scikit-learn that repeat another one on memory maps wait for `make test-all`."""
    for item in items:
        if "(readonly_memmap=" in item.name:
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl
def pytest_runtest_protocol(item, nextitem):
    """Run a test in a worker, and send what it has come to: that it begins, is set up and so on is not shown.

    Ten thousands of tests would otherwise send five messages each, which takes longer than most of them.
    """
    options = item.config.option
    if WORKER is None or options.verbose > 0 or options.xmlpath or options.durations is not None:
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown():
    """Close what a test has drawn."""
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item, call):
    """Of an expected failure keep the message: its traceback, which nobody sees, takes a second to write."""
    if call.when == "call" and "fuzzed" in getattr(item, "funcargs", {}):
        counts = item.funcargs["fuzzed"].items()  # a message from a worker holds plain types
        item.user_properties.append(("fuzzed", [[fuzzer, outcome, n] for (fuzzer, outcome), n in counts]))
    if call.excinfo is not None and item.get_closest_marker("xfail"):
        item.repr_failure = lambda excinfo: str(excinfo.value)


@pytest.fixture
def fuzzed():
    """A count by (fuzzer, outcome), which the summary of all tests shows."""
    return Counter()


def pytest_terminal_summary(terminalreporter):
    """Say how many cases of each fuzzer were refused, accepted and equal."""
    total = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, counts in getattr(report, "user_properties", ()):
                if name == "fuzzed" and report.when == "call":  # the report of what follows has them too
                    total.update({(fuzzer, outcome): n for fuzzer, outcome, n in counts})
    for fuzzer in sorted({fuzzer for fuzzer, _ in total}):
        found = ", ".join(f"{n} {outcome}" for (name, outcome), n in sorted(total.items()) if name == fuzzer)
        terminalreporter.write_line(f"{fuzzer}: {found}")


@pytest.fixture
def rng(request):
    """A generator seeded by the test's own name: the same draws whatever ran before."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))


@pytest.fixture
def threads_of_blas():
    """Let BLAS have two threads, as it has by itself on two cores."""
    import scipy.linalg  # noqa: F401  (brings a BLAS of its own)

    with threadpool_limits(limits=2, user_api="blas"):
        yield


class Backend:
    """An array library under test: how to make its arrays, and how to read them back."""

    def __init__(self, name, asarray, owns):
        self.name, self.asarray, self.owns = name, asarray, owns


def read_only(x):
    x = np.array(x)
    x.setflags(write=False)
    return x


BACKENDS = [
    Backend("numpy", np.asarray, lambda x: isinstance(x, (np.ndarray, np.generic))),
    Backend("numpy-readonly", read_only, lambda x: isinstance(x, (np.ndarray, np.generic))),
    Backend(
        "array-api-strict",
        lambda x: array_api_strict.asarray(np.asarray(x)),
        lambda x: type(x).__module__.startswith("array_api_strict"),
    ),
]
try:
    import torch
except ImportError:
    torch = None
else:
    torch.set_num_threads(1)  # small arrays, and processes of tests on every core
    BACKENDS.append(
        Backend(
            "torch",
            lambda x: torch.tensor(np.asarray(x), device="cpu"),
            lambda x: isinstance(x, torch.Tensor) and x.device.type == "cpu",
        )
    )
    if torch.cuda.is_available():
        BACKENDS.append(
            Backend(
                "torch-gpu",
                lambda x: torch.tensor(np.asarray(x), device="cuda"),
                lambda x: isinstance(x, torch.Tensor) and x.is_cuda,
            )
        )


#: Arrays that may be written to are asked less of than those that may not: they wait for `make test-all`.
LIBRARIES = [pytest.param(b, marks=pytest.mark.slow if b.name == "numpy" else ()) for b in BACKENDS]


@pytest.fixture(params=LIBRARIES, ids=lambda b: b.name)
def backend(request):
    """Each array library that is installed."""
    return request.param
