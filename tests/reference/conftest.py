"""`make test` compares references with NumPy; laws compare the other array libraries with it."""

import pytest

from conftest import BACKENDS


@pytest.fixture(
    params=[pytest.param(b, marks=() if b.name == "numpy" else pytest.mark.slow) for b in BACKENDS],
    ids=lambda b: b.name,
)
def backend(request):
    """Each array library that is installed."""
    return request.param
