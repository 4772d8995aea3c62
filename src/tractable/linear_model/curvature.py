"""Whether residuals follow a curve: powers of the fitted values, squares of columns, their products."""

from collections.abc import Iterator

import numpy as np

from tractable.value import value

__all__ = ["FITTED", "Curve", "curves", "f_test"]

#: The term of RESET, in words.
FITTED = "the fitted values"
#: Most columns of which all products are looked at.
_FEW = 30
#: A term that keeps less of itself, apart from the columns, is one of them.
_NEW = 1e-7


@value
class Curve:
    """A term that the columns leave out, and how well it explains what they leave."""

    term: str  # in words
    f: float
    p_value: float  # for as many terms as were tried


@value
class _Terms:
    """Terms of one kind, each tested on its own."""

    names: list[str]
    f: np.ndarray
    p_value: np.ndarray


def curves(
    columns: np.ndarray, names: list[str], fitted: np.ndarray, residuals: np.ndarray, *, located: bool
) -> list[Curve]:
    """Return the likeliest curve of each kind; the level is divided between kinds, and within a kind.

    Parameters
    ----------
    columns : array (n, d)
    names : list of d strings
    fitted, residuals : arrays (n,)
    located : bool
        Whether the fit had an intercept.
    """
    x = _in_like_units(columns, located=located)
    all_columns = np.column_stack([np.ones(len(x)), x]) if located else x
    tol = 10.0 * all_columns.shape[1] * float(np.finfo(float).eps)
    straight = _span(all_columns, np.linalg.norm(all_columns, axis=0), tol)
    left = _apart(residuals[:, None], straight)[:, 0]
    kinds = [_powers(fitted, left, straight)]
    if x.shape[1] > 1:  # of a single column the fitted values are a multiple
        kinds.append(_each(x**2, [f"the square of {name}" for name in names], left, straight))
    if 1 < x.shape[1] <= _FEW and x.shape[1] * (x.shape[1] - 1) // 2 < len(x):
        kinds.append(_joined([_each(*terms, left, straight) for terms in _products(x, names)]))
    found = [kind for kind in kinds if kind.names]
    return [_likeliest(kind, len(found)) for kind in found]


def f_test(without: float, with_terms: float, n_terms: int, dof: int) -> tuple[float, float]:
    """Return F for the squares that terms take away, and how often chance takes as many."""
    from scipy.special import fdtrc

    if n_terms < 1 or dof < 1:
        return 0.0, 1.0
    if with_terms <= 0.0:
        return float("inf"), 0.0
    f = max(without - with_terms, 0.0) / n_terms / (with_terms / dof)
    return f, float(fdtrc(n_terms, dof, f))


def _in_like_units(columns: np.ndarray, *, located: bool) -> np.ndarray:
    """Return columns about their means, of size one; or of size zero where they do not vary."""
    x = columns - columns.mean(axis=0) if located else columns
    size, rounding = np.abs(x).max(axis=0), 1e-14 * np.abs(columns).max(axis=0)
    return np.where(size > rounding, x, 0.0) / np.where(size > rounding, size, 1.0)


def _powers(fitted: np.ndarray, left: np.ndarray, straight: np.ndarray) -> _Terms:
    """Ramsey's RESET: squares and cubes of the fitted values together."""
    z = (fitted - fitted.mean()) / (np.ptp(fitted) or 1.0)
    terms = np.column_stack([z**2, z**3])
    bent = _span(_apart(terms, straight), np.linalg.norm(terms, axis=0), _NEW)
    after = _apart(left[:, None], bent)[:, 0]
    dof = len(left) - straight.shape[1] - bent.shape[1]
    f, p_value = f_test(float(left @ left), float(after @ after), bent.shape[1], dof)
    return _Terms(names=[FITTED], f=np.array([f]), p_value=np.array([p_value]))


def _each(terms: np.ndarray, names: list[str], left: np.ndarray, straight: np.ndarray) -> _Terms:
    """Return F of every term on its own; those that the columns already make are left out."""
    new = _apart(terms, straight)
    length = np.linalg.norm(new, axis=0)
    told = np.flatnonzero(length > _NEW * np.linalg.norm(terms, axis=0))
    taken = (left @ new[:, told] / length[told]) ** 2
    total, dof = float(left @ left), len(left) - straight.shape[1] - 1
    tests = [f_test(total, total - part, 1, dof) for part in taken]
    return _Terms(
        names=[names[j] for j in told],
        f=np.array([f for f, _ in tests]),
        p_value=np.array([p_value for _, p_value in tests]),
    )


def _products(x: np.ndarray, names: list[str]) -> Iterator[tuple[np.ndarray, list[str]]]:
    """Yield the products of each column with those after it."""
    for j in range(x.shape[1] - 1):
        yield (
            x[:, [j]] * x[:, j + 1 :],
            [f"the product of {names[j]} and {other}" for other in names[j + 1 :]],
        )


def _joined(kinds: list[_Terms]) -> _Terms:
    return _Terms(
        names=[name for kind in kinds for name in kind.names],
        f=np.concatenate([kind.f for kind in kinds]),
        p_value=np.concatenate([kind.p_value for kind in kinds]),
    )


def _likeliest(kind: _Terms, n_kinds: int) -> Curve:
    best = int(np.argmax(kind.f))
    p_value = min(n_kinds * len(kind.names) * float(kind.p_value[best]), 1.0)
    return Curve(term=kind.names[best], f=float(kind.f[best]), p_value=p_value)


def _span(x: np.ndarray, size: np.ndarray, tol: float) -> np.ndarray:
    """Return an orthonormal basis of columns, without directions that are rounding beside their size."""
    u, s, _ = np.linalg.svd(x / np.where(size > 0.0, size, 1.0), full_matrices=False)
    return u[:, s > tol]


def _apart(x: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Return what columns have apart from a basis; twice, so that rounding does not stay in it."""
    for _ in range(2):
        x = x - basis @ (basis.T @ x)
    return x
