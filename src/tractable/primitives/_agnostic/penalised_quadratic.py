"""See `tractable.primitives.penalised_quadratic`."""

from tractable.arrays.namespace import Array, namespace_of

__all__ = ["coordinate_sweeps"]


def coordinate_sweeps(
    hessian: Array, slope: Array, price: Array, x: Array, n_sweeps: int
) -> tuple[Array, Array]:
    """See `tractable.primitives.penalised_quadratic.coordinate_sweeps`."""
    xp = namespace_of(hessian)
    u, q = xp.asarray(x, copy=True), xp.asarray(slope, copy=True)
    for _ in range(n_sweeps):
        for j in range(u.shape[0]):
            a = hessian[j, j]
            if not bool(a > 0):
                continue
            pull = a * u[j] - q[j]
            rest = xp.sign(pull) * xp.clip(xp.abs(pull) - price[j], 0.0, None) / a
            q = q + (rest - u[j]) * hessian[j, :]
            u[j] = rest
    return u, q
