"""See `tractable.primitives.whitened_pass`."""

from typing import Any

from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.special import log_sum_exp
from tractable.primitives._agnostic.mixture_pass import features

__all__ = ["feature_sums", "shares_and_evidence", "whitened_diagonal_pass", "whitened_pass"]

_SQUARES, _PRODUCTS = 2, 3


def whitened_pass(
    x: Array,
    w: Any,
    shift: Array,
    scale: Array,
    means: Array,
    whiteners: Array,
    log_constants: Array,
    white: bool = False,
) -> Any:
    """See `tractable.primitives.whitened_pass.whitened_pass`."""
    xp = namespace_of(x)
    centred = _centred((x - shift) * scale, means, log_constants)
    y = [c @ whiteners[k, ...].T for k, c in enumerate(centred)]
    log_joint = xp.stack(
        [c - 0.5 * xp.sum(v * v, axis=1) for c, v in zip(log_constants, y, strict=True)], axis=1
    )
    shares, evidence = shares_and_evidence(log_joint, w)
    rows = y if white else centred
    return feature_sums(shares, rows, _PRODUCTS), evidence


def whitened_diagonal_pass(
    x: Array, w: Any, shift: Array, scale: Array, means: Array, whiteners: Array, log_constants: Array
) -> Any:
    """See `tractable.primitives.whitened_pass.whitened_diagonal_pass`."""
    xp = namespace_of(x)
    centred = _centred((x - shift) * scale, means, log_constants)
    log_joint = [
        log_constants[k] - 0.5 * xp.sum((c * whiteners[k, ...]) ** 2, axis=1) for k, c in enumerate(centred)
    ]
    shares, evidence = shares_and_evidence(xp.stack(log_joint, axis=1), w)
    return feature_sums(shares, centred, _SQUARES), evidence


def shares_and_evidence(log_joint: Array, w: Any) -> tuple[Array, Array]:
    """Return w r (n, K), and Σ w log p; a row that no component explains has no shares."""
    xp = namespace_of(log_joint)
    evidence = log_sum_exp(log_joint, axis=1)
    explained = evidence > -xp.inf
    shares = xp.exp(log_joint - xp.where(explained, evidence, xp.zeros_like(evidence))[:, None])
    if w is not None:
        shares, evidence = shares * w[:, None], evidence * w
    return shares, xp.sum(evidence)


def _centred(z: Array, means: Array, log_constants: Array) -> list[Array]:
    """Return the rows about each mean; about zero for a component without weight, whose mean may be none."""
    xp = namespace_of(z)
    alive = log_constants > -xp.inf
    means = xp.where(alive[:, None], means, xp.zeros_like(means))
    return [z - means[k, ...] for k in range(means.shape[0])]


def feature_sums(shares: Array, rows: list[Array], kind: int) -> Array:
    """Return Σ_n shares[n, k] T(rows_k[n]); rows without a share, which may be huge, are left out."""
    xp = namespace_of(shares)
    parts = []
    for k, r in enumerate(rows):
        share = shares[:, k]
        counted = xp.where(share[:, None] > 0.0, r, xp.zeros_like(r))
        parts.append(share @ features(counted, kind))
    return xp.stack(parts)
