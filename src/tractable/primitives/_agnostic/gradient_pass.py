"""See `tractable.primitives.gradient_pass`."""

from tractable.arrays.namespace import Array, namespace_of

__all__ = ["gradient_pass"]


def gradient_pass(
    rows: Array, targets: Array, weights: Array, steps: Array, batch_size: int, start: Array
) -> tuple[Array, Array, float]:
    """See `tractable.primitives.gradient_pass.gradient_pass`."""
    xp = namespace_of(rows)
    w, total, squared = start, xp.zeros_like(start), 0.0
    for b in range(steps.shape[0]):
        first, last = b * batch_size, min((b + 1) * batch_size, rows.shape[0])
        phi = rows[first:last, :]
        error = targets[first:last] - phi @ w
        pull = weights[first:last] * error
        squared += float(xp.sum(pull * error))
        w = w + steps[b] * (pull @ phi) / (last - first)
        total = total + w
    return w, total, squared
