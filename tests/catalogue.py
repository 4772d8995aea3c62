"""One table per kind of public object: every law of the kind runs on every row.

Adding an object is one row here. An exemption is written on the row with its reason, as a strict xfail.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from toys import Average, Standardiser
from tractable.density import GaussianDensity
from tractable.statistics import DiagonalMoments, IncompleteMoments, Moments


@dataclass(frozen=True)
class Row:
    """A named instance, made anew for every law; `exempt` maps a law's name to the reason it cannot hold."""

    name: str
    make: Callable[[], object]
    exempt: dict[str, str] = field(default_factory=dict)


def cross(laws, rows):
    """Every (law, row) pair as a pytest parameter."""
    return [
        pytest.param(
            law,
            row.make,
            id=f"{row.name}-{law.__name__}",
            marks=[pytest.mark.xfail(reason=row.exempt[law.__name__])] if law.__name__ in row.exempt else [],
        )
        for row in rows
        for law in laws
    ]


DISTRIBUTIONS: list[Row] = []
COVARIANCES: list[Row] = []
STATISTICS = [
    Row("Moments", lambda: Moments),
    Row("DiagonalMoments", lambda: DiagonalMoments),
    Row("IncompleteMoments", lambda: IncompleteMoments),
]
ESTIMATORS = [
    Row("GaussianDensity", GaussianDensity),
    Row("GaussianDensity-diag", lambda: GaussianDensity(covariance_type="diag")),
    Row("GaussianDensity-spherical", lambda: GaussianDensity(covariance_type="spherical")),
    Row("GaussianDensity-unbiased", lambda: GaussianDensity(ddof=1)),
    Row("toy-Average", Average),
    Row("toy-Standardiser", Standardiser),
]
