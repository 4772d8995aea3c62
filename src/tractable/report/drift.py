"""What changed from one table to another: by column, by pair of columns and by cluster.

Both tables are read in blocks. The ends of bins, the scores of numbers and the clusters are found in a sample
of both tables together, which treats them alike; then each table, by itself, is folded to sums.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from scipy.stats import chi2, norm
from scipy.stats import t as student_t

from tractable.arrays.random import as_generator, either_seed_name
from tractable.data.names import number_of
from tractable.data.text import TableError
from tractable.report.drift_sums import (
    MIN_CLUSTER,
    MIN_EXPECTED,
    MIN_PAIR,
    POWERS,
    Blocks,
    ColumnPlan,
    DriftPlan,
    DriftSums,
    plan_of,
    with_clusters,
)
from tractable.report.rows import listed
from tractable.value import parameters, replace, value

#: The probability of the intervals.
COVERAGE = 0.95


@value
class Comparison:
    """One quantity in two tables.

    Parameters
    ----------
    what : {"column", "missing", "pair", "cluster"}
        What is compared: the entries of a column, the share that is missing, how two columns depend on each
        other, the share of the rows in a cluster.
    name : str
        Of the column, the pair or the cluster.
    measure : str
        What the numbers are: "mean", "share of 'Ideal'", "share missing", "rank correlation", "share".
    old, new : float
        In the two tables.
    change, low, high : float
        Their difference, and its interval of 95 %.
    p : float
        The p-value of no change.
    adjusted : float
        By Holm's method, for all comparisons of the two tables: below 0.05 for any of them in at most one of
        twenty pairs of tables that do not differ.
    since : str
        Of dates the day that `old` and `new` are days after; else empty.
    """

    what: str
    name: str
    measure: str
    old: float
    new: float
    change: float
    low: float
    high: float
    p: float
    adjusted: float = 1.0
    since: str = ""


@value
class Drift:
    """What changed from one table to another.

    Parameters
    ----------
    rows : tuple of int
        Of the two tables.
    comparisons : tuple of Comparison
        All that was compared, what changed most surely first.
    level : float
        The adjusted p-value below which a change is called drift.
    schema : tuple of str
        Sentences on columns that one table lacks, or that hold numbers in one and words in the other.
    notes : tuple of str
        Categories that are new or gone, and what was not compared.
    """

    rows: tuple[int, int]
    comparisons: tuple[Comparison, ...]
    level: float
    schema: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def drifted(self) -> tuple[Comparison, ...]:
        """The comparisons that show drift."""
        return tuple(one for one in self.comparisons if one.adjusted < self.level)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as text, numbers, lists and dicts, as in JSON."""
        return {
            "rows": list(self.rows),
            "level": self.level,
            "n_comparisons": len(self.comparisons),
            "drifted": len(self.drifted),
            "schema": list(self.schema),
            "comparisons": [
                {**parameters(one), "drifted": one.adjusted < self.level} for one in self.comparisons
            ],
        }


