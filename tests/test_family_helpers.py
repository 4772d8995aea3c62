"""Helpers below the families, statistics and scores: what each returns for a small argument."""

import numpy as np
import pytest

from tractable import Empirical, Mixture, MultivariateNormal, Normal
from tractable.arrays.limits import check_squarable
from tractable.covariance.shapes import regular, shape_of, shrunk
from tractable.distributions.checks import exactly_one
from tractable.distributions.discrete.categorical import apportioned
from tractable.distributions.distribution import as_parameters
from tractable.distributions.independent_columns import Categories
from tractable.distributions.laplace import coordinate_medians, geometric_median
from tractable.distributions.probabilities import over_batch
from tractable.distributions.smoothed.domain import FoldedDomain, in_first_period
from tractable.distributions.student_t import as_double
from tractable.distributions.vectors import coordinate_intervals
from tractable.metrics.classification import (
    as_classes,
    as_codes,
    as_labels,
    as_probabilities,
    check_class_loss,
    row_weights,
)
from tractable.smoothing.rows import as_lengths, as_rows
from tractable.statistics.by_class import distinct_labels, label_codes, union_of_labels


def test_parameters_of_distributions():
    assert exactly_one(variance=None, stddev=2.0) == ("stddev", 2.0)
    both = as_parameters({"mean": 0, "variance": 0}, mean=np.zeros(3, dtype="float32"), variance=2)
    assert both["variance"].shape == (3,)
    assert both["variance"].dtype.name == "float32"
    single = Normal(mean=np.float32(1.0), variance=np.ones(2, dtype="float32"))
    assert as_double(single).mean.dtype.name == "float64"


def test_only_distributions_of_numbers_have_a_cdf():
    assert hasattr(Empirical(values=[1.0, 2.0]), "cdf")
    assert not hasattr(Empirical(values=[[1.0, 2.0]]), "cdf")


def test_members_of_a_batch():
    found = over_batch(lambda d: d.mean, (2,), Normal(mean=[1.0, 2.0], variance=1.0))
    np.testing.assert_array_equal(found, [1.0, 2.0])


def test_intervals_of_coordinates():
    halves = MultivariateNormal(mean=[[-1.0, 0.0], [1.0, 0.0]], covariance=[[1e-6, 0.0], [0.0, 1.0]])
    low, high = coordinate_intervals(Mixture(components=halves), coverage=0.9)
    np.testing.assert_array_equal(low.round(2), [-1.0, -1.64])
    np.testing.assert_array_equal(high.round(2), [1.0, 1.64])


def test_seats_and_categories():
    np.testing.assert_array_equal(apportioned(np.array(10.0), np.array([0.5, 0.3, 0.2])), [5.0, 3.0, 2.0])
    pair = Categories(sizes=np.array([2, 3]))
    found = pair.probabilities(np.array([[3.0, 1.0, 2.0, 2.0, 4.0]]), otherwise=0.0)
    assert found.tolist() == [[0.75, 0.25, 0.25, 0.25, 0.5]]


def test_medians():
    rows = np.array([[0.0, 5.0], [1.0, 6.0], [9.0, 7.0]])
    np.testing.assert_array_equal(coordinate_medians(rows, np.array([1.0, 1.0, 2.0])), [5.0, 6.5])
    corners = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]])
    np.testing.assert_array_equal(geometric_median(corners, np.ones(4)).round(9), [1.0, 1.0])


def test_domains():
    domain = FoldedDomain(low=(0.0,), high=(1.0,), wraps=(False,))
    np.testing.assert_array_equal(domain.fold(np.array([[-0.25], [1.5]])), [[0.25], [0.5]])
    found = in_first_period(np.array([[25.0, 25.0], [-1.0, 3.0]]), (24, None))
    np.testing.assert_array_equal(found, [[1.0, 25.0], [23.0, 3.0]])


def test_shapes_of_covariances():
    assert shape_of("tied").n_free(3, 2) == 3
    assert shape_of("low_rank", rank=1).n_free(1, 4) == 8
    _, jitter = regular(np.array([[2.0, 0.0], [0.0, 0.0]]), np.array([0.0, 1.0]))
    np.testing.assert_array_equal(jitter > 0, [False, True])
    assert shrunk(np.array([[3.0, 1.0], [1.0, 1.0]]), 0.5).tolist() == [[2.5, 0.5], [0.5, 1.5]]


def test_labels():
    words = np.array(["b", "a", "b"], dtype=object)
    found, codes = label_codes(words)
    assert (found.tolist(), codes.tolist()) == (["a", "b"], [1, 0, 1])
    assert distinct_labels(words) == ["b", "a"]
    assert union_of_labels([np.array(["b"]), np.array(["a", "b"])]).tolist() == ["a", "b"]
    assert as_labels("y_true", ["a", "b"]).tolist() == ["a", "b"]
    assert as_classes(["small", "large"]).tolist() == ["small", "large"]
    np.testing.assert_array_equal(as_codes("y_true", ["b", "a", "b"], np.array(["b", "a"])), [0, 1, 0])


def test_rows_and_lengths():
    rows, weights = as_rows([1.0, 3.0])
    np.testing.assert_array_equal(rows, [[1.0], [3.0]])
    assert weights is None
    np.testing.assert_array_equal(as_lengths("bandwidth", 0.5, 2), [0.5, 0.5])
    with pytest.raises(ValueError, match=r"^X has values so large that their squares overflow; rescale X"):
        check_squarable("X", np.array([[3.0], [1e200]]))


def test_arguments_of_scores():
    np.testing.assert_array_equal(as_probabilities([0.25, 1.0], 2), [[0.75, 0.25], [0.0, 1.0]])
    np.testing.assert_array_equal(row_weights(None, 2), [1.0, 1.0])
    assert check_class_loss([[0.0, 1.0], [5.0, 0.0]], 2) is None
