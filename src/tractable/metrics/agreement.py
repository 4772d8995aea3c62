"""Agreement of two partitions of the same rows: clusters with classes, or with other clusters."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import freeze
from tractable.distributions import ProbabilityTable
from tractable.metrics.classification import as_labels, row_weights
from tractable.value import set_fields, value


@value
class ClusterAgreement:
    """How two partitions agree: counts of pairs of labels, and indices of them.

    Parameters
    ----------
    counts : array (k, m)
        Weight of the rows with each pair of labels: of the truth down, of the clusters across.
    """

    counts: np.ndarray

    def __post_init__(self) -> None:
        set_fields(self, counts=freeze(np.asarray(self.counts, dtype=np.float64)))

    @property
    def adjusted_rand(self) -> float:
        """The fraction of pairs of rows on which both agree, 0 by chance and 1 where they are the same."""
        n = self.counts.sum()
        both, first, second = (
            _pairs(x) for x in (self.counts, self.counts.sum(axis=1), self.counts.sum(axis=0))
        )
        chance = first * second / _pairs(n) if n > 1 else 0.0
        most = 0.5 * (first + second)
        return 1.0 if most == chance else float((both - chance) / (most - chance))

    @property
    def mutual_information(self) -> float:
        """What one label tells about the other, in nats."""
        return float(self._table.mutual_information("truth", "cluster"))

    @property
    def homogeneity(self) -> float:
        """Whether clusters hold rows of one class alone: 1 - H(class | cluster) / H(class)."""
        return self._share("truth")

    @property
    def completeness(self) -> float:
        """Whether the rows of a class are in one cluster: 1 - H(cluster | class) / H(cluster)."""
        return self._share("cluster")

    @property
    def normalized_mutual_information(self) -> float:
        """Mutual information over the mean entropy: the harmonic mean of homogeneity and completeness."""
        h, c = self.homogeneity, self.completeness
        return 2.0 * h * c / (h + c) if h + c > 0 else 0.0

    @property
    def variation_of_information(self) -> float:
        """H(class | cluster) + H(cluster | class) in nats, a distance between partitions."""
        entropies = [float(self._table.marginal(name).entropy()) for name in ("truth", "cluster")]
        return max(0.0, sum(entropies) - 2.0 * self.mutual_information)

    def __str__(self) -> str:
        names = ("adjusted_rand", "normalized_mutual_information", "homogeneity", "completeness")
        return ", ".join(f"{name.replace('_', ' ')} {getattr(self, name):.3f}" for name in names)

    @property
    def _table(self) -> ProbabilityTable:
        axes = {"truth": self.counts.shape[0], "cluster": self.counts.shape[1]}
        return ProbabilityTable(probabilities=self.counts / self.counts.sum(), axes=axes)

    def _share(self, name: str) -> float:
        entropy = float(self._table.marginal(name).entropy())
        return min(1.0, self.mutual_information / entropy) if entropy > 0 else 1.0


def cluster_agreement(labels_true: Any, labels: Any, *, sample_weight: Any = None) -> ClusterAgreement:
    """Compare clusters with known classes, or with other clusters: labels may be permuted.

    There is no true clustering: agreement with classes says how well clusters are these classes, and
    `cluster_report` how well apart they are.

    Parameters
    ----------
    labels_true, labels : arrays of labels (n,)
        Two partitions of the same rows.
    sample_weight : array (n,), optional
        How often each row counts.

    Examples
    --------
    >>> found = cluster_agreement(["a", "a", "b", "b"], [1, 1, 0, 2])
    >>> round(found.adjusted_rand, 3), round(found.homogeneity, 3), round(found.completeness, 3)
    (0.571, 1.0, 0.667)
    """
    first, second = as_labels("labels_true", labels_true), as_labels("labels", labels)
    if len(first) != len(second):
        raise ValueError(f"labels must have one label a row, {len(first)}, got {len(second)}")
    w = row_weights(sample_weight, len(first))
    (names, rows), (others, columns) = (np.unique(x, return_inverse=True) for x in (first, second))
    counts = np.bincount(rows * len(others) + columns, w, minlength=len(names) * len(others))
    counts = counts.reshape(len(names), len(others))
    return ClusterAgreement(counts=counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0])


def _pairs(x: Any) -> float:
    return float(np.sum(x * (x - 1.0)) / 2.0)
