"""What every covariance function is: a value, its matrix and diagonal, its hyper-parameters in logarithms."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np

from tractable.arrays.batched import as_reals, diagonal_matrix
from tractable.arrays.limits import check_squarable
from tractable.arrays.namespace import Array, check_assignable, device, is_numpy_array, namespace_of, to_numpy
from tractable.arrays.random import either_seed_name
from tractable.data.blocks import map_matrix_rows
from tractable.kernels.hyperparameters import Hyperparameter, content
from tractable.primitives import SILENT
from tractable.value import parameters, set_fields

if TYPE_CHECKING:
    from tractable.kernels.fourier_features import FourierFeatures
    from tractable.kernels.markov_term import MarkovTerm

#: Rows of a block of a kernel matrix: the interpreter, and what is computed of the columns alone, take as
#: long as some of them. Blocks of few columns have more, and of many columns fewer: what a cache holds.
ROWS, LEAST_ROWS, LEAST_ENTRIES, MOST_ENTRIES = 48, 32, 2**16, 3 * 2**17

#: Rows whose matrix is made for its diagonal.
_FEW = 32

T = TypeVar("T")

#: From weights W_nm to Σ W_nm ∂k(x_n, y_m)/∂θ.
Contraction = Callable[[Array], np.ndarray]


class Kernel(ABC):
    """A covariance function: a symmetric, positive semi-definite k(x, x'), an immutable value.

    Kernels are equal, and have equal hashes, where their parameters are equal. ``k1 + k2``, ``k1 * k2``,
    ``2.0 * k`` and ``k**2`` are kernels.

    The hyper-parameters are the constructor's arguments, positive numbers in natural units. Those that are
    free have logarithms `theta`, in a fixed order, in which a search runs, within `bounds`. One called
    ``length_scale`` has ``length_scale_bounds``, a pair of numbers or ``"fixed"``, and
    ``length_scale_prior``, a distribution of the number itself (not of its logarithm) or None.

    A kernel of one's own is decorated with `tractable.value.value`, which makes it a value, and supplies
    `block`, `block_diagonal` and, where it has hyper-parameters, their names in `_hyper`, fields for them
    that `_set_hyper` fills, and their `derivatives`.

    Examples
    --------
    >>> from tractable.value import value
    >>> @value
    ... class Minimum(Kernel):
    ...     def block(self, x, y, same):
    ...         return np.minimum(x, y.T)  # of one column: the covariance of a Wiener process
    ...
    ...     def block_diagonal(self, x):
    ...         return x[:, 0]
    >>> (2.0 * Minimum())([[1.0], [3.0]])
    array([[2., 2.],
           [2., 6.]])
    """

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Refuse a class without `@value`: its parameters would not be known."""
        # What is inherited is known; fields and arguments of the class's own are not.
        own = cls.__dict__
        inherits = hasattr(cls, "__dataclass_fields__")
        if "__dataclass_fields__" not in own and not (inherits and "__init__" not in own):
            raise TypeError(
                f"{cls.__name__} must be decorated with @value, as kernels are (from tractable.value import "
                "value): its parameters are the fields of that record"
            )
        return super().__new__(cls)

    #: The names of the hyper-parameters.
    _hyper: ClassVar[tuple[str, ...]] = ()
    #: Whether k(x, x') depends on x - x' alone, and whether on |x - x'| alone.
    is_stationary: ClassVar[bool] = False
    is_isotropic: ClassVar[bool] = False
    #: Hyper-parameters are numbers of the host wherever the rows are, to which they go when they are used.
    stays_on_host: ClassVar[bool] = True
    #: Whether the kernel is positive semi-definite at all its parameters.
    is_positive_semidefinite: ClassVar[bool] = True

    __array_ufunc__ = None

    # -- the matrix -------------------------------------------------------------------------------------

    @SILENT
    def __call__(self, x: Any, y: Any = None) -> Array:
        """Return the matrix k(x_n, y_m), (n, m).

        Parameters
        ----------
        x : array (n, d)
            Rows.
        y : array (m, d), optional
            Other rows. Without them the matrix is that of x with itself, symmetric to the last digit; noise
            (`White`) is part of this one alone.
        """
        kernel, x = self._bound(x)
        if y is None:
            return _mirrored(_lower(kernel, x))
        y = as_rows("y", y, x)
        xp = namespace_of(x)
        out = xp.empty((x.shape[0], y.shape[0]), dtype=x.dtype, device=device(x))

        def fill(rows: slice) -> None:
            out[rows, :] = kernel.block(x[rows, :], y, None)

        by_blocks(fill, x.shape[0], y.shape[0], x)
        return out

    def lower_triangle(self, x: Any) -> Array:
        """Return a matrix (n, n) of which the lower triangle is that of k(x_n, x_m); above it is anything.

        It is what a Cholesky factorisation reads, in half the time of the whole matrix.
        """
        kernel, x = self._bound(x)
        return _lower(kernel, x)

    @SILENT
    def diagonal(self, x: Any) -> Array:
        """Return k(x_n, x_n), (n,): the diagonal of ``kernel(x)``, without the matrix."""
        kernel, x = self._bound(x)
        return kernel.block_diagonal(x)

    @SILENT
    def multiply(self, x: Any, y: Any, vectors: Any) -> Array:
        """Return k(x, y) V, (n, p), block by block: the matrix is never held whole.

        Parameters
        ----------
        x, y : arrays (n, d) and (m, d)
            Rows.
        vectors : array (m, p)
            V.
        """
        kernel, x = self._bound(x)
        y = as_rows("y", y, x)
        vectors = as_reals("vectors", vectors, x)
        xp = namespace_of(x)
        if vectors.ndim != 2 or vectors.shape[0] != y.shape[0]:
            raise ValueError(
                f"vectors must have {y.shape[0]} rows, as y has, got shape {tuple(vectors.shape)}"
            )

        def product(rows: slice) -> Array:
            return kernel.block(x[rows, :], y, None) @ vectors

        parts = by_blocks(product, x.shape[0], y.shape[0], x)
        return xp.concat(parts) if parts else xp.zeros_like(x[:, :1] @ vectors[:1, :])

    @SILENT
    def contract_gradient(self, weights: Any, x: Any) -> np.ndarray:
        r"""Return Σ_nm W_nm ∂k(x_n, x_m)/∂θ_p, (p,): the chain rule, block by block of rows.

        No array of more than a block of rows is made, least of all one of n × n × p. With W = αα\ :sup:`T` -
        K⁻¹ it is twice the gradient of a Gaussian process' evidence, Rasmussen and Williams (5.9).

        Parameters
        ----------
        weights : array (n, n)
            W, symmetric. Only the lower triangle is read.
        x : array (n, d)
            Rows.
        """
        kernel, x = self._bound(x)
        weights = as_reals("weights", weights, x)
        n = x.shape[0]
        if tuple(weights.shape) != (n, n):
            raise ValueError(f"weights must have shape ({n}, {n}), got {tuple(weights.shape)}")
        xp = namespace_of(x)
        n_theta = len(self.theta_names)

        def contract(rows: slice) -> np.ndarray:
            a, e = rows.start, rows.stop
            # An entry below the diagonal stands for the one above it too.
            block, square = 2.0 * weights[rows, :e], weights[rows, a:e]
            block[:, a:] = xp.tril(square) + xp.tril(square, k=-1)
            return kernel.pullback(x[rows, :], x[:e, :], a)[1](block)

        return sum(by_blocks(contract, n, n, x) if n_theta else [], np.zeros(n_theta))

    # -- finite feature maps ----------------------------------------------------------------------------

    def n_features(self, columns: int) -> int:
        """Return the number of features of rows of so many columns; ValueError where they have no end."""
        raise ValueError(f"{type(self).__name__} has no finite feature map")

    def has_fewer_features(self, columns: int, n: int) -> bool:
        """Whether rows of so many columns have a finite feature map, of fewer features than n."""
        try:
            return self.n_features(columns) < n
        except ValueError:
            return False

    @SILENT
    def features(self, x: Any) -> Array:
        """Return φ(x), (n, n_features), with k(x, x') = φ(x)ᵀφ(x')."""
        kernel, x = self._bound(x)
        kernel.n_features(x.shape[1])
        return kernel.block_features(x)

    def block_features(self, x: Array) -> Array:
        """Return φ(x), where there is a finite map."""
        raise NotImplementedError(f"{type(self).__name__} must implement block_features")

    # -- stationary kernels -----------------------------------------------------------------------------

    @either_seed_name
    def random_features(self, n: int, rng: Any = None, *, columns: int | None = None) -> "FourierFeatures":
        """Return a random map φ of rows to n features with E[φ(x)ᵀφ(x')] = k(x, x'), Rahimi and Recht (2007).

        Frequencies ω are drawn from the spectral density of the kernel, and φ_i(x) = √(2k(0)/n) cos(ω_iᵀx +
        b_i) with phases b uniform on [0, 2π).

        Parameters
        ----------
        n : int
            The number of features.
        rng : int, Generator, optional
            Source of randomness.
        columns : int, optional
            The columns of x; as many as there are length scales, or one, where None.
        """
        from tractable.kernels.fourier_features import FourierFeatures

        return FourierFeatures.of(self, n, rng, self.n_columns if columns is None else columns)

    def frequencies(self, n: int, columns: int, rng: np.random.Generator) -> np.ndarray:
        """Return draws (n, columns) from the spectral density of k(x - x')/k(0), in radians.

        Parameters
        ----------
        n : int
            How many.
        columns : int
            The columns of x.
        rng : Generator
            Source of randomness.
        """
        raise ValueError(f"{type(self).__name__} has no spectral density to draw frequencies from")

    # -- functions of time ------------------------------------------------------------------------------

    def markov_terms(self) -> "tuple[MarkovTerm, ...]":
        """Return the terms of the state-space form of a kernel of one column, the time.

        Matérn kernels, constants and cosines have one, and so have sums and multiples of them.
        """
        raise ValueError(
            f"{type(self).__name__} has no state-space form: use Matern, Constant, Cosine, and sums and "
            "multiples of them"
        )

    @property
    def n_columns(self) -> int:
        """Return how many columns rows must have, as far as the hyper-parameters tell; else 1."""
        own = [len(h.numbers) for h in self._hyperparameters if h.is_vector]
        return max([1, *own, *(part.n_columns for _, part in self._parts)])

    @abstractmethod
    def block(self, x: Array, y: Array, same: int | None) -> Array:
        """Return k(x_n, y_m), a new array.

        Parameters
        ----------
        x, y : arrays (n, d) and (m, d)
            Rows, checked.
        same : int or None
            Row n of x is row n + same of y; None where they are other rows.
        """

    @abstractmethod
    def block_diagonal(self, x: Array) -> Array:
        """Return k(x_n, x_n)."""

    def derivatives(
        self, weights: Array, matrix: Array, x: Array, y: Array, same: int | None
    ) -> Mapping[str, Any]:
        """Return Σ W_nm ∂k(x_n, y_m)/∂log h, a number or a vector, of each hyper-parameter h by its name.

        Parameters
        ----------
        weights : array (n, m)
            W.
        matrix : array (n, m)
            What `block` returned.
        x, y, same
            What it was given.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement derivatives")

    def pullback(self, x: Array, y: Array, same: int | None) -> tuple[Array, Contraction]:
        """Return `block`, and the function from weights W to Σ W_nm ∂k(x_n, y_m)/∂θ.

        A kernel made of others gives each of its parts its own weights: the chain rule, a block at a time.

        Parameters
        ----------
        x, y, same
            As of `block`.
        """
        matrix = self.block(x, y, same)
        return matrix, lambda weights: self.own_theta(lambda: self.derivatives(weights, matrix, x, y, same))

    def own_theta(self, derivatives: Callable[[], Mapping[str, Any]]) -> np.ndarray:
        """Return the derivatives of the free hyper-parameters of this kernel itself, in order."""
        own = [h for h in self._hyperparameters if h.free]
        found = derivatives() if own else {}
        return np.concatenate([*(_host(found[h.name]) for h in own), np.empty(0)])

    def contract_diagonal(self, weights: Array, x: Array) -> np.ndarray:
        """Return Σ_n w_n ∂k(x_n, x_n)/∂θ."""
        if self.is_stationary and x.shape[0]:  # k(x, x) is the same of all rows
            x, weights = x[:1, :], namespace_of(weights).sum(weights)[None]
        total = np.zeros(len(self.theta_names))
        for start in range(0, x.shape[0], _FEW):
            some = slice(start, min(start + _FEW, x.shape[0]))
            _, contract = self.pullback(x[some, :], x[some, :], 0)
            total += contract(diagonal_matrix(weights[some]))
        return total

    def with_columns(self, names: Any) -> Self:
        """Return the kernel in which columns with a name (`Subspace`) have their positions in `names`."""
        parts = [part.with_columns(names) for _, part in self._parts]
        same = all(a is b for a, (_, b) in zip(parts, self._parts, strict=True))
        return self if same else self._rebuilt({}, parts)

    def _bound(self, x: Any) -> tuple[Self, Array]:
        """Return the kernel with columns by position, and rows of finite numbers."""
        names = getattr(x, "columns", None)
        return self if names is None else self.with_columns(names), as_rows("x", x)

    # -- algebra ----------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> "Kernel":
        from tractable.kernels.sum import Sum

        return Sum.of(self, other)

    def __radd__(self, other: Any) -> "Kernel":
        from tractable.kernels.sum import Sum

        return Sum.of(other, self)

    def __mul__(self, other: Any) -> "Kernel":
        from tractable.kernels.product import Product
        from tractable.kernels.scaled import Scaled

        if isinstance(other, Kernel):
            return Product.of(self, other)
        return Scaled(kernel=self, scale=other)

    __rmul__ = __mul__

    def __pow__(self, exponent: int) -> "Kernel":
        from tractable.kernels.power import Power

        return Power(kernel=self, exponent=exponent)

    # -- hyper-parameters -------------------------------------------------------------------------------

    @property
    def theta(self) -> np.ndarray:
        """The logarithms of the free hyper-parameters, (p,)."""
        return np.concatenate([*(np.log(h.numbers) for h in self._free), np.empty(0)])

    @property
    def bounds(self) -> np.ndarray:
        """The logarithms of the bounds of the free hyper-parameters, (p, 2)."""
        return np.concatenate([*(h.log_bounds for h in self._free), np.empty((0, 2))])

    @property
    def theta_names(self) -> tuple[str, ...]:
        """The names of the free hyper-parameters: ``"RBF.length_scale[1]"``, in the order of `theta`.

        Where several parts have a name, the way to each stands before it: ``"k2.RBF.length_scale"``.
        """
        found = list(self._theta_paths(()))
        plain = [name for _, name in found]
        return tuple(name if plain.count(name) == 1 else ".".join((*path, name)) for path, name in found)

    def _theta_paths(self, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield the name of each free hyper-parameter, and the parts on the way to it."""
        own = (name for h in self._hyperparameters if h.free for name in h.names)
        yield from ((path, f"{type(self).__name__}.{name}") for name in own)
        for label, part in self._parts:
            yield from part._theta_paths((*path, label))  # noqa: SLF001

    def with_theta(self, theta: Any) -> Self:
        """Return the kernel whose free hyper-parameters have these logarithms, (p,)."""
        theta = np.asarray(as_reals("theta", theta), dtype=np.float64)
        wanted = len(self.theta_names)
        if theta.shape != (wanted,):
            raise ValueError(f"theta must have shape ({wanted},), got {theta.shape}")
        with np.errstate(over="ignore", under="ignore"):
            numbers = np.exp(theta)
        if not np.all((numbers > 0.0) & (numbers < np.inf)):
            raise ValueError(f"theta must be logarithms of positive, finite numbers, got {theta}")
        return self._with_theta(iter(theta))

    def _with_theta(self, theta: Iterator[float]) -> Self:
        changes: dict[str, Any] = {}
        for h in self._hyperparameters:
            if h.free:
                found = np.exp([next(theta) for _ in h.numbers])
                changes[h.name] = found if h.is_vector else float(found[0])
        parts = [part._with_theta(theta) for _, part in self._parts]  # noqa: SLF001
        return self._rebuilt(changes, parts)

    def log_prior(self) -> float:
        """Return Σ log p(h) of the free hyper-parameters h that have a prior; 0 where none has.

        The density is that of the number in natural units, not of its logarithm.
        """
        return float(sum(h.log_prior() for h in self._free))

    @property
    def parts(self) -> "tuple[Kernel, ...]":
        """The kernels that this one is made of."""
        return tuple(part for _, part in self._parts)

    @property
    def has_prior(self) -> np.ndarray:
        """Which of the free hyper-parameters have a prior, (p,), in the order of `theta`."""
        return np.array([h.prior is not None for h in self._free for _ in h.numbers], dtype=bool)

    @property
    def has_noise(self) -> bool:
        """Whether noise (`White`) is part of it: ``kernel(x)`` and ``kernel(x, x)`` then differ.

        A kernel of one's own that adds numbers where rows are the same says so here.
        """
        return any(part.has_noise for part in self.parts)

    def log_prior_gradient(self) -> np.ndarray:
        """Return the derivative of `log_prior` in `theta`, (p,)."""
        return np.concatenate([*(h.log_prior_gradient() for h in self._free), np.empty(0)])

    @property
    def _hyperparameters(self) -> tuple[Hyperparameter, ...]:
        """The hyper-parameters of this kernel itself."""
        return tuple(
            Hyperparameter(
                name=name,
                value=getattr(self, name),
                bounds=getattr(self, f"{name}_bounds"),
                prior=getattr(self, f"{name}_prior"),
            )
            for name in self._hyper
        )

    @property
    def _parts(self) -> "tuple[tuple[str, Kernel], ...]":
        """The kernels that this one is made of, with their names."""
        return ()

    @property
    def _free(self) -> list[Hyperparameter]:
        """The free hyper-parameters of this kernel and of its parts, in the order of `theta`."""
        own = [h for h in self._hyperparameters if h.free]
        return [*own, *(h for _, part in self._parts for h in part._free)]  # noqa: SLF001

    def _set_hyper(self, **given: tuple[Any, Any, Any]) -> None:
        """Set hyper-parameters, each given as (value, bounds, prior) under its name, after their checks."""
        for name, (number, bounds, prior) in given.items():
            checked = Hyperparameter.checked(
                name, number, bounds, prior, vector=name in self._vectors, zero=name in self._may_be_zero
            )
            set_fields(
                self,
                **{name: checked.value, f"{name}_bounds": checked.bounds, f"{name}_prior": checked.prior},
            )

    #: Hyper-parameters that may have one number a column, and those that may be zero, and then are fixed.
    _vectors: ClassVar[tuple[str, ...]] = ()
    _may_be_zero: ClassVar[tuple[str, ...]] = ()

    # -- a value ----------------------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's arguments; if `deep`, those of the parts too, as ``k1__length_scale``."""
        found = parameters(self)
        if deep:
            for label, part in self._parts:
                found[label] = part
                found |= {f"{label}__{name}": x for name, x in part.get_params().items()}
        return found

    def with_params(self, **params: Any) -> "Kernel":
        """Return the kernel with some arguments changed, of its parts too: ``k1__length_scale=2.0``."""
        parts = dict(self._parts)
        known = {*parameters(self), *parts}
        unknown = sorted({name.partition("__")[0] for name in params} - known)
        if unknown:
            raise ValueError(f"{type(self).__name__} has no parameter {unknown[0]!r}; it has {sorted(known)}")
        own = {name: x for name, x in params.items() if name in parameters(self)}
        for label, part in parts.items():
            below = {
                name.partition("__")[2]: x for name, x in params.items() if name.startswith(f"{label}__")
            }
            parts[label] = params.get(label, part).with_params(**below)
        changed = any(name not in own for name in params)
        return self._rebuilt(own, list(parts.values()) if changed else None)

    def _rebuilt(self, changes: dict[str, Any], parts: "list[Kernel] | None" = None) -> Self:
        """Return the kernel with other arguments, and with other parts where these are given."""
        if parts:
            changes = {**changes, **self._part_arguments(parts)}
        return type(self)(**{**parameters(self), **changes})

    def _part_arguments(self, parts: "list[Kernel]") -> dict[str, Any]:
        """Return the arguments of the constructor that hold the parts."""
        return dict(zip((label for label, _ in self._parts), parts, strict=True))

    def __sklearn_clone__(self) -> Self:
        """Return the kernel itself: it cannot change."""
        return self

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and content(self) == content(other)

    def __hash__(self) -> int:
        return hash(content(self))

    def __repr__(self) -> str:
        default = _defaults(type(self))
        given = [
            f"{name}={_shown(x)}"
            for name, x in parameters(self).items()
            if name in self._hyper or name not in default or content(x) != content(default[name])
        ]
        return f"{type(self).__name__}({', '.join(given)})"


def as_rows(name: str, x: Any, like: Array | None = None) -> Array:
    """Return rows (n, d) of finite numbers that can be squared; beside `like`, of its library and width."""
    check_assignable(name, x)
    x = as_reals(name, x, like)
    if x.ndim != 2 or not x.shape[1]:
        raise ValueError(
            f"{name} must be rows, an array (n, d) with a column at least, got shape {tuple(x.shape)}"
        )
    xp = namespace_of(x)
    if like is not None:
        if x.shape[1] != like.shape[1]:
            raise ValueError(f"{name} must have {like.shape[1]} columns as x has, got {x.shape[1]}")
        x = xp.astype(x, like.dtype, copy=False)
    if x.dtype not in (xp.float64, xp.float32):
        x = xp.astype(x, xp.float64)
    if not bool(xp.all(xp.isfinite(x))):
        raise ValueError(f"{name} must be finite: it contains NaN or infinity")
    return check_squarable(name, x)


def column_of(x: Array, number: float) -> Array:
    """Return the number for each row of x, (n,)."""
    return namespace_of(x).full((x.shape[0],), number, dtype=x.dtype, device=device(x))


def like_rows(numbers: Any, x: Array, name: str) -> Any:
    """Return a hyper-parameter as it multiplies rows of x: a number, or one for each of their columns."""
    if not isinstance(numbers, np.ndarray):
        return numbers
    if numbers.shape[0] != x.shape[1]:
        raise ValueError(f"{name} has {numbers.shape[0]} entries, and rows have {x.shape[1]} columns")
    return namespace_of(x).asarray(numbers, dtype=x.dtype, device=device(x), copy=True)


def one_number(numbers: Any, name: str) -> float:
    """Return a hyper-parameter of a kernel of one column."""
    if np.size(numbers) != 1:
        raise ValueError(f"{name} must be one number for a kernel of one column, got {np.size(numbers)}")
    return float(np.ravel(numbers)[0])


def by_blocks(of: Callable[[slice], T], n: int, m: int, x: Array) -> list[T]:
    """Return what a function gives for each block of rows of a matrix (n, m), on all cores or the device."""
    entries = max(LEAST_ENTRIES, min(ROWS * m, MOST_ENTRIES), LEAST_ROWS * m)
    return map_matrix_rows(SILENT(of), n, m, x, entries)


def on_diagonal(matrix: Array, numbers: Any, same: int | None) -> Array:
    """Return the matrix with numbers added where row n of x is row n + same of y; it may be changed."""
    if same is None or not matrix.shape[0]:
        return matrix
    xp = namespace_of(matrix)
    n, m = matrix.shape
    if is_numpy_array(matrix):
        rows = np.arange(n)
        matrix[rows, rows + same] += numbers
        return matrix
    return matrix + numbers * xp.eye(n, m, k=same, dtype=matrix.dtype, device=device(matrix))


def _lower(kernel: Kernel, x: Array) -> Array:
    """Return a matrix whose lower triangle is that of the kernel's, a block of rows at a time."""
    xp, n = namespace_of(x), x.shape[0]
    out = xp.empty((n, n), dtype=x.dtype, device=device(x))

    def fill(rows: slice) -> None:
        out[rows, : rows.stop] = kernel.block(x[rows, :], x[: rows.stop, :], rows.start)

    by_blocks(fill, n, n, x)
    return out


def _mirrored(lower: Array) -> Array:
    """Return the symmetric matrix of a lower triangle, in the same array."""
    xp, n = namespace_of(lower), lower.shape[0]

    def mirror(rows: slice) -> None:
        a, square = rows.start, lower[rows, rows]
        lower[rows, rows] = xp.tril(square) + xp.tril(square, k=-1).T
        lower[:a, rows] = lower[rows, :a].T

    by_blocks(mirror, n, n, lower)
    return lower


def _host(x: Any) -> np.ndarray:
    """Return a number or a vector as a NumPy vector."""
    return np.atleast_1d(np.asarray(x if isinstance(x, float) else to_numpy(x), dtype=np.float64))


def _defaults(cls: type) -> dict[str, Any]:
    from inspect import Parameter, signature

    found = signature(cls).parameters.values()
    return {p.name: p.default for p in found if p.default is not Parameter.empty}


def _shown(x: Any) -> str:
    return repr(x.tolist()) if isinstance(x, np.ndarray) else repr(x)
