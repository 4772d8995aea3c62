"""What `make test` takes of many cases of one kind; `make test-all` takes all."""

import pytest

#: Whether slow cases are not asked for: where there are thousands of them, they are then not even collected.
ALONE = False


def some(cases, most=1, *, several=False):
    """Parameters of a test, all but the first `most` marked slow; with `several`, a case is a tuple of them.

    For cases that differ in numbers alone. Cases that are marked already stay as they are.
    """
    cases = list(cases)
    return cases[:most] + [late(case, several=several) for case in cases[most:]]


def late(case, *, several=False):
    """A parameter, or a tuple of them, that waits for `make test-all`; one that is marked already stays."""
    if hasattr(case, "marks"):
        return case
    return pytest.param(*(case if several else (case,)), marks=pytest.mark.slow)
