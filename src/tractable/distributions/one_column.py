"""Vectors of one column as numbers, which have quantiles and intervals."""

from functools import singledispatch
from typing import Any

from tractable.distributions.distribution import Univariate
from tractable.distributions.histogram.histogram import HistogramDensity
from tractable.distributions.mixture.mixture import Mixture
from tractable.distributions.multivariate_normal import MultivariateNormal
from tractable.distributions.multivariate_student_t import MultivariateStudentT
from tractable.distributions.normal import Normal
from tractable.distributions.product import Product
from tractable.distributions.stacked import Stacked
from tractable.distributions.student_t import StudentT

__all__ = ["of_one_column"]


@singledispatch
def of_one_column(x: Any) -> Any:
    """Return the distribution of the one column of vectors; numbers are as they are."""
    raise ValueError(f"{type(x).__name__} has no distribution of numbers beside it")


@of_one_column.register
def _number(x: Univariate) -> Univariate:
    return x


@of_one_column.register
def _normal(x: MultivariateNormal) -> Normal:
    return Normal(mean=x.mean[..., 0], variance=x.variance[..., 0])


@of_one_column.register
def _student(x: MultivariateStudentT) -> StudentT:
    return StudentT(dof=x.dof, location=x.location[..., 0], scale=x.structure.diagonal[..., 0] ** 0.5)


@of_one_column.register
def _product(x: Product) -> Any:
    return of_one_column(x.parts[0])


@of_one_column.register
def _mixture(x: Mixture) -> Any:
    return Mixture(weights=x.weights, components=x.components.as_univariate())


@of_one_column.register
def _stacked(x: Stacked) -> Stacked:
    return Stacked(members=[of_one_column(member) for member in x.members], shape=x.shape)


@of_one_column.register
def _histogram(x: HistogramDensity) -> HistogramDensity:
    return HistogramDensity(edges=x.edges[0], counts=x.counts)
