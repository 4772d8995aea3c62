"""Laws of estimators: the contract beyond scikit-learn's own checks.

Laws compare answers (densities, predictions, transformed rows), never how a model stores what it learned.
"""

import copy
import itertools
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from tractable.arrays.random import as_generator
from tractable.testing.assertions import Law, laws_above, refused

N_ROWS, N_COLUMNS = 60, 3


def example(
    estimator: Any, rng: np.random.Generator, n_rows: int = N_ROWS
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return rows, and a target where the estimator needs one."""
    X = rng.standard_normal((n_rows, N_COLUMNS)) @ rng.standard_normal((N_COLUMNS, N_COLUMNS)) + 3.0
    tags = estimator.__sklearn_tags__()
    if tags.input_tags.positive_only:  # codes of categories, or counts
        X = np.round(X - X.min())
    if not tags.target_tags.required:
        return X, None
    y = X @ np.arange(1.0, N_COLUMNS + 1) + 0.1 * rng.standard_normal(n_rows)
    if tags.target_tags.positive_only:  # counts
        y = np.round(2.0 + y - y.min())
    return X, (y > np.median(y)).astype(int) if tags.estimator_type == "classifier" else y


def predictions(estimator: Any, X: Any) -> np.ndarray:
    """Return the predictions of a fitted estimator for rows, one line a row."""
    asked = ("score_samples", "predict_proba", "predict", "transform")
    found = [getattr(estimator, name)(X) for name in asked if hasattr(estimator, name)]
    found = found or [estimator.kneighbors(X)[0]]  # a neighbour search
    return np.column_stack([np.asarray(part, dtype=float) for part in found])


def assert_same_predictions(a: Any, b: Any, X: Any, rtol: float = 1e-7) -> None:
    """Raise unless two fitted estimators agree on the rows."""
    assert_close(predictions(a, X), predictions(b, X), rtol)


def assert_close(a: np.ndarray, b: np.ndarray, rtol: float = 1e-7) -> None:
    # An impossible row has a score of -inf under both.
    size = np.abs(b[np.isfinite(b)]).max(initial=1.0)
    np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * float(size))


def cloned(estimator: Any) -> Any:
    from sklearn.base import clone

    return clone(estimator)


def learn(estimator: Any, X: Any, y: Any, **options: Any) -> Any:
    with quiet():
        return cloned(estimator).fit(X, y, **options)


@contextmanager
def quiet() -> Iterator[None]:
    """Degenerate rows may be warned about; whether they are answered is the question here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


@contextmanager
def refusal(named: str, fitted: Any) -> Iterator[None]:
    """Expect one ValueError that names the argument and leaves the estimator as it was."""
    before = copy.copy(vars(fitted))
    try:
        yield
    except ValueError as error:
        assert named in str(error), f"the error does not name {named}: {error}"
        assert "scikit-learn.org" not in str(error), f"the error advises other models: {error}"
    else:
        raise AssertionError(f"bad {named or 'input'} was accepted")
    assert vars(fitted).keys() == before.keys(), "a failed call left attributes behind"
    assert all(vars(fitted)[name] is kept for name, kept in before.items()), "a failed call changed the model"


def rows_may_be_stored_anyhow(estimator: Any, rng: np.random.Generator) -> None:
    """Order in memory, strides, write protection and lists make no difference."""
    X, y = example(estimator, rng)
    before = X.copy()
    fitted = learn(estimator, X, y)
    frozen = X.copy()
    frozen.setflags(write=False)
    for same in (np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], frozen, X.tolist()):
        assert_same_predictions(learn(estimator, same, y), fitted, X)
    np.testing.assert_array_equal(X, before)


def float32_is_accepted(estimator: Any, rng: np.random.Generator) -> None:
    """Single precision gives the answer of the same numbers in double precision."""
    X, y = example(estimator, rng)
    single = X.astype(np.float32)
    assert_same_predictions(
        learn(estimator, single, y), learn(estimator, single.astype(float), y), X, rtol=1e-4
    )


