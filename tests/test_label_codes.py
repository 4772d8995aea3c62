"""Labels and their codes: whole numbers near each other in linear time, others by sorting."""

import numpy as np
import pytest

from tractable.base.labels import check_labels


@pytest.mark.parametrize(
    "y",
    [
        np.array([3, 1, 3, 2]),
        np.array([-5, 250, -5], dtype=np.int16),
        np.array([True, False, True]),
        np.array([7], dtype=np.uint8),
        np.array([2**63 + 1, 2**63 + 3], dtype=np.uint64),
        np.array([-(2**62), 2**62]),
        np.array([0, 10**9, 5]),
        np.arange(1000)[::-1],
        np.array([1.0, 0.0, 1.0]),
        np.array(["b", "a", "b"]),
        np.array(["b", "a", "b"], dtype=object),
    ],
    ids=lambda y: f"{y.dtype}-{len(y)}-{y.ravel()[0]}",
)
@pytest.mark.filterwarnings("ignore:The number of unique classes:UserWarning")
@pytest.mark.spec("CLS-01")
def test_codes_are_places_among_the_labels(y):
    classes, codes = check_labels(y)
    np.testing.assert_array_equal(classes, np.unique(y))
    assert classes.dtype == y.dtype
    np.testing.assert_array_equal(classes[codes], y)
    assert codes.dtype.kind == "u"
