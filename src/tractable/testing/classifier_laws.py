"""Laws of classifiers: probabilities, decisions, scores and labels are consistent."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tractable.testing.assertions import laws_above
from tractable.testing.estimator_laws import N_COLUMNS, cloned, learn, quiet, refusal

#: Labels in whose order the codes 0, 1, 2 stand.
WORDS = np.array(["ash", "birch", "cedar"])


def _rows(estimator: Any, rng: np.random.Generator, n_classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Return rows that the estimator is for, of classes that overlap, all of them seen."""
    codes = np.arange(60) % n_classes
    centres = 2.0 * rng.standard_normal((n_classes, N_COLUMNS))
    X = centres[codes] + rng.standard_normal((60, N_COLUMNS)) + 4.0
    takes = estimator.__sklearn_tags__().input_tags
    return (np.round(np.maximum(X, 0.0)) if takes.positive_only or takes.categorical else X), codes


def _most(estimator: Any) -> int:
    """Return the largest number of classes to fit: three, or two of a binary model."""
    return 3 if estimator.__sklearn_tags__().classifier_tags.multi_class else 2


def _fitted(estimator: Any, rng: np.random.Generator, n_classes: int = 3) -> tuple[Any, np.ndarray]:
    X, codes = _rows(estimator, rng, n_classes)
    return learn(estimator, X, WORDS[codes]), X


def _fits(estimator: Any, rng: np.random.Generator) -> Iterator[tuple[Any, np.ndarray]]:
    """Fit the estimator to two classes, and to three where it takes them; yield it with the rows."""
    return (_fitted(estimator, rng, n_classes) for n_classes in range(2, _most(estimator) + 1))


def probabilities_sum_to_one(estimator: Any, rng: np.random.Generator) -> None:
    """p(C_k | x) is not negative and sums to one; `predict_log_proba` is its logarithm."""
    for fitted, X in _fits(estimator, rng):
        if not hasattr(fitted, "predict_proba"):
            return
        p = fitted.predict_proba(X)
        assert p.shape == (len(X), len(fitted.classes_))
        assert np.all(p >= 0.0)
        np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
        if hasattr(fitted, "predict_log_proba"):
            with np.errstate(divide="ignore"):
                np.testing.assert_allclose(fitted.predict_log_proba(X), np.log(p), atol=1e-9)


def the_most_probable_class_is_predicted(estimator: Any, rng: np.random.Generator) -> None:
    """`predict` is the largest probability, the best score, and the decision of least 0-1 loss."""
    for fitted, X in _fits(estimator, rng):
        said = fitted.predict(X)
        if hasattr(fitted, "decision_function"):
            scores = fitted.decision_function(X)
            best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
            np.testing.assert_array_equal(said, fitted.classes_[best])
        if hasattr(fitted, "predict_proba"):
            p = fitted.predict_proba(X)
            np.testing.assert_allclose(p[np.arange(len(X)), _codes(fitted, said)], p.max(axis=1), rtol=1e-12)
            np.testing.assert_array_equal(fitted.predict_dist(X).probabilities, p)
            np.testing.assert_array_equal(fitted.decide(X), fitted.classes_[p.argmax(axis=1)])


def every_finite_row_is_answered(estimator: Any, rng: np.random.Generator) -> None:
    """However far away a row is, probabilities sum to one, scores are not NaN, and all are consistent.

    Where no class explains it, classes are as probable as before it was seen, or the nearest is. Beyond
    1e150, where squares are no numbers, a ValueError that says so is allowed.
    """
    takes = estimator.__sklearn_tags__().input_tags
    if takes.categorical:
        return
    for n_classes in range(2, _most(estimator) + 1):
        X, codes = _rows(estimator, rng, n_classes)
        some = (codes == 0) | (np.arange(len(codes)) < 30)
        fitted = learn(estimator, X[some], WORDS[codes[some]])
        towards = np.ones((8, N_COLUMNS)) if takes.positive_only else np.sign(X[:8] - 4.0)
        for size in (1e5, 1e100, 1e200, 1e300):
            with np.errstate(all="raise", under="ignore"):
                try:
                    fitted.predict(towards * size)
                except ValueError as error:
                    assert size > 1e150 and "overflow" in str(error), error  # noqa: PT018
                else:
                    _is_consistent(fitted, towards * size)


