"""Linear discriminant functions and their geometry."""

from typing import Any

import numpy as np
from scipy.linalg import norm

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import freeze
from tractable.base import check_fitted
from tractable.value import value


@value
class LinearDiscriminantFunction:
    """Linear discriminant functions y_k(x) = w_kᵀx + w_k0; a point has the class of the largest (Bishop 4.1).

    Two classes need one function, y(x) = wᵀx + w₀, which is positive for the second. Its decision boundary
    y(x) = 0 is a hyperplane of D - 1 dimensions, to which w is normal. The regions of several classes are
    convex: all points between two points of a class have that class.

    Parameters
    ----------
    coef : array (D,) or (1, D) for two classes, (K, D) for K
        w_k.
    intercept : float or array (K,)
        w_k0.
    classes : array (K,), optional
        Labels; 0, 1, … when not given.

    Examples
    --------
    >>> y = LinearDiscriminantFunction(coef=[3.0, 4.0], intercept=-10.0, classes=["left", "right"])
    >>> y.boundary_offset, y.signed_distance([[0.0, 0.0], [3.0, 4.0]])
    (2.0, array([-2.,  3.]))
    >>> y.project_to_boundary([3.0, 4.0]), y.decide([[0.0, 0.0], [3.0, 4.0]])
    (array([1.2, 1.6]), array(['left', 'right'], dtype='<U5'))
    """

    coef: np.ndarray
    intercept: np.ndarray
    classes: np.ndarray | None = None

    def __post_init__(self) -> None:
        coef = np.atleast_2d(np.array(as_reals("coef", self.coef), dtype=np.float64))
        intercept = np.atleast_1d(np.array(as_reals("intercept", self.intercept), dtype=np.float64))
        if coef.ndim != 2 or not coef.size or not np.isfinite(coef).all():
            raise ValueError(
                f"coef must be finite, of shape (n_functions, n_features), got shape {coef.shape}"
            )
        if intercept.shape != coef.shape[:1] or not np.isfinite(intercept).all():
            raise ValueError(f"intercept must be {len(coef)} finite numbers, got shape {intercept.shape}")
        if np.any(np.all(coef == 0.0, axis=1)) and len(coef) == 1:
            raise ValueError("coef must not be zero: there is no decision boundary")
        n_classes = max(len(coef), 2)
        classes = np.arange(n_classes) if self.classes is None else np.asarray(self.classes)
        if classes.shape != (n_classes,) or len(set(classes.tolist())) < n_classes:
            raise ValueError(f"classes must be {n_classes} different labels, got {classes.tolist()}")
        object.__setattr__(self, "coef", freeze(coef))
        object.__setattr__(self, "intercept", freeze(intercept))
        object.__setattr__(self, "classes", freeze(classes.copy()))

    @property
    def n_functions(self) -> int:
        """One for two classes, else one for each class."""
        return len(self.coef)

    def scores(self, x: Any) -> np.ndarray:
        """Return wᵀx + w₀ of points (..., D): (...) for one function, else (..., K)."""
        x = self._points(x)
        found = x @ self.coef.T + self.intercept
        return found[..., 0] if self.n_functions == 1 else found

    def decide(self, x: Any) -> np.ndarray:
        """Return the class of each point (..., D): of the largest score, the first of tied ones."""
        scores = self.scores(x)
        labels = np.asarray(self.classes)
        if self.n_functions == 1:
            return labels[(scores > 0.0).astype(int)]
        return labels[np.argmax(scores, axis=-1)]

    @property
    def normal(self) -> np.ndarray:
        """The unit normal w/‖w‖ of the decision boundary, towards the second class, (D,)."""
        w, _ = self._one_function()
        return w / norm(w)

    @property
    def boundary_offset(self) -> float:
        """The position of the decision boundary along its normal from the origin, -w₀/‖w‖.

        The signed distance of the origin to the boundary is the negative of it, +w₀/‖w‖.
        """
        w, w0 = self._one_function()
        return -float(w0 / norm(w)) + 0.0

    def signed_distance(self, x: Any) -> np.ndarray:
        """Return r = (wᵀx + w₀)/‖w‖ of points (..., D): positive on the side of the second class."""
        self._one_function()
        # Along the normal: far from the origin both terms of a score may overflow.
        return self._points(x) @ self.normal - self.boundary_offset

    def project_to_boundary(self, x: Any) -> np.ndarray:
        """Return the nearest point of the decision boundary to each of (..., D): x - r w/‖w‖."""
        return self._points(x) - self.signed_distance(x)[..., None] * self.normal

    def surface(self, t: Any) -> np.ndarray:
        """Return points of the boundary with coordinates t (..., D - 1) in it, from that nearest to 0."""
        w, _ = self._one_function()
        t = np.asarray(as_reals("t", t), dtype=np.float64)
        if t.ndim < 1 or t.shape[-1] != len(w) - 1:
            raise ValueError(f"t must have {len(w) - 1} coordinates on its last axis, got shape {t.shape}")
        # The last D - 1 right singular vectors of one row are what is orthogonal to it.
        across = np.linalg.svd(self.normal[None, :])[2][1:]
        return self.boundary_offset * self.normal + t @ across

    def pairwise_boundary(self, k: Any, j: Any) -> "LinearDiscriminantFunction":
        """Return the function of two labels, (w_k - w_j)ᵀx + (w_k0 - w_j0), positive for class k."""
        first, second = (self._position(name, label) for name, label in (("k", k), ("j", j)))
        if first == second:
            raise ValueError(f"k and j must be two classes, got {k!r} twice")
        coef, intercept = self._contrast(first, second)
        labels = np.asarray(self.classes)[[second, first]]
        return LinearDiscriminantFunction(coef=coef, intercept=intercept, classes=labels)

    def _contrast(self, k: int, j: int) -> tuple[np.ndarray, np.ndarray]:
        if self.n_functions == 1:
            sign = 1.0 if k else -1.0
            return sign * self.coef, sign * self.intercept
        return self.coef[[k]] - self.coef[[j]], self.intercept[[k]] - self.intercept[[j]]

    def _one_function(self) -> tuple[np.ndarray, float]:
        if self.n_functions > 1:
            raise ValueError(
                f"there are {self.n_functions} functions: pairwise_boundary(k, j) is that of two classes"
            )
        return self.coef[0], float(self.intercept[0])

    def _points(self, x: Any) -> np.ndarray:
        x = np.asarray(as_reals("x", x), dtype=np.float64)
        if x.ndim < 1 or x.shape[-1] != self.coef.shape[1]:
            raise ValueError(f"x must have {self.coef.shape[1]} columns on its last axis, got {x.shape}")
        return x

    def _position(self, name: str, label: Any) -> int:
        labels = np.asarray(self.classes).tolist()
        if label not in labels:
            raise ValueError(f"{name} must be one of the classes {labels}, got {label!r}")
        return labels.index(label)


