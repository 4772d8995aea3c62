"""Continuous distributions of numbers, and their statistics."""

import numpy as np

from rows.row import Row
from tractable.distributions import (
    Beta,
    Exponential,
    Gamma,
    InverseGamma,
    Laplace,
    LogNormal,
    Pareto,
    StudentT,
    Uniform,
    VonMises,
    Weibull,
)
from tractable.statistics import (
    Directions,
    Extremes,
    LogExcess,
    LogMoments,
    MomentsOfLogarithms,
    NonnegativeMeans,
    ReciprocalLogMoments,
    UnitLogMoments,
)
from tractable.testing.statistic_laws import StatisticOfRows

ROWS = [
    Row("Uniform", lambda: Uniform(low=1.0, high=4.0)),
    Row("Uniform-batch", lambda: Uniform(low=[[0.0], [-1.0]], high=[1.0, 2.0, 3.0])),
    Row("Uniform-nested", lambda: Uniform(low=[0.0, -1.0], high=[1.0, 2.0])),
    Row("Uniform-far", lambda: Uniform(low=1e6, high=1e6 + 1.0)),
    Row("Uniform-huge", lambda: Uniform(low=-1e100, high=1e100)),
    Row("Beta", lambda: Beta(alpha=2.0, beta=5.0)),
    Row("Beta-flat", lambda: Beta(alpha=1.0, beta=1.0)),
    Row("Beta-horns", lambda: Beta(alpha=0.8, beta=0.8)),
    Row("Beta-falling", lambda: Beta(alpha=0.7, beta=3.0)),
    Row("Beta-strong", lambda: Beta.from_mean_strength(mean=0.3, strength=1e8)),
    Row("Beta-rare", lambda: Beta(alpha=1e3, beta=1e8)),
    Row("Beta-rarest", lambda: Beta(alpha=2.0, beta=1.5e9)),
    Row("Beta-batch", lambda: Beta(alpha=[[2.0], [0.8]], beta=[1.0, 3.0, 40.0])),
    Row("Gamma", lambda: Gamma(shape=3.0, rate=2.0)),
    Row("Gamma-scale", lambda: Gamma(shape=1.0, scale=0.1)),
    Row("Gamma-unbounded", lambda: Gamma(shape=0.5, rate=1e-3)),
    Row("Gamma-large", lambda: Gamma(shape=1e8, rate=1e-100)),
    Row("Gamma-batch", lambda: Gamma(shape=[[0.7], [20.0]], rate=[1.0, 10.0, 100.0])),
    Row("InverseGamma", lambda: InverseGamma(shape=9.0, scale=4.0)),
    Row("InverseGamma-no-mean", lambda: InverseGamma(shape=0.8, scale=2.0)),
    Row("InverseGamma-no-variance", lambda: InverseGamma(shape=1.5, scale=1e6)),
    Row("InverseGamma-batch", lambda: InverseGamma(shape=[[10.0], [40.0]], scale=[1.0, 10.0, 100.0])),
    Row("StudentT", lambda: StudentT(dof=9.0, location=1.0, scale=2.0)),
    Row("StudentT-precision", lambda: StudentT(dof=12.0, location=-3.0, precision=100.0)),
    Row("StudentT-cauchy", lambda: StudentT(dof=1.0, location=0.5, scale=2.0)),
    Row("StudentT-no-variance", lambda: StudentT(dof=1.5, location=0.0, scale=1e-3)),
    Row("StudentT-normal", lambda: StudentT(dof=1e12, location=1e3, scale=1.0)),
    Row("StudentT-batch", lambda: StudentT(dof=[[10.0], [40.0]], location=[0.0, 1.0, 9.0], scale=0.5)),
    Row("StudentT-infinite", lambda: StudentT(dof=[np.inf, 5.0], location=1.0, scale=[2.0, 3.0])),
    Row("Laplace", lambda: Laplace(location=1.0, scale=2.0)),
    Row("Laplace-batch", lambda: Laplace(location=[[0.0], [3.0]], scale=[1.0, 0.25, 9.0])),
    Row("Laplace-far", lambda: Laplace(location=1e6, scale=1.0)),
    Row("Exponential", lambda: Exponential(rate=2.0)),
    Row("Exponential-scale", lambda: Exponential(scale=1e100)),
    Row("Exponential-batch", lambda: Exponential(rate=[[0.5, 20.0], [1e-3, 1.0]])),
    Row("LogNormal", lambda: LogNormal(log_mean=1.0, log_variance=0.25)),
    Row("LogNormal-narrow", lambda: LogNormal(log_mean=-100.0, log_stddev=1e-3)),
    Row("LogNormal-batch", lambda: LogNormal(log_mean=[[0.0], [3.0]], log_variance=[0.01, 0.1, 0.2])),
    Row("Weibull", lambda: Weibull(shape=2.0, scale=3.0)),
    Row("Weibull-falling", lambda: Weibull(shape=0.7, scale=1.0)),
    Row("Weibull-exponential", lambda: Weibull(shape=1.0, scale=1e6)),
    Row("Weibull-narrow", lambda: Weibull(shape=1e4, scale=1e-100)),
    Row("VonMises", lambda: VonMises(location=1.0, concentration=3.0)),
    Row("VonMises-even", lambda: VonMises(location=-2.0, concentration=0.0)),
    Row("VonMises-narrow", lambda: VonMises(location=0.5, concentration=1e6)),
    Row("VonMises-batch", lambda: VonMises(location=[[0.0], [3.0]], concentration=[0.1, 1.0, 60.0])),
    Row("Weibull-batch", lambda: Weibull(shape=[[1.5], [4.0]], scale=[1.0, 10.0, 100.0])),
    Row("Pareto", lambda: Pareto(shape=9.0, scale=2.0)),
    Row("Pareto-no-mean", lambda: Pareto(shape=1.0, scale=2.0)),
    Row("Pareto-no-variance", lambda: Pareto(shape=1.5, scale=1e-6)),
    Row("Pareto-batch", lambda: Pareto(shape=[[10.0], [40.0]], scale=[1.0, 10.0, 100.0])),
]
STATISTICS = [
    Row(
        "Directions",
        lambda: StatisticOfRows(statistic=Directions, draw=lambda rng, n: rng.vonmises(0.3, 2.0, size=n)),
    ),
    Row(
        "Directions-tight",
        lambda: StatisticOfRows(statistic=Directions, draw=lambda rng, n: 1.0 + 1e-6 * rng.normal(size=n)),
    ),
    Row("Extremes", lambda: Extremes),
    Row(
        "LogMoments",
        lambda: StatisticOfRows(statistic=LogMoments, draw=lambda rng, n: rng.gamma(0.7, size=n)),
    ),
    Row(
        "LogMoments-tight",
        lambda: StatisticOfRows(statistic=LogMoments, draw=lambda rng, n: rng.gamma(1e6, 1e-3, size=n)),
    ),
    Row(
        "ReciprocalLogMoments",
        lambda: StatisticOfRows(
            statistic=ReciprocalLogMoments, draw=lambda rng, n: 1.0 / rng.gamma(2.0, size=n)
        ),
    ),
    Row(
        "UnitLogMoments",
        lambda: StatisticOfRows(statistic=UnitLogMoments, draw=lambda rng, n: rng.beta(2.0, 0.5, size=n)),
    ),
    Row(
        "NonnegativeMeans",
        lambda: StatisticOfRows(statistic=NonnegativeMeans, draw=lambda rng, n: rng.exponential(2.0, size=n)),
    ),
    Row(
        "MomentsOfLogarithms",
        lambda: StatisticOfRows(statistic=MomentsOfLogarithms, draw=lambda rng, n: rng.lognormal(size=n)),
    ),
    Row(
        "LogExcess",
        lambda: StatisticOfRows(statistic=LogExcess, draw=lambda rng, n: 1.0 + rng.pareto(2.0, size=n)),
    ),
]
