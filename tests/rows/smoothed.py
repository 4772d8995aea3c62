"""Smoothed samples, and estimators that make them."""

import numpy as np

from rows.row import Row
from tractable.density import KernelDensity
from tractable.distributions import SmoothedEmpirical

TEN = (8.2075, 9.8171, 0.1442, 8.8333, 9.4084, 9.0987, 0.7269, 1.0454, -0.1108, 9.4905)
CLOUD = np.random.default_rng(5).standard_normal((12, 2)) * [1.0, 3.0]
TRIPLES = np.random.default_rng(6).standard_normal((9, 3))

USERS = {"repr_rebuilds": "a function of the user is not printed as a call"}


def logistic(u):
    """A window of a user, without an end."""
    e = np.exp(-np.abs(u))
    return e / (1.0 + e) ** 2


def quartic(u):
    """A window of a user that ends at two."""
    return np.where(np.abs(u) < 2.0, 15 / 32 * (1 - u * u / 4) ** 2, 0.0)


ROWS = [
    *(
        Row(f"SmoothedEmpirical-{w}", lambda w=w: SmoothedEmpirical(points=TEN, bandwidth=0.8, window=w))
        for w in ("biweight", "cosine", "epanechnikov", "laplace", "tophat", "triangular")
    ),
    Row(
        "SmoothedEmpirical-user",
        lambda: SmoothedEmpirical(points=TEN, bandwidth=0.3, window=logistic),
        exempt=USERS,
    ),
    Row(
        "SmoothedEmpirical-user-disc",
        lambda: SmoothedEmpirical(points=TEN, bandwidth=0.5, window=quartic),
        exempt=USERS,
    ),
    Row(
        "SmoothedEmpirical-wide",
        lambda: SmoothedEmpirical(points=[0.3, 0.4, 2.0, 2.5], bandwidth=0.5, bounds=(0.1, 1e9)),
    ),
    Row(
        "SmoothedEmpirical-wider",
        lambda: SmoothedEmpirical(
            points=[1.3, 1.4, 2.0], bandwidth=0.5, window="laplace", bounds=(1.0, 1e16)
        ),
    ),
    Row(
        "SmoothedEmpirical-turned-corners",
        lambda: SmoothedEmpirical(
            points=[-30.0, 1.0, 77.0], bandwidth=0.9, window="biweight", period=2 * np.pi
        ),
    ),
    Row(
        "SmoothedEmpirical-walled-corners",
        lambda: SmoothedEmpirical(points=[0.2, 1.0, 1.9], bandwidth=0.9, window="triangular", bounds=(0, 2)),
    ),
    Row("SmoothedEmpirical-least", lambda: SmoothedEmpirical(points=[1e-140, 2e-140], bandwidth=1e-140)),
    Row("SmoothedEmpirical-numbers", lambda: SmoothedEmpirical(points=TEN, bandwidth=0.5)),
    Row(
        "SmoothedEmpirical-weighted",
        lambda: SmoothedEmpirical(points=[0.0, 1.0, 5.0], weights=[2.0, 0.0, 0.5], bandwidth=0.7),
    ),
    Row(
        "SmoothedEmpirical-far", lambda: SmoothedEmpirical(points=[1e6, 1e6 + 2.0, 1e6 + 3.0], bandwidth=1.0)
    ),
    Row("SmoothedEmpirical-tiny", lambda: SmoothedEmpirical(points=[1e-100, 2e-100], bandwidth=1e-100)),
    Row(
        "SmoothedEmpirical-positive",
        lambda: SmoothedEmpirical(points=[0.1, 0.4, 2.0, 2.5], bandwidth=0.5, bounds=(0.0, np.inf)),
    ),
    Row(
        "SmoothedEmpirical-below",
        lambda: SmoothedEmpirical(points=[0.1, 0.4, 2.0, 2.9], bandwidth=0.5, bounds=(-np.inf, 3.0)),
    ),
    Row(
        "SmoothedEmpirical-between",
        lambda: SmoothedEmpirical(points=[0.05, 0.3, 0.9], bandwidth=0.3, bounds=(0.0, 1.0)),
    ),
    Row(
        "SmoothedEmpirical-period",
        lambda: SmoothedEmpirical(points=[0.1, 1.0, 6.0], bandwidth=0.5, period=(0.0, 2 * np.pi)),
    ),
    Row(
        "SmoothedEmpirical-turns",  # points of other periods than the first
        lambda: SmoothedEmpirical(points=[-30.0, 1.0, 6.0, 77.0], bandwidth=0.5, period=(0.0, 2 * np.pi)),
    ),
    Row("SmoothedEmpirical", lambda: SmoothedEmpirical(points=CLOUD, bandwidth=0.8)),
    Row(
        "SmoothedEmpirical-diagonal",
        lambda: SmoothedEmpirical(points=CLOUD, bandwidth=[0.5, 1.5], weights=np.arange(12.0)),
    ),
    Row(
        "SmoothedEmpirical-full",
        lambda: SmoothedEmpirical(points=CLOUD, bandwidth=[[0.5, 0.3], [0.3, 1.0]], names=("a", "b")),
    ),
    Row(
        "SmoothedEmpirical-triples",
        lambda: SmoothedEmpirical(
            points=TRIPLES, bandwidth=[[0.5, 0.3, 0.0], [0.3, 1.0, 0.1], [0.0, 0.1, 0.4]]
        ),
    ),
    Row(
        "SmoothedEmpirical-box",
        lambda: SmoothedEmpirical(
            points=[[0.1, 0.2], [0.5, 3.0], [0.9, 6.0]],
            bandwidth=[0.2, 0.6],
            bounds=((0.0, 1.0), None),
            period=(None, 2 * np.pi),
        ),
    ),
]
JOINTS = [row for row in ROWS if row.make().event_shape and row.make().bounds is None]

ESTIMATORS = [
    Row("KernelDensity", KernelDensity),
    Row("KernelDensity-scott", lambda: KernelDensity(bandwidth="scott", kernel="laplace")),
    Row("KernelDensity-isj", lambda: KernelDensity(bandwidth="isj")),
    Row("KernelDensity-loo", lambda: KernelDensity(bandwidth="loo")),
    Row("KernelDensity-grid", lambda: KernelDensity(bandwidth="loo", search="grid")),
    Row("KernelDensity-lscv", lambda: KernelDensity(bandwidth="lscv")),
    Row("KernelDensity-biweight", lambda: KernelDensity(kernel="biweight")),
    # Walls so far away that the rows of every law are within.
    Row("KernelDensity-bounds", lambda: KernelDensity(bounds=(-1e150, None))),
    Row("KernelDensity-walls", lambda: KernelDensity(kernel="epanechnikov", bounds=(-1e150, 1e150))),
    Row(
        "KernelDensity-period",
        lambda: KernelDensity(bandwidth=0.5, period=24.0),
        exempt={"extreme_scales_change_the_scale_alone": "a period is in the units of the rows"},
    ),
]
