"""M-steps of covariances that share volume, shape or orientation (Celeux and Govaert 1995; mclust's names).

Σ_k = λ_k D_k A_k D_kᵀ, with the volume λ_k = |Σ_k|^(1/d), the shape A_k (diagonal, |A_k| = 1) and the
orientation D_k. In a name the three letters say of each whether it is equal for all components (E), varies
(V) or, of the last two, is the identity (I). Every function takes the averages S_k, (K, d, d) or, of diagonal
matrices, (K, d), the weights n_k (K,), and where to begin, and does not raise
Σ_k n_k (log |Σ_k| + tr(Σ_k⁻¹ S_k)): EII, EEI, EVI, EEE, EEV, EVV and those without E reach the minimum at
once, the others after some calls that each begin where the last ended.
"""

from collections.abc import Callable

import numpy as np

from tractable.arrays.linalg import jittered_cholesky

#: Steps between volumes and a common shape, and sweeps over pairs of common axes, in one M-step.
_STEPS, _SWEEPS = 40, 3
_SETTLED = 1e-13

Arrays = np.ndarray
Step = Callable[[Arrays, Arrays, Arrays], Arrays]


def unit_volume(variances: Arrays) -> tuple[Arrays, Arrays]:
    """Return diagonals (..., d) over their geometric mean, and that mean (..., 1)."""
    volume = np.exp(np.mean(np.log(variances), axis=-1, keepdims=True))
    return variances / volume, volume


def pooled(average: Arrays, n: Arrays) -> Arrays:
    """Return the weighted average of all components."""
    return np.tensordot(n / n.sum(), average, 1)


def equal_all(average: Arrays, n: Arrays, _before: Arrays) -> Arrays:
    """Return one matrix, or diagonal, for all components: EEI."""
    return np.broadcast_to(pooled(average, n), average.shape)


def equal_volumes(variances: Arrays, n: Arrays, _before: Arrays) -> Arrays:
    """Return diagonals of one volume: EVI. λ is the weighted mean of the volumes."""
    shapes, volumes = unit_volume(variances)
    return shapes * pooled(volumes, n)


def equal_shapes(variances: Arrays, n: Arrays, before: Arrays) -> Arrays:
    """Return diagonals of one shape, λ_k A: VEI. λ_k = tr(S_k A⁻¹)/d and A ∝ Σ n_k S_k/λ_k in turn."""
    shape = unit_volume(before.mean(axis=0))[0]
    for _ in range(_STEPS):
        volumes = np.mean(variances / shape, axis=1, keepdims=True)
        after = unit_volume(pooled(variances / volumes, n))[0]
        moved = np.max(np.abs(after / shape - 1.0))
        shape = after
        if moved < _SETTLED:
            break
    return np.mean(variances / shape, axis=1, keepdims=True) * shape


def proportional(average: Arrays, n: Arrays, before: Arrays) -> Arrays:
    """Return proportional matrices λ_k C: VEE. λ_k = tr(S_k C⁻¹)/d and C ∝ Σ n_k S_k/λ_k in turn."""
    d = average.shape[-1]
    common = before[0]
    volumes = np.ones(len(n))
    for _ in range(_STEPS):
        white = np.linalg.inv(jittered_cholesky(common).lower)
        after = np.einsum("ij,kjl,il->k", white, average, white) / d
        common = pooled(average / after[:, None, None], n)
        moved = np.max(np.abs(after / volumes / (after[0] / volumes[0]) - 1.0))
        volumes = after
        if moved < _SETTLED:
            break
    white = np.linalg.inv(jittered_cholesky(common).lower)
    return np.einsum("ij,kjl,il->k", white, average, white)[:, None, None] / d * common


def equal_volume_matrices(average: Arrays, n: Arrays, _before: Arrays) -> Arrays:
    """Return matrices of one volume: EVV. λ is the weighted mean of |S_k|^(1/d)."""
    lower = jittered_cholesky(average).lower
    volumes = np.exp(2.0 * np.mean(np.log(np.diagonal(lower, axis1=1, axis2=2)), axis=1))
    return average * (pooled(volumes, n) / volumes)[:, None, None]


def own_axes(of_spectra: Step) -> Step:
    """Return the step of matrices with axes of their own, those of S_k, and spectra by a diagonal step.

    EEV with equal spectra, VEV with spectra of one shape. Both kinds of spectra are in descending order.
    """

    def step(average: Arrays, n: Arrays, before: Arrays) -> Arrays:
        spectra, axes = np.linalg.eigh(average)
        spectra = np.maximum(spectra, np.finfo(np.float64).tiny)
        found = of_spectra(spectra, n, np.linalg.eigvalsh(before))
        return (axes * found[:, None, :]) @ np.swapaxes(axes, 1, 2)

    return step


