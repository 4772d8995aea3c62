"""t-SNE: probabilities of neighbours, and the forces between points of a map.

With s_ij = 1 / (1 + |y_i - y_j|²) and Z = Σ_{i≠j} s_ij, a point is drawn to others by
Σ_j p_ij s_ij (y_j - y_i) and driven from them by Σ_j s_ij² (y_i - y_j) / Z. Of few points all pairs are met.
Of many in the plane, attraction is a sum over the neighbours with p_ij > 0, and repulsion is -½ ∇φ of one
potential, φ(y) = Σ_j s(y - y_j), which also gives Z = Σ_i φ(y_i) - n. The potential is a convolution: points
are spread on a grid by quintic B-splines, multiplied with the kernel's spectrum by one pair of Fourier
transforms, and φ and its gradient are read from the same splines. The spectrum is divided by that of the
splines twice, so that they interpolate the kernel (cardinal splines). What they make of the potential of a
point at itself, which has no slope, is taken away again. Errors of the slope matter: in a descent they change
from step to step, and the gains of a coordinate shrink with every change of a sign.

A point may stand for several equal ones, w of them, which all move alike.
"""

from functools import cached_property

import numpy as np

from tractable.primitives import runs_compiled
from tractable.primitives.threads import even_blocks, ordered_map
from tractable.primitives.tsne import agnostic
from tractable.value import value

__all__ = ["GridForces", "PairForces", "neighbor_probabilities", "potential"]

#: Points up to which probabilities and forces of all pairs are computed in NumPy.
DENSE = 700

#: Distance of the nodes of a grid, in units of the map, in which the kernel has the width one.
STEP = 0.3

#: A map has at least this many steps along its longer side, and at most so many nodes.
FINE, MOST_NODES = 40, 2048

#: Rows that a thread is handed at a time, and pairs of neighbours from which on there are several threads.
BLOCK, SHARED = 4096, 2**17


def neighbor_probabilities(squared: np.ndarray, counts: np.ndarray, perplexity: float) -> np.ndarray:
    """Return the conditional probabilities of neighbours, p_j ∝ c_j exp(-β d_j²), of this perplexity, (n, k).

    β of each row is such that exp(-Σ_j p_j log(p_j / c_j)), the perplexity, is as given: p_j / c_j is the
    probability of each of c_j equal neighbours. Where more of them are nearest than the perplexity, they
    share the probability; where there are fewer in all, β is 0.

    Parameters
    ----------
    squared : array (n, k)
        Squared distances of neighbours.
    counts : array (n, k)
        How many equal points each neighbour is; 0 where there is none.
    perplexity : float
        At least 1.

    Examples
    --------
    >>> p = neighbor_probabilities(np.array([[1.0, 2.0, 5.0]]), np.ones((1, 3)), 2.0)
    >>> p.round(4), float(np.exp(-np.sum(p * np.log(p)))).__round__(6)
    (array([[0.692 , 0.2874, 0.0206]]), 2.0)
    """
    if len(squared) <= DENSE or not runs_compiled(squared, 100.0 * squared.size):
        return agnostic.neighbor_probabilities(squared, counts, perplexity)
    from tractable.primitives.tsne.compiled import neighbor_probabilities as compiled

    out = np.empty(squared.shape)

    def task(part: slice) -> None:
        compiled(squared[part], counts[part], float(np.log(perplexity)), out[part])

    for _ in ordered_map(task, even_blocks(len(out), BLOCK)):
        pass
    return out


