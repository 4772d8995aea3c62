"""Numbers as unevaluated sums of two floats: 32 digits, from error-free sums and products."""

from tractable.arrays.exact import two_product, two_sum
from tractable.arrays.namespace import Array, namespace_of

__all__ = ["Pair", "dd_add", "dd_multiply", "dd_sum"]

#: The number high + low, with low below the last digit of high.
Pair = tuple[Array, Array]


def dd_add(a: Pair, b: Pair) -> Pair:
    """Return a + b.

    Examples
    --------
    >>> import numpy as np
    >>> high, low = dd_add((np.array(1e16), np.array(0.25)), (np.array(0.5), np.array(0.0)))
    >>> float(high), float(low)
    (1e+16, 0.75)
    """
    high, low = two_sum(a[0], b[0])
    return two_sum(high, low + (a[1] + b[1]))


def dd_multiply(a: Pair, b: Pair) -> Pair:
    """Return a b.

    Examples
    --------
    >>> import numpy as np
    >>> third = np.array(1 / 3), np.array(1 / 3 * 2.0**-54)
    >>> high, low = dd_multiply(third, (np.array(3.0), np.array(0.0)))
    >>> float(high), bool(abs(low) < 1e-30)
    (1.0, True)
    """
    high, low = two_product(a[0], b[0])
    return two_sum(high, low + (a[0] * b[1] + a[1] * b[0]))


def dd_sum(a: Pair) -> Pair:
    """Return the sum over the first axis, by halves.

    Examples
    --------
    >>> import numpy as np
    >>> high, low = dd_sum((np.array([1e16, 1.0, -1e16]), np.zeros(3)))
    >>> float(high + low)
    1.0
    """
    high, low = a
    if not high.shape[0]:
        return namespace_of(high).sum(high, axis=0), namespace_of(low).sum(low, axis=0)
    while (n := high.shape[0]) > 1:
        half = n // 2
        first, second = (
            (high[:half, ...], low[:half, ...]),
            (high[half : 2 * half, ...], low[half : 2 * half, ...]),
        )
        folded = dd_add(first, second)
        xp = namespace_of(high)
        high, low = (
            xp.concat([new, old[2 * half :, ...]]) for new, old in zip(folded, (high, low), strict=True)
        )
    return high[0, ...], low[0, ...]
