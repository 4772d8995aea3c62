"""The geometry of linear classifiers: what stands on the surface, how far points are, convex regions."""

import numpy as np
import pytest

import tractable
from tractable import LinearDiscriminantFunction, discriminant_functions

DIMS = [1, 2, 5]


def plane(rng, d):
    return LinearDiscriminantFunction(coef=rng.normal(size=d), intercept=rng.normal(), classes=["no", "yes"])


def planes(rng, k=4, d=3):
    labels = np.array(["ash", "birch", "cedar", "dogwood", "elm"])[:k]
    return LinearDiscriminantFunction(
        coef=rng.normal(size=(k, d)), intercept=rng.normal(size=k), classes=labels
    )


@pytest.mark.parametrize("d", DIMS)
@pytest.mark.spec("CLS-04", "CLS-05")
def test_the_coefficients_stand_on_the_surface(d, rng):
    one = plane(rng, d)
    a, b = (one.surface(5.0 * rng.normal(size=(50, d - 1))) for _ in range(2))
    np.testing.assert_allclose(one.scores(a), 0.0, atol=1e-12)
    np.testing.assert_allclose((a - b) @ one.coef[0], 0.0, atol=1e-12)
    # D - 1 dimensions: the points of the surface span no more, and no less.
    assert np.linalg.matrix_rank(a - a[0], tol=1e-9) == d - 1


@pytest.mark.parametrize("d", DIMS)
@pytest.mark.spec("CLS-06", "E004-19")
def test_the_offset_of_the_surface_is_minus_the_distance_of_the_origin(d, rng):
    one = plane(rng, d)
    length = np.linalg.norm(one.coef)
    np.testing.assert_allclose(one.boundary_offset, -one.intercept[0] / length, rtol=1e-12)
    np.testing.assert_allclose(one.signed_distance(np.zeros(d)), one.intercept[0] / length, rtol=1e-12)
    np.testing.assert_allclose(one.scores(one.boundary_offset * one.normal), 0.0, atol=1e-12)
    np.testing.assert_allclose(one.surface(np.zeros(d - 1)), one.boundary_offset * one.normal, atol=1e-14)


@pytest.mark.parametrize("d", DIMS)
@pytest.mark.spec("CLS-07", "CLS-08")
def test_the_projection_is_the_nearest_point_of_the_surface(d, rng):
    one = plane(rng, d)
    x = 3.0 * rng.normal(size=(20, d))
    r, near = one.signed_distance(x), one.project_to_boundary(x)
    np.testing.assert_allclose(r, (x @ one.coef[0] + one.intercept[0]) / np.linalg.norm(one.coef), rtol=1e-11)
    np.testing.assert_allclose(one.scores(near), 0.0, atol=1e-12)
    np.testing.assert_allclose(near + r[:, None] * one.normal, x, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(x - near, axis=1), np.abs(r), rtol=1e-10)
    others = one.surface(5.0 * rng.normal(size=(400, d - 1)))
    gaps = np.linalg.norm(x[:, None] - others, axis=-1)
    assert np.all(gaps >= np.abs(r)[:, None] * (1 - 1e-12))
    assert np.array_equal(one.decide(x) == "yes", r > 0)


@pytest.mark.spec("CLS-03", "CLS-09", "CLS-10")
def test_pairwise_boundaries_decide_between_two_classes(rng):
    many = planes(rng)
    x = 3.0 * rng.normal(size=(300, 3))
    won = many.decide(x)
    for k in many.classes:
        for j in many.classes[many.classes != k]:
            between = many.pairwise_boundary(k, j)
            np.testing.assert_allclose(between.coef, -many.pairwise_boundary(j, k).coef)
            assert np.all(between.decide(x[won == k]) == k)
            assert np.all(between.signed_distance(x[won == j]) <= 0)
            scores = many.scores(between.project_to_boundary(x))
            places = [many.classes.tolist().index(label) for label in (k, j)]
            np.testing.assert_allclose(scores[:, places[0]], scores[:, places[1]], atol=1e-11)
    one = plane(rng, 3)
    np.testing.assert_array_equal(one.pairwise_boundary("yes", "no").coef, one.coef)
    assert np.array_equal(one.pairwise_boundary("no", "yes").decide(x), one.decide(x))


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.spec("CLS-11")
def test_regions_are_convex(k, rng):
    for _ in range(20):
        many = planes(rng, k)
        x = 4.0 * rng.normal(size=(400, 3))
        won = many.decide(x)
        for label in many.classes:
            inside = x[won == label]
            if len(inside) < 2:
                continue
            a, b = (inside[rng.integers(len(inside), size=300)] for _ in range(2))
            share = rng.uniform(size=(300, 1))
            assert np.all(many.decide(share * a + (1 - share) * b) == label)


