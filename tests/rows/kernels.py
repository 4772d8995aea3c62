"""Kernels of the catalogue."""

import numpy as np

from rows.row import Row
from tractable.distributions import Gamma, InverseGamma, Normal
from tractable.kernels import (
    RBF,
    Categorical,
    Constant,
    Cosine,
    DistanceRBF,
    Exponentiated,
    Feature,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    Power,
    Precomputed,
    Product,
    QuadraticForm,
    RationalQuadratic,
    Scaled,
    Sigmoid,
    Subspace,
    Sum,
    Warped,
    White,
)
from tractable.testing.kernel_laws import KernelOfRows

GRAPH = [[2.0, 1.0, 0.5, 0.0], [1.0, 3.0, -1.0, 0.2], [0.5, -1.0, 2.5, 0.4], [0.0, 0.2, 0.4, 1.0]]


def objects(rng, n):
    return rng.integers(0, 4, (n, 1)).astype(float)


def words(rng, n):
    return rng.integers(0, 3, (n, 2)).astype(float)


def first(x):
    return 1.0 + x[:, 0] ** 2


def squares(x):
    return 0.3 * x * x


ROWS = [
    Row("Constant", lambda: Constant(2.0)),
    Row("Constant-fixed", lambda: Constant(0.5, constant_value_bounds="fixed")),
    Row("White", lambda: White(0.3)),
    Row("Linear", lambda: Linear(0.7)),
    Row("Linear-origin", lambda: Linear(0.0)),
    Row("Linear-center", lambda: Linear(0.4, center=[1.0, -2.0])),
    Row("Polynomial", lambda: Polynomial(3, gamma=0.5, coef0=0.8)),
    Row("Polynomial-homogeneous", lambda: Polynomial(2, coef0=0.0)),
    Row("RBF", lambda: RBF(1.3)),
    Row("RBF-ard", lambda: RBF([0.5, 2.0, 7.0])),
    Row("RBF-short", lambda: RBF(0.01)),
    Row("RBF-prior", lambda: RBF([0.5, 2.0], length_scale_prior=InverseGamma(shape=3.0, scale=2.0))),
    Row("RBF-fixed", lambda: RBF(2.0, length_scale_bounds="fixed")),
    Row("Matern-1/2", lambda: Matern(0.8, nu=0.5)),
    Row("Matern-1/2-ard", lambda: Matern([0.8, 2.0], nu=0.5)),
    Row("Matern-3/2", lambda: Matern([0.8, 2.0])),
    Row("Matern-5/2", lambda: Matern(0.8, nu=2.5, length_scale_bounds=(0.1, 10.0))),
    Row("RationalQuadratic", lambda: RationalQuadratic(1.2, alpha=0.6)),
    Row("RationalQuadratic-ard", lambda: RationalQuadratic([1.2, 0.4], alpha=30.0)),
    Row("Periodic", lambda: Periodic(0.7, periodicity=1.9)),
    Row("Periodic-ard", lambda: Periodic([0.7, 1.5], periodicity=[1.9, 0.8])),
    Row("Cosine", lambda: Cosine(2.5)),
    Row("Cosine-ard", lambda: Cosine([2.5, 1.1])),
    Row("Sigmoid", lambda: Sigmoid(0.4, coef0=-0.2)),
    Row("Feature", lambda: Feature(squares)),
    Row("Precomputed", lambda: KernelOfRows(kernel=Precomputed(GRAPH), draw=objects)),
    Row("Categorical", lambda: KernelOfRows(kernel=Categorical(1.5), draw=words)),
    Row("Categorical-ard", lambda: KernelOfRows(kernel=Categorical([1.5, 0.4]), draw=words)),
    Row("QuadraticForm", lambda: QuadraticForm([[9.0, -15.0], [-15.0, 25.0]])),
    Row("Sum", lambda: Sum([RBF(0.6), RBF(3.0), White(0.1)])),
    Row("Product", lambda: Product([RBF(2.0), Periodic(1.0, periodicity=0.9), Linear(0.5)])),
    Row("Product-of-features", lambda: Linear(0.5) * Cosine(2.0) * Constant(1.5)),
    Row("Scaled", lambda: Scaled(RBF(1.1), 2.5, scale_prior=Gamma(shape=2.0, rate=1.0))),
    Row("Scaled-function", lambda: Scaled(Matern(1.1), 2.5, function=first)),
    Row("Power", lambda: Power(Linear(0.6) + Constant(0.5), 3)),
    Row("Power-stationary", lambda: RBF([1.0, 2.0]) ** 2),
    Row("Exponentiated", lambda: Exponentiated(0.2 * Linear(0.4))),
    Row("Warped", lambda: Warped(RBF(0.9), squares)),
    Row("Warped-features", lambda: Warped(Polynomial(2), squares)),
    Row("Subspace", lambda: Subspace(RBF([0.6, 1.5]), [2, 0])),
    Row("Subspace-sum", lambda: Subspace(RBF(0.6), [0]) + Subspace(Linear(1.0), [1])),
    Row("DistanceRBF", lambda: DistanceRBF(Polynomial(2, gamma=0.3), 2.0)),
    Row("DistanceRBF-sum", lambda: DistanceRBF(Linear(0.5) + 0.3 * RBF(0.8), 1.4)),
    Row(
        "Composite",
        lambda: (
            2.0 * RBF([1.0, 3.0], length_scale_prior=Normal(mean=[1.0, 2.0], stddev=1.5))
            + 0.5 * (Periodic(1.2, periodicity=2.0) * RBF(5.0) + Linear(0.3)) * Matern(2.0, nu=2.5)
            + White(0.05, noise_level_bounds=(1e-3, 1.0))
        ),
    ),
]

#: Kernels that hold functions, which are code: pickled where they have a name, and not saved.
HOLD_FUNCTIONS = {"Feature", "Scaled-function", "Warped", "Warped-features"}


def far_rows(rng, n):
    return 1e100 * rng.standard_normal((n, 2))


#: Rows far out, where products of rows would overflow: stationary kernels have answers all the same.
FAR_ROWS = [
    Row("RBF-far", lambda: KernelOfRows(kernel=RBF(1e100), draw=far_rows)),
    Row("Matern-far", lambda: KernelOfRows(kernel=Matern([1e100, 2e100], nu=0.5), draw=far_rows)),
    Row("RationalQuadratic-far", lambda: KernelOfRows(kernel=RationalQuadratic(1e100), draw=far_rows)),
    Row("RBF-distinct", lambda: KernelOfRows(kernel=RBF(1.0), draw=far_rows)),
    Row("RBF-overflow", lambda: KernelOfRows(kernel=RBF(1e-100), draw=far_rows)),
    Row("RBF-same", lambda: KernelOfRows(kernel=RBF(1.0), draw=lambda rng, n: np.full((n, 2), 1e100))),
]
