"""What a model is and what it can do, said once for people and for programs."""

from typing import Any, Literal

from tractable.value import value

__all__ = ["ModelTags", "tags"]


@value
class ModelTags:
    """What kind of model an estimator is.

    Parameters
    ----------
    kind : {"generative", "discriminative", "mapping"}
        Generative models describe p(x), discriminative ones p(y given x); a mapping has no likelihood.
    parametric : bool
        Whether the size of the fitted model is independent of the number of rows.
    streaming : {"exact in one pass", "exact over several passes", "approximate", "no"}
        What `partial_fit` and sources give, compared with the rows held in memory.
    missing_values : bool
        Whether NaN entries are marginalised.
    """

    kind: Literal["generative", "discriminative", "mapping"]
    parametric: bool
    streaming: Literal["exact in one pass", "exact over several passes", "approximate", "no"]
    missing_values: bool = False


def tags(estimator: Any) -> ModelTags:
    """Return what kind of model an estimator is.

    Examples
    --------
    >>> import tractable
    >>> tractable.tags(tractable.GaussianDensity()).streaming
    'exact in one pass'
    """
    found = getattr(estimator, "model_tags", None)
    if not isinstance(found, ModelTags):
        raise ValueError(f"estimator must be one of this library's models, got {type(estimator).__name__}")
    return found