def test_the_region_of_neighbours_is_not_convex(rng):
    """What convexity says of planes is no truth of all classifiers."""
    angle = np.linspace(0.0, 2 * np.pi, 41)[:-1]
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    X, y = np.concatenate([3.0 * ring, 0.1 * ring]), np.repeat(["out", "in"], 40)
    near = tractable.KNeighborsClassifier(1).fit(X, y)
    a, b = np.array([[3.0, 0.0]]), np.array([[-3.0, 0.0]])
    assert [near.predict(p)[0] for p in (a, b, 0.5 * (a + b))] == ["out", "out", "in"]


def test_planes_of_a_fitted_classifier(rng):
    X = rng.normal(size=(60, 2))
    y = np.where(X @ [1.0, 2.0] > 0.2, "above", "below")
    model = tractable.Perceptron(max_iter=3000).fit(X, y)
    found = discriminant_functions(model)
    np.testing.assert_array_equal(found.decide(X), model.predict(X))
    np.testing.assert_allclose(found.scores(X), model.decision_function(X))
    with pytest.raises(ValueError, match="coef_, intercept_"):
        discriminant_functions(tractable.KNeighborsClassifier().fit(X, y))


@pytest.mark.spec("W-19", "CLS-07")
def test_the_two_clusters_of_the_course():
    """Class 1 is X1, X4, X8, class 2 is X3, X5, X6 of the eight points."""
    X = np.array([[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]], dtype=float)
    rows, y = X[[0, 3, 7, 2, 4, 5]], np.repeat(["one", "two"], 3)
    model = tractable.LinearDiscriminant().fit(rows, y)
    between = discriminant_functions(model).pairwise_boundary("one", "two")
    np.testing.assert_allclose(between.coef[0], [3.49367089, 14.43037975], rtol=1e-8)
    np.testing.assert_allclose(between.intercept, -114.83544304, rtol=1e-9)
    np.testing.assert_allclose(between.signed_distance(X[1]), -2.40422575, rtol=1e-8)
    np.testing.assert_allclose(1 / (1 + np.exp(-between.scores([5.0, 6.5]))), 0.02739493, rtol=1e-6)


def test_extreme_units_have_their_distances():
    for size in (1e-200, 1e200):
        one = LinearDiscriminantFunction(coef=[3.0 * size, 4.0 * size], intercept=-10.0 * size)
        np.testing.assert_allclose(one.boundary_offset, 2.0)
        np.testing.assert_allclose(one.signed_distance([3.0, 4.0]), 3.0)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"coef": [0.0, 0.0], "intercept": 1.0}, "coef"),
        ({"coef": [[1.0, np.nan]], "intercept": 1.0}, "coef"),
        ({"coef": [[1.0, 2.0]], "intercept": [1.0, 2.0]}, "intercept"),
        ({"coef": [1.0, 2.0], "intercept": 0.0, "classes": ["a", "a"]}, "classes"),
        ({"coef": [1.0, 2.0], "intercept": 0.0, "classes": ["a", "b", "c"]}, "classes"),
    ],
)
def test_bad_planes_are_refused(options, named):
    with pytest.raises(ValueError, match=named):
        LinearDiscriminantFunction(**options)


def test_bad_questions_are_refused(rng):
    many = planes(rng)
    for ask in (lambda: many.boundary_offset, lambda: many.signed_distance(np.zeros(3)), lambda: many.normal):
        with pytest.raises(ValueError, match="pairwise_boundary"):
            ask()
    with pytest.raises(ValueError, match="k must be"):
        many.pairwise_boundary("yew", "ash")
    with pytest.raises(ValueError, match="twice"):
        many.pairwise_boundary("ash", "ash")
    with pytest.raises(ValueError, match="x must have 3"):
        many.decide(np.zeros(2))
    with pytest.raises(ValueError, match="t must have 1"):
        plane(rng, 2).surface([1.0, 2.0])


@pytest.mark.spec("CLS-03")
def test_a_class_that_cannot_be_has_no_plane(rng):
    X, y = rng.standard_normal((80, 2)) + 3.0 * (np.arange(80) % 4)[:, None], np.arange(80) % 4
    model = tractable.LinearDiscriminant(priors=[0.3, 0.3, 0.4, 0.0]).fit(X, y)
    np.testing.assert_array_equal(discriminant_functions(model).decide(X), model.predict(X))
    pair = tractable.LinearDiscriminant(priors=[0.3, 0.0, 0.7, 0.0]).fit(X, y)
    planes = discriminant_functions(pair)
    assert planes.classes.tolist() == [0, 2]
    np.testing.assert_array_equal(planes.decide(X), pair.predict(X))
    assert np.all((planes.signed_distance(X) > 0) == (pair.predict(X) == 2))
    for priors, some, never in (([0.0, 1.0], y < 2, 0), ([1.0, 0.0], y < 2, 1), ([0.0, 0.0, 1.0], y < 3, 0)):
        alone = tractable.LinearDiscriminant(priors=priors).fit(X[some], y[some])
        with pytest.raises(ValueError, match=rf"no decision boundary: the prior of \[{never}"):
            discriminant_functions(alone)
