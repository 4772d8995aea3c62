"""Kernel principal component analysis, its pre-images, and Nyström's approximation."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning

from tractable.arrays.devices import beside
from tractable.arrays.namespace import Array, is_numpy_array, namespace_of
from tractable.arrays.random import as_generator
from tractable.arrays.svd import orientation
from tractable.base import (
    Estimator,
    ModelTags,
    all_or_nothing,
    check_choice,
    check_fitted,
    check_number,
    check_rows,
)
from tractable.base.by_blocks import by_blocks, keeps_float32
from tractable.base.options import SklearnOptions
from tractable.base.stored_rows import check_held_columns, check_stored_rows
from tractable.base.validation import check_scores, refuse_foreign
from tractable.data import Batch, Source
from tractable.data.dispatch import sample_rows
from tractable.engines.eigenpairs import lanczos, symmetric_product
from tractable.engines.principal_components import PrincipalComponents, components_of
from tractable.kernels import Kernel, Linear, Scaled
from tractable.kernels.named import check_kernel, kernel_of_rows
from tractable.kernels.stationary import Stationary
from tractable.primitives import as_double
from tractable.primitives.threads import blas_for_columns, even_blocks
from tractable.spatial import choose_index
from tractable.statistics import ScatterFactor
from tractable.statistics.rows import counts
from tractable.value import value

#: Eigenvalues below this fraction of the largest are rounding: their directions have no length.
ROUNDING = 1e-12

#: A negative eigenvalue beyond this fraction of the largest is none of a kernel's.
NEGATIVE = 1e-8

#: Matrices so large have few eigenvectors found one by one, if fewer than one in `RARE` is wanted.
WIDE, RARE = 300, 10

#: Kernel values between rows of the fit and pre-images that are held at a time.
HELD = 2**20


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Kernel principal component analysis: PCA of features φ(x) of which only k(x, x') = φ(x)ᵀφ(x') is known.

    The directions v = Σ_n α_n φ̄(x_n) of greatest variance have K̄α = λα with the centred kernel matrix K̄ (see
    :func:`tractable.kernels.center_gram`), and |α| = 1/√λ so that |v| = 1 (Schölkopf, Smola and Müller 1998).
    A row has the scores Σ_n α_n k̄(x, x_n), of variance λ/N over the rows of the fit. Curves and rings become
    coordinates; with the linear kernel it is PCA. `inverse_transform` and `denoise` find rows whose features
    come nearest to a projection: pre-images.

    The rows are stored. The kernel matrix takes 8 n² bytes: 30,000 rows are 7.2 GB, which a machine of 24 GB
    holds; more rows need `n_landmarks`. A kernel with fewer features than there are rows (linear, polynomial)
    is decomposed in the space of its features.

    Parameters
    ----------
    n_components : int, optional
        How many directions; all of positive variance when not given. Fewer are found where the kernel has
        fewer.
    kernel : Kernel or {"linear", "poly", "rbf", "sigmoid"}, optional
        k. By default the squared exponential, with the length scale √d times the standard deviation of each
        of d columns.
    eigen_solver : {"auto", "dense", "arpack"}
        All eigenvectors, or a few one by one; "auto" does the latter for few directions of many rows.
    n_landmarks : int, optional
        Nyström's approximation (Williams and Seeger 2001): the features are taken in the space spanned by so
        many of the rows, drawn at random. Time and memory then grow with n · n_landmarks, rows may be
        streamed and read from files larger than memory, and nothing else is approximate.
    max_iter : int
        Most steps of the search for a pre-image.
    tol : float
        It ends when a step is shorter than this fraction of the spread of the rows.
    random_state : None, int, RandomState or Generator
        Which rows are landmarks.
    gamma : float, optional
        γ of a kernel by name, as scikit-learn's: exp(-γ |x - x'|²), (γ xᵀx' + c)^degree and tanh(γ xᵀx' + c);
        one over the number of columns when not given.
    degree : int
        The degree of ``"poly"``.
    coef0 : float
        c of ``"poly"`` and ``"sigmoid"``.

    Attributes
    ----------
    eigenvalues_ : array of shape (n_components_,)
        λ of the centred kernel matrix, the largest first.
    explained_variance_ratio_ : array of shape (n_components_,)
        Their fractions of its trace, the variance of all features.
    dual_coef_ : array of shape (n_samples, n_components_) or (n_landmarks, n_components_)
        α, scaled: scores are k(x, X_fit_) @ dual_coef_ - offset_.
    offset_ : array of shape (n_components_,)
        The scores of the mean of the features.
    X_fit_ : array of shape (n_samples, n_features) or (n_landmarks, n_features)
        The rows of the fit, those of positive weight, or the landmarks.
    kernel_ : Kernel
        The kernel, with columns by position.
    n_components_ : int
        Number of directions.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    PCA : straight directions.

    Examples
    --------
    Two rings, one inside the other, which no line separates:

    >>> import numpy as np, tractable
    >>> from tractable.kernels import RBF
    >>> angle = np.linspace(0.0, 2.0 * np.pi, 40, endpoint=False)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X = np.concatenate([ring, 3.0 * ring])
    >>> model = tractable.KernelPCA(3, kernel=RBF(1.0)).fit(X)
    >>> Z = model.transform(X)
    >>> gaps = [max(z[:40].min() - z[40:].max(), z[40:].min() - z[:40].max()) for z in Z.T]
    >>> bool(max(gaps) > 0.0)
    True
    """

    model_tags = ModelTags(kind="mapping", parametric=False, streaming="no")
    _stores_tensors = True

    # `inverse_transform` needs no regression, and so no penalty of one.
    _sklearn_options = SklearnOptions(
        ignored=("iterated_power", "remove_zero_eig", "alpha", "fit_inverse_transform"),
        limited={"kernel_params": (None,)},
        values={"eigen_solver": {"randomized": "auto"}, "max_iter": {None: 500}, "tol": {0.0: 1e-6}},
    )

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Kernel | str | None = None,
        eigen_solver: str = "auto",
        n_landmarks: int | None = None,
        max_iter: int = 500,
        tol: float = 1e-6,
        random_state: Any = None,
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1.0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.eigen_solver = eigen_solver
        self.n_landmarks = n_landmarks
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    @all_or_nothing(afresh=True, square=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the directions of greatest variance of the features.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Rows; without `n_landmarks` those of a source are read into memory.
        y : ignored
            Not used: there are no targets.
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.
        """
        self._check_parameters()
        if self.n_landmarks is None:
            rows = check_stored_rows(self, X, sample_weight=sample_weight)
            found = self._of_rows(rows.data, rows.weights)
        else:
            rows = check_rows(self, X, None, sample_weight, reset=True)
            found = self._of_landmarks(rows.source, self.n_landmarks)
        self._set_found(found)
        return self

    @by_blocks
    @keeps_float32
    def transform(self, X: Any) -> Array:
        """Return the scores of rows, Σ_n α_n k̄(x, x_n), (n_samples, n_components_)."""
        check_fitted(self)
        return self._scores(check_held_columns(self, X))

    @keeps_float32
    def inverse_transform(self, X: Any) -> np.ndarray:
        """Return rows whose features come nearest to those with these scores: pre-images.

        The fixed point z = Σ γ_n g(z, x_n) x_n / Σ γ_n g(z, x_n) (Mika and others 1999), from the row of the
        fit with the nearest scores; of the linear kernel it is exact.
        """
        check_fitted(self)
        refuse_foreign(X)  # a search of its own for each row: it runs on the host
        scores = check_scores(X, self.n_components_)
        _, nearest = choose_index(self._scores(self.X_fit_), k=1).query(scores, 1)
        return self._preimages(scores, self.X_fit_[nearest[:, 0]])

    @by_blocks
    @keeps_float32
    def denoise(self, X: Any) -> np.ndarray:
        """Return the pre-images of the projections of rows on the directions: what these leave is removed."""
        check_fitted(self)
        refuse_foreign(X)
        rows = check_held_columns(self, X)
        return self._preimages(self._scores(rows), rows)

    def _scores(self, rows: Array) -> Array:
        return self.kernel_.multiply(rows, self.X_fit_, self.dual_coef_) - self.offset_

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _check_parameters(self) -> None:
        check_kernel(self.kernel, self.gamma)
        check_choice("eigen_solver", self.eigen_solver, ("auto", "dense", "arpack"))
        for name in ("n_components", "n_landmarks"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), least=1, whole=True)
        check_number("max_iter", self.max_iter, least=1, whole=True)
        check_number("tol", self.tol, above=0.0)

    def _of_rows(self, x: Array, weights: Array | None) -> "KernelDirections":
        n = x.shape[0]
        if n < 2:
            raise ValueError(f"X must have two rows at least, and has {n} sample: one has no variance")
        kernel = self.kernel_ = kernel_of_rows(self, x, weights)
        with blas_for_columns(n):
            if kernel.has_fewer_features(x.shape[1], n):
                return of_features(kernel, x, weights, self.n_components)
            return of_matrix(kernel, x, weights, self.n_components, self.eigen_solver)

    def _of_landmarks(self, source: Source, n: int) -> "KernelDirections":
        rng = as_generator(self.random_state, name="random_state")
        rows, weights = sample_rows(source, None, n, rng)
        x = np.unique(np.asarray(rows, dtype=np.float64), axis=0)
        if len(x) < 2:
            raise ValueError(
                "X must have two different rows at least: one sample, repeated or not, has no variance"
            )
        self.kernel_ = kernel_of_rows(self, np.asarray(rows, dtype=np.float64), weights)
        # Landmarks on the device of the rows, of which they are few.
        x = beside(x, source.collect().X) if source.on_device else x
        return of_landmarks(self.kernel_, x, source, self.n_components)

    def _set_found(self, found: "KernelDirections") -> None:
        self.X_fit_, self.dual_coef_, self.offset_ = found.rows, found.dual, found.offset
        self.eigenvalues_, self._mean_coef_ = found.eigenvalues, found.mean
        total = found.total if found.total > 0.0 else 1.0
        self.explained_variance_ratio_ = found.eigenvalues / total
        self.n_components_ = int(found.eigenvalues.shape[0])

    def _preimages(self, scores: np.ndarray, start: np.ndarray) -> np.ndarray:
        kernel: Any = self.kernel_
        while isinstance(kernel, Scaled) and kernel.function is None:
            kernel = kernel.kernel  # a factor changes no pre-image
        if not isinstance(kernel, (Linear, Stationary)):
            raise ValueError(
                f"kernel: pre-images exist for RBF, Matern, RationalQuadratic and Linear kernels, scaled or "
                f"not, and {type(kernel).__name__} is none of these"
            )
        found, converged = np.empty((len(scores), self.n_features_in_)), True
        for block in even_blocks(len(scores), max(HELD // len(self.X_fit_), 1)):
            # γ, with Σ γ_n φ(x_n) the projection
            coef = scores[block] @ self.dual_coef_.T + self._mean_coef_
            if isinstance(kernel, Linear):
                found[block] = coef @ self.X_fit_
                continue
            found[block], done = fixed_points(
                kernel, self.X_fit_, coef, start[block], max_iter=self.max_iter, tol=self.tol
            )
            converged = converged and done
        if not converged:
            warnings.warn(
                f"the search for pre-images did not converge in {self.max_iter} steps; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=4,
            )
        return found


@value
class KernelDirections:
    """Directions v_i = Σ_n dual_ni φ(x_n) of the features, and the mean of these, Σ_n mean_n φ(x_n)."""

    rows: Array  # (n, d)
    dual: Array  # (n, k)
    mean: Array  # (n,)
    offset: Array  # (k,), vᵀ of the mean of the features
    eigenvalues: Array  # (k,)
    total: float  # the trace of the centred kernel matrix


def of_matrix(
    kernel: Kernel, x: Array, weights: Array | None, n_components: int | None, solver: str = "auto"
) -> KernelDirections:
    """Decompose the centred kernel matrix of rows.

    With weights w it is the matrix of the rows repeated: P (√w K √w) P, with P the projection orthogonal to
    √w, whose unit eigenvectors u give α = √w u / √λ. P stands for the centring, and K is never changed.

    Parameters
    ----------
    kernel : Kernel
        k.
    x : array (n, d)
        Rows.
    weights : array (n,) or None
        How often each counts.
    n_components : int or None
        How many directions; all of positive variance where None.
    solver : {"auto", "dense", "arpack"}
        As in `KernelPCA`.
    """
    xp, n = namespace_of(x), x.shape[0]
    w = counts(weights, x)
    root = xp.sqrt(w)
    unit = root / xp.linalg.vector_norm(root)
    wanted = n if n_components is None else min(n_components, n)
    few = solver == "arpack" or (solver == "auto" and n >= WIDE and wanted * RARE <= n)
    if few and wanted < n - 1 and kernel.is_positive_semidefinite and is_numpy_array(x):
        lower = kernel.lower_triangle(x)
        product = symmetric_product(lower)

        def multiply(v: Array) -> Array:
            image = root * product(root * (v - unit * (unit @ v)))
            return image - unit * (unit @ image)

        values, vectors = lanczos(multiply, n, wanted)
        means = product(w / w.sum())
        diagonal = np.diagonal(lower)
    else:
        matrix = kernel(x)
        means, diagonal = matrix @ (w / xp.sum(w)), xp.linalg.diagonal(matrix) + 0.0
        matrix *= root[:, None]
        matrix *= root
        values, vectors = xp.linalg.eigh(_centred(matrix, unit))
        values, vectors = xp.flip(values), xp.flip(vectors, axis=1)
        _check_psd(values, kernel, float(w @ xp.abs(diagonal)))
    # What is left of features that are all alike is rounding of their lengths.
    least = max(ROUNDING * float(values[0]), 1e-14 * float(w @ xp.abs(diagonal)))
    kept = int(xp.count_nonzero(values[:wanted] > least))
    if not kept:
        raise ValueError(
            "X has no variance in the features of the kernel: all rows are alike to it; choose another "
            "kernel or length scale"
        )
    values, vectors = values[:kept], vectors[:, :kept]
    dual = root[:, None] * vectors / xp.sqrt(values)
    dual = dual * orientation(dual)
    return KernelDirections(
        rows=x,
        dual=dual,
        mean=w / xp.sum(w),
        offset=means @ dual,
        eigenvalues=values,
        total=float(w @ diagonal - w @ means),
    )


def of_features(
    kernel: Kernel, x: Array, weights: Array | None, n_components: int | None
) -> KernelDirections:
    """Decompose rows in the space of the kernel's features, where these are fewer than the rows."""
    features = kernel.features(x)
    found = components_of(ScatterFactor.of(features, weights), solver="covariance_eigh")
    found = _positive(found, n_components)
    w = counts(weights, x)
    # v = Φ̄ᵀα: with w of the rows, α = w z / λ of the scores z.
    dual = w[:, None] * found.transform(features) / found.singular_values**2
    signs = orientation(dual)
    return KernelDirections(
        rows=x,
        dual=dual * signs,
        mean=w / namespace_of(w).sum(w),
        offset=(found.mean @ found.components.T) * signs[0, :],
        eigenvalues=found.singular_values**2,
        total=found.scatter,
    )


def of_landmarks(
    kernel: Kernel, landmarks: Array, source: Source, n_components: int | None
) -> KernelDirections:
    """Decompose the features of all rows in the space that those of the landmarks span, in one pass.

    φ(x) is nearest to Σ_m c_m φ(x_m) with K_mm c = k_m(x); in an orthonormal basis of that space, from
    K_mm = U Λ Uᵀ, its coordinates are Λ^-½ Uᵀ k_m(x): rows of which the scatter is summed.
    """
    xp = namespace_of(landmarks)
    values, vectors = xp.linalg.eigh(kernel(landmarks))
    _check_psd(xp.flip(values), kernel, 0.0)
    rank = int(xp.count_nonzero(values > 1e-10 * values[-1]))
    basis = vectors[:, -rank:] / xp.sqrt(values[-rank:])
    statistic = source.reduce(LandmarkScatter(kernel=kernel, landmarks=landmarks, basis=basis))
    found = _positive(components_of(statistic), n_components)
    dual = basis @ found.components.T
    signs = orientation(dual)
    return KernelDirections(
        rows=landmarks,
        dual=dual * signs,
        mean=basis @ found.mean,
        offset=(found.mean @ found.components.T) * signs[0, :],
        eigenvalues=found.singular_values**2,
        total=found.scatter,
    )


@value
class LandmarkScatter:
    """Mean and scatter of the coordinates of a block of rows in the space of the landmarks' features."""

    kernel: Kernel
    landmarks: Array
    basis: Array

    def __call__(self, block: Batch) -> ScatterFactor:
        x = as_double(block.X)
        return ScatterFactor.of(self.kernel.multiply(x, self.landmarks, self.basis), block.weights)


def fixed_points(
    kernel: Stationary,
    rows: np.ndarray,
    coef: np.ndarray,
    start: np.ndarray,
    *,
    max_iter: int = 500,
    tol: float = 1e-6,
) -> tuple[np.ndarray, bool]:
    """Return the z nearest in features to Σ_n γ_n φ(x_n) for every row of γ, and whether all converged.

    Where |φ(z) - Σ γ_n φ(x_n)|² is least its gradient is zero: z = Σ γ_n g_n x_n / Σ γ_n g_n, with g_n the
    slope of the kernel at |z - x_n|². Where the denominator is not positive, as far from all rows, the step
    goes to the row of greatest γ_n g_n instead.

    Parameters
    ----------
    kernel : Stationary
        k.
    rows : array (n, d)
        x_n.
    coef : array (m, n)
        γ.
    start : array (m, d)
        Where the searches begin.
    max_iter, tol
        Most steps; the length of the last, as a fraction of the spread of the rows.
    """
    z = np.array(start, dtype=np.float64)
    spread = float(np.sqrt(np.sum(np.var(rows, axis=0)))) or 1.0
    active = np.arange(len(z))
    for _ in range(max_iter):
        pull = coef[active] * kernel.slope(z[active], rows)
        total = pull.sum(axis=1)
        stray = total <= 1e-9 * np.abs(pull).sum(axis=1)
        following = np.where(
            stray[:, None],
            rows[np.argmax(pull, axis=1)],
            (pull @ rows) / np.where(stray, 1.0, total)[:, None],
        )
        moved = np.sqrt(np.sum((following - z[active]) ** 2, axis=1))
        z[active] = following
        active = active[moved > tol * spread]
        if not len(active):
            return z, True
    return z, False


def _positive(found: PrincipalComponents, n_components: int | None) -> PrincipalComponents:
    """Return the directions of positive variance, so many of them at most."""
    singular = found.singular_values
    xp = namespace_of(singular)
    kept = int(xp.count_nonzero(singular**2 > ROUNDING * singular[0] ** 2))
    if not kept:
        raise ValueError("X has no variance in the features of the kernel: all rows are alike to it")
    return found.leading(kept if n_components is None else min(n_components, kept))


def _centred(matrix: Array, unit: Array) -> Array:
    """Return P A P with P = I - u uᵀ; the matrix may be overwritten."""
    image = matrix @ unit
    image = image - 0.5 * (unit @ image) * unit
    matrix -= unit[:, None] * image
    matrix -= image[:, None] * unit
    return matrix


def _check_psd(values: Array, kernel: Kernel, trace: float) -> None:
    first, last = float(values[0]), float(values[-1])
    if last < -NEGATIVE * max(abs(first), abs(last)) - 1e-12 * trace:
        raise ValueError(
            f"kernel must be positive semi-definite, and the matrix of {kernel!r:.60} has the eigenvalue "
            f"{last:.3g} (the largest is {first:.3g}): distances in its features would be imaginary"
        )
