"""Losses of linear models of classes (logistic, softmax, probit): value, gradient and curvature.

A link turns linear predictors η = coef @ z into class probabilities; z is a standardised row, behind a
leading 1 where there is an intercept. `LossExpansion.of` sums a loss over a block of rows, so that
``fold(partial(LossExpansion.of, link=link, coef=coef), rows, codes)`` is the loss over any source of rows.
"""

from functools import cached_property
from typing import Any

import numpy as np

from tractable.arrays.error_function import log_ndtr
from tractable.arrays.linalg import product
from tractable.arrays.log_space import HALF_LOG_2PI, log_sum_exp, sigmoid, softmax
from tractable.arrays.namespace import Array, device, is_sparse, namespace_of, to_numpy
from tractable.primitives.glm import softmax_curvature, softmax_expansion, softmax_loss
from tractable.primitives.glm.agnostic import features, row_losses
from tractable.primitives.sparse_rows import StandardizedSparse
from tractable.statistics.rows import as_rows, as_weights, counts
from tractable.value import value

LINKS = ("logit", "probit")

#: Shift and scale of the columns: z = (x - shift) * scale; without them, rows are those of the design matrix.
Scaling = tuple[Any, Any]
UNSCALED: Scaling = (None, None)


@value
class LossExpansion:
    """Value, gradient and curvature of -Σ_n w_n log p(C_n | x_n) at given coefficients; they add.

    Examples
    --------
    >>> rows, codes = np.array([[1.0], [1.0], [1.0]]), np.array([0, 0, 1])
    >>> at_zero = LossExpansion.of(rows, codes, link=Logit.of(2), coef=np.zeros((1, 1)))
    >>> at_zero.gradient.tolist(), at_zero.curvature.tolist()
    ([[0.5]], [[0.75]])
    """

    value: Any
    gradient: Array  # (c, p)
    curvature: Array | None = None  # (c p, c p), the Hessian, or Fisher information of the rows

    @classmethod
    def of(
        cls,
        x: Any,
        targets: Any,
        weights: Any = None,
        *,
        link: "Logit | Probit",
        coef: Array,
        scaling: Scaling | None = None,
        curvature: bool = True,
    ) -> "LossExpansion":
        """Expand the loss of a block of rows.

        Parameters
        ----------
        x : array (n, d)
            Rows.
        targets : array (n,) of class codes, or (n, K) of class probabilities (`Logit` only)
            The class of each row, or the probability of each class.
        weights : array (n,), optional
            How often each row counts; once when not given.
        link : Logit or Probit
            The model of the class probabilities.
        coef : array (c, d), or (c, 1 + d) with the intercepts first
            Where the loss is expanded.
        scaling : shift and scale (d,) of the columns, optional
            The coefficients are of (x - shift) * scale; of x itself when not given.
        curvature : bool
            Whether the Hessian is computed as well.
        """
        x = as_rows(x)
        w, scaling = as_weights(weights, x), scaling or _no_scaling(x)
        if not curvature:
            loss, gradient = link.loss(x, targets, w, scaling, coef)
            return cls(value=loss, gradient=gradient)
        loss, gradient, hessian = link.expand(x, targets, w, scaling, coef)
        return cls(value=loss, gradient=gradient, curvature=hessian)

    def __add__(self, other: "LossExpansion") -> "LossExpansion":
        """Add the losses of two blocks of rows, at the same coefficients."""
        if not isinstance(other, LossExpansion):
            return NotImplemented
        return LossExpansion(
            value=self.value + other.value,
            gradient=self.gradient + other.gradient,
            curvature=None if self.curvature is None else self.curvature + other.curvature,
        )


