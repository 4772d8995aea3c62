"""Arrays of other libraries: every estimator works with them as with NumPy's, or refuses them."""

import re

import array_api_strict
import numpy as np
import pytest

from catalogue import ESTIMATORS, some_of_each_family
from tractable.arrays.namespace import to_numpy
from tractable.mixture import KMeans
from tractable.testing.estimator_laws import ROW_METHODS, assert_close, example, learn

#: What refuses rows of another library that are given to a model of NumPy arrays.
NOT_MOVED = "(not|nothing is) moved.* silently"
#: On a device "k-means||" is k-means++ over all rows.
OF_THE_HOST = {"KMeans-parallel": KMeans(3, random_state=0)}


def foreign(x):
    return None if x is None else array_api_strict.asarray(x)


def answer_or_none(asked):
    """What was answered, or None where a ValueError refused the rows or the targets."""
    try:
        return asked()
    except ValueError as error:
        if " X" in f" {error}" or " y" in f" {error}":
            return None
        raise


@pytest.mark.parametrize(
    "row", some_of_each_family([row for row in ESTIMATORS if not row.name.startswith("toy")])
)
def test_rows_of_another_library_are_answered_or_refused(row, rng):
    X, y = (None if x is None else x[:30] for x in example(row.make(), rng))
    ours = learn(OF_THE_HOST.get(row.name, row.make()), X, y)
    regressor = ours.__sklearn_tags__().estimator_type == "regressor"
    theirs = answer_or_none(lambda: learn(row.make(), foreign(X), foreign(y) if regressor else y))
    for name in ROW_METHODS:
        if not hasattr(ours, name):
            continue
        try:
            want = np.asarray(getattr(ours, name)(X), float)
        except ValueError as reason:  # what a fit did not compute, it has of no array
            for model in (ours, theirs or ours):
                with pytest.raises(ValueError, match=f"{re.escape(str(reason))}|{NOT_MOVED}"):
                    getattr(model, name)(foreign(X))
            continue
        mixed = answer_or_none(lambda name=name: getattr(ours, name)(foreign(X)))
        found = mixed if theirs is None else getattr(theirs, name)(foreign(X))
        if found is not None:
            assert_close(np.asarray(to_numpy(found), float), want, 1e-6)
