"""The estimators of the library by name."""

import inspect
from typing import Any

from tractable import PUBLIC
from tractable.cli.nearest import unknown

__all__ = ["KINDS", "described", "model_class", "model_classes"]

#: What users call scikit-learn's kinds of estimators, in the order of the list.
KINDS = {
    "regressor": "regression",
    "classifier": "classification",
    "density_estimator": "density",
    "clusterer": "clustering",
    "transformer": "features",
    None: "search",
}


def model_class(name: str) -> Any:
    """Return an estimator's class, or say which name was meant."""
    import tractable

    found = getattr(tractable, name) if name in PUBLIC else None
    if not _is_estimator(found):
        raise unknown("model", name, model_classes(), otherwise="`tractable models` lists them")
    return found


def model_classes() -> dict[str, Any]:
    """Return every estimator there is, in the order of names."""
    import tractable

    found = {name: getattr(tractable, name) for name in sorted(PUBLIC, key=str.lower)}
    return {name: kind for name, kind in found.items() if _is_estimator(kind)}


def described(kind: Any) -> dict[str, Any]:
    """Return what a model is and can do; None where that depends on parameters that it must be given.

    Examples
    --------
    >>> import tractable
    >>> described(tractable.GaussianDensity)["kind"]
    'density'
    """
    needed = [p for p in inspect.signature(kind).parameters.values() if p.default is p.empty]
    model = None if needed else kind()
    tags = None if model is None else model.model_tags
    return {
        "name": kind.__name__,
        "kind": _kind(kind, model),
        "streaming": None if tags is None else tags.streaming,
        "missing_values": None if tags is None else tags.missing_values,
        "text": None if model is None else bool(model.__sklearn_tags__().input_tags.string),
        "description": (inspect.getdoc(kind) or "").splitlines()[0],
        "parameters": list(inspect.signature(kind).parameters),
    }


def _kind(kind: Any, model: Any) -> str:
    if hasattr(kind, "predict_proba") and hasattr(kind, "decide"):
        return KINDS["classifier"]
    found = None if model is None else model.__sklearn_tags__().estimator_type
    return KINDS["transformer" if found is None and hasattr(kind, "transform") else found]


def _is_estimator(found: Any) -> bool:
    from tractable.base import Estimator

    return inspect.isclass(found) and issubclass(found, Estimator)
