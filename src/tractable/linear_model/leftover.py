"""What a plane leaves of the targets, and whether that still follows a feature."""

import numpy as np

from tractable.value import value

__all__ = ["Leftover"]


@value
class Leftover:
    """Sums over rows of what a plane left: of r φ, φ² and r². It adds up over blocks.

    Parameters
    ----------
    products : array (p,)
    squares : array (p,)
    errors : float
    weight : float
    n_located : int
    """

    products: np.ndarray
    squares: np.ndarray
    errors: float
    weight: float
    n_located: int

    @classmethod
    def of(cls, phi: np.ndarray, r: np.ndarray, w: np.ndarray, n_located: int) -> "Leftover":
        """Sum over a block of features and errors."""
        return cls(
            products=(w * r) @ phi,
            squares=w @ phi**2,
            errors=float(w @ r**2),
            weight=float(w.sum()),
            n_located=n_located,
        )

    def __add__(self, other: "Leftover") -> "Leftover":
        return Leftover(
            products=self.products + other.products,
            squares=self.squares + other.squares,
            errors=self.errors + other.errors,
            weight=self.weight + other.weight,
            n_located=self.n_located,
        )

    @property
    def square(self) -> float:
        """Mean squared error."""
        return self.errors / self.weight

    @property
    def along(self) -> np.ndarray:
        """Cosine of the errors with each feature: zero at the least squares, in any units."""
        lengths = np.sqrt(self.squares) * self.errors**0.5
        return np.abs(self.products) / np.where(lengths > 0, lengths, 1.0)

    @property
    def follows(self) -> float:
        """The largest of those."""
        return float(self.along.max(initial=0.0))

    @property
    def name(self) -> str:
        """The feature that has it."""
        place = int(self.along.argmax()) - self.n_located
        return "the intercept" if place < 0 else f"column {place} of X"
