"""Modes of mixtures of normal vectors: mean-shift from every mean, then Newton, all starts at once."""

from typing import Any

from tractable.arrays.linalg import cholesky, solve_triangular, symmetrize
from tractable.arrays.namespace import Array, namespace_of

__all__ = ["normal_modes"]

#: Mean-shift steps before Newton's: enough to find the nearest hill.
N_SHIFTS = 100

#: The most steps of Newton's method, and the most halvings of one.
N_STEPS, N_HALVINGS = 100, 40

#: Two ends of a search within so many standard deviations are one mode.
SAME = 1e-4

#: Two ends within so many are one where there is no valley between them: a summit may be all but flat.
NEAR = 0.1

#: How far, in units of the components' precision, the curvature at a maximum may be on the wrong side of 0.
FLAT = 1e-6


def normal_modes(mixture: Any, x: Array) -> Array:
    """Ascend from every start (n, d); return the maxima, or the best point where rounding leaves none."""
    xp = namespace_of(x)
    hills = _Hills(mixture)
    for _ in range(N_SHIFTS):
        x = hills.shifted(x)
    x = _ascended(hills, x)
    x = xp.take(x, xp.argsort(-mixture.log_prob(x), stable=True), axis=0)
    least = xp.min(hills.curvatures(x)[0], axis=-1)
    maxima = xp.nonzero(least > -FLAT)[0]
    return _distinct(hills, xp.take(x, maxima, axis=0) if maxima.shape[0] else x[:1, :])


class _Hills:
    """log p and its derivatives: with v_k = Λ_k (μ_k - x), -∇² = Σ r_k (Λ_k - v_k v_kᵀ) + g gᵀ."""

    def __init__(self, mixture: Any) -> None:
        xp = namespace_of(mixture.weights)
        self.mixture = mixture
        self.precisions = mixture.components.precision
        self.flat = xp.reshape(self.precisions, (self.precisions.shape[0], -1))
        self.pulls = (self.precisions @ mixture.components.mean[..., None])[..., 0]

    def precision(self, r: Array) -> Array:
        """Return Σ r_k Λ_k, (n, d, d)."""
        d = self.precisions.shape[-1]
        return namespace_of(r).reshape(r @ self.flat, (-1, d, d))

    def shifted(self, x: Array) -> Array:
        """One step of mean-shift (of EM for x): the mean of the means, weighted by r_k Λ_k."""
        r = self.mixture.responsibilities(x)
        return namespace_of(x).linalg.solve(self.precision(r), (r @ self.pulls)[..., None])[..., 0]

    def expansion(self, x: Array) -> tuple[Array, Array, Array, Array]:
        """Return log p (n,), its gradient (n, d), minus its Hessian and the mean precision (n, d, d)."""
        xp = namespace_of(x)
        r = self.mixture.responsibilities(x)
        steps = xp.permute_dims(self.mixture.components.mean[:, None, :] - x, (0, 2, 1))
        v = xp.permute_dims(self.precisions @ steps, (2, 0, 1))
        g = xp.sum(r[..., None] * v, axis=1)
        precision = self.precision(r)
        spread = xp.matrix_transpose(v) @ (r[..., None] * v)
        return self.mixture.log_prob(x), g, precision - spread + g[:, :, None] * g[:, None, :], precision

    def curvatures(self, x: Array) -> tuple[Array, Array]:
        """Return the eigenvalues of -∇² log p where the mean precision is 1, (n, d), and Newton's step."""
        xp = namespace_of(x)
        _, g, hessian, precision = self.expansion(x)
        lower = cholesky(precision)
        scaled = solve_triangular(lower, xp.matrix_transpose(solve_triangular(lower, hessian)))
        values, vectors = xp.linalg.eigh(symmetrize(scaled))
        sizes = xp.abs(values)
        floor = float(xp.finfo(x.dtype).eps) ** 0.5
        sizes = xp.where(sizes > floor, sizes, xp.full_like(sizes, floor))[..., None]
        white = vectors @ (xp.matrix_transpose(vectors) @ solve_triangular(lower, g[..., None]) / sizes)
        return values, xp.linalg.solve(xp.matrix_transpose(lower), white)[..., 0]


def _ascended(hills: _Hills, x: Array) -> Array:
    """Newton's method with |∇²|: each step halved until log p rises or, where level, the slope shrinks."""
    xp = namespace_of(x)
    for _ in range(N_STEPS):
        height, g, _, _ = hills.expansion(x)
        step = hills.curvatures(x)[1]
        level = 8.0 * float(xp.finfo(x.dtype).eps) * xp.abs(height)
        open_, length = xp.ones_like(height) > 0, 1.0
        moved = ~open_
        for _ in range(N_HALVINGS):
            tried = x + length * step
            there, slope, _, _ = hills.expansion(tried)
            flatter = xp.sum(slope * slope, axis=-1) < 0.25 * xp.sum(g * g, axis=-1)
            good = open_ & ((there > height + level) | ((there >= height - level) & flatter))
            x = xp.where(good[:, None], tried, x)
            moved, open_ = moved | good, open_ & ~good
            length *= 0.5
            open_ = open_ & (length * xp.sum(g * step, axis=-1) > level)
            if not bool(xp.any(open_)):
                break
        if not bool(xp.any(moved)):
            break
    return x


def _distinct(hills: _Hills, x: Array) -> Array:
    """Keep the first of the points that are one mode."""
    xp = namespace_of(x)
    precision = hills.precision(hills.mixture.responsibilities(x))
    kept = x[:1, :]
    for i in range(1, x.shape[0]):
        step = kept - x[i, :]
        squared = xp.sum((step @ precision[i, ...]) * step, axis=-1)
        near = xp.nonzero(squared <= NEAR**2)[0]
        if bool(xp.any(squared <= SAME**2)):
            continue
        if all(_valley(hills.mixture, kept[int(j), :], x[i, :]) for j in near):
            kept = xp.concat([kept, x[i : i + 1, :]])
    return kept


def _valley(mixture: Any, a: Array, b: Array) -> bool:
    """Whether the density half-way between two points is lower than at both."""
    middle, ends = mixture.log_prob(0.5 * (a + b)), (mixture.log_prob(a), mixture.log_prob(b))
    return bool(middle < min(ends) - 8.0 * namespace_of(a).finfo(a.dtype).eps * abs(middle))
