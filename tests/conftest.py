"""What every test may ask for: a seeded generator, and the array libraries."""

import gc
import os
import sys
import zlib
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
from hypothesis import settings
from threadpoolctl import threadpool_limits

import quick

settings.register_profile("dev", max_examples=25, derandomize=True, deadline=None)
settings.register_profile("nightly", max_examples=500, deadline=None)
settings.load_profile(os.environ.get("TRACTABLE_HYPOTHESIS", "dev"))

#: What tests import later than the library. In a new environment workers compile what they import: one begins
#: at this end, and each reads what the other has compiled.
LATER_IMPORTS = ("polars", "networkx", "dask.dataframe", "matplotlib.pyplot", "statsmodels.api")


def pytest_configure(config):
    """Say whether slow cases are asked for before any test is collected."""
    quick.ALONE = config.option.markexpr == "not slow"
    if os.environ.get("PYTEST_XDIST_WORKER") == "gw1":
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


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item, call):
    """Of an expected failure keep the message: its traceback, which nobody sees, takes a second to write."""
    if call.excinfo is not None and item.get_closest_marker("xfail"):
        item.repr_failure = lambda excinfo: str(excinfo.value)


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


@pytest.fixture(autouse=True)
def _close_figures():
    """Close what a test has drawn."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


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
