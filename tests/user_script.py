"""A user's script, for the type checker: `make types` reads it with the package, and nothing runs it."""

from typing import assert_type

import tractable
from tractable import GaussianMixture, MultivariateNormal, scan
from tractable.data.files import FileSource
from tractable.report import Report


def script() -> None:
    """Public names have their types, and what is not there, or called wrongly, is an error."""
    source = scan("trips.parquet", target="fare")
    assert_type(source, FileSource)
    assert_type(GaussianMixture(2).fit(source), GaussianMixture)
    assert_type(MultivariateNormal.fit([[1.0]]), MultivariateNormal)
    assert_type(tractable.Normal(mean=0.0, stddev=1.0), tractable.Normal)
    assert_type(tractable.Ridge().fit([[1.0]], [1.0]), tractable.Ridge)
    assert_type(tractable.report("trips.parquet", target="fare"), Report)
    tractable.r2_score(y_true=[1.0], y_pred=[1.0])
    tractable.r2_score(y_true=[1.0])  # type: ignore[call-arg]
    tractable.metrics.crps(distribution=tractable.Normal(mean=0.0, stddev=1.0), y=0.0)
    tractable.metrics.crps()  # type: ignore[call-arg]
    tractable.GausianMixture  # type: ignore[attr-defined]  # noqa: B018
