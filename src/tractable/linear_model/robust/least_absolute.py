"""Least absolute errors exactly: corners, the certificate of the best one, and the way to it."""

import numpy as np

from tractable.value import value

__all__ = ["Corner", "best_corner"]

#: How far targets are moved to break ties, in units of the middle residual; the last search moves none.
_MOVES = (1e-6, 1e-9, 0.0)
#: By how much a dual value may pass the weight of its row, relative to it: rounding.
_SLACK = 1e-9
#: Rounding of a sum of pulls, relative to the sum of the weights.
_ROUNDED = 1e-13


@value
class Corner:
    """A plane through as many rows as it has parameters."""

    rows: np.ndarray  # (r,), those it goes through
    costs: tuple[float, ...]  # the sum of absolute errors at the first corner and after each step
    optimal: bool  # whether dual values within the weights say that no plane errs less


@value
class _Place:
    """Where the search is: the rows of the corner, and the side of it on which every other row lies."""

    rows: np.ndarray  # (r,)
    side: np.ndarray  # (n,), of -1 and 1: also for rows that the plane touches by chance


def best_corner(
    phi: np.ndarray, y: np.ndarray, w: np.ndarray, errors: np.ndarray, floor: float, max_steps: int
) -> Corner:
    """Return the corner with the least Σ w |y - φβ|, from a plane that is near it.

    A sum of absolute errors is least at a plane through as many rows as there are parameters. Such a corner
    is the best where the pull of the other rows, Σ w sign(r) φ, is balanced by pulls of its own rows that are
    no greater than their weights. A row that would have to pull more is let go: the plane turns about the
    others until the errors cease to fall, at another row. This is the simplex method, with an exact search
    along each edge.

    Parameters
    ----------
    phi : array (n, r)
        Features, of full rank and of like lengths.
    y : array (n,)
    w : array (n,)
        Positive.
    errors : array (n,)
        Of the plane that is near.
    floor : float
        What is rounding in a residual.
    max_steps : int
    """
    place = _Place(rows=_near(phi, np.abs(errors), floor), side=_sides(errors))
    middle = float(np.quantile(np.abs(errors), 0.5, weights=w, method="inverted_cdf"))
    chance = np.random.default_rng(0).uniform(-1.0, 1.0, len(y))
    costs = [_cost(phi, y, w, place)]
    slack = _ROUNDED * float(w.sum())
    # Ties, rows that a corner touches by chance, could send the search in circles: it is made with targets
    # that have none, and what it learned of the sides of such rows serves for those that were given.
    for move in _MOVES:
        moved = y + (max(move * middle, 16.0 * floor) if move else 0.0) * chance
        place = _sided(phi, moved, place, floor)
        balance = _balance(phi, w, place)
        while not (optimal := _balanced(balance, w[place.rows], slack)) and len(costs) <= max_steps:
            place = _turned(phi, moved, w, place, balance)
            costs.append(_cost(phi, y, w, place))
            balance = _balance(phi, w, place)
        given = _sided(phi, y, place, floor)
        if np.array_equal(given.side, place.side):
            break
        place = given
    return Corner(rows=place.rows, costs=tuple(costs), optimal=optimal)


def _near(phi: np.ndarray, distance: np.ndarray, floor: float) -> np.ndarray:
    """Return independent rows that a plane is near to: those a pivoted QR takes first, nearer ones longer."""
    from scipy.linalg import qr

    # Among rows that are nearer than a thousandth of the middle one the least dependent are taken.
    least = max(1e-3 * float(np.median(distance)), floor, np.finfo(float).tiny)
    chosen = qr((phi / np.maximum(distance, least)[:, None]).T, mode="r", pivoting=True)[1]
    return np.asarray(chosen[: phi.shape[1]])


def _sides(r: np.ndarray) -> np.ndarray:
    return np.where(r < 0.0, -1.0, 1.0)


def _residuals(phi: np.ndarray, y: np.ndarray, rows: np.ndarray) -> np.ndarray:
    r = y - phi @ np.linalg.solve(phi[rows], y[rows])
    r[rows] = 0.0
    return r


def _cost(phi: np.ndarray, y: np.ndarray, w: np.ndarray, place: _Place) -> float:
    return float(w @ np.abs(_residuals(phi, y, place.rows)))


def _sided(phi: np.ndarray, y: np.ndarray, place: _Place, floor: float) -> _Place:
    """Return the place with the sides that the targets say, where they are more than rounding."""
    r = _residuals(phi, y, place.rows)
    return _Place(rows=place.rows, side=np.where(np.abs(r) > floor, _sides(r), place.side))


def _balance(phi: np.ndarray, w: np.ndarray, place: _Place) -> np.ndarray:
    """Return how much each row of the corner has to pull to balance the others."""
    pull = w * place.side
    pull[place.rows] = 0.0
    return np.linalg.solve(phi[place.rows].T, -(pull @ phi))


def _balanced(balance: np.ndarray, w: np.ndarray, slack: float) -> bool:
    """Whether no row of the corner has to pull more than its weight w."""
    return bool(np.all(np.abs(balance) <= (1.0 + _SLACK) * w + slack))


def _turned(phi: np.ndarray, y: np.ndarray, w: np.ndarray, place: _Place, balance: np.ndarray) -> _Place:
    """Let go of the row that pulls most, and turn the plane until the sum of errors ceases to fall."""
    leaving = int(np.argmax(np.abs(balance) / w[place.rows]))
    away = np.zeros(len(place.rows))
    away[leaving] = -np.sign(balance[leaving])
    speed = place.side * (phi @ np.linalg.solve(phi[place.rows], away))  # at which |r| falls
    speed[place.rows] = 0.0
    met = np.flatnonzero(speed > 1e-12 * np.abs(speed).max())
    distance = np.maximum(place.side * _residuals(phi, y, place.rows), 0.0)
    met = met[np.argsort(distance[met] / speed[met], kind="stable")]
    slope = w[place.rows[leaving]] - abs(balance[leaving]) + 2.0 * np.cumsum(w[met] * speed[met])
    last = min(int(np.searchsorted(slope, 0.0)), len(met) - 1)
    rows, side = place.rows.copy(), place.side.copy()
    side[met[:last]] *= -1.0
    side[rows[leaving]] = np.sign(balance[leaving])
    rows[leaving] = met[last]
    return _Place(rows=rows, side=side)