def discriminant_functions(estimator: Any) -> LinearDiscriminantFunction:
    """Return the linear discriminant functions of a fitted classifier, as a value with their geometry.

    Parameters
    ----------
    estimator : fitted classifier
        With `coef_`, `intercept_` and `classes_`: this library's, or any that follows scikit-learn. A class
        of prior 0 is never predicted, and has no function.

    Returns
    -------
    LinearDiscriminantFunction

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X, y = np.array([[0.0, 0.0], [1.0, 0.0], [4.0, 3.0], [5.0, 3.0]]), ["a", "a", "b", "b"]
    >>> linear = discriminant_functions(tractable.Perceptron().fit(X, y))
    >>> linear.decide(X).tolist(), bool(np.all(linear.signed_distance(X[2:]) > 0.0))
    (['a', 'a', 'b', 'b'], True)
    """
    check_fitted(estimator)
    if not all(hasattr(estimator, name) for name in ("coef_", "intercept_", "classes_")):
        raise ValueError(
            "estimator must be a linear classifier, with coef_, intercept_ and classes_; "
            f"{type(estimator).__name__} is none"
        )
    coef = np.atleast_2d(np.asarray(estimator.coef_, dtype=np.float64))
    intercept = np.broadcast_to(np.asarray(estimator.intercept_, dtype=np.float64), (len(coef),))
    classes = np.asarray(estimator.classes_)
    if np.isinf(intercept).any():
        coef, intercept, classes = _possible(coef, intercept, classes)
    return LinearDiscriminantFunction(coef=coef, intercept=intercept, classes=classes)


def _possible(
    coef: np.ndarray, intercept: np.ndarray, classes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Leave out classes of prior 0, whose intercepts are -inf."""
    some = intercept > -np.inf
    if len(coef) == 1 or np.count_nonzero(some) < 2:
        never = classes[[int(intercept[0] < 0)]] if len(coef) == 1 else classes[~some]
        raise ValueError(
            f"estimator has no decision boundary: the prior of {never.tolist()} is 0, and one class is left"
        )
    coef, intercept, classes = coef[some], intercept[some], classes[some]
    if len(classes) == 2:
        coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
    return coef, intercept, classes
