"""What kernels of scaled distances share: k(x, x') = g(s), s = Σ_d ((x_d - x'_d)/ℓ_d)²."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.limits import LARGEST
from tractable.arrays.namespace import Array, device, is_numpy_array, namespace_of
from tractable.kernels.base import Kernel, column_of, like_rows
from tractable.primitives import squared_distances

#: Up to this squared length of the centred, scaled rows, squared distances are taken from products of rows: a
#: matrix product, whose rounding errors are then below 1e-13; up to its square, so are sums of squared
#: distances, with errors below 1e-10 of what is summed.
_SHORT = 256.0


class Stationary(Kernel):
    """A kernel of the distance between rows in units of `length_scale`, one for all columns or one each."""

    _hyper: ClassVar[tuple[str, ...]] = ("length_scale",)
    _vectors: ClassVar[tuple[str, ...]] = ("length_scale",)
    #: Whether g has a derivative at s = 0, so that rounding of small distances does not matter.
    _smooth: bool = True

    length_scale: Any

    is_stationary: ClassVar[bool] = True

    @property
    def is_isotropic(self) -> bool:  # type: ignore[override]
        """Whether the kernel is a function of |x - x'| alone."""
        return not isinstance(self.length_scale, np.ndarray) or bool(np.ptp(self.length_scale) == 0.0)

    @abstractmethod
    def _profile(self, s: Array) -> Array:
        """Return g(s); s may be changed."""

    @abstractmethod
    def _slope(self, matrix: Array, x: Array, y: Array) -> Array:
        """Return -2 g'(s), a new array."""

    @abstractmethod
    def _spectral_scales(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Return n draws (n,) of τ with g(s) = E[exp(-τ²s/2)]: the kernel is a mixture of Gaussian ones."""

    def slope(self, x: Array, y: Array) -> Array:
        """Return -2 g'(s) of every pair of rows, (n, m): ∂k/∂x_d = -slope (x_d - y_d)/ℓ_d²."""
        return self._slope(self.block(x, y, None), x, y)

    def frequencies(self, n: int, columns: int, rng: np.random.Generator) -> np.ndarray:
        scale = like_rows(self.length_scale, np.empty((0, columns)), "length_scale")
        return self._spectral_scales(n, rng)[:, None] * rng.standard_normal((n, columns)) / scale

    def block(self, x: Array, y: Array, same: int | None) -> Array:
        return self._profile(self._squares(x, y))

    def block_diagonal(self, x: Array) -> Array:
        return column_of(x, 1.0)

    def derivatives(
        self, weights: Array, matrix: Array, x: Array, y: Array, same: int | None
    ) -> Mapping[str, Any]:
        slope = self._slope(matrix, x, y)
        slope *= weights
        by_column = self._by_column(slope, x, y)
        together = not isinstance(self.length_scale, np.ndarray)
        return {"length_scale": namespace_of(x).sum(by_column) if together else by_column}

    def _squares(self, x: Array, y: Array) -> Array:
        """Return s, a new array (n, m)."""
        xp = namespace_of(x)
        z, w, a, b = self._scaled(x, y)
        if self._smooth and _are_short(a, b, _SHORT):
            s = (-2.0 * z) @ w.T
            s += a[:, None]
            s += b[None, :]
            # Rounding may leave less than nothing; `clip` of other libraries takes several passes.
            return np.maximum(s, 0.0, out=s) if is_numpy_array(s) else xp.clip(s, 0.0, None)
        most = LARGEST if x.dtype == xp.float64 else 1e15
        if not _are_short(a, b, most**2):
            # A quotient overflows where a difference of equal numbers is zero all the same.
            return self._far_squares(x, y)
        return xp.astype(squared_distances(z, w), x.dtype, copy=False)

    def _scaled(self, x: Array, y: Array) -> tuple[Array, Array, Array, Array]:
        """Return both rows about a centre, in units of the length scale, and their squared lengths."""
        xp = namespace_of(x)
        scale = like_rows(self.length_scale, x, "length_scale")
        centre = xp.mean(y, axis=0) if y.shape[0] else 0.0
        z, w = (x - centre) / scale, (y - centre) / scale
        return z, w, _row_squares(z), _row_squares(w)

    def _far_squares(self, x: Array, y: Array) -> Array:
        xp = namespace_of(x)
        scale = like_rows(self.length_scale, x, "length_scale") + xp.zeros_like(x[:1, :])
        s = xp.zeros((x.shape[0], y.shape[0]), dtype=x.dtype, device=device(x))
        for d in range(x.shape[1]):
            s += ((x[:, d : d + 1] - y[None, :, d]) / scale[0, d]) ** 2
        return s

    def _by_column(self, v: Array, x: Array, y: Array) -> Array:
        """Return Σ V_nm (z_nd - z'_md)² of each column d."""
        xp = namespace_of(x)
        z, w, a, b = self._scaled(x, y)
        if self._smooth and _are_short(a, b, _SHORT**2):
            rows, columns = xp.sum(v, axis=1), xp.sum(v, axis=0)
            return rows @ (z * z) + columns @ (w * w) - 2.0 * xp.sum(z * (v @ w), axis=0)
        gaps = (z[:, d : d + 1] - w[None, :, d] for d in range(x.shape[1]))
        return xp.stack([xp.sum(xp.where(gap == 0.0, 0.0, v * gap * gap)) for gap in gaps])


def _row_squares(a: Array) -> Array:
    """Return the sum of the squares of each row."""
    return np.einsum("ij,ij->i", a, a) if is_numpy_array(a) else namespace_of(a).sum(a * a, axis=1)


def _are_short(a: Array, b: Array, most: float) -> bool:
    """Whether no squared length of either set of rows is above `most`, or not a number."""
    return all(not squares.shape[0] or bool(namespace_of(squares).max(squares) <= most) for squares in (a, b))
