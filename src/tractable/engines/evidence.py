"""The evidence of a model with a latent variable: its lower bound, and the divergence between them."""

from typing import Any

from tractable.arrays.log_space import log_softmax, log_sum_exp
from tractable.arrays.namespace import Array, as_float_array, namespace_of
from tractable.arrays.weights import check_weights
from tractable.value import value


@value
class EvidenceDecomposition:
    """The decomposition of the log evidence into the lower bound and a divergence.

    log p(X|θ) = L(q, θ) + KL(q ‖ p(Z|X, θ)), and L = Q + H[q], Bishop (9.70)-(9.74).

    Parameters
    ----------
    evidence : float
        log p(X|θ) = Σ_i w_i log Σ_k p(x_i, k|θ): the incomplete-data log-likelihood.
    bound : float
        L(q, θ) = Σ_i w_i Σ_k q_ik log p(x_i, k|θ)/q_ik, never above the evidence.
    divergence : float
        KL(q ‖ p(Z|X, θ)), never negative, zero where q is the posterior.
    expected_complete : float
        Q = Σ_i w_i Σ_k q_ik log p(x_i, k|θ): what the M-step maximises.
    entropy : float
        H[q] = -Σ_i w_i Σ_k q_ik log q_ik; the M-step cannot change it.

    Examples
    --------
    >>> even = EvidenceDecomposition(
    ...     evidence=-1.0, bound=-1.5, divergence=0.5, expected_complete=-2.0, entropy=0.5
    ... )
    >>> even.bound + even.divergence == even.evidence
    True
    """

    evidence: float
    bound: float
    divergence: float
    expected_complete: float
    entropy: float


def decompose_evidence(q: Any, log_joint: Any, weights: Any = None) -> EvidenceDecomposition:
    """Decompose the log evidence by any distribution q of the latent variable: L(q) + KL(q ‖ posterior).

    The identity holds for every q. The E-step sets q to the posterior at θ_old: then the bound equals the
    evidence at θ_old and is below it at other θ. The M-step increases the bound, so the evidence increases at
    least as much: EM converges to a stationary point, which need not be the global maximum. Where q(z) > 0
    and p(x, z) = 0, the bound is -inf and the divergence inf.

    Parameters
    ----------
    q : array (n, K)
        q(z_i = k): not negative, one in sum along each row.
    log_joint : array (n, K)
        log p(x_i, z_i = k|θ), of a mixture ``mixture.log_joint(X)``; -inf where that cannot be.
    weights : array (n,), optional
        Frequencies of the rows; one each by default.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> pair = tractable.Mixture(components=tractable.Normal(mean=[0.0, 2.0], variance=1.0))
    >>> x = np.array([0.0, 1.0, 3.0])
    >>> tight = decompose_evidence(pair.responsibilities(x), pair.log_joint(x))
    >>> abs(tight.divergence) < 1e-12, bool(np.isclose(tight.bound, pair.log_prob(x).sum()))
    (True, True)
    >>> loose = decompose_evidence(np.full((3, 2), 0.5), pair.log_joint(x))
    >>> round(loose.divergence, 4), bool(np.isclose(loose.bound + loose.divergence, tight.evidence))
    (1.7588, True)
    """
    q, log_joint = _checked(q, log_joint)
    xp = namespace_of(q)
    w = None if weights is None else check_weights(weights, q.shape[0], like=q)

    def total(rows: Array) -> float:
        # A row of weight zero adds nothing, even where it is impossible.
        return float(xp.sum(rows if w is None else w * xp.where(w > 0, rows, xp.zeros_like(rows))))

    evidence = log_sum_exp(log_joint)
    if not bool(xp.all(evidence > -xp.inf)):
        raise ValueError("log_joint must have an entry above -inf in every row: these rows are impossible")
    log_q = xp.log(xp.where(q > 0, q, xp.ones_like(q)))
    complete, entropy = total(_expected(q, log_joint)), -total(_expected(q, log_q))
    bound = complete + entropy
    return EvidenceDecomposition(
        evidence=total(evidence),
        bound=bound,
        divergence=total(_expected(q, log_q - log_softmax(log_joint))),
        expected_complete=complete,
        entropy=entropy,
    )


def elbo(q: Any, log_joint: Any, weights: Any = None) -> float:
    """Return the evidence lower bound L(q, θ) = E_q[log p(X, Z|θ)] + H[q].

    Parameters
    ----------
    q, log_joint, weights
        As in :func:`tractable.decompose_evidence`, which has the parts of the bound as well.

    Examples
    --------
    >>> import numpy as np
    >>> round(elbo([[0.5, 0.5]], np.log([[0.1, 0.3]])), 4), round(float(np.log(0.4)), 4)
    (-1.0601, -0.9163)
    """
    return decompose_evidence(q, log_joint, weights).bound


def _expected(q: Array, x: Array) -> Array:
    """Return Σ_k q_k x_k of every row, with 0 log 0 = 0."""
    xp = namespace_of(q)
    return xp.sum(q * xp.where(q > 0, x, xp.zeros_like(x)), axis=-1)


def _checked(q: Any, log_joint: Any) -> tuple[Array, Array]:
    xp = namespace_of(q, log_joint)
    q, log_joint = (xp.astype(as_float_array(x, xp), xp.float64) for x in (q, log_joint))
    for name, x in (("q", q), ("log_joint", log_joint)):
        if x.ndim != 2 or not x.shape[1]:
            raise ValueError(f"{name} must have shape (n, K), got {tuple(x.shape)}")
    if q.shape != log_joint.shape:
        raise ValueError(
            f"q must have the shape of log_joint, {tuple(log_joint.shape)}, got {tuple(q.shape)}"
        )
    if not bool(xp.all(q >= 0)) or not bool(xp.all(xp.abs(xp.sum(q, axis=-1) - 1.0) <= 1e-6)):
        raise ValueError("q must not be negative, and one in sum along every row")
    if not bool(xp.all(log_joint < xp.inf)):
        raise ValueError("log_joint must be numbers or -inf")
    return q, log_joint
