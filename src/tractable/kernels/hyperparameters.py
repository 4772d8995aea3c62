"""Hyper-parameters of kernels: positive numbers with bounds and priors, searched in logarithms."""

from dataclasses import is_dataclass
from typing import Any, Self

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import freeze, to_numpy
from tractable.distributions.distribution import Distribution
from tractable.distributions.gamma import Gamma
from tractable.value import parameters, value

#: Where a search looks for a hyper-parameter that has no bounds of its own.
BOUNDS = (1e-5, 1e5)

#: The step in logarithms by which densities are differentiated.
STEP = 1e-3


@value
class Hyperparameter:
    """A positive number, or one a column, with the bounds of a search and a prior.

    Parameters
    ----------
    name : str
        The constructor's argument.
    value : float or array (d,)
        In natural units.
    bounds : (float, float), array (d, 2) or "fixed"
        In natural units.
    prior : Distribution or None
        Of the number itself; one for all columns, or a batch of d.
    """

    name: str
    value: Any
    bounds: Any
    prior: Distribution | None = None

    @classmethod
    def checked(
        cls, name: str, number: Any, bounds: Any, prior: Any, *, vector: bool, zero: bool = False
    ) -> Self:
        """Return the hyper-parameter that a constructor was given; one ValueError names what is wrong."""
        found = freeze(np.asarray(to_numpy(as_reals(name, number)), dtype=np.float64))
        if found.ndim > vector or not found.size:
            raise ValueError(
                f"{name} must be a number{' or one a column' if vector else ''}, got shape {found.shape}"
            )
        good = np.isfinite(found) & ((found >= 0.0) if zero else (found > 0.0))
        if not np.all(good):
            wanted = "finite and not negative" if zero else "positive and finite"
            raise ValueError(
                f"{name} must be {wanted}, got {float(found[~good][0]) if found.ndim else float(found)}"
            )
        bounds = _checked_bounds(f"{name}_bounds", bounds, found)
        if prior is not None and not isinstance(prior, Distribution):
            raise ValueError(f"{name}_prior must be a distribution or None, got {prior!r}")
        made = cls(name=name, value=found if found.ndim else float(found), bounds=bounds, prior=prior)
        made._check_prior()
        return made

    @property
    def is_vector(self) -> bool:
        """Whether there is a number a column."""
        return isinstance(self.value, np.ndarray)

    @property
    def numbers(self) -> np.ndarray:
        """The number, or the numbers, as an array of one axis."""
        return np.atleast_1d(self.value)

    @property
    def free(self) -> bool:
        """Whether a search changes it; zero has no logarithm and stays."""
        return not isinstance(self.bounds, str) and bool(np.all(self.numbers > 0.0))

    @property
    def names(self) -> list[str]:
        """Its name, or the names of its entries: ``length_scale[0]``."""
        return [f"{self.name}[{j}]" for j in range(len(self.numbers))] if self.is_vector else [self.name]

    @property
    def log_bounds(self) -> np.ndarray:
        """The logarithms of the bounds, (k, 2)."""
        return np.log(np.broadcast_to(np.asarray(self.bounds, dtype=np.float64), (len(self.numbers), 2)))

    def log_prior(self) -> float:
        """Return log p(h), summed over columns; 0 without a prior."""
        return 0.0 if self.prior is None else float(np.sum(to_numpy(self.prior.log_prob(self.value))))

    def log_prior_gradient(self) -> np.ndarray:
        """Return d log p(exp θ)/dθ of each number, by differences but of a Gamma; zeros without a prior."""
        if self.prior is None:
            return np.zeros(len(self.numbers))
        if isinstance(self.prior, Gamma):
            found = to_numpy(self.prior.shape) - 1.0 - to_numpy(self.prior.rate) * self.value
            return np.broadcast_to(found, self.numbers.shape).copy()
        # Each number has a density of its own: differences of all at once, of fourth order.
        factors = np.exp(STEP * np.array([1.0, -1.0, 2.0, -2.0]))
        density = to_numpy(self.prior.log_prob(np.multiply.outer(factors, self.value)))
        return np.atleast_1d((8.0 * (density[0] - density[1]) - (density[2] - density[3])) / (12.0 * STEP))

    def _check_prior(self) -> None:
        if self.prior is None or not np.all(self.numbers > 0.0):
            return
        shape = np.shape(self.value)
        try:
            good = (
                self.prior.event_shape == () and np.broadcast_shapes(self.prior.batch_shape, shape) == shape
            )
        except ValueError:
            good = False
        if not good:
            raise ValueError(
                f"{self.name}_prior must be a distribution of numbers of shape {shape}, got {self.prior!r}"
            )


def _checked_bounds(name: str, bounds: Any, found: np.ndarray) -> Any:
    """Return bounds as "fixed", a pair of floats, or a frozen array of a pair a column."""
    if isinstance(bounds, str):
        if bounds != "fixed":
            raise ValueError(f'{name} must be "fixed" or a pair of numbers, got {bounds!r}')
        return bounds
    pairs = np.asarray(to_numpy(as_reals(name, bounds)), dtype=np.float64)
    if pairs.shape not in {(2,), (found.size, 2)} or (pairs.ndim == 2 and not found.ndim):
        raise ValueError(f"{name} must be a pair of numbers, or one a column, got shape {pairs.shape}")
    low, high = pairs[..., 0], pairs[..., 1]
    if not np.all((low > 0.0) & (low <= high) & np.isfinite(high)):
        raise ValueError(f"{name} must be positive and finite, the lower one first, got {pairs.tolist()}")
    return freeze(pairs) if pairs.ndim == 2 else (float(low), float(high))


def content(x: Any) -> Any:
    """Return what values are compared and hashed by: parameters all the way down, arrays as their bytes."""
    if is_dataclass(x) and not isinstance(x, type):
        return type(x), tuple((name, content(item)) for name, item in parameters(x).items())
    if isinstance(x, np.ndarray):
        # Minus zero is zero.
        return x.shape, x.dtype.str, (x + 0 if x.dtype.kind in "iuf" else x).tobytes()
    if isinstance(x, (list, tuple)):
        return type(x), tuple(map(content, x))
    return x