@value
class RowCurvature:
    """Second derivatives of the losses of rows by their linear predictors, one a row or one a class.

    Of one linear predictor they are `weights`; of K classes with probabilities p, w (diag(p) - p pᵀ).
    """

    weights: np.ndarray | None  # (n,)
    probabilities: np.ndarray | None = None  # (K, n)

    def times(self, u: np.ndarray) -> np.ndarray:
        """Return the product with u of every row, (c, n), which is overwritten."""
        p = self.probabilities
        if p is not None:
            # Differences from the most probable class: nothing cancels where its probability is nearly one.
            u -= u[self.likeliest, np.arange(u.shape[1])]
            u *= p
            u -= p * np.sum(u, axis=0)
        if self.weights is not None:
            u *= self.weights
        return u

    @cached_property
    def likeliest(self) -> np.ndarray:
        """The most probable class of each row, (n,)."""
        return np.argmax(self.probabilities, axis=0)  # type: ignore[arg-type]

    def astype(self, dtype: Any) -> "RowCurvature":
        """Return the same in a precision."""
        p, w = self.probabilities, self.weights
        return RowCurvature(
            weights=None if w is None else w.astype(dtype, copy=False),
            probabilities=None if p is None else p.astype(dtype, copy=False),
        )

    def total(self) -> np.ndarray:
        """Return the sum over rows of the second derivative by each linear predictor, (c,)."""
        p, w = self.probabilities, np.ones(1) if self.weights is None else self.weights
        each = w[None, :] if p is None else w * (p - p * p)
        return each.sum(axis=1, dtype=np.float64)