def transforms_keep_float32(estimator: Any, rng: np.random.Generator) -> None:
    """`transform` of float32 rows is float32, in an array, a frame and a stream; of float64 rows float64."""
    import pandas as pd

    if not hasattr(estimator, "transform"):
        return
    X, y = example(estimator, rng)
    fitted, single = learn(estimator, X, y), X.astype(np.float32)
    for rows in (single, [single[:20], single[20:]]):
        assert fitted.transform(rows).dtype == np.float32
    framed = learn(estimator, pd.DataFrame(single, columns=["a", "b", "c"]), y)
    assert framed.transform(pd.DataFrame(single, columns=["a", "b", "c"])).dtype == np.float32
    assert fitted.transform(X).dtype == np.float64


def objects_are_numbers_or_refused(estimator: Any, rng: np.random.Generator) -> None:
    """Numbers as Python objects are numbers, in an array as in a frame; text is none, be it of digits."""
    import pandas as pd

    X, y = example(estimator, rng)
    fitted, objects = learn(estimator, X, y), X.astype(object)
    assert_same_predictions(learn(estimator, objects, y), fitted, X)
    assert_close(predictions(fitted, objects), predictions(fitted, X))
    if estimator.__sklearn_tags__().input_tags.string:
        return  # models of tables read such columns of frames as categories
    framed = learn(estimator, pd.DataFrame(objects, columns=["a", "b", "c"]), y)
    assert_close(predictions(framed, pd.DataFrame(objects, columns=["a", "b", "c"])), predictions(fitted, X))
    digits = X.astype(str).astype(object)
    for bad in (digits, pd.DataFrame(digits, columns=["a", "b", "c"])):
        with refusal("", fitted):
            fitted.fit(bad, y)


def bad_rows_are_one_clear_error(estimator: Any, rng: np.random.Generator) -> None:
    """What cannot be rows is a ValueError that names X, and the fitted model is as it was."""
    X, y = example(estimator, rng)
    fitted = learn(estimator, X, y)
    takes = estimator.__sklearn_tags__().input_tags
    for bad in _bad_rows(X, allow_nan=takes.allow_nan, text=takes.string):
        with refusal("X", fitted):
            fitted.fit(bad, y)
    with refusal("X is None", fitted):
        fitted.fit(None, y)
    spoiled = X.copy()
    spoiled[3, 1] = np.inf
    for name in ("score_samples", "predict", "predict_proba", "transform"):
        for bad in (X[:, :-1], X[0], None, spoiled, np.asarray(X, dtype=str)[:, :1].astype(object) + "a"):
            if hasattr(fitted, name):
                with refusal("X", fitted):
                    getattr(fitted, name)(bad)


def bad_weights_are_one_clear_error(estimator: Any, rng: np.random.Generator) -> None:
    """What cannot be weights is a ValueError that names sample_weight."""
    X, y = example(estimator, rng)
    fitted, good = learn(estimator, X, y), np.ones(len(X))
    numbers = (-good, good * np.nan, good * np.inf, good[:-1], good[:, None], good * 0.0, good * 1e-320)
    for weights in (*numbers, ["a"] * len(X)):
        with refusal("sample_weight", fitted):
            fitted.fit(X, y, sample_weight=weights)


def numbers_too_large_to_square_are_one_clear_error(estimator: Any, rng: np.random.Generator) -> None:
    """Rows, targets and weights of 1e200 are a ValueError that names them, in memory and in batches."""
    X, y = example(estimator, rng)
    w, fresh, huge = np.ones(len(X)), cloned(estimator), 1e200
    cases: list[tuple[str, tuple[Any, Any, Any]]] = [
        ("X", (X * huge, y, w)),
        ("weight", (X, y, w * huge)),
    ]
    if y is not None and estimator.__sklearn_tags__().estimator_type == "regressor":
        cases.append(("y", (X, y * huge, w)))
    batched = estimator.model_tags.streaming.startswith("exact")
    compared = getattr(estimator, "binarize", None) is not None  # with a threshold, and never squared
    for named, (rows, targets, weights) in cases:
        with refusal(named, fresh):
            fresh.fit(rows, targets, sample_weight=weights)
        if batched and not (compared and named == "X"):
            parts = [slice(0, 30), slice(30, None)]
            batches = [(rows[s], None if targets is None else targets[s], weights[s]) for s in parts]
            with refusal(named, fresh):
                fresh.fit(batches)


#: Methods with one result a row.
ROW_METHODS = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "predict_joint_log_proba",
    "decision_function",
    "decide",
    "predict_var",
    "score_samples",
    "outlier_scores",
    "transform",
    "leverage",
    "tail_probability",
    "predict_components",
    "gate_proba",
    "outputs",
)


