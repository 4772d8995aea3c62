"""Laws of families of columns: sums are a monoid, codes are responsibilities, scores are log densities."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.columns import ClassCodes, ColumnFamily, Estimation, Responsibilities, independent_columns
from tractable.statistics import SideBySide
from tractable.testing.assertions import check_laws, laws_above
from tractable.value import replace, value

#: Classes of the rows that the laws draw, and the number of rows.
K, N = 3, 60

#: How often a drawn entry is missing.
HOLES = 0.15


@value
class ColumnCase:
    """A family under examination, and rows that it is for.

    Parameters
    ----------
    family : ColumnFamily
        The columns.
    draw : callable
        ``draw(rng, n)`` returns rows (n, d) without a missing entry.
    how : Estimation
        How sums become priors.
    prior_mean : callable, optional
        ``prior_mean(prior)`` returns the means (d,) of a class without rows; by default those of the
        estimate of all classes together.
    codes : bool
        Whether entries are codes of categories, whose numbering means nothing.
    """

    family: ColumnFamily
    draw: Callable[[np.random.Generator, int], np.ndarray]
    how: Estimation = Estimation()
    prior_mean: Callable[[Any], Any] | None = None
    codes: bool = False

    def rows(self, rng: np.random.Generator, n: int = N) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows, of which some entries are missing, and their classes, of which none is empty."""
        x = np.asarray(self.draw(rng, n), dtype=np.float64)
        return np.where(rng.random(x.shape) < HOLES, np.nan, x), np.arange(n) % K

    def sums(self, x: np.ndarray, labels: np.ndarray, weights: np.ndarray | None = None) -> SideBySide:
        """Summarise rows by class; the one part is the family's statistic."""
        rows = ClassCodes(codes=np.asarray(labels), n_classes=K, weights=weights)
        return SideBySide(parts=(self.family.summarize(x, rows),), total=rows.total, dim=x.shape[1])

    def estimate(self, sums: SideBySide, prior: Any = None) -> dict[str, Any]:
        """Estimate parameters, under the prior of these sums when none is given."""
        prior = self.family.prior(sums.parts[0], self.how) if prior is None else prior
        return self.family.estimate(sums.parts[0], prior)

    def scores(self, estimate: dict[str, Any], x: np.ndarray) -> np.ndarray:
        """Score rows given estimates."""
        columns = independent_columns(len(self.family.layout.likelihoods), [estimate], K)
        if not self.codes:
            return np.asarray(self.family.scores(columns)(x))
        found = np.zeros((len(x), K))  # categories and truth values may be of one family
        for j, part in zip(range(x.shape[1]), self.family.distributions(estimate), strict=True):
            seen = ~np.isnan(x[:, j])
            found[seen] += part.log_prob(x[seen, j, None])
        return found


def blocks_add_up(case: ColumnCase, rng: np.random.Generator) -> None:
    """Sums of blocks of rows are the sums of all rows; those of no rows are neutral."""
    x, labels = case.rows(rng)
    weights = rng.uniform(0.5, 2.0, N)
    blocks = [case.sums(x[part], labels[part], weights[part]) for part in np.split(np.arange(N), [7, 30])]
    whole, none = case.sums(x, labels, weights), case.sums(x[:0], labels[:0], weights[:0])
    one, two, three = blocks
    prior = case.family.prior(whole.parts[0], case.how)
    for found in ((one + two) + three, one + (two + three), none + three + one + two, whole + none):
        np.testing.assert_allclose(found.total, whole.total, rtol=1e-12)
        _assert_same_scores(case, found, whole, prior, x)


def codes_are_one_hot_responsibilities(case: ColumnCase, rng: np.random.Generator) -> None:
    """Class codes and responsibilities of zero and one give one estimate."""
    x, labels = case.rows(rng)
    weights = rng.uniform(0.5, 2.0, N)
    by_code = case.sums(x, labels, weights)
    rows = Responsibilities.of((labels[:, None] == np.arange(K)).astype(np.float64), weights)
    by_share = replace(by_code, parts=(case.family.summarize(x, rows),))
    np.testing.assert_allclose(rows.total, by_code.total)
    prior = case.family.prior(by_code.parts[0], case.how)
    _assert_same_scores(case, by_share, by_code, prior, x)


def responsibilities_share_rows(case: ColumnCase, rng: np.random.Generator) -> None:
    """A row of which K classes have shares counts in each as often as its share."""
    x, _ = case.rows(rng)
    shares = rng.dirichlet(np.ones(K), N)
    rows = Responsibilities.of(shares)
    repeated, labels = np.repeat(x, K, axis=0), np.tile(np.arange(K), N)
    split = case.sums(repeated, labels, shares.ravel())
    soft = replace(split, parts=(case.family.summarize(x, rows),))
    _assert_same_scores(case, soft, split, case.family.prior(split.parts[0], case.how), x)


