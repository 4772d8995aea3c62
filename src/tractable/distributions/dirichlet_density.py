"""The Dirichlet density inside the simplex."""

from tractable.arrays.gamma import stirling_error
from tractable.arrays.log_space import LOG_2PI
from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.saddle_point import deviance

__all__ = ["dirichlet_log_density"]


def dirichlet_log_density(x: Array, alpha: Array) -> Array:
    """Return log Γ(Σα) - Σ log Γ(α_k) + Σ (α_k - 1) log x_k for Σ x_k = 1, in Loader's form.

    Large terms cancel on paper, so large α keep their digits. A share of 0 counts as the limit for α_k = 1,
    where x_k^(α_k - 1) = 1 throughout.
    """
    xp = namespace_of(x)
    strength = xp.sum(alpha, axis=-1)
    inside = x > 0
    some = xp.where(inside, x, xp.ones_like(x))
    kernel = -deviance(alpha, strength[..., None] * some) - xp.log(some)
    kernel = xp.where(inside, kernel, 1.0 + xp.log(strength)[..., None])
    scale = 0.5 * xp.log(alpha) - stirling_error(alpha)
    whole = stirling_error(strength) - 0.5 * xp.log(strength) - 0.5 * (alpha.shape[-1] - 1) * LOG_2PI
    return xp.sum(kernel + scale, axis=-1) + whole