def sources_are_answered_as_arrays(estimator: Any, rng: np.random.Generator) -> None:
    """What a model says of the rows of a stream or a source is what it says of the array they came from.

    What it refuses to say of an array it refuses to say of them, with the same words.
    """
    from tractable.data import as_source

    X, y = example(estimator, rng)
    fitted = learn(estimator, X, y)
    questions: dict[str, Any] = {name: getattr(fitted, name) for name in ROW_METHODS if hasattr(fitted, name)}
    if hasattr(fitted, "predict_interval"):
        questions["predict_interval"] = partial(fitted.predict_interval, coverage=0.2)
        questions["predict_quantiles"] = partial(fitted.predict_quantiles, alpha=[0.4, 0.5])
    if hasattr(fitted, "predict_dist"):
        questions["predict_dist"] = lambda rows: np.moveaxis(fitted.predict_dist(rows).sample(3, rng=0), 0, 1)
    parted: tuple[Any, ...] = ([X[:20], X[20:21], X[21:21], X[21:]], as_source(X))
    for name, asked in questions.items():
        try:
            want = np.asarray(asked(X))
        except ValueError as reason:  # what a fit did not compute
            for rows in parted:
                refused(partial(asked, rows), str(reason))
            continue
        for rows in parted:
            found = np.asarray(asked(rows))
            assert found.shape == want.shape, f"{name} of a source has shape {found.shape}"
            if want.dtype.kind == "f":
                assert_close(found, want)
            else:
                np.testing.assert_array_equal(found, want)


class _UsedUp:
    """Batches that the first pass uses up."""

    def __init__(self, batches: list[Any]) -> None:
        self.left = list(batches)

    def __iter__(self) -> Iterator[Any]:
        while self.left:
            yield self.left.pop(0)


def batches_that_are_used_up_lose_no_row(estimator: Any, rng: np.random.Generator) -> None:
    """From batches that the first pass uses up a model learns all rows, or names the rows of two passes.

    The same holds for its answers to them.
    """
    import pandas as pd

    X, y = example(estimator, rng)
    for rows in (X, pd.DataFrame(X, columns=["a", "b", "c"])):
        edges = [0, *np.sort(rng.integers(0, len(X) + 1, 3)), len(X)]
        cuts = [slice(a, b) for a, b in itertools.pairwise(edges)]
        batches = [rows[cut] if y is None else (rows[cut], y[cut]) for cut in cuts]
        try:
            want = learn(estimator, batches, None)
        except ValueError:  # rows must be in memory
            return
        try:
            found = learn(estimator, _UsedUp(batches), None)
        except ValueError as error:
            assert f"gave {len(X)} rows, and a later one gave 0" in str(error), f"other numbers: {error}"
        else:
            assert_same_predictions(found, want, rows)
        for name in (name for name in ROW_METHODS if hasattr(want, name)):
            try:
                answers = getattr(want, name)(rows)
            except ValueError:  # what a fit did not compute
                continue
            found = getattr(want, name)(_UsedUp([rows[cut] for cut in cuts]))
            assert len(found) == len(answers), f"{name} of {len(X)} rows has {len(found)} answers"


def weights_are_repetitions(estimator: Any, rng: np.random.Generator) -> None:
    """Integer weights count rows; zero leaves a row out; none at all is one each."""
    X, y = example(estimator, rng)
    times = rng.integers(0, 4, len(X))
    repeated = np.repeat(X, times, axis=0), None if y is None else np.repeat(y, times)
    weighted = learn(estimator, X, y, sample_weight=times)
    # Rows left out may have unknown categories, or no mean: 1/η of η < 0, which is none of the rows kept.
    asked = X[times > 0]
    if not estimator.__sklearn_tags__().input_tags.positive_only:  # between categories, or counts, is nothing
        asked = np.concatenate([asked, (asked[1:] + asked[:-1]) / 2])
    assert_same_predictions(weighted, learn(estimator, *repeated), asked)
    assert_same_predictions(learn(estimator, X, y, sample_weight=np.ones(len(X))), learn(estimator, X, y), X)


