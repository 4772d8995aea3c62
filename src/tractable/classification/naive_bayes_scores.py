"""Scores of rows under products of columns: log p(x | C_k), by the fastest exact form of each family."""

from typing import Any

import numpy as np

from tractable.arrays.special import gammaln
from tractable.classification.naive_bayes_columns import NaiveColumns, some_columns
from tractable.distributions import Product
from tractable.primitives.category_scores import category_scores
from tractable.primitives.diagonal_scores import diagonal_scores

__all__ = ["LogLikelihoods"]

LOG_2PI = float(np.log(2.0 * np.pi))


class LogLikelihoods:
    """log p(x | C_k) of blocks of rows, what depends on the classes alone being prepared once.

    Where scores are `relative` they may lack what all classes say alike, which probabilities do not need.
    """

    def __init__(
        self, classes: Product, layout: NaiveColumns, log_unseen: np.ndarray, *, relative: bool
    ) -> None:
        self.relative = relative
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
            tables = [
                np.vstack([np.log(part.probabilities).T, self.log_unseen[:, j]])
                for part, j in zip(shares, self.categorical, strict=True)
            ]
            self.tables = np.vstack(tables) if tables else np.zeros((0, self.n_classes))
            self.starts = np.cumsum([0, *(len(table) for table in tables)])[:-1]
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
            found = diagonal_scores(some_columns(x, self.normal), self.means, self.scales, self.log_norms)
        else:
            found = np.zeros((len(x), self.n_classes))
        if every:
            return found
        if len(self.categorical):
            found += category_scores(some_columns(x, self.categorical), self.tables, self.starts)
        if len(self.bernoulli):
            found += self._yes_or_no(some_columns(x, self.bernoulli))
        if len(self.multinomial):
            found += self._counts(some_columns(x, self.multinomial))
        for j in self.others:
            seen = ~np.isnan(x[:, j])
            found[seen] += self.parts[j].log_prob(np.asarray(x[seen, j], dtype=np.float64)[:, None])
        return found

    def _yes_or_no(self, x: np.ndarray) -> np.ndarray:
        yes, no = self.log_yes, self.log_no
        if np.all(np.isfinite(yes)) and np.all(np.isfinite(no)):
            found = x @ (yes - no).T + no.sum(axis=1)
            if np.all(np.isfinite(found)):  # nothing is missing
                return found
        codes = np.stack([no, yes], axis=-1).reshape(self.n_classes, -1).T
        return category_scores(x, codes, 2 * np.arange(x.shape[1]))

    def _counts(self, x: np.ndarray) -> np.ndarray:
        """Return Σ_j x_j log r_kj - r_kj - log x_j!, told about the rates that classes have on average."""
        usual = self.rates.mean(axis=0)
        usual = np.where(usual > 0, usual, 1.0)
        with np.errstate(divide="ignore"):
            times = np.log(self.rates / usual)
        never = np.isinf(times)
        finite = np.where(never, 0.0, times)
        found = x @ finite.T
        if np.all(np.isfinite(found)):
            found += (usual - self.rates).sum(axis=1)
        else:
            seen = ~np.isnan(x)
            found = np.where(seen, x, 0.0) @ finite.T + seen.astype(np.float64) @ (usual - self.rates).T
        if np.any(never):
            found[(x > 0).astype(np.float64) @ never.T.astype(np.float64) > 0] = -np.inf
        return found if self.relative else found + self._common(x, usual)[:, None]

    @staticmethod
    def _common(x: np.ndarray, usual: np.ndarray) -> np.ndarray:
        """Return what all classes say alike."""
        x = np.asarray(x, dtype=np.float64)
        return np.nansum(x * np.log(usual) - usual - gammaln(x + 1.0), axis=1)
