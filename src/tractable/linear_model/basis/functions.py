"""Basis functions given by the user."""

from collections.abc import Callable
from typing import Any

from tractable.arrays.namespace import Array, namespace_of
from tractable.linear_model.basis.base import Basis

#: Functions that are known by name, and so can be saved.
KNOWN = ("abs", "cos", "exp", "identity", "log", "log1p", "sin", "sqrt", "square", "tanh")


class FunctionBasis(Basis):
    """Columns φⱼ(x) of any functions, such as x and eˣ.

    Parameters
    ----------
    functions : sequence of str or callable
        Each is "identity", "abs", "cos", "exp", "log", "log1p", "sin", "sqrt", "square" or "tanh", applied to
        every column, or a callable from the rows, (n, d), to one column, (n,), or several, (n, k).
        :func:`tractable.save` keeps names and refuses callables.
    names : sequence of str, optional
        What each function is called.

    Attributes
    ----------
    widths_ : list of int
        How many columns each function makes; 0 for one that makes a vector.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> basis = tractable.FunctionBasis(["identity", "exp"])
    >>> basis.fit_transform([[0.0], [1.0]]).round(3)
    array([[0.   , 1.   ],
           [1.   , 2.718]])
    >>> list(basis.get_feature_names_out())
    ['x0', 'exp(x0)']
    >>> areas = tractable.FunctionBasis([lambda X: X[:, 0] * X[:, 1]], names=["area"])
    >>> areas.fit_transform([[2.0, 3.0]])
    array([[6.]])
    """

    def __init__(self, functions: Any = ("identity",), names: Any = None) -> None:
        self.functions = functions
        self.names = names

    def _check_parameters(self) -> None:
        if not _is_sequence(self.functions) or not len(self.functions):
            raise ValueError(f"functions must be a sequence of at least one, got {self.functions!r}")
        for function in self.functions:
            if not callable(function) and function not in KNOWN:
                raise ValueError(f"functions must be callables or of {list(KNOWN)}, got {function!r}")
        if self.names is not None and (
            not _is_sequence(self.names) or len(self.names) != len(self.functions)
        ):
            raise ValueError(f"names must be {len(self.functions)} words, got {self.names!r}")

    def _learn(self, X: Array, weights: Array) -> None:
        self._check_parameters()
        found = [_applied(function, X) for function in self.functions]
        self.widths_ = [0 if columns.ndim == 1 else int(columns.shape[1]) for columns in found]

    def _map(self, X: Array) -> list[Array]:
        columns = []
        for function, width in zip(self.functions, self.widths_, strict=True):
            found = _applied(function, X)
            if (0 if found.ndim == 1 else int(found.shape[1])) != width:
                raise ValueError(
                    f"functions must make as many columns as in fit; {_called(function)} did not"
                )
            columns += [found] if width == 0 else [found[:, k] for k in range(width)]
        return columns

    def _names(self, inputs: list[str]) -> list[str]:
        called = [_called(f) for f in self.functions] if self.names is None else [str(n) for n in self.names]
        if len(set(called)) < len(called):
            called = [f"{name}_{k}" for k, name in enumerate(called)]
        return [
            name
            for label, width in zip(called, self.widths_, strict=True)
            for name in _columns_of(label, width, inputs)
        ]


def _columns_of(label: str, width: int, inputs: list[str]) -> list[str]:
    if width == 0:
        return [label]
    if width != len(inputs):
        return [f"{label}[{k}]" for k in range(width)]
    return [name if label == "identity" else f"{label}({name})" for name in inputs]


def _called(function: Any) -> str:
    return function if isinstance(function, str) else getattr(function, "__name__", type(function).__name__)


def _applied(function: str | Callable[[Array], Array], X: Array) -> Array:
    xp = namespace_of(X)
    if callable(function):
        found = xp.asarray(function(X), dtype=xp.float64)
    else:
        found = X if function == "identity" else getattr(xp, function)(X)
    if found.ndim not in (1, 2) or found.shape[0] != X.shape[0] or 0 in found.shape[1:]:
        raise ValueError(f"functions must make columns of {X.shape[0]} rows, got shape {tuple(found.shape)}")
    return found


def _is_sequence(x: Any) -> bool:
    return hasattr(x, "__len__") and hasattr(x, "__getitem__") and not isinstance(x, str | dict)