@value
class PairForces:
    """Forces between all pairs of points."""

    joint: np.ndarray  # (n, n), the probability of each pair
    weights: np.ndarray  # (n,), how many equal points each is

    @cached_property
    def drawn(self) -> np.ndarray:
        """The probability of each pair, for one of the equal points of its row."""
        return self.joint / self.weights[:, None]

    @cached_property
    def _room(self) -> tuple[np.ndarray, np.ndarray]:
        """Memory for two numbers a pair: to ask the system for it anew takes longer than the products."""
        return np.empty_like(self.joint), np.empty_like(self.joint)

    def __call__(self, y: np.ndarray, exaggeration: float) -> tuple[np.ndarray, float]:
        """Return a quarter of the gradient of KL(P‖Q) for each point, (n, p), and Z; P is exaggerated."""
        if len(y) <= DENSE:
            return agnostic.pair_forces(self.drawn, self.weights, y, exaggeration, self._room)
        from tractable.primitives.tsne.compiled import pair_forces

        columns = np.ascontiguousarray(y.T)
        drawn, driven, fields = np.empty(y.shape), np.empty(y.shape), np.empty(len(y))

        def task(part: slice) -> None:
            out = drawn[part], driven[part], fields[part]
            pair_forces(self.drawn[part], self.weights, columns, part.start, *out)

        for _ in ordered_map(task, even_blocks(len(y), 128)):
            pass
        z = agnostic.normaliser(self.weights, fields)
        return exaggeration * drawn - driven / z, z


class GridForces:
    """Forces between neighbours, and between all points of a plane by way of a grid.

    Parameters
    ----------
    indptr, indices, joint : arrays
        The probabilities of pairs as a sparse matrix (CSR), symmetric.
    weights : array (n,)
        How many equal points each point is.
    """

    def __init__(
        self, indptr: np.ndarray, indices: np.ndarray, joint: np.ndarray, weights: np.ndarray
    ) -> None:
        self.indptr, self.indices = indptr.astype(np.int64), indices.astype(np.uint32)
        self.drawn = (joint / np.repeat(weights, np.diff(indptr))).astype(np.float32)
        self.weights, self.grid = weights, Grid()

    def __call__(self, y: np.ndarray, exaggeration: float) -> tuple[np.ndarray, float]:
        """Return a quarter of the gradient of KL(P‖Q) for each point, (n, 2), and Z; P is exaggerated."""
        forces, single = np.empty((2, len(y))), y.T.astype(np.float32, order="C")
        found = []

        def task(part: slice | None) -> None:
            if part is None:
                found.append(self.grid.field(y, self.weights))
            else:
                _attract(self.indptr, self.indices, self.drawn, single, part, forces)

        alone = 1 if len(self.indices) < SHARED else None
        for _ in ordered_map(task, [None, *even_blocks(len(y), BLOCK)], alone):
            pass
        slopes, fields = found[0]
        z = agnostic.normaliser(self.weights, fields)
        forces *= exaggeration
        forces += (0.5 / z) * slopes.T
        return forces.T, z


def _attract(
    indptr: np.ndarray,
    indices: np.ndarray,
    drawn: np.ndarray,
    y: np.ndarray,
    part: slice,
    out: np.ndarray,
) -> None:
    """Fill Σ_j p_ij s_ij (y_i - y_j) of some points, the columns of y and of out, in single precision."""
    if runs_compiled(y, 16.0 * len(indices)):
        from tractable.primitives.tsne.compiled import attraction

        attraction(indptr, indices, drawn, y, part.start, part.stop, out)
    else:
        out[:, part] = agnostic.attraction(indptr, indices, drawn, y, part)


