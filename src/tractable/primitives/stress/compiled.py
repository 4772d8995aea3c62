"""The step of majorisation of stress: see `tractable.primitives.stress`."""

import numpy as np

from tractable.primitives.compiled_options import entry

#: References met at a time: their distances stay in the first-level cache.
_TILE = 512


@entry("MATRIX MATRIX DENSE_VECTOR MATRIX OUT_MATRIX OUT_DENSE_VECTOR")
def guttman_transform(distances, points, weights, columns, sums, stress):  # type: ignore[no-untyped-def]
    """Sum over the references, whose coordinates are the rows of `columns`, for each point."""
    n, dim = columns.shape[1], columns.shape[0]
    ratio = np.empty(_TILE)
    for i in range(len(points)):
        total = 0.0
        for c in range(dim):
            sums[i, c] = 0.0
        for start in range(0, n, _TILE):
            wanted, w = distances[i, start : start + _TILE], weights[start : start + _TILE]
            m = len(wanted)
            for t in range(m):
                ratio[t] = 0.0
            for c in range(dim):
                here, column = points[i, c], columns[c, start : start + m]
                for t in range(m):
                    ratio[t] += (here - column[t]) ** 2
            for t in range(m):
                apart = np.sqrt(ratio[t])
                total += w[t] * (wanted[t] - apart) ** 2
                ratio[t] = w[t] * wanted[t] / apart if apart > 0.0 else 0.0
            for c in range(dim):
                here, column, sum_ = points[i, c], columns[c, start : start + m], 0.0
                for t in range(m):
                    sum_ += ratio[t] * (here - column[t])
                sums[i, c] += sum_
        stress[i] = total