def scores_count_rows_by_their_weights(estimator: Any, rng: np.random.Generator) -> None:
    """`score` with integer weights is that of repeated rows; so is the score of a stream with weights."""
    if not hasattr(estimator, "score"):
        return
    X, y = example(estimator, rng)
    fitted, times = learn(estimator, X, y), rng.integers(0, 4, len(X))
    repeated = fitted.score(np.repeat(X, times, axis=0), None if y is None else np.repeat(y, times))
    np.testing.assert_allclose(fitted.score(X, y, sample_weight=times), repeated, rtol=1e-9)
    parts = (slice(0, 20), slice(20, None))
    batches = [(X[part], None if y is None else y[part], times[part]) for part in parts]
    np.testing.assert_allclose(fitted.score(batches), repeated, rtol=1e-9)


def extreme_scales_change_the_scale_alone(estimator: Any, rng: np.random.Generator) -> None:
    """Columns of 1e100 and of 1e-100 give finite answers, and log densities that differ by log |scale|."""
    takes = estimator.__sklearn_tags__().input_tags
    if takes.positive_only:
        return  # categories and counts have no units
    X, y = example(estimator, rng)
    whole = learn(estimator, X, y)
    for scale in (1e-100, 1e100, np.array([1e-100, 1.0, 1e100])):
        scaled = learn(estimator, X * scale, y)
        assert np.all(np.isfinite(predictions(scaled, X * scale)))
        if hasattr(whole, "distribution_") and np.ndim(scale) == 0:
            # Where events are counted, scores are probabilities and have no units.
            width = 0 if whole.distribution_.discrete else N_COLUMNS
            moved = scaled.score_samples(X * scale) + width * np.log(scale)
            assert_close(moved, whole.score_samples(X))


def subnormal_rows_are_answered_or_refused(estimator: Any, rng: np.random.Generator) -> None:
    """Rows at and below the smallest normal number: a finite answer or one ValueError, and no warning."""
    if estimator.__sklearn_tags__().input_tags.positive_only:
        return  # categories and counts have no units
    X, y = example(estimator, rng)
    for scale in (1e-308, 1e-310, 1e-320, np.array([1e-310, 1.0, 1.0])):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            warnings.simplefilter("error", RuntimeWarning)
            try:
                found = predictions(cloned(estimator).fit(X * scale, y), X * scale)
            except ValueError as error:
                assert re.search(r"\bX\b|rows|bandwidth", str(error)), f"what is wrong? {error}"
                continue
            except RuntimeWarning as warning:
                raise AssertionError(f"a warning at {scale}: {warning}") from warning
        assert np.all(np.isfinite(found)), f"a silent NaN at {scale}"


def degenerate_rows_are_answered_or_refused(estimator: Any, rng: np.random.Generator) -> None:
    """One row, equal rows, constant and repeated columns: a finite answer or one ValueError."""
    X, y = example(estimator, rng)
    constant, twice = X.copy(), X.copy()
    constant[:, 1], twice[:, 1] = 7.0, X[:, 0]
    for rows in (X[:1], X[:2], np.repeat(X[:1], N_ROWS, axis=0), constant, twice, np.zeros_like(X)):
        target = None if y is None else y[: len(rows)]
        try:
            found = predictions(learn(estimator, rows, target), rows)
        except ValueError as error:
            said = any(name in str(error) for name in ("X", "y", "sample", "n_neighbors"))
            assert said, f"what is wrong? {error}"
            continue
        assert np.all(np.isfinite(found)), "a silent NaN"


def predicting_changes_nothing(estimator: Any, rng: np.random.Generator) -> None:
    """Predicting, scoring, sampling and transforming set no attributes and are repeatable."""
    X, y = example(estimator, rng)
    fitted = learn(estimator, X, y)
    before = dict(vars(fitted))
    first = predictions(fitted, X)
    if hasattr(fitted, "sample"):
        draws = [_drawn(fitted, 4, 7) for _ in range(2)]
        np.testing.assert_array_equal(draws[0], draws[1])
    np.testing.assert_array_equal(predictions(fitted, X), first)
    assert vars(fitted).keys() == before.keys()
    assert all(vars(fitted)[name] is kept for name, kept in before.items())