def _is_consistent(fitted: Any, rows: np.ndarray) -> None:
    said = _codes(fitted, fitted.predict(rows))
    if hasattr(fitted, "decision_function"):
        scores = fitted.decision_function(rows)
        assert not np.isnan(scores).any(), f"decision_function is NaN at {rows[0]}"
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        np.testing.assert_array_equal(said, best)
    if not hasattr(fitted, "predict_proba"):
        return
    p = fitted.predict_proba(rows)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(p[np.arange(len(p)), said], p.max(axis=1), rtol=1e-12)
    if hasattr(fitted, "predict_log_proba"):
        np.testing.assert_allclose(np.exp(fitted.predict_log_proba(rows)), p, atol=1e-9)
    if hasattr(fitted, "predict_joint_log_proba"):
        joint = fitted.predict_joint_log_proba(rows)
        assert not np.isnan(joint).any()
        assert not np.isnan(fitted.score_samples(rows)).any()
        if np.ptp(fitted.class_prior_) > 0.1:
            unexplained = p[joint.max(axis=1) == -np.inf]
            assert np.all(np.ptp(unexplained, axis=1) > 0.1), "a row that no class explains changed the prior"


def decisions_follow_their_losses(estimator: Any, rng: np.random.Generator) -> None:
    """A class whose neglect costs all is always decided for; a free rejection takes every doubtful row."""
    fitted, X = _fitted(estimator, rng, _most(estimator))
    if not hasattr(fitted, "decide"):
        return
    grave = 1.0 - np.eye(len(fitted.classes_))
    grave[1] *= 1e300
    some = fitted.predict_proba(X)[:, 1] > 1e-200
    assert np.all(fitted.decide(X, loss=grave)[some] == WORDS[1])
    undecided = fitted.decide(X, reject_loss=0.0)
    doubtful = fitted.predict_proba(X).max(axis=1) < 1.0
    assert all(label is None for label in undecided[doubtful])
    for shape in ((1, 1), (0, 1)):  # of other classes, and of decisions that are for no class
        with refusal("loss", fitted):
            fitted.decide(X, loss=np.ones(np.add(len(fitted.classes_), shape)))
    with refusal("reject_loss", fitted):
        fitted.decide(X, reject_loss=np.nan)


def labels_are_names(estimator: Any, rng: np.random.Generator) -> None:
    """Words, whole numbers, truth values and dates name classes, keep their type, and are nothing else."""
    for n in range(2, _most(estimator) + 1):
        X, codes = _rows(estimator, rng, n)
        plain = learn(estimator, X, codes)
        for labels in _names(n):
            named = learn(estimator, X, labels[codes])
            np.testing.assert_array_equal(named.classes_, labels)
            assert named.classes_.dtype == labels.dtype, f"{labels.dtype} became {named.classes_.dtype}"
            said = named.predict(X)
            assert said.dtype == labels.dtype, f"{labels.dtype} became {said.dtype}"
            np.testing.assert_array_equal(said, labels[plain.predict(X)])
            if hasattr(named, "predict_proba"):
                np.testing.assert_allclose(named.predict_proba(X), plain.predict_proba(X), atol=1e-12)


def _names(n: int) -> Iterator[np.ndarray]:
    yield WORDS[:n]
    yield WORDS[:n].astype(object)
    yield np.array([-7, 12, 40], dtype=np.int8)[:n]
    yield np.array(["2001-02-03", "2010-01-01", "2020-12-31"], dtype="datetime64[ns]")[:n]
    if n == 2:
        yield np.array([False, True])


def bad_labels_are_one_clear_error(estimator: Any, rng: np.random.Generator) -> None:
    """Missing labels, numbers that are no labels and mixed kinds are refused, however rows are given.

    The ValueError names y, and nothing changes.
    """
    import pandas as pd

    X, codes = _rows(estimator, rng, _most(estimator))
    fitted = learn(estimator, X, codes)
    words = WORDS[codes]
    gaps = np.where(codes == 0, np.nan, codes)
    nones = np.where(codes == 0, None, words)
    kinds = np.where(codes == 0, 0, words.astype(object))
    for bad in (gaps, nones, kinds, codes + 0.5 * rng.standard_normal(len(codes))):
        with _refused_labels(fitted):
            fitted.fit(X, bad)
        with _refused_labels(fitted):
            fitted.fit([(X[:30], bad[:30]), (X[30:], bad[30:])])
        with _refused_labels(fitted):
            fitted.fit(pd.DataFrame(X, columns=[f"x{j}" for j in range(N_COLUMNS)]).assign(y=bad), "y")
    several = fitted.__sklearn_tags__().classifier_tags.multi_label
    tables = () if several else (np.eye(3)[codes],)
    for bad in (pd.array(nones, dtype="string"), pd.Categorical(nones), codes[:-1], *tables):
        with _refused_labels(fitted):
            fitted.fit(X, bad)
    for batches in ([X[:30], X[30:]], [(X[:30], words[:30]), (X[30:], codes[30:])]):
        with _refused_labels(fitted):
            fitted.fit(batches)


