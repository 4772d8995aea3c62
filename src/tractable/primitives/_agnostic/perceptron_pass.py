"""See `tractable.primitives.perceptron_pass`."""

from tractable.arrays.namespace import Array, device, namespace_of

__all__ = ["perceptron_pass"]


def perceptron_pass(
    rows: Array, codes: Array, weights: Array, start: Array
) -> tuple[Array, Array, float, float]:
    """See `tractable.primitives.perceptron_pass.perceptron_pass`."""
    xp = namespace_of(rows)
    places = xp.arange(start.shape[0], device=device(start))
    planes, total, mistakes = start, xp.zeros_like(start), 0.0
    for i in range(rows.shape[0]):
        left, own = float(weights[i]), int(codes[i])
        blank = not bool(xp.any(rows[i, :] != 0.0))
        while left > 0.0:
            scores = planes @ rows[i, :]
            others = xp.where(places == own, -xp.inf, scores)
            rival = int(xp.argmax(others))
            wrong = float(others[rival]) >= float(scores[own])
            share = min(left, 1.0) if wrong and not blank else left
            mistakes += share if wrong else 0.0
            if wrong and not blank:
                step = xp.astype(places == own, rows.dtype) - xp.astype(places == rival, rows.dtype)
                planes = planes + share * step[:, None] * rows[i, :]
            total = total + share * planes
            left -= share
    return planes, total, mistakes, float(xp.sum(weights))
