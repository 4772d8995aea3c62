"""What a model answers for some rows, as named columns."""

from typing import Any

import numpy as np

from tractable.value import value

__all__ = ["Answers", "answers_of"]

#: What the answers are called; others go by the method's own name.
NAMES = {"predict": "prediction", "score_samples": "score", "predict_proba": "probability"}


#: What can be asked; of those that a model has, the first is asked when nothing is said.
METHODS = (
    "predict",
    "score_samples",
    "transform",
    "predict_proba",
    "predict_log_proba",
    "predict_var",
    "predict_dist",
    "decision_function",
    "outlier_scores",
)


@value
class Answers:
    """What to ask of a model: a method, the ends of an interval, the probabilities of classes."""

    model: Any
    method: str
    interval: float | None = None
    proba: bool = False

    @property
    def takes_missing(self) -> bool:
        """Whether the model answers for rows with missing entries."""
        return bool(self.model.model_tags.missing_values)

    @property
    def takes_words(self) -> bool:
        """Whether the model reads columns of words."""
        return bool(self.model.__sklearn_tags__().input_tags.string)

    def __call__(self, X: Any) -> dict[str, Any]:
        """Return the answers for some rows, a column a name."""
        found = self._first(getattr(self.model, self.method)(X), len(X))
        if self.proba and self.method != "predict_proba":
            found |= _columns(
                "predict_proba", self.model.predict_proba(X), len(X), self._labels("predict_proba")
            )
        if self.interval is not None:
            ends = np.asarray(self.model.predict_interval(X, coverage=self.interval))
            found |= _columns("low", ends[..., 0], len(X)) | _columns("high", ends[..., 1], len(X))
        return found

    def _first(self, answer: Any, n_rows: int) -> dict[str, Any]:
        if self.method == "predict_dist":
            return _columns("mean", answer.mean, n_rows) | _columns("stddev", answer.stddev, n_rows)
        if self.method == "transform" and hasattr(self.model, "get_feature_names_out"):
            return dict(zip(map(str, self.model.get_feature_names_out()), np.asarray(answer).T, strict=True))
        return _columns(self.method, answer, n_rows, self._labels(self.method))

    def _labels(self, method: str) -> list[str] | None:
        if method not in {"predict_proba", "predict_log_proba"}:
            return None
        labels = getattr(self.model, "classes_", None)
        return None if labels is None else [_name(label) for label in labels]


def answers_of(model: Any, method: str | None, interval: float | None, *, proba: bool) -> Answers:
    """Check what is asked of a model before any row is read."""
    name = type(model).__name__
    offered = [known for known in METHODS if hasattr(model, known)]
    if not offered:
        raise ValueError(f"{name} answers no questions about new rows")
    method = offered[0] if method is None else method
    asked = [method, *(["predict_proba"] if proba else ())]
    lacking = [one for one in asked if one not in offered]
    lacking += ["predict_interval"] if interval is not None and not hasattr(model, "predict_interval") else []
    if lacking:
        raise ValueError(f"{name} has no {lacking[0]}; it has {', '.join(offered)}")
    if interval is not None and not 0.0 < interval < 1.0:
        raise ValueError(f"--interval is a coverage between 0 and 1; got {interval:g}")
    return Answers(model=model, method=method, interval=interval, proba=proba)


def _columns(method: str, found: Any, n_rows: int, labels: list[str] | None = None) -> dict[str, Any]:
    name, found = NAMES.get(method, method), np.asarray(found)
    if found.ndim not in (1, 2) or len(found) != n_rows:
        raise ValueError(f"--method {method} does not answer with a row for each of {n_rows} rows")
    if found.ndim == 1:
        return {name: found}
    labels = [str(k) for k in range(found.shape[1])] if labels is None else labels
    return {f"{name}_{label}": column for label, column in zip(labels, found.T, strict=True)}


def _name(label: Any) -> str:
    """Return what a class is called; whole numbers that were read as fractions are whole."""
    label = label.item() if hasattr(label, "item") else label
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
