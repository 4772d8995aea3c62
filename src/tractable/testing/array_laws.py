"""Laws of functions of arrays: the same result in every library, in the library of the arguments."""

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of, to_numpy
from tractable.testing.assertions import check_laws, laws_above
from tractable.value import value


@value
class ArrayFunction:
    """A function under examination: how to draw its arguments, and how to bring them to a library."""

    function: Callable[..., Any]
    draw: Callable[[np.random.Generator], tuple[np.ndarray, ...]]
    asarray: Callable[[np.ndarray], Array] = np.asarray

    def arguments(self, rng: np.random.Generator, dtype: Any = np.float64) -> list[Array]:
        """Draw the arguments, as arrays of the library."""
        return [self.asarray(x.astype(dtype)) for x in self.draw(rng)]


def _arrays(result: Any) -> Iterator[Array]:
    """Walk the arrays of a result: an array, a tuple of them, or a value made of them."""
    if is_dataclass(result):
        result = tuple(getattr(result, field.name) for field in fields(result))
    if isinstance(result, tuple):
        for part in result:
            yield from _arrays(part)
    else:
        yield result


def results_are_of_the_same_library(instance: ArrayFunction, rng: np.random.Generator) -> None:
    """Arrays come back as arrays of the same library, on the same device."""
    given = instance.arguments(rng)
    for array in _arrays(instance.function(*given)):
        found = namespace_of(array)
        assert found is namespace_of(*given), (
            f"{found.__name__} came back for {namespace_of(*given).__name__}"
        )
        # A host number would pass for a NumPy array above: the library's own arrays are of its own type.
        assert isinstance(array, (type(given[0]), np.generic)), f"{type(array).__name__} came back"
        assert device(array) == device(given[0]), f"{device(array)} is not {device(given[0])}"


def precision_is_preserved(instance: ArrayFunction, rng: np.random.Generator) -> None:
    """Float32 gives float32 and float64 gives float64; truth values stay truth values."""
    for dtype in (np.float32, np.float64):
        given = instance.arguments(rng, dtype)
        for array in _arrays(instance.function(*given)):
            kind = array.dtype
            is_bool = namespace_of(array).isdtype(kind, "bool")
            assert is_bool or kind == given[0].dtype, f"{given[0].dtype} became {kind}"


def arguments_are_left_alone(instance: ArrayFunction, rng: np.random.Generator) -> None:
    """The caller's arrays are the same after the call, bit for bit."""
    given = instance.arguments(rng)
    before = [to_numpy(x).copy() for x in given]
    instance.function(*given)
    for x, kept in zip(given, before, strict=True):
        assert np.array_equal(to_numpy(x), kept), "an argument was changed"


def results_are_those_of_numpy(instance: ArrayFunction, rng: np.random.Generator) -> None:
    """Every library gives NumPy's answer."""
    drawn = instance.draw(rng)
    theirs = _arrays(instance.function(*[instance.asarray(x) for x in drawn]))
    ours = _arrays(instance.function(*drawn))
    for a, b in zip(theirs, ours, strict=True):
        np.testing.assert_allclose(to_numpy(a), b, rtol=1e-10, atol=1e-12)


def batch_is_a_loop(instance: ArrayFunction, rng: np.random.Generator) -> None:
    """A stack of arguments gives the stack of the answers."""
    draws = [[instance.draw(rng) for _ in range(3)] for _ in range(2)]
    stacked = [
        instance.asarray(np.stack([np.stack([one[i] for one in row]) for row in draws]))
        for i in range(len(draws[0][0]))
    ]
    together = list(_arrays(instance.function(*stacked)))
    for i, row in enumerate(draws):
        for j, one in enumerate(row):
            alone = _arrays(instance.function(*[instance.asarray(x) for x in one]))
            for a, b in zip(together, alone, strict=True):
                assert tuple(a.shape) == (2, 3, *b.shape), f"shape {a.shape} for a batch (2, 3) of {b.shape}"
                np.testing.assert_allclose(to_numpy(a)[i, j], to_numpy(b), rtol=1e-10, atol=1e-12)


ARRAY_LAWS = laws_above(globals())


def check_array_function(instance: ArrayFunction, rng: Any = 0) -> None:
    """Run every law on a function of arrays.

    Examples
    --------
    >>> import numpy as np
    >>> check_array_function(ArrayFunction(function=lambda x: x + 1.0, draw=lambda rng: (rng.random(3),)))
    """
    check_laws(ARRAY_LAWS, instance, rng)