def common_axes(of_variances: Step) -> Step:
    """Return the step of matrices with the same axes, and variances along them by a diagonal step.

    EVE with equal volumes, VVE with any. Pairs of axes are turned in their plane, each to the best angle
    given the variances (Flury and Gautschi 1986), and the variances follow.
    """

    def step(average: Arrays, n: Arrays, before: Arrays) -> Arrays:
        axes = _begin(average, n, before, of_variances)
        variances = of_variances(_along(average, axes), n, before)
        for _ in range(_SWEEPS):
            turned = _turn_pairs(average, n, axes, variances)
            variances = of_variances(_along(average, turned), n, before)
            moved = np.max(np.abs(turned - axes))
            axes = turned
            if moved < _SETTLED:
                break
        return (axes * variances[:, None, :]) @ axes.T

    return step


def any_variances(variances: Arrays, _n: Arrays, _before: Arrays) -> Arrays:
    """Return diagonals as they are: VVI, and the spectra of VVE."""
    return variances


def _along(average: Arrays, axes: Arrays) -> Arrays:
    """Return the variances (K, d) along axes, the columns."""
    found = np.einsum("ij,kil,lj->kj", axes, average, axes)
    return np.maximum(found, np.finfo(np.float64).tiny)


def _begin(average: Arrays, n: Arrays, before: Arrays, of_variances: Step) -> Arrays:
    """Return the axes that the matrices before had in common; at the start the better of two guesses."""
    # A weighted sum of matrices with common axes has these, and its weights keep equal ones apart.
    weights = np.sqrt(2.0) + np.arange(len(before))
    guesses = [np.linalg.eigh(np.tensordot(weights, before, 1))[1]]
    inside = guesses[0].T @ before @ guesses[0]
    off = inside - np.einsum("kii->ki", inside)[:, :, None] * np.eye(inside.shape[-1])
    if np.max(np.abs(off)) <= 1e-8 * np.max(np.abs(inside)):
        return guesses[0]
    guesses.append(np.linalg.eigh(pooled(average, n))[1])

    def misfit(axes: Arrays) -> float:
        found = of_variances(_along(average, axes), n, before)
        return float(n @ np.sum(np.log(found) + _along(average, axes) / found, axis=1))

    return min(guesses, key=misfit)


def _turn_pairs(average: Arrays, n: Arrays, axes: Arrays, variances: Arrays) -> Arrays:
    """Turn each pair of axes in its plane to the angle that lowers Σ_k n_k tr(Σ_k⁻¹ S_k) most."""
    axes = axes.copy()
    precisions = n[:, None] / variances
    inside = axes.T @ average @ axes
    d = axes.shape[1]
    for i in range(d):
        for j in range(i + 1, d):
            # Weights by the difference of the precisions: the best first axis is the least eigenvector.
            weights = precisions[:, i] - precisions[:, j]
            spread = weights @ (inside[:, j, j] - inside[:, i, i])
            angle = 0.5 * np.arctan2(-2.0 * (weights @ inside[:, i, j]), spread)
            turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            pair = slice(i, j + 1, j - i)
            axes[:, pair] = axes[:, pair] @ turn
            inside[:, pair] = turn.T @ inside[:, pair]
            inside[:, :, pair] = inside[:, :, pair] @ turn
    return axes


#: The M-step that each name means, of diagonal matrices and of full ones.
DIAGONAL_STEPS: dict[str, Step] = {"EEI": equal_all, "VEI": equal_shapes, "EVI": equal_volumes}
FULL_STEPS: dict[str, Step] = {
    "VEE": proportional,
    "EVE": common_axes(equal_volumes),
    "VVE": common_axes(any_variances),
    "EEV": own_axes(equal_all),
    "VEV": own_axes(equal_shapes),
    "EVV": equal_volume_matrices,
}


def n_free_decomposed(name: str, n_components: int, dim: int) -> int:
    """Return the number of free parameters of a decomposition: volumes, shapes and axes."""
    each = {"E": 1, "V": n_components, "I": 0}
    volume, shape, axes = (each[letter] for letter in name)
    return volume + shape * (dim - 1) + axes * dim * (dim - 1) // 2