class Grid:
    """The potential of points in the plane, by way of a grid whose spectrum is kept while the map fits it."""

    def __init__(self) -> None:
        self.step, self.nodes = 0.0, np.zeros(2, np.int64)

    def field(self, y: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradient of φ at each point, (n, 2), and φ itself, (n,)."""
        low = y.min(axis=0)
        self._fit(y.max(axis=0) - low)
        at = np.ascontiguousarray(((y - low) / self.step + agnostic.BEFORE).T)
        phi = self._convolved(_spread(at, weights, self.nodes))
        slopes, fields = _read(at, weights, phi, self.own)
        slopes /= self.step
        return slopes.T, fields

    def _fit(self, span: np.ndarray) -> None:
        """Choose the step, a power of √2 times `STEP`, and the spectrum of the kernel, for a map so wide."""
        widest = float(span.max())
        finer = np.floor(2.0 * np.log2(max(widest, 1e-100) / (FINE * STEP))) / 2.0
        coarser = np.ceil(2.0 * np.log2(max(widest, 1e-100) / (MOST_NODES * STEP))) / 2.0
        step = STEP * 2.0 ** (min(0.0, finer) + max(0.0, coarser))
        need = (span / step).astype(np.int64) + agnostic.DEGREE + 2
        if step == self.step and np.all(need <= self.nodes):
            return
        from scipy import fft

        self.step, self.nodes = step, need + need // 16  # with room to grow
        half = [fft.next_fast_len(int(m), real=True) for m in self.nodes]
        self.shape = [2 * m for m in half]
        # Kernel and splines are even: a cosine transform is the Fourier transform of a quarter of the torus.
        across, up = (step * np.arange(m + 1.0) for m in half)
        spectrum = fft.dctn(1.0 / (1.0 + across[:, None] ** 2 + up**2), type=1)
        # The spectrum of the splines at the nodes, once for spreading and once for reading.
        first, second = (agnostic.spline_spectrum(m) for m in half)
        spectrum /= (first[:, None] * second) ** 2
        self.own = agnostic.own_field(fft.idctn(spectrum, type=1))
        spectrum = np.concatenate([spectrum, spectrum[-2:0:-1]])
        # While the map is small the potential varies little, and single precision would lose its slope.
        self.spectrum = spectrum.astype(np.float32 if step >= STEP else np.float64)

    def _convolved(self, masses: np.ndarray) -> np.ndarray:
        from scipy import fft

        rows, columns = self.shape
        image = fft.rfft(masses.astype(self.spectrum.dtype), columns, axis=1)
        image = fft.fft(image, rows, axis=0, overwrite_x=True)
        image *= self.spectrum
        image = fft.ifft(image, axis=0, overwrite_x=True)[: len(masses)]  # rows in use alone
        return fft.irfft(image, columns, axis=1)[:, : masses.shape[1]]


def _spread(at: np.ndarray, weights: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Return the masses of nodes, to which points (2, n), in units of the step, give theirs by B-splines."""
    if not runs_compiled(at, 64.0 * at.size):
        return agnostic.spread(at, weights, nodes)
    from tractable.primitives.tsne.compiled import spread

    masses = np.zeros(tuple(nodes))
    spread(at, weights, masses)
    return masses


def _read(
    at: np.ndarray, weights: np.ndarray, phi: np.ndarray, own: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the slopes (2, n) and values (n,) of φ at points, given its coefficients as a spline.

    Of the potential of a point at itself, which is 1 and flat, the spline has what `own` says.
    """
    if not runs_compiled(at, 64.0 * at.size):
        return agnostic.read(at, weights, phi, own)
    from tractable.primitives.tsne.compiled import read

    slopes, fields = np.empty(at.shape), np.empty(at.shape[1])
    phi = np.ascontiguousarray(phi, dtype=np.float64)

    def task(part: slice) -> None:
        read(at, weights, phi, own, part.start, part.stop, slopes, fields)

    for _ in ordered_map(task, even_blocks(at.shape[1], BLOCK)):
        pass
    return slopes, fields


def potential(y: np.ndarray, references: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return Σ_j w_j s_ij of points among fixed references, (m,), and Σ_j w_j s_ij² (y_i - z_j), (m, p).

    Examples
    --------
    >>> potential(np.array([[1.0]]), np.array([[0.0], [1.0]]), np.array([1.0, 3.0]))
    (array([3.5]), array([[0.25]]))
    """
    if not runs_compiled(y, 2.0 * len(y) * len(references)):
        return agnostic.potential(y, references, weights)
    from tractable.primitives.tsne.compiled import potential as compiled

    columns = np.ascontiguousarray(references.T)
    fields, driven = np.empty(len(y)), np.empty(y.shape)

    def task(part: slice) -> None:
        compiled(y[part], columns, weights, fields[part], driven[part])

    for _ in ordered_map(task, even_blocks(len(y), 64)):
        pass
    return fields, driven
