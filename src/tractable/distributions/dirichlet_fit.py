"""Maximum likelihood for shares: Newton's method with a Hessian that is diagonal but for a constant."""

from collections.abc import Callable
from typing import Any

from tractable.arrays.gamma import log_minus_digamma, trigamma
from tractable.arrays.namespace import Array, namespace_of
from tractable.distributions.dirichlet_density import dirichlet_log_density
from tractable.engines.newton import newton

__all__ = ["fitted_concentration"]


def fitted_concentration(statistic: Any) -> Array:
    """Return the α that maximises log Γ(Σα) - Σ log Γ(α_k) + Σ α_k l_k, where l_k is the mean of log x_k.

    The maximum exists unless all rows are equal: Σ exp(l_k) < 1, by Jensen's inequality.
    """
    xp = namespace_of(statistic.mean)
    gap = -xp.sum(statistic.mean * xp.expm1(-statistic.gap))
    if not float(gap) > 8.0 * float(xp.finfo(gap.dtype).eps):
        raise ValueError("X must hold rows that differ: the likelihood of equal ones has no maximum")
    # Stirling: the best strength is near (K - 1) / 2 log(1 / Σ exp(l_k)), its shares near exp(l_k).
    shares = xp.exp(statistic.mean_log)
    strength = -0.5 * (statistic.dim - 1) / xp.log1p(-gap)
    result = newton(
        lambda alpha: _expansion(alpha, statistic),
        strength * shares / xp.sum(shares),
        value=lambda alpha: _loss(alpha, statistic),
        tol=1e-14,
        max_iter=200,
    )
    if not result.converged:
        raise ValueError("X has no concentration that could be found: its rows are too nearly equal")
    return result.x


def _loss(alpha: Array, statistic: Any) -> Any:
    """Return minus the mean log density: that at the mean row, and what is lost by the spread of rows."""
    xp = namespace_of(alpha)
    if not bool(xp.all(alpha > 0)):
        return float("inf")
    return xp.sum((alpha - 1.0) * statistic.gap) - dirichlet_log_density(statistic.mean, alpha)


def _expansion(alpha: Array, statistic: Any) -> tuple[Any, Array, Callable[[Array], Array]]:
    xp = namespace_of(alpha)
    total = xp.sum(alpha)
    # ψ(α_k) - ψ(Σα) - l_k, with the logarithms taken together: their differences are small when α is large.
    log_ratio = xp.log1p((alpha - total * statistic.mean) / (total * statistic.mean))
    gradient = log_ratio + statistic.gap - log_minus_digamma(alpha) + log_minus_digamma(total)
    own, common = trigamma(alpha), trigamma(total)

    def solve(g: Array) -> Array:
        """Return (diag(own) - common 1 1ᵀ)⁻¹ g."""
        shift = common * xp.sum(g / own) / (1.0 - common * xp.sum(1.0 / own))
        return (g + shift) / own

    return _loss(alpha, statistic), gradient, solve
