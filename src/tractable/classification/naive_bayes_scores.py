"""Scores of rows under products of columns: log p(x | C_k), by the fastest exact form of each family."""

from typing import Any

import numpy as np

from tractable.arrays.special import gammaln
from tractable.classification.naive_bayes_columns import NaiveColumns
from tractable.distributions import Product
from tractable.primitives.diagonal_scores import diagonal_scores

__all__ = ["log_likelihoods"]

LOG_2PI = float(np.log(2.0 * np.pi))


class LogLikelihoods:
    """log p(x | C_k) of blocks of rows, what depends on the classes alone being prepared once."""

    def __init__(self, classes: Product, layout: NaiveColumns, log_unseen: np.ndarray) -> None:
        self.n_classes = classes.batch_shape[0]
        self.parts, self.log_unseen = classes.parts, log_unseen
        fast = np.array([type(part).__name__ == "Normal" for part in self.parts])
        kinds = [kind if isinstance(kind, str) else "" for kind in layout.likelihoods]
        self.normal = np.flatnonzero(fast)
        self.categorical = layout.where("categorical")
        self.bernoulli = layout.where("bernoulli")
        self.multinomial = layout.where("multinomial")
        told = {"categorical", "bernoulli", "multinomial"}
        self.others = [j for j in range(len(kinds)) if not fast[j] and kinds[j] not in told]
        self._prepare()

    def _prepare(self) -> None:
        normal: list[Any] = [self.parts[j] for j in self.normal]
        if normal:
            self.means = np.stack([part.mean for part in normal], axis=1)
            stddevs = np.stack([part.stddev for part in normal], axis=1)
            self.scales, self.log_norms = 1.0 / stddevs, -np.log(stddevs) - 0.5 * LOG_2PI
        with np.errstate(divide="ignore"):
            shares: list[Any] = [self.parts[j] for j in self.categorical]
            self.tables = [
                np.vstack([np.log(part.probabilities).T, self.log_unseen[:, j]])
                for part, j in zip(shares, self.categorical, strict=True)
            ]
            ones: list[Any] = [self.parts[j] for j in self.bernoulli]
            p = (
                np.stack([part.probability for part in ones], axis=1)
                if ones
                else np.zeros((self.n_classes, 0))
            )
            self.log_yes, self.log_no = np.log(p), np.log1p(-p)
        counts: list[Any] = [self.parts[j] for j in self.multinomial]
        self.rates = np.stack([part.rate for part in counts], axis=1) if counts else np.zeros((0, 0))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return log p(x | C_k), (n, K); missing entries (NaN) say nothing."""
        every = len(self.normal) == x.shape[1]
        if len(self.normal):
            block = x if every else x[:, self.normal]
            found = diagonal_scores(block, self.means, self.scales, self.log_norms)
        else:
            found = np.zeros((len(x), self.n_classes))
        if every:
            return found
        self._add_categories(x, found)
        self._add_bernoulli(x, found)
        if len(self.multinomial):
            found += self._counts(x[:, self.multinomial])
        for j in self.others:
            seen = ~np.isnan(x[:, j])
            found[seen] += self.parts[j].log_prob(np.asarray(x[seen, j], dtype=np.float64)[:, None])
        return found

    def _add_categories(self, x: np.ndarray, found: np.ndarray) -> None:
        for j, table in zip(self.categorical, self.tables, strict=True):
            seen = ~np.isnan(x[:, j])
            if seen.all():
                found += table[x[:, j].astype(np.int64)]
            else:
                found[seen] += table[x[seen, j].astype(np.int64)]

    def _add_bernoulli(self, x: np.ndarray, found: np.ndarray) -> None:
        if not len(self.bernoulli):
            return
        x = x[:, self.bernoulli]
        if np.all(np.isfinite(self.log_yes)) and np.all(np.isfinite(self.log_no)):
            found += (x == 1.0).astype(np.float64) @ self.log_yes.T + (x == 0.0).astype(
                np.float64
            ) @ self.log_no.T
            return
        for i in range(x.shape[1]):  # a probability of zero times no such entry is no product
            found += np.where((x[:, i] == 1.0)[:, None], self.log_yes[:, i], 0.0)
            found += np.where((x[:, i] == 0.0)[:, None], self.log_no[:, i], 0.0)

    def _counts(self, x: np.ndarray) -> np.ndarray:
        """Return Σ_j x_j log r_kj - r_kj - log x_j!, told about the rates that classes have on average."""
        seen = ~np.isnan(x)
        x = np.where(seen, x, 0.0).astype(np.float64)
        usual = self.rates.mean(axis=0)
        usual = np.where(usual > 0, usual, 1.0)
        common = np.where(seen, x * np.log(usual) - usual - gammaln(x + 1.0), 0.0).sum(axis=1)
        gap = seen.astype(np.float64) @ (usual - self.rates).T
        with np.errstate(divide="ignore"):
            times = np.log(self.rates / usual)
        if np.all(np.isfinite(times)):
            return common[:, None] + gap + x @ times.T
        never = (x > 0).astype(np.float64) @ np.isinf(times).T.astype(np.float64) > 0
        products = x @ np.where(np.isinf(times), 0.0, times).T
        return np.where(never, -np.inf, common[:, None] + gap + products)


def log_likelihoods(classes: Product, layout: NaiveColumns, log_unseen: np.ndarray) -> LogLikelihoods:
    """Return the function that scores blocks of rows."""
    return LogLikelihoods(classes, layout, log_unseen)
