"""Kernel ridge regression and local regression."""

from rows.row import Row
from tractable.kernel_regression import KernelRidge, LocalLinear, NadarayaWatson
from tractable.kernels import RBF, Linear, Matern

ROWS = [
    Row("KernelRidge", KernelRidge),
    Row("KernelRidge-loo", lambda: KernelRidge(alpha="loo")),
    Row("KernelRidge-gcv", lambda: KernelRidge(Matern(3.0, nu=2.5), alpha="gcv", alphas=[0.01, 0.1, 1.0])),
    Row("KernelRidge-origin", lambda: KernelRidge(2.0 * RBF(2.0), alpha=0.3, fit_intercept=False)),
    Row("KernelRidge-primal", lambda: KernelRidge(Linear(0.0), alpha="loo")),
    Row("KernelRidge-primal-gcv", lambda: KernelRidge(Linear(1.0), alpha="gcv", fit_intercept=False)),
    Row("NadarayaWatson", NadarayaWatson),
    Row("NadarayaWatson-given", lambda: NadarayaWatson(0.8, kernel="epanechnikov")),
    Row("LocalLinear", LocalLinear),
    Row("LocalLinear-given", lambda: LocalLinear(1.5, kernel="biweight")),
]
