"""Probabilities of three classes of uncertain activations: one axis in closed form, the other adaptively."""

from collections.abc import Callable

import numpy as np

from tractable.arrays.log_space import LOG_2PI
from tractable.classification.activation_integrals import in_blocks, legendre, log_expected_sigmoid

__all__ = ["log_expected_of_three"]

Integrand = Callable[[np.ndarray, np.ndarray], np.ndarray]

N_NODES = 10
#: What halves of a panel may differ from it, by the whole: they are better than it by many digits.
TOLERANCE = 1e-9
#: The integrand is looked at where it is above e^-DEPTH of its largest.
DEPTH = 38.0
#: Numbers made for one row: bounds the memory.
WIDTH = 200
#: A sigmoid is bent this far to each side.
BENT = 20.0
GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)


def log_expected_of_three(centre: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Return log E[softmax(centre + spread z)] for standard normal z (2,), to 10 digits of the probability.

    With u and v the leads of the other classes over class k, of which v is the more uncertain,
    1 / (1 + e^u + e^v) = σ(-v) σ(log(1 + e^v) - u): of Gaussian u given v the mean is
    `log_expected_sigmoid`. What is left is an integral over v of a function whose logarithm is concave, with
    one peak; panels from it to where nothing is left are halved until halves agree with the whole.

    Parameters
    ----------
    centre : array (n, 3)
    spread : array (n, 3, 2)

    Examples
    --------
    >>> spread = np.array([[[3.0, 0.0], [0.0, 3.0], [0.0, 0.0]]])
    >>> np.exp(log_expected_of_three(np.zeros((1, 3)), spread)).round(6)
    array([[0.364966, 0.364966, 0.270067]])
    """
    found = [in_blocks(_of_first, WIDTH, centre[:, turn], spread[:, turn]) for turn in TURNS]
    return np.stack(found, axis=1)


#: Each class first, and the others.
TURNS = ([0, 1, 2], [1, 0, 2], [2, 0, 1])


def _of_first(centre: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Return log E[1 / (1 + e^u + e^v)] of the leads of the second and the third class over the first."""
    leads, roots = centre[:, 1:] - centre[:, :1], spread[:, 1:] - spread[:, :1]
    wider = np.argmax(np.sum(roots**2, axis=2), axis=1)
    place = np.arange(len(leads))
    (m, r), (mu, q) = ((leads[place, j], roots[place, j]) for j in (wider, 1 - wider))
    s = np.linalg.norm(r, axis=1)
    along = np.sum(q * r, axis=1) / s
    rest = np.abs(q[:, 0] * r[:, 1] - q[:, 1] * r[:, 0]) / s

    def logs(i: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return the logarithm of the integrand of rows i at z (len(i), …)."""
        i = i.reshape(-1, *(1,) * (z.ndim - 1))
        bend = np.logaddexp(0.0, m[i] + s[i] * z)
        return log_expected_sigmoid(bend - mu[i] - along[i] * z, rest[i]) - bend - 0.5 * z * z

    top = _peak(logs, 2.0 * s + 1.0)
    most = logs(place, top)
    ends = [_end(logs, top, most, side) for side in (-1.0, 1.0)]
    # The numbers that are subtracted have no more digits than this.
    size = np.abs(m) + np.abs(mu) + s * (np.abs(top) + 9.0)
    tolerance = np.maximum(TOLERANCE, 64.0 * np.finfo(float).eps * size)
    cuts = np.column_stack([*ends, top, *_bends(m, s, mu, along, rest)])
    cuts = np.sort(np.clip(cuts, ends[0][:, None], ends[1][:, None]), axis=1)
    return most + np.log(_integral(logs, most, cuts, tolerance)) - 0.5 * LOG_2PI


def _bends(
    m: np.ndarray, s: np.ndarray, mu: np.ndarray, along: np.ndarray, rest: np.ndarray
) -> list[np.ndarray]:
    """Return the sides of what is bent sharply: about v = 0, and where the two factors of u are even."""
    with np.errstate(divide="ignore", invalid="ignore"):
        places = [-m / s, -mu / along, (mu - m) / (s - along)]
    found = []
    for place, width in zip(places, (1.0, np.maximum(1.0, rest), np.maximum(1.0, rest)), strict=True):
        centre = np.nan_to_num(place, nan=0.0, posinf=1e9, neginf=-1e9)
        found += [centre - BENT * width / s, centre + BENT * width / s]
    return found


def _peak(logs: Integrand, reach: np.ndarray) -> np.ndarray:
    """Return about where each integrand is largest, within ± reach, by golden section."""
    place = np.arange(len(reach))
    low, high = -reach, reach
    points = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)]
    values = [logs(place, z) for z in points]
    for _ in range(36):
        left = values[0] > values[1]
        low, high = np.where(left, low, points[0]), np.where(left, points[1], high)
        new = np.where(left, high - GOLDEN * (high - low), low + GOLDEN * (high - low))
        value = logs(place, new)
        points = [np.where(left, new, points[1]), np.where(left, points[0], new)]
        values = [np.where(left, value, values[1]), np.where(left, values[0], value)]
    return np.where(values[0] > values[1], points[0], points[1])


def _end(logs: Integrand, top: np.ndarray, most: np.ndarray, side: float) -> np.ndarray:
    """Return where the integrand has fallen by DEPTH on a side of its peak: at most 9 away, as a normal."""
    near, far = np.full(len(top), np.log(1e-7)), np.full(len(top), np.log(9.0))
    place = np.arange(len(top))
    for _ in range(16):
        middle = 0.5 * (near + far)
        within = logs(place, top + side * np.exp(middle)) > most - DEPTH
        near, far = np.where(within, middle, near), np.where(within, far, middle)
    return top + side * np.exp(far)


def _integral(logs: Integrand, most: np.ndarray, cuts: np.ndarray, tolerance: np.ndarray) -> np.ndarray:
    """Return ∫ e^(logs - most) over the cuts, by Legendre's rule on panels that are halved where it needs."""
    nodes, widths = legendre(N_NODES)

    def panels(i: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        half = 0.5 * (high - low)
        z = (0.5 * (low + high))[:, None] + half[:, None] * nodes
        return half * (np.exp(logs(i, z) - most[i][:, None]) @ widths)

    n = len(most)
    i, j = np.nonzero(np.diff(cuts, axis=1) > 0.0)
    low, high = cuts[i, j], cuts[i, j + 1]
    whole = panels(i, low, high)
    total = np.bincount(i, whole, minlength=n)
    found = np.zeros(n)
    for _ in range(40):
        middle = 0.5 * (low + high)
        left, right = panels(i, low, middle), panels(i, middle, high)
        settled = np.abs(left + right - whole) <= tolerance[i] * np.maximum(total[i], left + right)
        found += np.bincount(i[settled], (left + right)[settled], minlength=n)
        open_ = ~settled
        if not np.any(open_):
            return found
        low, middle, high = low[open_], middle[open_], high[open_]
        i, whole = np.tile(i[open_], 2), np.concatenate([left[open_], right[open_]])
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
    return found + np.bincount(i, whole, minlength=n)
