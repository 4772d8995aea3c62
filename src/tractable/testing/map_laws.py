"""Laws of maps: positions depend on distances between rows alone, and what is reported is that of the map."""

from typing import Any

import numpy as np

from tractable.arrays.random import as_generator
from tractable.spatial.metrics import as_metric
from tractable.testing.assertions import check_laws, laws_above
from tractable.testing.estimator_laws import cloned, quiet

N_ROWS, N_COLUMNS = 36, 3

#: Searches meet rounding errors in another order, and may end this far from each other, in units of the map.
WITHIN = 1e-4


def _example(rng: np.random.Generator) -> np.ndarray:
    """Return rows of two overlapping clusters with one long axis, so that no axes are alike."""
    X = rng.standard_normal((N_ROWS, N_COLUMNS)) * [3.0, 1.0, 0.4]
    X[: N_ROWS // 3, 0] += 6.0
    return X


def _mapped(estimator: Any, X: Any, **options: Any) -> Any:
    with quiet():
        return cloned(estimator).fit(X, **options)


def _distances(points: np.ndarray) -> np.ndarray:
    return as_metric("euclidean")(points, points)


def _assert_same_map(found: np.ndarray, wanted: np.ndarray) -> None:
    """Raise unless two maps have the same distances between points."""
    size = np.max(_distances(wanted))
    apart = np.max(np.abs(_distances(found) - _distances(wanted)))
    assert apart <= WITHIN * size, f"distances differ by {apart:.2g} of a map of size {size:.2g}"


def rows_of_the_fit_are_where_the_fit_put_them(estimator: Any, rng: np.random.Generator) -> None:
    """`transform` of the rows is `embedding_`, and so is `fit_transform`."""
    X = _example(rng)
    model = _mapped(estimator, X)
    size = np.max(np.abs(model.embedding_))
    np.testing.assert_allclose(model.transform(X), model.embedding_, rtol=0.0, atol=1e-7 * size)
    with quiet():
        np.testing.assert_array_equal(cloned(estimator).fit_transform(X), model.embedding_)


def rows_are_placed_one_by_one(estimator: Any, rng: np.random.Generator) -> None:
    """A new row has one position, whatever rows come with it."""
    model, new = _mapped(estimator, _example(rng)), _example(rng)[:6]
    together = model.transform(new)
    alone = np.concatenate([model.transform(new[i : i + 1]) for i in range(len(new))])
    np.testing.assert_allclose(alone, together, rtol=0.0, atol=1e-5 * np.max(np.abs(model.embedding_)))


def new_rows_come_beside_the_rows_they_are_near(estimator: Any, rng: np.random.Generator) -> None:
    """A row next to one of the fit is placed by it: on the median, within a tenth of the map."""
    X = _example(rng)
    model = _mapped(estimator, X)
    apart = np.linalg.norm(model.transform(X + 1e-6) - model.embedding_, axis=1)
    assert np.median(apart) <= 0.1 * np.max(_distances(model.embedding_)), (
        "new rows are far from those they are near"
    )


def motions_of_the_rows_do_not_change_the_map(estimator: Any, rng: np.random.Generator) -> None:
    """Shifted rows and exchanged, mirrored columns keep the map; so does a turn, of Euclidean distances."""
    X = _example(rng)
    wanted = _mapped(estimator, X).embedding_
    signs = rng.choice([-1.0, 1.0], N_COLUMNS)
    _assert_same_map(_mapped(estimator, (X * signs)[:, ::-1] + 5.0).embedding_, wanted)
    if getattr(estimator, "metric", "euclidean") == "euclidean":
        turn = np.linalg.qr(rng.standard_normal((N_COLUMNS, N_COLUMNS)))[0]
        _assert_same_map(_mapped(estimator, X @ turn).embedding_, wanted)


def units_scale_the_map_or_leave_it(estimator: Any, rng: np.random.Generator) -> None:
    """Rows in another unit have the same map in that unit, or the same map."""
    X, unit = _example(rng), 4.0
    wanted, found = _mapped(estimator, X).embedding_, _mapped(estimator, unit * X).embedding_
    grown = np.max(_distances(found)) / np.max(_distances(wanted))
    factor = 1.0 if grown < np.sqrt(unit) else unit
    _assert_same_map(found / factor, wanted)


def the_order_of_rows_does_not_matter(estimator: Any, rng: np.random.Generator) -> None:
    """Rows in another order have the same map, in that order."""
    X, order = _example(rng), rng.permutation(N_ROWS)
    _assert_same_map(_mapped(estimator, X[order]).embedding_, _mapped(estimator, X).embedding_[order])


def equal_rows_have_one_position(estimator: Any, rng: np.random.Generator) -> None:
    """Copies of a row lie on it."""
    X = _example(rng)
    points = _mapped(estimator, np.concatenate([X, X[:5]])).embedding_
    size = np.max(np.abs(points))
    np.testing.assert_allclose(points[N_ROWS:], points[:5], rtol=0.0, atol=1e-7 * size)


def a_seed_gives_one_map(estimator: Any, rng: np.random.Generator) -> None:
    """Two fits with one seed have the same bits."""
    X = _example(rng)
    if "random_state" in estimator.get_params():
        estimator = cloned(estimator).set_params(random_state=3)
    first, second = (_mapped(estimator, X).embedding_ for _ in range(2))
    np.testing.assert_array_equal(first, second)


def the_stress_is_that_of_the_map(estimator: Any, rng: np.random.Generator) -> None:
    """`stress_`, where it is reported, is Σ_{i<j} (δ_ij - d_ij)², and no step has raised it."""
    X = _example(rng)
    model = _mapped(estimator, X)
    if hasattr(model, "stress_"):
        wanted = as_metric(model.metric)(X, X)
        stress = 0.5 * np.sum((wanted - _distances(model.embedding_)) ** 2)
        np.testing.assert_allclose(model.stress_, stress, rtol=1e-8)
        rounding = 1e-12 * np.sum(wanted**2)
        assert np.all(np.diff(model.objective_trace_) >= -rounding), "a step has raised the stress"


def the_divergence_is_that_of_the_map(estimator: Any, rng: np.random.Generator) -> None:
    """`kl_divergence_`, where it is reported, is KL(P‖Q) by the definitions of P and of Q."""
    if not hasattr(type(estimator), "kl_divergence_") and "perplexity" not in estimator.get_params():
        return
    X, perplexity = _example(rng), N_ROWS / 3.0  # of which three times as many neighbours are all others
    model = _mapped(cloned(estimator).set_params(perplexity=perplexity), X)
    squared = as_metric(model.metric)(X, X) ** 2
    widths = np.sort(squared, axis=1)[:, round(perplexity)]
    searched = getattr(model, "bandwidth", "perplexity") == "perplexity"
    near = np.stack([_neighbors(squared, i, perplexity, widths[i], searched) for i in range(N_ROWS)])
    p = (near + near.T) / (2.0 * N_ROWS)
    q = 1.0 / (1.0 + _distances(model.embedding_) ** 2) - np.eye(N_ROWS)
    q /= q.sum()
    some = p > 0.0
    np.testing.assert_allclose(model.kl_divergence_, np.sum(p[some] * np.log(p[some] / q[some])), rtol=1e-3)


def _neighbors(squared: np.ndarray, i: int, perplexity: float, width: float, searched: bool) -> np.ndarray:
    """Return p_{j|i} of a width that is given, or of that which gives the perplexity, by bisection."""
    others = np.arange(len(squared)) != i
    apart, p = squared[i, others] - squared[i, others].min(), np.zeros(len(squared))
    low, high = -60.0, 60.0  # of log β
    while True:
        beta = np.exp(0.5 * (low + high)) if searched else 0.5 / width
        near = np.exp(-beta * apart)
        near /= near.sum()
        if not searched or high - low < 1e-10:
            p[others] = near
            return p
        entropy = -np.sum(near * np.log(np.maximum(near, 1e-300)))
        low, high = (0.5 * (low + high), high) if entropy > np.log(perplexity) else (low, 0.5 * (low + high))


MAP_LAWS = laws_above(globals())


def check_map(estimator: Any, rng: Any = 0) -> None:
    """Run every law of maps on an estimator: rows in, positions in few dimensions out, as `embedding_`.

    Examples
    --------
    >>> from tractable import ClassicalMDS
    >>> check_map(ClassicalMDS())
    """
    check_laws(MAP_LAWS, estimator, as_generator(rng))
