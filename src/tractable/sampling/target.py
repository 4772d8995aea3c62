"""What is sampled: a log density, of a distribution or a function, at one point or at a batch of them."""

from collections.abc import Callable
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
    gradient : callable, optional
        Its gradient, of the shape of its argument; by differentiating `log_prob` where that is "torch".
    vectorized : bool
        Whether both take a batch.
    """

    log_prob: Callable[[Any], Any]
    gradient: Any = None
    vectorized: bool = True

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return the log density of each point, checked: a number below infinity, or minus infinity."""
        found = np.asarray(self.log_prob(x) if self.vectorized else [float(self.log_prob(one)) for one in x])
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
        """Return the log density and its gradient at each point; zero gradients where the density is zero."""
        if self.gradient == "torch":
            found, slope = torch_gradient(self.log_prob, x, batch=self.vectorized)
        elif self.gradient is None:
            raise ValueError(
                'gradient is needed: give the gradient of log_prob, or gradient="torch" where log_prob is '
                "written in torch"
            )
        else:
            found = self(x)
            slope = np.asarray(self.gradient(x) if self.vectorized else [self.gradient(one) for one in x])
        if slope.shape != x.shape:
            raise ValueError(f"gradient must have the shape of the points, {x.shape}; got {slope.shape}")
        # One sum finds what is not finite; it is looked for only then.
        if not (found.max() < np.inf and np.isfinite(slope.sum())):
            if not found.max() < np.inf:
                raise _not_a_density(found, x)
            wrong = ~np.isfinite(slope.reshape(len(x), -1)).all(axis=1)
            if np.any(wrong & (found > -np.inf)):
                point = x[np.argmax(wrong & (found > -np.inf))]
                raise ValueError(
                    f"gradient must be finite where the density is positive; at {point} it is not"
                )
            slope = np.where(wrong.reshape(-1, *(1,) * (x.ndim - 1)), 0.0, slope)
        return found, slope

    def at_start(self, x: np.ndarray) -> np.ndarray:
        """Return the log density of starting points, which must be positive."""
        found = self(x)
        if np.any(found == -np.inf):
            where = int(np.argmin(found))
            raise ValueError(f"start must have positive density: that of chain {where}, {x[where]}, is zero")
        return found


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
    gradient : callable or "torch", optional
        The gradient of the log density.
    vectorized : bool, optional
        Whether functions take a batch; found out when not given.
    """
    log_prob = getattr(target, "log_prob", target)
    if not callable(log_prob):
        raise ValueError(f"log_prob must be a function or a distribution, got {type(target).__name__}")
    if gradient is not None and gradient != "torch" and not callable(gradient):
        raise ValueError(f'gradient must be a function or "torch", got {gradient!r}')
    if vectorized is None:
        asked = _by_torch(log_prob) if gradient == "torch" else log_prob
        vectorized = _takes_batch(asked, start)
        if vectorized and callable(gradient):
            vectorized = np.shape(gradient(start)) == start.shape
    return Target(log_prob=log_prob, gradient=gradient, vectorized=bool(vectorized))


def _by_torch(log_prob: Callable[[Any], Any]) -> Callable[[np.ndarray], Any]:
    return lambda x: torch_gradient(log_prob, x, batch=x.ndim > 1, gradient=False)[0]


def _takes_batch(log_prob: Callable[[Any], Any], start: np.ndarray) -> bool:
    """Whether a function of a batch returns what it returns of each point."""
    try:
        single = np.array([float(to_numpy(np.asarray(log_prob(one)))) for one in start[:2]])
    except (TypeError, ValueError, IndexError) as error:
        one = _whole(log_prob, start)
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


def _whole(log_prob: Callable[[Any], Any], start: np.ndarray) -> bool:
    try:
        return np.shape(log_prob(start)) == ()
    except Exception:  # noqa: BLE001
        return False


def _not_a_density(found: np.ndarray, x: np.ndarray) -> ValueError:
    where = int(np.argmax(np.isnan(found) | (found == np.inf)))
    return ValueError(f"log_prob must be a number below infinity; at {x[where]} it is {found[where]}")