@either_seed_name
def compare_tables(
    old: Any,
    new: Any,
    *,
    level: float = 0.05,
    clusters: bool = True,
    random_state: Any = 0,
    progress: Callable[[str], None] = lambda _: None,
) -> Drift:
    """Return what changed from one table to another.

    Of a number the means are compared (Welch) and the counts in ten bins (χ²), of a category the counts (χ²),
    and the share of missing entries of both; of pairs of columns the rank correlations, with standard errors
    from fourth moments, so that no normality is assumed; and the shares of the clusters of a mixture of all
    columns. Dates are numbers of days, and are not compared where one table ends before the other begins.
    Holm's method controls the probability of any false alarm.

    Parameters
    ----------
    old, new : pandas frame, or iterable of pandas frames
        The tables; an iterable is read twice.
    level : float
        The probability of any false alarm, at most.
    clusters : bool
        Whether clusters are compared, for which a mixture is fitted.
    random_state : None, int or Generator
        Where the randomness of samples comes from.
    progress : callable
        Called with a text that says what is being done.

    Examples
    --------
    >>> import tractable
    >>> iris = tractable.datasets.load("iris").frame
    >>> a, b = iris[::2], iris[1::2]
    >>> len(compare_tables(a, b, clusters=False).drifted)
    0
    >>> wider = b.assign(petal_width=b["petal_width"] + 0.8)
    >>> [(one.what, one.name) for one in compare_tables(a, wider, clusters=False).drifted]
    [('column', 'petal_width')]
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be between 0 and 1; got {level}")
    rng = as_generator(random_state)
    tables = [Blocks.of(table) for table in (old, new)]
    progress("sampling rows of both tables")
    samples = [table.sample(rng) for table in tables]
    for which, sample in zip(("old", "new"), samples, strict=True):
        if len(sample) < 2:
            raise TableError(f"the {which} table has {number_of(len(sample), 'row')}: at least 2 are needed")
    plan, schema, notes = plan_of(samples)
    if clusters:
        plan, said = with_clusters(plan, samples, rng, progress)
        notes += said
    progress("adding up the old table")
    a = tables[0].fold(plan)
    progress("adding up the new table")
    b = tables[1].fold(plan)
    found = [*_of_columns(plan, a, b), *_of_pairs(plan, a, b), *_of_clusters(plan, a, b)]
    found = _holm(found)
    notes += _categories(plan, a, b)
    if min(a.n, b.n) < MIN_PAIR:
        notes.append(
            f"Fewer than {MIN_PAIR} rows in a table: pairs and clusters are not compared, and only large "
            "changes of columns can be seen."
        )
    return Drift(
        rows=(a.n, b.n),
        comparisons=tuple(sorted(found, key=lambda one: (one.adjusted, one.p, one.name))),
        level=level,
        schema=tuple(schema),
        notes=tuple(notes),
    )


def _of_columns(plan: DriftPlan, a: DriftSums, b: DriftSums) -> Iterator[Comparison]:
    for j, one in enumerate(plan.columns):
        n, m = int(a.seen[j]), int(b.seen[j])
        if n > 1 and m > 1:
            found = _number(one, a, b) if one.kind == "number" else _category(one, a, b)
            if found is not None:
                yield found
        gaps = a.n - n, b.n - m
        if any(gaps):
            table = np.array([[gaps[0], n], [gaps[1], m]], dtype=np.float64)
            change = _share_change(gaps[0], a.n, gaps[1], b.n)
            yield Comparison(
                what="missing", name=one.name, measure="share missing", p=_homogeneity(table), **change
            )


def _number(one: ColumnPlan, a: DriftSums, b: DriftSums) -> Comparison | None:
    """Compare the means, and the counts of bins; the smaller p-value counts, twice."""
    sums = [part.numbers[one.name] for part in (a, b)]
    counts = [float(s[0]) for s in sums]
    if min(counts) < 2:
        return None
    means = [float(s[1] / s[0]) for s in sums]
    variances = [max(float(s[2] / s[0]) - m**2, 0.0) for s, m in zip(sums, means, strict=True)]
    parts = [v / (n - 1.0) for v, n in zip(variances, counts, strict=True)]
    error, dof = float(np.sqrt(sum(parts))), 1.0
    step, p = means[1] - means[0], 1.0
    if error > 1e-12:
        dof = sum(parts) ** 2 / sum(part**2 / (n - 1.0) for part, n in zip(parts, counts, strict=True))
        p = float(2.0 * student_t.sf(abs(step) / error, dof))
    of_bins = _homogeneity(np.array([s[3:] for s in sums]))
    half = float(student_t.ppf(0.5 + 0.5 * COVERAGE, dof)) * error if error > 1e-12 else 0.0
    old, new = (one.shift + one.scale * mean for mean in means)
    spread = one.scale * half
    shape = "" if p <= of_bins else " (its shape changed more)"
    return Comparison(
        what="column",
        name=one.name,
        measure=f"mean{shape if 2.0 * of_bins < 0.05 else ''}",
        old=old,
        new=new,
        change=new - old,
        low=new - old - spread,
        high=new - old + spread,
        p=min(1.0, 2.0 * min(p, of_bins)),
        since="" if one.since is None else str(one.since),
    )


def _category(one: ColumnPlan, a: DriftSums, b: DriftSums) -> Comparison:
    """Compare the counts of categories; the share that changed most, in standard errors, is shown."""
    counts = [part.words[one.name] for part in (a, b)]
    levels = sorted(counts[0] | counts[1])
    n, m = (c.total() for c in counts)
    table = np.array([[c[level] for level in levels] for c in counts], dtype=np.float64)
    changes = {level: _share_change(counts[0][level], n, counts[1][level], m) for level in levels}
    most = max(levels, key=lambda level: abs(changes[level]["change"]) / _half(changes[level]))
    return Comparison(
        what="column",
        name=one.name,
        measure=f"share of {most!r}",
        **changes[most],
        p=_homogeneity(table),
    )


def _half(change: dict[str, float]) -> float:
    return max(change["high"] - change["low"], 1e-300)


def _share_change(k: float, n: float, l: float, m: float) -> dict[str, Any]:
    """Return shares k/n and l/m and the interval of their difference by Agresti and Caffo (2000)."""
    p, q = (k + 1.0) / (n + 2.0), (l + 1.0) / (m + 2.0)
    half = norm.ppf(0.5 + 0.5 * COVERAGE) * np.sqrt(p * (1.0 - p) / (n + 2.0) + q * (1.0 - q) / (m + 2.0))
    old, new = k / max(n, 1), l / max(m, 1)
    low, high = max(q - p - half, -1.0), min(q - p + half, 1.0)
    return {
        "old": old,
        "new": new,
        "change": new - old,
        "low": float(min(low, new - old)),
        "high": float(max(high, new - old)),
    }


def _homogeneity(counts: np.ndarray) -> float:
    """Return the p-value of Pearson's χ² of two rows of counts; cells of small expected counts are joined."""
    counts = counts[:, counts.sum(axis=0) > 0]
    totals, rows = counts.sum(axis=0), counts.sum(axis=1)
    if counts.shape[1] < 2 or not rows.all():
        return 1.0
    few = totals * (rows.min() / rows.sum()) < MIN_EXPECTED
    if few.any():
        joined = np.column_stack([counts[:, ~few], counts[:, few].sum(axis=1)])
        least = joined[:, -1].sum() * (rows.min() / rows.sum())
        if least < MIN_EXPECTED and joined.shape[1] > 1:  # still small: with the smallest of the others
            order = np.argsort(joined[:, :-1].sum(axis=0))
            kept = joined[:, :-1][:, order[1:]]
            joined = np.column_stack([kept, joined[:, -1] + joined[:, order[0]]])
        counts = joined
    if counts.shape[1] < 2:
        return 1.0
    expected = counts.sum(axis=0) * (rows[:, None] / rows.sum())
    if counts.shape[1] == 2 and expected.min() < 4.0 * MIN_EXPECTED:
        gap = np.maximum(np.abs(counts - expected) - 0.5, 0.0)  # Yates (1934)
    else:
        gap = counts - expected
    return float(chi2.sf(np.sum(gap**2 / np.maximum(expected, 1e-300)), counts.shape[1] - 1))


