"""The softmax loss of several classes: one linear predictor a class, or contrasts of them."""

from functools import cached_property
from typing import Any

import numpy as np

from tractable.arrays.log_space import log_sum_exp, sigmoid, softmax
from tractable.arrays.namespace import Array, device, namespace_of, to_numpy
from tractable.engines.glm.losses.classes import ClassLoss
from tractable.engines.glm.losses.logistic import Logistic
from tractable.engines.glm.losses.loss import LossExpansion, LossTerms, Scaling, design
from tractable.primitives.glm import softmax_expansion, softmax_loss
from tractable.value import value

#: Classes up to which their curvature is summed over pairs.
MANY_CLASSES = 64


@value
class Softmax(ClassLoss):
    """-log p(C_y | η) of K classes, p(C_k | η) = softmax(contrasts @ η)_k.

    Targets are class codes, or (n, K) probabilities t of the classes: -Σ_k t_k log p(C_k | η). These may be
    weighted: their sum in a row is how often the row counts.

    Parameters
    ----------
    contrasts : array (K, c)
        The identity, or orthonormal columns whose sums over the classes are zero.

    Examples
    --------
    >>> found = Softmax(contrasts=np.eye(3)).terms(np.zeros((1, 3)), np.array([0]))
    >>> found.slope.round(4).tolist(), found.curvature[0, 0].round(4).tolist()
    ([[-0.6667, 0.3333, 0.3333]], [0.2222, -0.1111, -0.1111])
    """

    contrasts: Array

    @classmethod
    def of(cls, n_classes: int, *, overparametrised: bool = False) -> "Softmax":
        """Return the loss of so many classes by contrasts, or, overparametrised, by one predictor a class."""
        return cls(contrasts=np.eye(n_classes) if overparametrised else helmert_contrasts(n_classes))

    @property
    def n_predictors(self) -> int:  # type: ignore[override]
        """The number of contrasts."""
        return int(self.contrasts.shape[1])

    @cached_property
    def curvature_at_zero(self) -> float:  # type: ignore[override]
        """The mean curvature of a row where all classes are as probable."""
        contrasts = np.asarray(to_numpy(self.contrasts))
        mean = contrasts.mean(axis=0)
        return float(np.sum(contrasts**2) / contrasts.shape[0] - mean @ mean) / contrasts.shape[1]

    def terms(self, eta: Array, y: Array) -> LossTerms:
        """Return log Σ_k exp(s_k) - s_y of s = contrasts @ η, and derivatives: cumulants of the contrasts."""
        xp, shape, c = namespace_of(eta), eta.shape, self.n_predictors
        eta = xp.reshape(eta, (-1, c))
        t = self._probabilities(y, eta)
        scores, mass = eta @ self.contrasts.T, xp.sum(t, axis=1)
        logs = scores - log_sum_exp(scores)[:, None]
        p = xp.exp(logs)
        apart = self.contrasts - (p @ self.contrasts)[:, None, :]  # (n, K, c), from their mean under p
        weighted = (mass[:, None] * p)[:, :, None] * apart
        third = xp.sum(weighted[:, :, :, None, None] * _outer(apart, apart)[:, :, None, :, :], axis=1)
        more = shape[1:]
        return LossTerms(
            value=-xp.sum(xp.where(t > 0.0, t * logs, 0.0 * t), axis=1),
            slope=xp.reshape((mass[:, None] * p - t) @ self.contrasts, shape),
            curvature=xp.reshape(xp.sum(_outer(weighted, apart), axis=1), shape + more),
            third=xp.reshape(third, shape + more + more),
        )

    def expand(
        self, x: Any, y: Any, weights: Any, scaling: Scaling, coef: Array, curvature: str | None
    ) -> LossExpansion:
        """See `Loss.expand`; in terms of the classes, whose pairs the curvature is summed over.

        Parameters
        ----------
        x, y, weights, scaling, coef, curvature
            As there.
        """
        if y.ndim == 2:
            y = namespace_of(x).astype(namespace_of(x).asarray(y), namespace_of(x).float64)
        each = self.contrasts @ coef
        if not curvature:
            total, gradient = softmax_loss(x, y, weights, *scaling, each)
            return LossExpansion(value=total, gradient=self.contrasts.T @ gradient)
        total, gradient, pairs = softmax_expansion(x, y, weights, *scaling, each)
        return LossExpansion(
            value=total,
            gradient=self.contrasts.T @ gradient,
            curvature=over_contrasts(self.contrasts, pairs),
        )

    def residuals(self, x: Any, y: Any, scaling: Scaling, coef: Array) -> tuple[Any, Array]:
        """See `Loss.residuals`; without the other derivatives, of which there are many.

        Parameters
        ----------
        x, y, scaling, coef
            As there.
        """
        z = design(x, scaling, coef.shape[1])
        scores = z @ (self.contrasts @ coef).T
        t = self._probabilities(y, scores)
        return z, (namespace_of(t).sum(t, axis=1)[:, None] * softmax(scores) - t) @ self.contrasts

    def margins(self, eta: Array, y: Array) -> Array:
        """Return η_own - η_other for each other class, (n, K - 1)."""
        xp = namespace_of(eta)
        eta = xp.reshape(eta, (-1, self.n_predictors))
        scores, codes = eta @ self.contrasts.T, xp.astype(y, xp.int64)[:, None]
        k = scores.shape[1]
        others = (codes + xp.arange(1, k, device=device(eta))) % k
        return xp.take_along_axis(scores, codes, axis=1) - xp.take_along_axis(scores, others, axis=1)

    def class_coef(self, coef: np.ndarray) -> np.ndarray:
        """See `ClassLoss.class_coef`."""
        return self.contrasts @ coef

    def free_coef(self, class_coef: np.ndarray) -> np.ndarray:
        """See `ClassLoss.free_coef`."""
        return self.contrasts.T @ class_coef

    def log_scores(self, eta: np.ndarray) -> np.ndarray:
        """Return the linear predictors of the classes."""
        return eta

    def log_proba(self, eta: np.ndarray) -> np.ndarray:
        """See `ClassLoss.log_proba`."""
        scores = eta @ self.contrasts.T
        return scores - log_sum_exp(scores)[:, None]

    def log_odds_jacobian(self, eta: np.ndarray) -> np.ndarray:
        """Return ∂ log(p_k / (1 - p_k)) / ∂η of the linear predictors of the classes, (n, K, K)."""
        return np.eye(eta.shape[1]) - softmax(_others(eta))

    def proba_interval(self, eta: np.ndarray, half_width: np.ndarray) -> np.ndarray:
        """See `ClassLoss.proba_interval`; of the linear predictors of the classes."""
        odds = eta - log_sum_exp(_others(eta), axis=-1)
        return sigmoid(np.stack([odds - half_width, odds + half_width], axis=-1))

    def _probabilities(self, y: Array, eta: Array) -> Array:
        """Return probabilities of the classes: of a code, one in its column."""
        xp = namespace_of(eta)
        if y.ndim == 2:
            return xp.astype(y, eta.dtype)
        codes = xp.arange(self.contrasts.shape[0], device=device(eta))
        return xp.astype(xp.astype(y, codes.dtype)[:, None] == codes, eta.dtype)


