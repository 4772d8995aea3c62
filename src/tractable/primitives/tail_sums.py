"""The mass of smoothed points on a line below a query, or above it."""

import numpy as np

from tractable.primitives.kernel_sums import KINDS
from tractable.primitives.line_sums import LineSums
from tractable.value import value

__all__ = ["TailSums", "tail_sums"]


@value
class TailSums:
    """Points of a line, prepared for sums of their windows' distribution functions."""

    line: LineSums
    before: np.ndarray  # (n + 1,), the weight of the points before each
    after: np.ndarray  # (n + 1,), the weight of each point and those after it
    moments: np.ndarray  # (bins, K) for the Gaussian, else empty

    def shares(self, queries: np.ndarray, *, upper: bool = False) -> np.ndarray:
        """Return Σ_i w_i F((q - x_i)/h) / Σ_i w_i of queries (m,), or of those above, to 1e-10 of itself."""
        from tractable.primitives._compiled import tail_sums as compiled

        queries, out = np.ascontiguousarray(queries, dtype=np.float64), np.empty(len(queries))
        line, running, side = self.line, self.after if upper else self.before, -1 if upper else 1
        if line.kind == KINDS["gaussian"]:
            bins = line.parts[1:4]
            compiled.normal_tails(
                line.x, line.weights, line.scale, *bins, self.moments, running, side, queries, out
            )
        elif line.kind == KINDS["laplace"]:
            compiled.laplace_tails(line.x, line.scale, *line.parts, running, side, queries, out)
        else:
            rest = (line.kind, running, side, queries, out)
            compiled.disc_tails(line.x, line.weights, line.scale, *line.parts, *rest)
        return out / self.before[-1]


def tail_sums(line: LineSums) -> TailSums:
    """Prepare the points of a line, in O(n); a query is then nearly O(1), whatever their number.

    Examples
    --------
    >>> from tractable.primitives.line_sums import line_sums
    >>> tails = tail_sums(line_sums(np.array([0.0, 9.0]), np.ones(2), "gaussian"))
    >>> tails.shares(np.array([0.0])).round(6), tails.shares(np.array([9.0]), upper=True).round(6)
    (array([0.25]), array([0.25]))
    """
    from tractable.primitives._compiled.tail_sums import plain_moments

    before = np.concatenate([[0.0], np.cumsum(line.weights)])
    after = np.concatenate([np.cumsum(line.weights[::-1])[::-1], [0.0]])
    moments = np.empty((0, 0))
    if line.kind == KINDS["gaussian"]:
        moments = plain_moments(line.x, line.weights, line.scale, *line.parts[2:4])
    return TailSums(line=line, before=before, after=after, moments=moments)