def correlations(powers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return correlations of all pairs, their asymptotic variances times n, and n, from sums of powers.

    n var r → λ₂₂ + r²/4 (λ₄₀ + λ₀₄ + 2λ₂₂) - r (λ₃₁ + λ₁₃) with λ the standardized central moments: no
    normality is assumed.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(4000, 2)) @ [[1.0, 0.6], [0.0, 0.8]]
    >>> r, v, n = correlations(np.stack([(x**a).T @ x**b for a, b in POWERS]))
    >>> float(r[0, 1].round(2)), float(v[0, 1].round(1)), int(n[0, 1])  # (1 - r²)² for normals
    (0.59, 0.4, 4000)
    """
    n = powers[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        m = {key: part / n for key, part in zip(POWERS, powers, strict=True)}
        u, v = m[1, 0], m[1, 0].T
        m12 = m[2, 1].T
        c20 = m[2, 0] - u**2
        c02 = c20.T
        c11 = m[1, 1] - u * v
        c40 = m[4, 0] - 4 * u * m[3, 0] + 6 * u**2 * m[2, 0] - 3 * u**4
        c22 = (
            m[2, 2]
            - 2 * v * m[2, 1]
            - 2 * u * m12
            + v**2 * m[2, 0]
            + u**2 * m[2, 0].T
            + 4 * u * v * m[1, 1]
            - 3 * u**2 * v**2
        )
        c31 = (
            m[3, 1] - v * m[3, 0] - 3 * u * m[2, 1] + 3 * u * v * m[2, 0] + 3 * u**2 * m[1, 1] - 3 * u**3 * v
        )
        c13 = c31.T
        scale = np.sqrt(c20 * c02)
        r = c11 / scale
        l22, l40, l04 = c22 / scale**2, c40 / c20**2, c40.T / c02**2
        l31, l13 = c31 / (c20 * scale), c13 / (c02 * scale)
        variance = l22 + 0.25 * r**2 * (l40 + l04 + 2 * l22) - r * (l31 + l13)
    bad = ~((c20 > 1e-9) & (c02 > 1e-9) & (n > 2))
    return np.where(bad, np.nan, r), np.where(bad, np.nan, np.maximum(variance, 0.0)), n


def _of_pairs(plan: DriftPlan, a: DriftSums, b: DriftSums) -> Iterator[Comparison]:
    """Compare the correlations of scores; of columns with several scores the surest change counts."""
    if len(plan.paired) < 2 or min(a.n, b.n) < MIN_PAIR:
        return
    (r, v, n), (s, w, m) = correlations(a.powers), correlations(b.powers)
    starts = np.concatenate([[0], np.cumsum([one.width for one in plan.paired])])
    with np.errstate(divide="ignore", invalid="ignore"):
        # On Fisher's scale, where the distribution is nearest to normal; never surer than 2 rows in 100.
        far = [1.0 - np.minimum(x**2, 1.0 - 1e-6) for x in (r, s)]
        errors = np.sqrt(
            np.maximum(v, 0.02 * far[0]) / n / far[0] ** 2 + np.maximum(w, 0.02 * far[1]) / m / far[1] ** 2
        )
        steps = np.arctanh(np.clip(s, -1 + 5e-7, 1 - 5e-7)) - np.arctanh(np.clip(r, -1 + 5e-7, 1 - 5e-7))
        z = np.where(np.minimum(n, m) >= MIN_PAIR, np.abs(steps) / errors, np.nan)
        halves = norm.ppf(0.5 + 0.5 * COVERAGE) * np.sqrt(v / n + w / m)
    for i, one in enumerate(plan.paired):
        for j in range(i + 1, len(plan.paired)):
            other = plan.paired[j]
            block = (slice(starts[i], starts[i + 1]), slice(starts[j], starts[j + 1]))
            part = z[block]
            if np.isnan(part).all():
                continue
            p_, q_ = np.unravel_index(int(np.nanargmax(part)), part.shape)
            at = (starts[i] + p_, starts[j] + q_)
            p = float(2.0 * student_t.sf(z[at], max(min(n[at], m[at]) - 3.0, 1.0)))
            count = int(np.isfinite(part).sum())
            names = [
                c.name if c.kind == "number" else f"{c.name}={c.levels[k]}"
                for c, k in ((one, int(p_)), (other, int(q_)))
            ]
            change = float(s[at] - r[at])
            yield Comparison(
                what="pair",
                name=f"{names[0]} and {names[1]}",
                measure="rank correlation",
                old=float(r[at]),
                new=float(s[at]),
                change=change,
                low=change - float(halves[at]),
                high=change + float(halves[at]),
                p=min(1.0, count * p),
            )


def _of_clusters(plan: DriftPlan, a: DriftSums, b: DriftSums) -> Iterator[Comparison]:
    """Compare the shares of clusters, the sums of responsibilities."""
    if plan.model is None or min(a.n, b.n) < MIN_CLUSTER:
        return
    described = _described(plan)
    for k, name in enumerate(described):
        shares = [part.members[0, k] / part.n for part in (a, b)]
        variances = [
            max(part.members[1, k] / part.n - share**2, 0.0) / part.n
            for part, share in zip((a, b), shares, strict=True)
        ]
        # As many rows as the rule of three allows: a share of zero is known to about 3 / n.
        error = float(
            np.sqrt(sum(max(v, 1.0 / part.n**2) for v, part in zip(variances, (a, b), strict=True)))
        )
        change = float(shares[1] - shares[0])
        half = float(norm.ppf(0.5 + 0.5 * COVERAGE)) * error
        yield Comparison(
            what="cluster",
            name=f"cluster {k + 1} ({name})",
            measure="share of the rows",
            old=float(shares[0]),
            new=float(shares[1]),
            change=change,
            low=max(change - half, -1.0),
            high=min(change + half, 1.0),
            p=float(2.0 * norm.sf(abs(change) / error)),
        )


def _described(plan: DriftPlan) -> list[str]:
    """Return of each cluster the two columns in which it differs most from all rows, with its values."""
    mixture, found = plan.model.distribution_, []
    columns = list(plan.model_columns)
    means = np.asarray(mixture.components.mean)
    overall, spread = np.asarray(mixture.mean), np.sqrt(np.asarray(mixture.variance))
    for k in range(mixture.n_components):
        marks = []
        for j, (name, word) in enumerate(columns):
            if word:
                known = plan.model.categories_[name]
                codes = np.arange(len(known), dtype=np.float64)
                p = np.asarray(mixture.components.marginal([name]).as_univariate()[k].prob(codes))
                q = np.asarray(mixture.marginal([name]).as_univariate().prob(codes))
                best = int(np.argmax(p))
                marks.append((float(p[best] - q[best]) * 2.0, f"{name}={known[best]}"))
            else:
                size = abs(means[k, j] - overall[j]) / max(spread[j], 1e-300)
                marks.append((float(size), f"{name} {means[k, j]:.4g}"))
        marks.sort(key=lambda mark: -mark[0])
        found.append(", ".join(text for _, text in marks[:2]))
    return found


def _holm(found: Iterable[Comparison]) -> list[Comparison]:
    """Return comparisons with p-values adjusted by Holm (1979)."""
    found = list(found)
    order = sorted(range(len(found)), key=lambda i: found[i].p)
    least = 0.0
    out = list(found)
    for rank, i in enumerate(order):
        least = max(least, min(1.0, (len(found) - rank) * found[i].p))
        out[i] = replace(found[i], adjusted=least)
    return out


def _categories(plan: DriftPlan, a: DriftSums, b: DriftSums) -> list[str]:
    """Return notes on categories that one of the tables lacks."""
    notes = []
    for one in plan.columns:
        if one.kind != "category":
            continue
        mine, theirs = a.words[one.name], b.words[one.name]
        for levels, which in ((theirs.keys() - mine.keys(), "new"), (mine.keys() - theirs.keys(), "gone")):
            if levels:
                counts = theirs if which == "new" else mine
                some = sorted(levels, key=lambda level: (-counts[level], level))
                said = listed([f"{level} ({counts[level]:,})" for level in some], 4)
                notes.append(f"Categories of {one.name} that are {which}, with their rows: {said}.")
    return notes