@value
class Logit:
    """The logistic link of K classes, p(C_k | x) = softmax(contrasts @ η)_k."""

    # (K, c), the linear predictors of the classes by those of the free coefficients: [0, 1]ᵀ for two
    # classes, of which the first is the reference; the identity; or orthonormal contrasts, whose sum over
    # the classes is zero
    contrasts: Array

    @classmethod
    def of(cls, n_classes: int, *, overparametrised: bool = False) -> "Logit":
        """Return the link of so many classes; overparametrised, each of several has its own coefficients."""
        if n_classes == 2:
            return cls(contrasts=np.array([[0.0], [1.0]]))
        return cls(contrasts=np.eye(n_classes) if overparametrised else helmert_contrasts(n_classes))

    def loss(
        self, x: Array, targets: Any, weights: Array | None, scaling: Scaling, coef: Array
    ) -> tuple[Any, Array]:
        """Return -Σ_n w_n Σ_k t_nk log p(C_k | x_n) and its gradient, (c, p).

        Parameters
        ----------
        x, targets, weights, scaling, coef
            As in `LossExpansion.of`.
        """
        t = _as_targets(x, targets)
        loss, gradient = softmax_loss(x, t, weights, *scaling, self._of_classes(coef))
        return loss, self._by_free_coef(gradient)

    def expand(
        self, x: Array, targets: Any, weights: Array | None, scaling: Scaling, coef: Array
    ) -> tuple[Any, Array, Array]:
        """Return what `loss` and `curvature` do; of two classes, in one pass over the rows.

        Parameters
        ----------
        x, targets, weights, scaling, coef
            As in `LossExpansion.of`; x is dense.
        """
        t = _as_targets(x, targets)
        loss, gradient, pairs = softmax_expansion(x, t, weights, *scaling, self._of_classes(coef))
        return loss, self._by_free_coef(gradient), over_contrasts(self.contrasts, pairs)

    def _by_free_coef(self, gradient: Array) -> Array:
        """Return the gradient by free coefficients, (c, p), of that by those of the classes."""
        if self.contrasts.shape == (2, 1):  # those of two classes are opposite
            return self._difference * gradient[1:, :]
        return self.contrasts.T @ gradient

    @cached_property
    def _difference(self) -> float:
        return float(self.contrasts[1, 0] - self.contrasts[0, 0])

    def _of_classes(self, coef: Array) -> Array:
        """Return the coefficients of the classes, (K, p)."""
        # By entries where there is one row: a product of matrices releases the interpreter lock, and threads
        # that share the rows would wait for it once more.
        return self.contrasts * coef if coef.shape[0] == 1 else self.contrasts @ coef

    def curvature(
        self, x: Array, targets: Any, weights: Array | None, scaling: Scaling, coef: Array
    ) -> Array:
        """Return the Hessian of the loss, (c p, c p).

        Parameters
        ----------
        x, targets, weights, scaling, coef
            As in `LossExpansion.of`.
        """
        mass = weights
        if len(targets.shape) == 2:
            xp = namespace_of(x)
            mass = counts(weights, x) * xp.sum(_as_targets(x, targets), axis=1)
        return over_contrasts(self.contrasts, softmax_curvature(x, mass, *scaling, self._of_classes(coef)))

    def expand_rows(
        self, eta: np.ndarray, codes: np.ndarray, weights: np.ndarray | None
    ) -> tuple[float, np.ndarray, RowCurvature]:
        """Return the loss of rows, and its derivatives by the linear predictors that users read.

        Parameters
        ----------
        eta : array (1, n) for two classes, or (K, n)
            The linear predictors, which are overwritten.
        codes, weights
            As in `LossExpansion.of`, whose targets are the class codes.
        """
        if len(eta) > 1:
            loss, slopes, p = row_losses(eta, codes, weights, probabilities=True)
            return loss, slopes, RowCurvature(weights=weights, probabilities=p)
        sign = _signs(codes, eta.dtype)
        return _weighted(sign, weights, *logistic_loss(sign * eta[0]))

    @property
    def curvature_at_zero(self) -> float:
        """The mean curvature of a row where all coefficients are zero, and all classes as probable."""
        k, c = self.contrasts.shape
        mean = np.asarray(to_numpy(self.contrasts)).mean(axis=0)
        return (float(np.sum(np.asarray(to_numpy(self.contrasts)) ** 2)) / k - float(mean @ mean)) / c

    def mean_curvature(self, z: Any, codes: Any, coef: np.ndarray) -> np.ndarray:
        """Return the mean of the second derivatives of each row's loss by its linear predictors, (n,).

        It is tr Cᵀ (diag(p) - p pᵀ) C / c for probabilities p and contrasts C.

        Parameters
        ----------
        z, codes, coef
            Rows of the design matrix, their classes, and the coefficients.
        """
        xp, p = namespace_of(coef), softmax(z @ (self.contrasts @ coef).T)
        along = p @ self.contrasts
        trace = p @ xp.sum(self.contrasts**2, axis=1) - xp.sum(along * along, axis=1)
        return xp.clip(trace, 0.0, None) / self.contrasts.shape[1]

    def residuals(
        self, x: Any, codes: Any, scaling: Scaling, coef: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the design matrix (n, p) and the derivatives of each row's loss by η, (n, c).

        Parameters
        ----------
        x, codes, scaling, coef
            As in `LossExpansion.of`, whose targets are the class codes.
        """
        z, k = design(x, scaling, coef.shape[1]), self.contrasts.shape[0]
        each = self.contrasts @ coef
        if k == 2:
            p = sigmoid(z @ (each[1, :] - each[0, :]))
            wrong = p - namespace_of(p).astype(codes, p.dtype)
            return z, wrong[:, None] * (self.contrasts[1, :] - self.contrasts[0, :])
        p = softmax(z @ each.T)
        xp = namespace_of(p)
        own = xp.astype(codes[:, None] == xp.arange(k, device=device(p)), xp.float64)
        return z, (p - own) @ self.contrasts

    def class_coef(self, coef: np.ndarray) -> np.ndarray:
        """Return the coefficients that users read: one row for two classes, else one a class."""
        return coef if len(self.contrasts) == 2 else self.contrasts @ coef

    def free_coef(self, class_coef: np.ndarray) -> np.ndarray:
        """Return the free coefficients nearest to given ones of the classes."""
        return class_coef if len(class_coef) == self.contrasts.shape[1] else self.contrasts.T @ class_coef

    def log_scores(self, eta: np.ndarray) -> np.ndarray:
        """Return log p(C_k | x) up to a number a row, of linear predictors (n, 1) or (n, K)."""
        xp = namespace_of(eta)
        return xp.concat([xp.zeros_like(eta), eta], axis=1) if eta.shape[1] == 1 else eta

    def log_proba(self, eta: np.ndarray) -> np.ndarray:
        """Return log p(C_k | x), (n, K), of the linear predictors of free coefficients, (n, c)."""
        scores = eta @ self.contrasts.T
        return scores - log_sum_exp(scores)[:, None]

    def log_odds_jacobian(self, eta: np.ndarray) -> np.ndarray:
        """Return ∂ log(p_k / (1 - p_k)) / ∂η, (n, K, 1) or (n, K, K)."""
        k = eta.shape[1]
        if k == 1:
            return np.broadcast_to(np.array([[-1.0], [1.0]]), (len(eta), 2, 1))
        return np.eye(k) - softmax(_others(eta))

    def proba_interval(self, eta: np.ndarray, half_width: np.ndarray) -> np.ndarray:
        """Return σ(log odds ∓ half_width) of each class, (n, K, 2)."""
        both = self.log_scores(eta)
        odds = both - log_sum_exp(_others(both), axis=-1)
        return sigmoid(np.stack([odds - half_width, odds + half_width], axis=-1))


@value
class Probit:
    """The probit link of two classes, p(C_1 | x) = Φ(η): a linear predictor with Gaussian noise."""

    contrasts = np.array([[0.0], [1.0]])
    curvature_at_zero = 2.0 / np.pi

    def loss(
        self, x: Any, codes: Any, weights: Any, scaling: Scaling, coef: np.ndarray
    ) -> tuple[float, np.ndarray]:
        """Return -Σ w log Φ(±η) and its gradient.

        Parameters
        ----------
        x, codes, weights, scaling, coef
            As in `LossExpansion.of`, whose targets are the class codes.
        """
        z, sign, margin = self._margins(x, codes, scaling, coef)
        loss, slope, _ = probit_loss(margin)
        w = counts(weights, margin)
        return w @ loss, product(w * sign * slope, z)[None, :]

    def curvature(self, x: Any, codes: Any, weights: Any, scaling: Scaling, coef: np.ndarray) -> np.ndarray:
        """Return the Hessian, Σ w h (h + m) z zᵀ with the hazard h = φ(m) / Φ(m) of the margin m.

        Parameters
        ----------
        x, codes, weights, scaling, coef
            As in `LossExpansion.of`, whose targets are the class codes.
        """
        return self.expand(x, codes, weights, scaling, coef)[2]

    def expand(
        self, x: Any, codes: Any, weights: Any, scaling: Scaling, coef: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Return what `loss` and `curvature` do.

        Parameters
        ----------
        x, codes, weights, scaling, coef
            As in `LossExpansion.of`, whose targets are the class codes; x is dense.
        """
        z, sign, margin = self._margins(x, codes, scaling, coef)
        loss, slope, curvature = probit_loss(margin)
        w = counts(weights, margin)
        return w @ loss, product(w * sign * slope, z)[None, :], product(w * curvature * z.T, z)

    def expand_rows(
        self, eta: np.ndarray, codes: np.ndarray, weights: np.ndarray | None
    ) -> tuple[float, np.ndarray, RowCurvature]:
        """Return the loss of rows, and its derivatives by their linear predictors, as `Logit.expand_rows`.

        Parameters
        ----------
        eta, codes, weights
            As there.
        """
        sign = _signs(codes, eta.dtype)
        return _weighted(sign, weights, *probit_loss(sign * eta[0]))

    def mean_curvature(self, z: Any, codes: Any, coef: np.ndarray) -> np.ndarray:
        """Return the second derivative of each row's loss by its linear predictor, (n,).

        Parameters
        ----------
        z, codes, coef
            As for `Logit.mean_curvature`.
        """
        eta = product(z, coef[0, :])
        return probit_loss((2.0 * namespace_of(eta).astype(codes, eta.dtype) - 1.0) * eta)[2]

    def residuals(
        self, x: Any, codes: Any, scaling: Scaling, coef: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the design matrix (n, p) and the derivative of each row's loss by η, (n, 1).

        Parameters
        ----------
        x, codes, scaling, coef
            As in `LossExpansion.of`, whose targets are the class codes.
        """
        z, sign, margin = self._margins(x, codes, scaling, coef)
        return z, (sign * probit_loss(margin)[1])[:, None]

    def class_coef(self, coef: np.ndarray) -> np.ndarray:
        """Return the coefficients that users read."""
        return coef

    free_coef = class_coef

    def log_scores(self, eta: np.ndarray) -> np.ndarray:
        """Return log Φ(∓η), (n, 2)."""
        return namespace_of(eta).stack([log_ndtr(-eta[:, 0]), log_ndtr(eta[:, 0])], axis=1)

    log_proba = log_scores

    def log_odds_jacobian(self, eta: np.ndarray) -> np.ndarray:
        """Return ∓1, the derivatives of the arguments of Φ by η, (n, 2, 1)."""
        return np.broadcast_to(np.array([[-1.0], [1.0]]), (len(eta), 2, 1))

    def proba_interval(self, eta: np.ndarray, half_width: np.ndarray) -> np.ndarray:
        """Return Φ(∓η ∓ half_width), (n, 2, 2)."""
        both = np.concatenate([-eta, eta], axis=1)
        return np.exp(log_ndtr(np.stack([both - half_width, both + half_width], axis=-1)))

    def _margins(self, x: Any, codes: Any, scaling: Scaling, coef: np.ndarray) -> tuple[np.ndarray, ...]:
        z = design(x, scaling, coef.shape[1])
        eta = product(z, coef[0, :])
        sign = 2.0 * namespace_of(eta).astype(codes, eta.dtype) - 1.0
        return z, sign, sign * eta


def design(x: Any, scaling: Scaling, width: int) -> np.ndarray:
    """Return standardised rows, behind a column of ones where `width` says that there is an intercept.

    Of sparse rows it is a `StandardizedSparse`, which has products alone.
    """
    if is_sparse(x):
        shift, scale = scaling
        return StandardizedSparse(X=x, shift=shift, scale=scale, intercept=x.shape[1] < width)  # type: ignore[return-value]
    return features(as_rows(x) if scaling[0] is not None else x, *scaling, width)


def helmert_contrasts(k: int) -> np.ndarray:
    """Return orthonormal columns (K, K - 1), each with the sum zero."""
    found = np.zeros((k, k - 1))
    for j in range(1, k):
        found[:j, j - 1], found[j, j - 1] = 1.0, -j
        found[:, j - 1] /= np.sqrt(j * (j + 1.0))
    return found


#: Classes up to which their curvature is summed over pairs.
MANY_CLASSES = 64


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


def _as_targets(x: Array, targets: Any) -> Any:
    """Return class codes as they are, and probabilities of classes in double precision."""
    if len(targets.shape) == 1:
        return targets
    xp = namespace_of(x)
    return xp.astype(xp.asarray(targets), xp.float64)


def _no_scaling(x: Array) -> Scaling:
    shift = namespace_of(x).zeros(x.shape[1], dtype=x.dtype, device=device(x))
    return shift, shift + 1.0


def _others(scores: np.ndarray) -> np.ndarray:
    """Return (n, K, K) scores with -inf in the place of each class's own."""
    return np.where(np.eye(scores.shape[1], dtype=bool), -np.inf, scores[:, None, :])


def _signs(codes: np.ndarray, dtype: Any) -> np.ndarray:
    """Return -1 for rows of the first of two classes, and 1 for others.

    Products with signs take a tenth of the time of a choice by masks that follow no pattern.
    """
    found = (codes > 0).astype(dtype)
    found += found
    found -= 1.0
    return found


def _weighted(
    sign: np.ndarray, weights: np.ndarray | None, loss: np.ndarray, slope: np.ndarray, curvature: np.ndarray
) -> tuple[float, np.ndarray, RowCurvature]:
    """Return the loss of two classes by their margins, and its derivatives by the linear predictor."""
    slope = sign * slope
    if weights is None:
        return float(loss.sum(dtype=np.float64)), slope[None, :], RowCurvature(weights=curvature)
    return float(weights @ loss), (weights * slope)[None, :], RowCurvature(weights=weights * curvature)


def logistic_loss(margin: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return -log σ(m) and its first two derivatives, without overflow."""
    small = np.exp(-np.abs(margin))
    below = 1.0 / (1.0 + small)
    loss = np.log1p(small) - np.minimum(margin, 0.0)
    # σ(-m) is 1 / (1 + small) of negative margins, and small / (1 + small) of others: small is at most 1.
    return loss, -np.maximum(small, margin < 0.0) * below, small * below * below


def probit_loss(margin: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return -log Φ(m) and its first two derivatives, by the ratio φ(m)/Φ(m)."""
    xp, log_probability = namespace_of(margin), log_ndtr(margin)
    with np.errstate(under="ignore"):
        ratio = xp.exp(-0.5 * margin**2 - HALF_LOG_2PI - log_probability)
    return -log_probability, -ratio, xp.clip(ratio * (ratio + margin), 0.0, 1.0)
