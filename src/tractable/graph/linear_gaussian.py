"""Linear-Gaussian networks: every variable is a linear function of its parents, and noise."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from tractable.distributions import MultivariateNormal
from tractable.distributions.checks import check_finite, check_positive
from tractable.graph.directed import DirectedGraph
from tractable.value import set_fields, value


@value
class LinearGaussianNetwork:
    """x_j = intercept_j + Σ coef_ij x_i + ε_j over the parents i of j, ε_j ~ N(0, variance_j) independent.

    Together the variables are a `MultivariateNormal`, `joint()`, which answers what is asked of it: with B
    the matrix of the coefficients, x = (I - B)⁻¹ (intercept + ε) (Bishop 8.1.4).

    Parameters
    ----------
    coefficients : mapping of node to mapping of parent to float
        The coefficients of each node; one without parents maps to an empty mapping.
    intercepts : mapping of node to float, optional
        Zero where not given.
    noise_variances : mapping of node to float, optional
        Var(ε_j), one where not given.

    Examples
    --------
    >>> line = LinearGaussianNetwork(coefficients={"x": {}, "y": {"x": 2.0}}, intercepts={"y": 1.0})
    >>> joint = line.joint()
    >>> joint.mean, joint.covariance
    (array([0., 1.]), array([[1., 2.],
           [2., 5.]]))
    >>> joint.condition({"y": 3.0}).mean
    array([0.8])
    """

    coefficients: tuple[tuple[str, tuple[tuple[str, float], ...]], ...]
    intercepts: tuple[tuple[str, float], ...]
    noise_variances: tuple[tuple[str, float], ...]

    def __init__(self, *, coefficients: Any, intercepts: Any = (), noise_variances: Any = ()) -> None:
        pairs = _items("coefficients", coefficients)
        rows = {node: _numbers("coefficients", parents) for node, parents in pairs}
        given = {"intercepts": dict(intercepts), "noise_variances": dict(noise_variances)}
        for name, numbers in given.items():
            unknown = [node for node in numbers if node not in rows]
            if unknown:
                raise ValueError(f"{name} must be of nodes in coefficients, got {unknown[0]!r}")
        unknown = [parent for parents in rows.values() for parent in parents if parent not in rows]
        if unknown:
            raise ValueError(f"coefficients must have an entry of the parent {unknown[0]!r}")
        if not rows:
            raise ValueError("coefficients must have at least one node")
        means = _numbers("intercepts", {**dict.fromkeys(rows, 0.0), **given["intercepts"]})
        noise = _numbers("noise_variances", {**dict.fromkeys(rows, 1.0), **given["noise_variances"]})
        check_positive("noise_variances", np.array(list(noise.values())))
        set_fields(
            self,
            coefficients=tuple((node, tuple(parents.items())) for node, parents in rows.items()),
            intercepts=tuple(means.items()),
            noise_variances=tuple(noise.items()),
        )
        _ = self.graph  # which refuses a cycle

    @cached_property
    def graph(self) -> DirectedGraph:
        """The graph, with an edge from each variable to those that depend on it."""
        return DirectedGraph.of({node: [parent for parent, _ in row] for node, row in self.coefficients})

    def joint(self) -> MultivariateNormal:
        """Return the joint distribution of all variables, whose coordinates have their names."""
        names = [node for node, _ in self.coefficients]
        B = np.zeros((len(names), len(names)))
        for i, (_, row) in enumerate(self.coefficients):
            for parent, coef in row:
                B[i, names.index(parent)] = coef
        spread = np.linalg.inv(np.eye(len(names)) - B)  # triangular in the order of the graph, ones on it
        mean = spread @ np.array([intercept for _, intercept in self.intercepts])
        noise = np.array([variance for _, variance in self.noise_variances])
        return MultivariateNormal(mean=mean, covariance=(spread * noise) @ spread.T, names=names)


def _items(name: str, given: Any) -> list[tuple[Any, Any]]:
    pairs = list(given.items()) if isinstance(given, Mapping) else list(given)
    if not all(isinstance(node, str) and node for node, _ in pairs):
        raise ValueError(f"{name} must be of nodes whose names are text")
    return pairs


def _numbers(name: str, given: Any) -> dict[str, float]:
    try:
        found = {node: float(number) for node, number in _items(name, given)}
    except TypeError:
        raise ValueError(f"{name} must map nodes to numbers, got {given!r:.60}") from None
    check_finite(name, np.array(list(found.values()) or [0.0]))
    return found
