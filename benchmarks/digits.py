"""Correct digits of least squares, against exact rational arithmetic on the same float64 numbers.

Wampler (1970), Journal of the American Statistical Association 65; Longley (1967), the same journal 62.
"""

from fractions import Fraction
from functools import cache

import numpy as np
from sklearn import linear_model

from benchmarks.row import Row

#: Correct digits that one pass over the rows, and merged fits, must have.
PROMISED = {
    "degree 10": 6,
    "Wampler 1": 9,
    "Wampler 2": 9,
    "Wampler 3": 9,
    "Wampler 4": 7,
    "Wampler 5": 5,
    "Longley": 9,
}

#: Total employment, then prices, product, unemployment, armed forces, population and year.
_LONGLEY = """
60323 83.0 234289 2356 1590 107608 1947; 61122 88.5 259426 2325 1456 108632 1948
60171 88.2 258054 3682 1616 109773 1949; 61187 89.5 284599 3351 1650 110929 1950
63221 96.2 328975 2099 3099 112075 1951; 63639 98.1 346999 1932 3594 113270 1952
64989 99.0 365385 1870 3547 115094 1953; 63761 100.0 363112 3578 3350 116219 1954
66019 101.2 397469 2904 3048 117388 1955; 67857 104.6 419180 2822 2857 118734 1956
68169 108.4 442769 2936 2798 120445 1957; 66513 110.8 444546 4681 2637 121950 1958
68655 112.6 482704 3813 2552 123366 1959; 69564 114.2 502601 3931 2514 125368 1960
69331 115.7 518173 4806 2572 127852 1961; 70551 116.9 554894 4007 2827 130081 1962
"""
_HALF = [759, -2048, 2048, -2048, 2523, -2048, 2048, -2048, 1838, -2048]
_DELTA = np.array([*_HALF, 2048, *_HALF[::-1]])


def _powers(x, degree):
    return np.stack([x**k for k in range(1, degree + 1)], axis=1)


@cache
def problem(name):
    """Return X and y of a problem."""
    if name == "degree 10":  # raw monomials, condition near 1e15
        x = np.round(np.linspace(-9, -3, 82) + 0.02 * np.sin(np.arange(82)), 9)
        noise = 0.003 * np.random.default_rng(0).standard_normal(82)
        return _powers(x, 10), np.round(0.8 + 0.05 * np.cos(1.3 * x) + noise, 4)
    if name == "Longley":
        rows = [line.split() for line in _LONGLEY.replace(";", "\n").strip().splitlines()]
        table = np.array(rows, dtype=float)
        return table[:, 1:], table[:, 0]
    design = _powers(np.arange(21.0), 5)
    kind = int(name.removeprefix("Wampler "))
    if kind == 2:
        return design, np.round(1 + design @ [0.1, 0.01, 0.001, 0.0001, 0.00001], 5)
    return design, 1 + design.sum(axis=1) + {1: 0, 3: 1, 4: 100, 5: 10_000}[kind] * _DELTA


@cache
def solution(name):
    """Return the rational solution of the normal equations of [1, X]."""
    X, y = problem(name)
    rows = [
        [Fraction(1), *map(Fraction, x), Fraction(t)] for x, t in zip(X.tolist(), y.tolist(), strict=True)
    ]
    d = X.shape[1] + 1
    a = [[sum(r[i] * r[j] for r in rows) for j in range(d + 1)] for i in range(d)]
    for i in range(d):
        for k in (k for k in range(d) if k != i):
            ratio = a[k][i] / a[i][i]
            a[k] = [u - ratio * v for u, v in zip(a[k], a[i], strict=True)]
    return [a[i][d] / a[i][i] for i in range(d)]


def digits(name, found):
    """Return the least number of correct digits over the intercept and the coefficients."""
    errors = [abs(Fraction(float(f)) - s) / abs(s) for f, s in zip(found, solution(name), strict=True)]
    return 17.0 if max(errors) == 0 else max(0.0, -float(np.log10(float(max(errors)))))


def setup(size, folder):  # noqa: ARG001  (no files)
    """Take the problems by name."""
    return [problem(name) for name in size]


def fitted(model):
    """Return a contender that fits each problem and gives intercept and coefficients."""

    def fit(data):
        models = [model(X, y) for X, y in data]
        return [np.array([found.intercept_, *found.coef_]) for found in models]

    return fit


def with_numpy(data):
    """Solve each problem by NumPy's singular values."""
    return [np.linalg.lstsq(np.column_stack([np.ones(len(y)), X]), y)[0] for X, y in data]


def row(name, shows, model, goals, limit):
    """Return a row that asserts the target digits, by problem, and says those of everyone."""
    names = tuple(goals)

    def check(mine, theirs):  # noqa: ARG001  (peers are allowed to be wrong)
        for which, found in zip(names, mine, strict=False):
            right = digits(which, found)
            assert right >= goals[which], f"{which}: {right:.1f} digits, target {goals[which]}"

    def note(answers):
        return "Correct digits: " + "; ".join(
            f"{who} "
            + ", ".join(f"{which} {digits(which, x):.1f}" for which, x in zip(names, found, strict=False))
            for who, found in answers.items()
        )

    return Row(
        name=name,
        shows=shows,
        setup=setup,
        size=names,
        dry_size=names,
        ours=fitted(model),
        peers={
            "scikit-learn": fitted(lambda X, y: linear_model.LinearRegression().fit(X, y)),
            "numpy lstsq": with_numpy,
        },
        check=check,
        note=note,
        memory=False,
        limit=limit,
    )
