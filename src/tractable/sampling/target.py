"""What is sampled: a log density, of a distribution or a function, at one point or at a batch of them."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tractable.arrays.autograd import torch_gradient
from tractable.arrays.namespace import to_numpy
from tractable.value import value


@value
class Target:
    """A log density up to a constant, evaluated at a batch of points, one of each chain.

    Parameters
    ----------
    log_prob : callable
        The log density of one point, or of a batch (n_chains, ...) of points, one number each.
    gradient : callable, True or "torch", optional
        Its gradient, of the shape of its argument; True where `log_prob` returns the pair of both, "torch"
        where it is written in torch, which differentiates it.
    vectorized : bool
        Whether both take a batch.
    """

    log_prob: Callable[[Any], Any]
    gradient: Any = None
    vectorized: bool = True

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return the log density of each point, checked: a number below infinity, or minus infinity."""
        found = np.asarray(self._value(x) if self.vectorized else [float(self._value(one)) for one in x])
        if found.shape != x.shape[:1]:
            raise ValueError(
                f"log_prob must return one number a chain, {x.shape[:1]}, at points {x.shape}; "
                f"got {found.shape}"
            )
        # NaN is the largest of all to `max`, and not below infinity.
        if not found.max() < np.inf:
            raise _not_a_density(found, x)
        return found

    def with_gradient(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the log density and its gradient at each point, checked; zero gradients at zero density."""
        found, slope = self.pair(x)
        if not found.max() < np.inf:
            raise _not_a_density(found, x)
        wrong = ~np.isfinite(slope.reshape(len(x), -1)).all(axis=1)
        if wrong.any():
            _check_slope(wrong & (found > -np.inf), x)
            slope = np.where(wrong.reshape(-1, *(1,) * (x.ndim - 1)), 0.0, slope)
        return found, slope

    def pair(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the log density and its gradient at each point, of which the shapes alone are checked."""
        if self.gradient is True:
            pairs = self.log_prob(x) if self.vectorized else zip(*map(self.log_prob, x), strict=True)
            found, slope = (np.asarray(part) for part in pairs)
        elif self.gradient == "torch":
            found, slope = torch_gradient(self.log_prob, x, batch=self.vectorized)
        elif self.vectorized:
            found, slope = np.asarray(self.log_prob(x)), np.asarray(self.gradient(x))
        else:
            found, slope = (
                np.array([float(self.log_prob(one)) for one in x]),
                np.array([*map(self.gradient, x)]),
            )
        if slope.shape != x.shape or found.shape != x.shape[:1]:
            raise ValueError(
                f"log_prob must return one number a chain, {x.shape[:1]}, and gradient the shape of the "
                f"points, {x.shape}; got {found.shape} and {slope.shape}"
            )
        return found, slope

    def check_leaf(self, x: np.ndarray, kinetic: np.ndarray, found: np.ndarray, slope: np.ndarray) -> None:
        """Refuse what is not a density, or has no gradient, at points that a trajectory reaches.

        Where it has left for the far ends of numbers, with a momentum that no draw has, it has diverged.

        Parameters
        ----------
        x : array (n_chains, d)
            The points.
        kinetic : array (n_chains,)
            Twice the kinetic energies there.
        found, slope : array (n_chains,), array (n_chains, d)
            The log density and its gradient.
        """
        near = kinetic < 1e8
        if np.any(near & ~(found < np.inf)):
            raise _not_a_density(np.where(near, found, 0.0), x)
        moved = np.isfinite(x).all(axis=1) & (np.abs(x).max(axis=1) < 1e8)
        if np.any(moved & np.isnan(found)):
            raise _not_a_density(np.where(moved, found, 0.0), x)
        _check_slope(moved & (found > -np.inf) & ~np.isfinite(slope).all(axis=1), x)

    def _value(self, x: Any) -> Any:
        return self.log_prob(x)[0] if self.gradient is True else self.log_prob(x)

    def at_start(self, x: np.ndarray) -> np.ndarray:
        """Return the log density of starting points, which must be positive."""
        found = self(x)
        self.check_start(found, x)
        return found

    def check_start(self, found: np.ndarray, x: np.ndarray) -> None:
        """Refuse starting points of density zero."""
        if np.any(found == -np.inf):
            where = int(np.argmin(found))
            raise ValueError(f"start must have positive density: that of chain {where}, {x[where]}, is zero")


def check_array(start: Any) -> None:
    """Refuse starting points that are a mapping of variables: a log density is of one array."""
    if isinstance(start, Mapping):
        raise ValueError(
            f"start must be one array with a row a chain, got a mapping of {[*start]}: join the variables to "
            "one vector, or sample them in turn by gibbs"
        )


def as_target(
    target: Any, start: np.ndarray, *, gradient: Any = None, vectorized: bool | None = None
) -> Target:
    """Return a distribution, or a function of one point or of a batch of points, as a target.

    Parameters
    ----------
    target : distribution or callable
        What has a `log_prob`, or the log density itself.
    start : array (n_chains, ...)
        Points at which to find out whether it takes a batch.
    gradient : callable, True or "torch", optional
        The gradient of the log density; see `Target`.
    vectorized : bool, optional
        Whether functions take a batch; found out when not given.
    """
    log_prob = getattr(target, "log_prob", target)
    if not callable(log_prob):
        raise ValueError(f"log_prob must be a function or a distribution, got {type(target).__name__}")
    if not (gradient is None or gradient is True or gradient == "torch" or callable(gradient)):
        raise ValueError(f'gradient must be a function, True or "torch", got {gradient!r}')
    if vectorized is None:
        asked = log_prob
        if gradient == "torch":
            asked = _by_torch(log_prob)
        elif gradient is True:
            asked = _first_of(log_prob)
        try:
            vectorized = _takes_batch(asked, start)
        except _NotAPairError as error:
            raise ValueError(
                "gradient is True, so log_prob must return the pair of the log density and its gradient, got "
                f"{type(error.args[0]).__name__}"
            ) from None
        if vectorized and callable(gradient):
            vectorized = _gradient_takes_batch(gradient, start)
    return Target(log_prob=log_prob, gradient=gradient, vectorized=bool(vectorized))


def _first_of(log_prob: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def first(x: Any) -> Any:
        found = log_prob(x)
        if not (isinstance(found, (tuple, list)) and len(found) == 2):
            raise _NotAPairError(found)
        return found[0]

    return first


class _NotAPairError(Exception):
    """A function that is to return a log density and its gradient does not."""


def _by_torch(log_prob: Callable[[Any], Any]) -> Callable[[np.ndarray], Any]:
    return lambda x: torch_gradient(log_prob, x, batch=x.ndim > 1, gradient=False)[0]


def _takes_batch(log_prob: Callable[[Any], Any], start: np.ndarray) -> bool:
    """Whether a function of a batch returns what it returns of each point."""
    try:
        single = np.array([float(to_numpy(np.asarray(log_prob(one)))) for one in start[:2]])
    except (TypeError, ValueError, IndexError) as error:
        if _shape_of(log_prob, start) == start.shape[:1]:  # it takes nothing but a batch
            return True
        one = _shape_of(log_prob, start) == ()
        raise ValueError(
            "log_prob cannot be evaluated at "
            + ("each row of start: give one row a chain, such as np.tile(start, (4, 1))" if one else "start")
            + f" ({error})"
        ) from error
    try:
        # Twice the points, so that no axis of the points is as long as the batch.
        batch = np.concatenate([start, start, start[:1]])
        found = np.asarray(log_prob(batch), dtype=np.float64)
    except Exception:  # noqa: BLE001  (whatever a function of one point raises for two)
        return False
    if found.shape != (len(batch),):
        return False
    return bool(np.allclose(found[: len(single)], single, rtol=1e-9, equal_nan=True))


def _shape_of(function: Callable[[Any], Any], x: np.ndarray) -> tuple[int, ...] | None:
    """Return the shape of what a function returns; None where it cannot be evaluated."""
    try:
        return np.shape(function(x))
    except Exception:  # noqa: BLE001  (whatever a function of one point raises for many)
        return None


def _gradient_takes_batch(gradient: Callable[[Any], Any], start: np.ndarray) -> bool:
    of_all, of_one = _shape_of(gradient, start), _shape_of(gradient, start[0])
    if of_all != start.shape and of_one != start.shape[1:]:
        raise ValueError(
            f"gradient must return the shape of the points: at {start.shape} it returns {of_all}, at one "
            f"point {start.shape[1:]} {of_one}, where None is an error"
        )
    return of_all == start.shape


def _check_slope(wrong: np.ndarray, x: np.ndarray) -> None:
    if wrong.any():
        point = x[np.argmax(wrong)]
        raise ValueError(f"gradient must be finite where the density is positive; at {point} it is not")


def _not_a_density(found: np.ndarray, x: np.ndarray) -> ValueError:
    where = int(np.argmax(np.isnan(found) | (found == np.inf)))
    return ValueError(f"log_prob must be a number below infinity; at {x[where]} it is {found[where]}")
