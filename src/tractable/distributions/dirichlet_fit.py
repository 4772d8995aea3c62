"""Maximum likelihood for shares: Newton's method with a Hessian that is diagonal but for a constant."""

from collections.abc import Callable
from typing import Any

from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.special import digamma, gammaln
from tractable.arrays.trigamma import trigamma
from tractable.engines.newton import newton

__all__ = ["fitted_concentration"]


def fitted_concentration(statistic: Any) -> Array:
    """Return the α that maximises log Γ(Σα) - Σ log Γ(α_k) + Σ α_k l_k, where l_k is the mean of log x_k.

    The maximum exists unless all rows are equal: Σ exp(l_k) < 1, by Jensen's inequality.
    """
    xp = namespace_of(statistic.mean)
    mean_log = statistic.mean_log
    gap = -xp.sum(statistic.mean * xp.expm1(-statistic.gap))
    if not float(gap) > 8.0 * float(xp.finfo(gap.dtype).eps):
        raise ValueError("X must hold rows that differ: the likelihood of equal ones has no maximum")
    # Stirling: the best strength is near (K - 1) / 2 log(1 / Σ exp(l_k)), its shares near exp(l_k).
    shares = xp.exp(mean_log)
    strength = -0.5 * (statistic.dim - 1) / xp.log1p(-gap)
    result = newton(
        lambda alpha: _expansion(alpha, mean_log),
        strength * shares / xp.sum(shares),
        value=lambda alpha: _loss(alpha, mean_log),
        tol=1e-14,
        max_iter=200,
    )
    if not result.converged:
        raise ValueError("X has no concentration that could be found: its rows are too nearly equal")
    return result.x


def _loss(alpha: Array, mean_log: Array) -> Any:
    xp = namespace_of(alpha)
    if not bool(xp.all(alpha > 0)):
        return float("inf")
    return xp.sum(gammaln(alpha) - alpha * mean_log) - gammaln(xp.sum(alpha))


def _expansion(alpha: Array, mean_log: Array) -> tuple[Any, Array, Callable[[Array], Array]]:
    xp = namespace_of(alpha)
    total = xp.sum(alpha)
    gradient = digamma(alpha) - digamma(total) - mean_log
    own, common = trigamma(alpha), trigamma(total)

    def solve(g: Array) -> Array:
        """Return (diag(own) - common 1 1ᵀ)⁻¹ g."""
        shift = common * xp.sum(g / own) / (1.0 - common * xp.sum(1.0 / own))
        return (g + shift) / own

    return _loss(alpha, mean_log), gradient, solve