def column_names_are_remembered(estimator: Any, rng: np.random.Generator) -> None:
    """A model fitted on a frame stores the names of its columns, and refuses others."""
    import pandas as pd

    X, y = example(estimator, rng)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    fitted = learn(estimator, frame, y)
    assert list(getattr(fitted, "feature_names_in_", ())) == ["a", "b", "c"]
    assert_close(predictions(fitted, frame), predictions(learn(estimator, X, y), X))
    with refusal("", fitted):
        predictions(fitted, frame.rename(columns={"a": "z"}))


def columns_of_a_frame_may_be_named(estimator: Any, rng: np.random.Generator) -> None:
    """Targets and weights by the names of their columns are those columns, in `fit` and in `score`."""
    import pandas as pd

    X, y = example(estimator, rng)
    weights = rng.integers(1, 4, len(X)).astype(float)
    rows = pd.DataFrame(X, columns=["a", "b", "c"])
    whole = rows.assign(counted=weights) if y is None else rows.assign(counted=weights, told=y)
    name = None if y is None else "told"
    named = learn(estimator, whole, name, sample_weight="counted")
    given = learn(estimator, rows, y, sample_weight=weights)
    assert_close(predictions(named, rows), predictions(given, rows))
    if hasattr(estimator, "score"):
        found = named.score(whole, name, sample_weight="counted")
        np.testing.assert_allclose(found, given.score(rows, y, sample_weight=weights), rtol=1e-7)


def density_questions_agree(estimator: Any, rng: np.random.Generator) -> None:
    """`score`, `outlier_scores`, `sample` and `distribution_` are consistent."""
    X, y = example(estimator, rng)
    fitted = learn(estimator, X, y)
    if not hasattr(fitted, "distribution_"):
        return
    scores = fitted.score_samples(X)
    if estimator.__sklearn_tags__().estimator_type != "classifier":  # whose `score` is its accuracy
        np.testing.assert_allclose(fitted.score(X), np.mean(scores))
    if hasattr(fitted, "outlier_scores"):
        np.testing.assert_allclose(fitted.outlier_scores(X), -scores)
        if not hasattr(fitted, "classes_"):  # the score of a classifier is its accuracy
            np.testing.assert_allclose(fitted.score(X), np.mean(scores))
    # Some models read rows as events of another kind: numbers above a threshold as ones, say.
    events = getattr(fitted, "_events", np.asarray)(X)
    np.testing.assert_allclose(fitted.distribution_.log_prob(events), scores)
    assert _drawn(fitted, 5, 0).shape == (5, N_COLUMNS)


#: Laws of every estimator.
ESTIMATOR_LAWS = laws_above(globals())


def _drawn(fitted: Any, n: int, seed: int) -> np.ndarray:
    """Return new rows, without the labels that some models give with them."""
    found = fitted.sample(n, random_state=seed)
    return np.asarray(found[0] if isinstance(found, tuple) else found)


def _bad_rows(X: np.ndarray, *, allow_nan: bool, text: bool) -> Iterator[Any]:
    spoiled = X.copy()
    spoiled[2, 1] = -np.inf
    yield from (X[:0], X[:, :0], X[0], X[None], 3.0, "rows", spoiled, X + 1j)
    yield [[1.0, 2.0], [3.0]]
    if not text:
        yield np.full(X.shape, "a")
    if not allow_nan:
        spoiled = X.copy()
        spoiled[0, 0] = np.nan
        yield spoiled
    yield np.full_like(X, np.nan)


def _halves(X: np.ndarray, y: np.ndarray | None) -> list[tuple[np.ndarray, np.ndarray | None]]:
    return [(X[part], None if y is None else y[part]) for part in (slice(25), slice(25, None))]


def pieces_make_the_whole(estimator: Any, rng: np.random.Generator) -> None:
    """`partial_fit` over pieces, in any order, is `fit` on all rows; with weights too."""
    X, y = example(estimator, rng)
    weights = rng.integers(1, 5, len(X)).astype(np.float64)
    pieces = np.array_split(np.arange(len(X)), [1, 2, 9, 30])
    for order, w in ((pieces, None), (pieces[::-1], None), (pieces, weights)):
        streamed = cloned(estimator)
        with quiet():
            for piece in order:
                own = {} if w is None else {"sample_weight": w[piece]}
                streamed.partial_fit(X[piece], None if y is None else y[piece], **own)
        whole = learn(estimator, X, y, **({} if w is None else {"sample_weight": w}))
        assert_same_predictions(streamed, whole, X)