def class_loss(n_classes: int, *, overparametrised: bool = False) -> Logistic | Softmax:
    """Return the loss of so many classes: of two, one linear predictor, that of the second.

    Parameters
    ----------
    n_classes : int
        K.
    overparametrised : bool
        Whether each of several classes has its own coefficients; else they are of K - 1 contrasts.

    Examples
    --------
    >>> class_loss(2), class_loss(3, overparametrised=True).contrasts.tolist()
    (Logistic(), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    """
    return Logistic() if n_classes == 2 else Softmax.of(n_classes, overparametrised=overparametrised)


def helmert_contrasts(k: int) -> np.ndarray:
    """Return orthonormal columns (K, K - 1), each with the sum zero."""
    found = np.zeros((k, k - 1))
    for j in range(1, k):
        found[:j, j - 1], found[j, j - 1] = 1.0, -j
        found[:, j - 1] /= np.sqrt(j * (j + 1.0))
    return found


def over_contrasts(contrasts: Array, pairs: Array) -> Array:
    """Return the Hessian over contrasts, (c p, c p), by those of pairs of classes, (K (K - 1) / 2, p, p).

    Examples
    --------
    >>> over_contrasts(np.array([[0.0], [1.0]]), np.array([[[0.75]]])).tolist()
    [[0.75]]
    """
    xp = namespace_of(contrasts)
    k, c = contrasts.shape
    p = pairs.shape[-1]
    if k == 2 and c == 1:
        square = float(contrasts[0, 0] - contrasts[1, 0]) ** 2
        return pairs[0, :, :] if square == 1.0 else square * pairs[0, :, :]
    upper, between = np.triu_indices(k, 1), xp.reshape(pairs, (pairs.shape[0], p * p))
    if k > MANY_CLASSES:  # K⁴ numbers are too many: Cᵀ B C, which loses digits where classes are far apart
        place = np.zeros((k, k), dtype=np.int64)
        place[upper] = place.T[upper] = np.arange(1, 1 + pairs.shape[0])
        place = xp.asarray(place.reshape(-1), device=device(contrasts))
        beside = xp.take(xp.concat([xp.zeros_like(between[:1, :]), -between]), place, axis=0)
        blocks = xp.reshape(beside, (k, k, p * p))
        own = xp.eye(k, dtype=blocks.dtype, device=device(contrasts))
        blocks = blocks - own[:, :, None] * xp.sum(blocks, axis=1)[:, None, :]
        left = xp.reshape(contrasts.T @ xp.reshape(blocks, (k, k * p * p)), (c, k, p * p))
        blocks = contrasts.T @ left
    else:
        # Every pair of classes adds to the curvature along its own difference: nothing cancels.
        first, second = (xp.asarray(i, device=device(contrasts)) for i in upper)
        difference = xp.take(contrasts, first, axis=0) - xp.take(contrasts, second, axis=0)
        outer = xp.reshape(difference[:, :, None] * difference[:, None, :], (pairs.shape[0], c * c))
        blocks = outer.T @ between
    blocks = xp.reshape(blocks, (c, c, p, p))
    return xp.reshape(xp.permute_dims(blocks, (0, 2, 1, 3)), (c * p, c * p))


def _outer(a: Array, b: Array) -> Array:
    """Return the products of the entries of two arrays (n, K, c), (n, K, c, c)."""
    return a[:, :, :, None] * b[:, :, None, :]


def _others(scores: np.ndarray) -> np.ndarray:
    """Return (n, K, K) scores with -inf in the place of each class's own."""
    return np.where(np.eye(scores.shape[1], dtype=bool), -np.inf, scores[:, None, :])