@contextmanager
def _refused_labels(fitted: Any) -> Iterator[None]:
    with quiet(), refusal("y", fitted):
        try:
            yield
        except ValueError as error:
            assert re.search(r"\by\b", str(error)), f"the error does not name y: {error}"
            raise


def classes_that_weigh_nothing_are_not_there(estimator: Any, rng: np.random.Generator) -> None:
    """A class all of whose rows have weight zero is unknown."""
    X, codes = _rows(estimator, rng)
    weighted = learn(estimator, X, WORDS[codes], sample_weight=(codes != 2).astype(float))
    assert list(weighted.classes_) == ["ash", "birch"]
    some = codes != 2
    np.testing.assert_array_equal(
        weighted.predict(X), learn(estimator, X[some], WORDS[codes[some]]).predict(X)
    )


def what_converged_is_optimal(estimator: Any, rng: np.random.Generator) -> None:
    """A search that converged satisfies the conditions of optimality."""
    for fitted, _ in _fits(estimator, rng):
        if getattr(fitted, "converged_", False) and hasattr(fitted, "kkt_"):
            assert fitted.kkt_ <= 1e-6


def generative_models_obey_bayes(estimator: Any, rng: np.random.Generator) -> None:
    """The joint p(x, C_k) is prior times class-conditional, p(x) their sum; rows drawn have classes."""
    fitted, X = _fitted(estimator, rng, _most(estimator))
    if not hasattr(fitted, "predict_joint_log_proba"):
        return
    joint = fitted.predict_joint_log_proba(X)
    whole = np.logaddexp.reduce(joint, axis=1)
    np.testing.assert_allclose(joint - whole[:, None], fitted.predict_log_proba(X), atol=1e-9)
    np.testing.assert_allclose(fitted.score_samples(X), whole, rtol=1e-10)
    np.testing.assert_allclose(fitted.class_prior_.sum(), 1.0)
    if hasattr(fitted, "sample"):
        drawn, labels = fitted.sample(6, random_state=0)
        assert np.shape(drawn) == (6, N_COLUMNS)
        assert set(labels) <= set(WORDS)


def samples_are_of_their_classes(estimator: Any, rng: np.random.Generator) -> None:
    """Of rows drawn, classes have the frequencies of their prior and of their predicted probabilities.

    Under the model, y = k less p(C_k | x) is zero on average, whatever it is multiplied by that x decides.
    """
    X, codes = _rows(estimator, rng, _most(estimator))
    some = (codes == 0) | (np.arange(len(codes)) < 30)
    fitted = learn(estimator, X[some], WORDS[codes[some]])
    if not hasattr(fitted, "sample"):
        return
    drawn, labels = fitted.sample(2000, random_state=rng)
    assert labels.dtype == fitted.classes_.dtype
    is_class = (labels[:, None] == fitted.classes_).astype(float)
    np.testing.assert_array_equal(is_class.sum(axis=1), 1.0)
    p = fitted.predict_proba(drawn)
    for residual in (is_class - fitted.class_prior_, is_class - p, (is_class - p) * p):
        error = 5.0 * residual.std(axis=0) / np.sqrt(len(labels)) + 1e-9
        assert np.all(np.abs(residual.mean(axis=0)) <= error), "labels drawn are not those of the rows"


def pieces_may_lack_classes(estimator: Any, rng: np.random.Generator) -> None:
    """A stream sorted by class is learned as any other, with the classes declared or not."""
    if not hasattr(estimator, "partial_fit"):
        return
    X, codes = _rows(estimator, rng)
    order = np.argsort(codes, kind="stable")
    if estimator.model_tags.streaming != "exact in one pass":
        return
    whole = learn(estimator, X, WORDS[codes])
    for classes in (None, WORDS):
        streamed = cloned(estimator)
        with quiet():
            for part in np.array_split(order, 4):
                streamed.partial_fit(X[part], WORDS[codes[part]], classes=classes)
        np.testing.assert_array_equal(streamed.classes_, WORDS)
        np.testing.assert_array_equal(streamed.predict(X), whole.predict(X))


#: Laws of every classifier.
CLASSIFIER_LAWS = laws_above(globals())


def _codes(fitted: Any, labels: np.ndarray) -> np.ndarray:
    return np.searchsorted(fitted.classes_, labels)