def merging_is_fitting_both(estimator: Any, rng: np.random.Generator) -> None:
    """`merge` makes a new model of both models' rows and leaves both alone."""
    X, y = example(estimator, rng)
    a, b = (learn(estimator, *half) for half in _halves(X, y))
    before = predictions(a, X), predictions(b, X)
    with quiet():
        both = a.merge(b)
    assert_same_predictions(both, learn(estimator, X, y), X)
    assert both is not a
    np.testing.assert_array_equal(predictions(a, X), before[0])
    np.testing.assert_array_equal(predictions(b, X), before[1])
    with refusal("", a):
        a.merge(object())


def statistics_are_values(estimator: Any, rng: np.random.Generator) -> None:
    """`summarize` changes nothing; `from_statistic` of a sum is `fit` on all rows."""
    X, y = example(estimator, rng)
    fresh = cloned(estimator)
    halves = [fresh.summarize(*half) for half in _halves(X, y)]
    assert vars(fresh).keys() == vars(cloned(estimator)).keys()
    with quiet():
        assert_same_predictions(fresh.from_statistic(halves[0] + halves[1]), learn(estimator, X, y), X)


def batches_are_rows(estimator: Any, rng: np.random.Generator) -> None:
    """A re-iterable of batches is walked like the array it came from."""
    X, y = example(estimator, rng)
    batches: Any = [X[:20], X[20:]] if y is None else [(X[:20], y[:20]), (X[20:], y[20:])]
    with quiet():
        assert_same_predictions(cloned(estimator).fit(batches), learn(estimator, X, y), X)


def far_rows_are_fitted_as_near_ones(estimator: Any, rng: np.random.Generator) -> None:
    """Rows at 1e7 and at 1e8, in memory or in batches, are fitted as well as rows at 0.

    The shift rounds nothing off; means that are stored are rounded, by a fraction of 1e-16 of it. Models of
    counts, and those whose intercept is penalised or zero, do not move with the rows.
    """
    moves = getattr(estimator, "fit_intercept", True) and not getattr(estimator, "penalize_intercept", False)
    if not moves or estimator.__sklearn_tags__().input_tags.positive_only:
        return
    X, y = example(estimator, rng)
    X = np.round(X * 2.0**20) / 2.0**20
    near = predictions(learn(estimator, X, y), X)
    for shift in (2.0**23, 2.0**27):
        far = X + shift
        parts = [slice(start, start + 7) for start in range(0, len(X), 7)]
        batches = [far[part] if y is None else (far[part], y[part]) for part in parts]
        for fitted in (learn(estimator, far, y), learn(estimator, batches, None)):
            assert_close(predictions(fitted, far), near, rtol=64.0 * shift * float(np.finfo(float).eps))


#: Laws of the estimators that are exact in one pass.
ONE_PASS_LAWS = laws_above(globals())


def steps_are_values(estimator: Any, rng: np.random.Generator) -> None:
    """`summarize` of pieces adds up to the E-step; `from_statistic`, an M-step, raises the objective."""
    X, y = example(estimator, rng)
    fitted = learn(estimator, X, y)
    if not hasattr(fitted, "summarize"):
        return
    before = predictions(fitted, X)
    whole = fitted.summarize(X, y)
    halves = [fitted.summarize(*half) for half in _halves(X, y)]
    np.testing.assert_array_equal(predictions(fitted, X), before)
    with quiet():
        one, other = (copy.copy(fitted).from_statistic(s) for s in (whole, halves[0] + halves[1]))
    assert_same_predictions(other, one, X)
    rise = one.summarize(X, y).objective - whole.objective
    assert rise >= -1e-9 * abs(whole.objective), f"an iteration lowered the objective by {-rise}"


#: Laws of the estimators that are exact over several passes.
SEVERAL_PASS_LAWS: tuple[Law, ...] = (batches_are_rows, steps_are_values)


def _fitted(estimator: Any, rng: np.random.Generator) -> tuple[Any, np.ndarray]:
    X, y = example(estimator, rng)
    return estimator.fit(X, y), X[:7]