def weights_repeat_rows(case: ColumnCase, rng: np.random.Generator) -> None:
    """A row of weight 3 counts as three rows, and one of weight 0 as none."""
    x, labels = case.rows(rng)
    weights = rng.integers(0, 4, N)
    some = weights > 0
    weighted = case.sums(x[some], labels[some], weights[some].astype(np.float64))
    repeated = case.sums(np.repeat(x, weights, axis=0), np.repeat(labels, weights))
    _assert_same_scores(case, weighted, repeated, case.family.prior(repeated.parts[0], case.how), x)


def scores_are_log_densities(case: ColumnCase, rng: np.random.Generator) -> None:
    """The score of a row is the log density of its observed entries under the estimated distributions."""
    x, labels = case.rows(rng)
    made = case.estimate(case.sums(x, labels))
    expected = np.zeros((N, K))
    for column, part in zip(x.T, case.family.distributions(made), strict=True):
        seen = ~np.isnan(column)
        expected[seen] += part.log_prob(column[seen, None])
    np.testing.assert_allclose(case.scores(made, x), expected, rtol=1e-9, atol=1e-9)


def a_missing_entry_says_nothing(case: ColumnCase, rng: np.random.Generator) -> None:
    """A row without an entry scores 0 in every class, and leaves the estimates as they are."""
    x, labels = case.rows(rng)
    none = np.full((5, x.shape[1]), np.nan)
    sums = case.sums(x, labels)
    more = case.sums(np.concatenate([x, none]), np.concatenate([labels, np.zeros(5, dtype=labels.dtype)]))
    prior = case.family.prior(sums.parts[0], case.how)
    np.testing.assert_allclose(case.scores(case.estimate(sums), none), 0.0, atol=1e-12)
    _assert_same_scores(case, more, sums, prior, x)


def nothing_but_the_prior_gives_its_mean(case: ColumnCase, rng: np.random.Generator) -> None:
    """A class without rows has the mean of the prior."""
    x, labels = case.rows(rng)
    sums = case.sums(x, labels)
    prior = case.family.prior(sums.parts[0], case.how)
    nothing = case.sums(x[:0], labels[:0])
    found = [part.mean for part in case.family.distributions(case.estimate(nothing, prior))]
    if case.prior_mean is not None:
        expected = case.prior_mean(prior)
    else:
        one = case.sums(x, np.zeros_like(labels))
        expected = [np.asarray(part.mean)[0] for part in case.family.distributions(case.estimate(one, prior))]
    for mean, of_prior in zip(found, expected, strict=True):
        np.testing.assert_allclose(mean, np.full(K, of_prior), rtol=1e-9)


def classes_have_no_order(case: ColumnCase, rng: np.random.Generator) -> None:
    """Other codes of the same classes permute the scores."""
    x, labels = case.rows(rng)
    order = np.roll(np.arange(K), 1)
    made, turned = case.estimate(case.sums(x, labels)), case.estimate(case.sums(x, order[labels]))
    np.testing.assert_allclose(case.scores(turned, x)[:, order], case.scores(made, x), rtol=1e-8, atol=1e-9)


def categories_have_no_order(case: ColumnCase, rng: np.random.Generator) -> None:
    """Other codes of the same categories leave the scores of rows as they are."""
    if not case.codes:
        return
    x, labels = case.rows(rng)
    other = x.copy()
    for j in range(x.shape[1]):
        seen = ~np.isnan(x[:, j])
        order = np.arange(int(np.nanmax(x[:, j])) + 1)[::-1]
        other[seen, j] = order[x[seen, j].astype(np.int64)]
    made, turned = case.estimate(case.sums(x, labels)), case.estimate(case.sums(other, labels))
    np.testing.assert_allclose(case.scores(turned, other), case.scores(made, x), rtol=1e-9, atol=1e-9)


def _assert_same_scores(case: ColumnCase, a: SideBySide, b: SideBySide, prior: Any, x: np.ndarray) -> None:
    """Raise unless two statistics have one estimate, by the scores of rows."""
    mine, theirs = (case.scores(case.estimate(sums, prior), x) for sums in (a, b))
    np.testing.assert_allclose(mine, theirs, rtol=1e-7, atol=1e-7)


COLUMN_LAWS = laws_above(globals())


def check_columns_family(case: ColumnCase, rng: Any = None) -> None:
    """Run all laws of families of columns.

    Parameters
    ----------
    case : ColumnCase
        The family, and how to draw rows for it.
    rng : None, int or Generator
        Source of randomness.
    """
    check_laws(COLUMN_LAWS, case, rng)
