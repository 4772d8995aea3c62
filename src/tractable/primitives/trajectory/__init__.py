"""Trajectories of the no-U-turn sampler: the vector algebra between two evaluations of a gradient.

A trajectory of Hamilton's equations doubles in length, forwards or backwards at random, until it turns back.
It is built leaf by leaf, without recursion: of every subtree that is not complete its first momentum alone is
kept, with the sum of momenta up to there, at the depth that the bits of the number of the leaf say. Chains
whose trajectories have ended leave the others, so that no gradient is evaluated in vain.

Coordinates are whitened: points are start + root u, so that momenta are standard normal, and forces are
rootᵀ times the gradient.
"""

import numpy as np

from tractable.value import value

__all__ = ["DIVERGENCE", "Trajectories"]

#: Loss of log density along a trajectory that counts as a divergence.
DIVERGENCE = 1000.0

#: Vectors of each chain: the present point and momentum; point, momentum and force at both ends of the
#: trajectory; sums of momenta of the trajectory and of its new branch; point and gradient of the draw so far
#: and of that of the branch; then a pair for every depth, the first momentum of a subtree and the sum there.
U, P, LEFT, RIGHT, SUM, BRANCH_SUM, DRAW, BRANCH_DRAW, FIRST = 0, 1, 2, 5, 8, 9, 10, 12, 14
#: Numbers of each chain: the energy of the start; logarithms of the weights of the trajectory and of the
#: branch; log densities of the draw and of that of the branch; the sum of acceptances, the number of leaves,
#: and twice the kinetic energy of the last leaf, by its place among those that were going.
ENERGY, WEIGHT, BRANCH_WEIGHT, LOG_P, BRANCH_LOG_P, ACCEPTED, LEAVES, KINETIC = range(8)


@value
class Trajectories:
    """The trajectories of all chains during one step of the sampler, which `advance` lengthens in place."""

    vectors: np.ndarray  # (14 + 2 max_depth, n, d)
    numbers: np.ndarray  # (8, n)
    depth: np.ndarray  # (n,), doublings so far
    diverged: np.ndarray  # (n,)
    going: np.ndarray  # (n,), the chains that go on, first among others
    points: np.ndarray  # (n, d), whitened, at which the gradient is wanted next, of the chains that go on
    forwards: np.ndarray  # (max_depth, n), the direction of every doubling
    step: float

    @classmethod
    def begin(
        cls,
        position: np.ndarray,
        log_p: np.ndarray,
        slope: np.ndarray,
        force: np.ndarray,
        momentum: np.ndarray,
        forwards: np.ndarray,
        step: float,
    ) -> "Trajectories":
        """Return trajectories of one point each, and where their first leaves are.

        Parameters
        ----------
        position, slope : array (n, d)
            Points and gradients there.
        log_p : array (n,)
            Log densities.
        force, momentum : array (n, d)
            Gradients and momenta, whitened.
        forwards : array of bool (max_depth, n)
            The direction of every doubling.
        step : float
            The step size.
        """
        (most, n), d = forwards.shape, position.shape[1]
        vectors, numbers = np.zeros((FIRST + 2 * most, n, d)), np.zeros((8, n))
        vectors[LEFT + 1] = vectors[RIGHT + 1] = vectors[SUM] = momentum
        vectors[LEFT + 2] = vectors[RIGHT + 2] = force
        vectors[DRAW], vectors[DRAW + 1], numbers[LOG_P] = position, slope, log_p
        numbers[ENERGY] = log_p - 0.5 * np.vecdot(momentum, momentum)
        signed = np.where(forwards[0], step, -step)[:, None]
        np.add(momentum, 0.5 * signed * force, out=vectors[P])
        np.multiply(signed, vectors[P], out=vectors[U])
        return cls(
            vectors=vectors, numbers=numbers, depth=np.zeros(n, dtype=np.int64),
            diverged=np.zeros(n, dtype=np.bool_), going=np.arange(n), points=vectors[U].copy(),
            forwards=forwards, step=step,
        )  # fmt: skip

    def add_leaves(
        self,
        n_going: int,
        level: int,
        leaf: int,
        leaves: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
        uniforms: np.ndarray,
        *,
        compiled: bool,
    ) -> tuple[int, int]:
        """Add a leaf to the trajectories that go on, and return how many still do, and how many diverged.

        Parameters
        ----------
        n_going : int
            How many go on: the first so many of `going` and `points`.
        level, leaf : int
            The branch has 2^level leaves, of which this is the one of that number, from 0.
        leaves : tuple of arrays (m, d), (m,), (m, d), (m, d)
            Points, log densities, gradients and forces.
        uniforms : array (2, n)
            Uniform numbers: whether the leaf is the draw of its branch, and whether that is the draw.
        compiled : bool
            Whether to run compiled code.
        """
        if compiled:
            from tractable.primitives.trajectory import compiled as code
        else:
            from tractable.primitives.trajectory import agnostic as code  # type: ignore[no-redef]
        return code.add_leaves(
            n_going, level, leaf, self.step, *leaves, uniforms, self.forwards, self.vectors, self.numbers,
            self.depth, self.diverged, self.going, self.points,
        )  # fmt: skip