def summaries_come_from_the_distribution(estimator: Any, rng: np.random.Generator) -> None:
    """`predict`, its standard deviation and `predict_var` are the distribution's own."""
    fitted, X = _fitted(estimator, rng)
    dist = fitted.predict_dist(X)
    mean, stddev = fitted.predict(X, return_std=True)
    np.testing.assert_allclose(mean, dist.mean)
    np.testing.assert_allclose(fitted.predict(X), dist.mean)
    np.testing.assert_allclose(stddev, dist.stddev)
    np.testing.assert_allclose(fitted.predict_var(X), dist.variance)


def _within(fitted: Any, coverages: list[float]) -> list[float]:
    """Return coverages, as parts of the largest where a model has one: K neighbours say no more."""
    return [coverage * getattr(fitted, "max_coverage_", 1.0) for coverage in coverages]


def quantiles_invert_the_cdf(estimator: Any, rng: np.random.Generator) -> None:
    """`predict_quantiles` is (n, len(alpha)); the cdf at a quantile is its level, up to atoms.

    Of K equal atoms the j-th is the quantile of j / (K + 1), a new observation being one of K + 1, and of the
    levels down to that of the atom before: at most two atoms apart from the cdf, j / K.
    """
    fitted, X = _fitted(estimator, rng)
    dist = fitted.predict_dist(X)
    levels = [0.5 - 0.5 * _within(fitted, [0.9])[0], 0.5, 0.5 + 0.5 * _within(fitted, [0.8])[0]]
    quantiles = fitted.predict_quantiles(X, levels)
    assert quantiles.shape == (len(X), 3)
    atoms = 2.0 * np.exp(dist.log_prob(dist.mode)) if dist.discrete else 0.0
    for level, column in zip(levels, quantiles.T, strict=True):
        assert np.all(np.abs(dist.cdf(column) - level) <= 1e-9 * level + atoms)


def intervals_are_equal_tailed(estimator: Any, rng: np.random.Generator) -> None:
    """`predict_interval` is (n, 2), leaves as much above as below, and is wider for a larger coverage."""
    fitted, X = _fitted(estimator, rng)
    few, many = _within(fitted, [0.4, 0.99])
    interval, wide = (fitted.predict_interval(X, coverage=coverage) for coverage in (few, many))
    assert interval.shape == (len(X), 2)
    np.testing.assert_allclose(fitted.predict_quantiles(X, [0.5 - 0.5 * few, 0.5 + 0.5 * few]), interval)
    # The ends of samples of few numbers may be the same for two coverages.
    order = np.less_equal if fitted.predict_dist(X).discrete else np.less
    assert np.all(order(wide[:, 0], interval[:, 0]) & order(interval[:, 1], wide[:, 1]))
    assert np.all(wide[:, 1] - wide[:, 0] > 0.0)


def noise_widens_the_prediction(estimator: Any, rng: np.random.Generator) -> None:
    """At a new row, an observation is less certain than the function behind it, and is the default."""
    fitted, X = _fitted(estimator, rng)
    X = X + 0.1 * rng.standard_normal(X.shape)
    noisy, smooth = fitted.predict_var(X), fitted.predict_var(X, include_noise=False)
    assert np.all(noisy > smooth)
    np.testing.assert_allclose(fitted.predict_var(X, include_noise=True), noisy)


def levels_are_checked(estimator: Any, rng: np.random.Generator) -> None:
    """Coverages and levels outside (0, 1) are one clear error."""
    fitted, X = _fitted(estimator, rng)
    for bad in (0.0, 1.0, -1.0, float("nan")):
        refused(partial(fitted.predict_interval, X, coverage=bad), "coverage")
        refused(partial(fitted.predict_quantiles, X, [0.5, bad]), "alpha")


PREDICTIVE_LAWS = laws_above(globals())


#: Laws that hold by how exact a model is over a stream.
STREAMING_LAWS: dict[str, tuple[Law, ...]] = {
    "exact in one pass": ONE_PASS_LAWS,
    "exact over several passes": SEVERAL_PASS_LAWS,
}


def check_estimator(estimator: Any, rng: Any = 0) -> None:
    """Run every law that applies to an estimator.

    Examples
    --------
    >>> import tractable
    >>> check_estimator(tractable.GaussianDensity())
    """
    for law in ESTIMATOR_LAWS + STREAMING_LAWS.get(estimator.model_tags.streaming, ()):
        law(estimator, as_generator(rng))
