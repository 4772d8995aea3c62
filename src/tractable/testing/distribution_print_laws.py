"""Laws of distributions as text."""

from typing import Any

import numpy as np

from tractable.testing.events import parts
from tractable.value import parameters

__all__ = ["PRINT_LAWS"]


def repr_rebuilds(d: Any, rng: np.random.Generator) -> None:
    """What is printed is the call that makes the value: evaluated, it is the same to the last bit."""
    names = {**vars(np), **_classes(d)}
    with np.printoptions(precision=17, floatmode="unique", threshold=10**6):
        written = repr(d)
    try:
        again = eval(written, names)  # noqa: S307
    except (NameError, SyntaxError, TypeError, ValueError) as error:
        raise AssertionError(f"{written} does not rebuild the value: {error}") from error
    assert type(again) is type(d)
    assert again.batch_shape == d.batch_shape
    x = d.sample(5, rng=rng)
    np.testing.assert_array_equal(again.log_prob(x), d.log_prob(x))
    for ours, theirs in zip(parts(d.sample(3, rng=1)), parts(again.sample(3, rng=1)), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def _classes(x: Any) -> dict[str, Any]:
    """Return the classes of a value and of the values it is made of, by name."""
    if isinstance(x, tuple):
        return {name: cls for part in x for name, cls in _classes(part).items()}
    if not hasattr(x, "__dataclass_fields__"):
        return {}
    return {type(x).__name__: type(x), **_classes(tuple(parameters(x).values()))}


PRINT_LAWS = (repr_rebuilds,)
