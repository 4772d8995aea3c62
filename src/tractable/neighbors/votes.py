"""The votes of neighbours for classes."""

import numpy as np

from tractable.spatial.counted import Counted
from tractable.value import value

__all__ = ["Votes", "votes_of"]


@value
class Votes:
    """What neighbours say of each row: how much for each class, and how near its nearest voter is."""

    total: np.ndarray  # (m, classes)
    nearest: np.ndarray  # (m, classes), infinite where no neighbour is of the class

    @property
    def shares(self) -> np.ndarray:
        """p(C_i | x) = K_i / K, (m, classes), the winner's above those it ties with by one rounding of 1.

        So much that 1 - p can tell them apart too.
        """
        shares = self.total / self.total.sum(axis=1, keepdims=True)
        row, winner = np.arange(len(shares)), self.winner
        tied = np.sum(shares >= shares[row, winner][:, None], axis=1) > 1
        shares[row[tied], winner[tied]] = shares.max(axis=1)[tied] + np.finfo(float).eps
        return shares

    @property
    def winner(self) -> np.ndarray:
        """The class of most votes; of tied ones that of the nearest neighbour, then the first, (m,)."""
        tied = self.total == self.total.max(axis=1, keepdims=True)
        return np.argmin(np.where(tied, self.nearest, np.inf), axis=1)


def votes_of(near: Counted, said: np.ndarray, codes: np.ndarray, n_classes: int) -> Votes:
    """Count the votes: each neighbour's count times how much it says, for its class.

    Examples
    --------
    >>> one = np.ones((1, 3))
    >>> near = Counted(distances=np.array([[1.0, 2.0, 2.0]]), indices=np.array([[0, 1, 2]]), counts=one)
    >>> votes_of(near, one, np.array([1, 0, 1]), 2).shares.round(3)
    array([[0.333, 0.667]])
    """
    m = len(near.indices)
    cells = codes[near.indices] + n_classes * np.arange(m)[:, None]
    total = np.bincount(cells.ravel(), (near.counts * said).ravel(), minlength=m * n_classes)
    nearest = np.full(m * n_classes, np.inf)
    np.minimum.at(nearest, cells.ravel(), np.where(near.counts > 0.0, near.distances, np.inf).ravel())
    return Votes(total=total.reshape(m, n_classes), nearest=nearest.reshape(m, n_classes))
