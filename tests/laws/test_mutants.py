"""A law that cannot fail is not a law: each must reject a planted bug."""

import numpy as np
import pytest

from toys import Average, Standardiser
from tractable.density import GaussianDensity
from tractable.distributions import Normal
from tractable.statistics import Moments
from tractable.testing import estimator_laws, statistic_laws
from tractable.value import value


@value
class RawMoments:
    """The usual bugs of hand-written statistics; each mutant below switches one on."""

    weight: float
    mean: np.ndarray
    scatter: np.ndarray

    @classmethod
    def of(cls, x, weights=None):
        m = Moments.of(x, weights)
        return cls(weight=m.weight, mean=m.mean.copy(), scatter=m.scatter.copy())

    @classmethod
    def empty(cls, dim):
        return cls.of(np.zeros((0, dim)))

    def _with(self, m):
        return type(self)(weight=m.weight, mean=m.mean, scatter=m.scatter)

    def __add__(self, other):
        return self._with(self._moments() + other._moments())

    def discount(self, rate):
        return self._with(self._moments().discount(rate))

    def _moments(self):
        return Moments(weight=self.weight, mean=self.mean, scatter=self.scatter)


class NoBetween(RawMoments):
    """Forgets that two means differ."""

    def __add__(self, other):
        good = super().__add__(other)
        return type(self)(weight=good.weight, mean=good.mean, scatter=self.scatter + other.scatter)


class NoIdentity(RawMoments):
    """0 + 0 divides by zero (river's Mean)."""

    def __add__(self, other):
        with np.errstate(invalid="ignore"):
            share = np.float64(other.weight) / (self.weight + other.weight)
        good = super().__add__(other)
        return type(self)(
            weight=good.weight, mean=self.mean + share * (other.mean - self.mean), scatter=good.scatter
        )


class LeftWins(RawMoments):
    """Keeps the left mean: not commutative."""

    def __add__(self, other):
        good = super().__add__(other)
        return type(self)(weight=good.weight, mean=self.mean, scatter=good.scatter)


class Averages(RawMoments):
    """Averages two means as if they weighed the same: not associative."""

    def __add__(self, other):
        good = super().__add__(other)
        return type(self)(weight=good.weight, mean=(self.mean + other.mean) / 2, scatter=good.scatter)


class IgnoresWeights(RawMoments):
    @classmethod
    def of(cls, x, weights=None):
        return super().of(x)


class FirstRowMatters(RawMoments):
    @classmethod
    def of(cls, x, weights=None):
        good = super().of(x, weights)
        return cls(weight=good.weight, mean=x[0] if len(x) else good.mean, scatter=good.scatter)


class WritesInPlace(RawMoments):
    def __add__(self, other):
        good = super().__add__(other)
        self.scatter[...] = good.scatter
        return good


class ForgetsTheMean(RawMoments):
    def discount(self, rate):
        return type(self)(weight=self.weight * rate, mean=self.mean * rate, scatter=self.scatter * rate)


class MergesAnything(RawMoments):
    def __add__(self, other):
        k = min(len(self.mean), len(other.mean))
        cut = [RawMoments(weight=m.weight, mean=m.mean[:k], scatter=m.scatter[:k, :k]) for m in (self, other)]
        return RawMoments.__add__(*cut)


@pytest.mark.parametrize(
    ("law", "broken"),
    [
        ("empty_is_neutral", NoIdentity),
        ("addition_is_associative", Averages),
        ("addition_is_commutative", LeftWins),
        ("sum_is_the_statistic_of_both", NoBetween),
        ("weights_are_repetitions", IgnoresWeights),
        ("row_order_does_not_matter", FirstRowMatters),
        ("operands_are_left_alone", WritesInPlace),
        ("discount_scales_weights_alone", ForgetsTheMean),
        ("weights_are_checked", IgnoresWeights),
        ("other_widths_do_not_merge", MergesAnything),
    ],
)
def test_statistic_laws_have_power(law, broken, rng):
    getattr(statistic_laws, law)(RawMoments, rng)
    with pytest.raises(AssertionError):
        getattr(statistic_laws, law)(broken, rng)


class ForgetsWeights(GaussianDensity):
    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X, y)


class ClipsBatches(GaussianDensity):
    """Makes numbers in batches smaller until they can be squared."""

    def fit(self, X, y=None, sample_weight=None):
        if isinstance(X, list):
            X = [tuple(None if part is None else np.minimum(part, 1e100) for part in batch) for batch in X]
        return super().fit(X, y, sample_weight)


class HalfChanged(GaussianDensity):
    """Sets an attribute before it checks."""

    def fit(self, X, y=None, sample_weight=None):
        self.began_ = True
        return super().fit(X, y, sample_weight)


class Fills(GaussianDensity):
    """Replaces what it cannot read."""

    def fit(self, X, y=None, sample_weight=None):
        X = np.nan_to_num(np.asarray(X, dtype=float), posinf=0.0, neginf=0.0).reshape(-1, 3)
        return super().fit(X, y, sample_weight)


class WritesToRows(GaussianDensity):
    def fit(self, X, y=None, sample_weight=None):
        if isinstance(X, np.ndarray) and X.flags.writeable:
            X -= X.mean(axis=0)
        return super().fit(X, y, sample_weight)


class Rounds(GaussianDensity):
    """Keeps single precision's answer coarse."""

    def fit(self, X, y=None, sample_weight=None):
        if getattr(X, "dtype", None) == np.float32:
            X = X.round(1)
        return super().fit(X, y, sample_weight)


class Counts(GaussianDensity):
    """Predicting leaves a trace."""

    def score_samples(self, X):
        self.asked_ = True
        return super().score_samples(X)


class Widens(GaussianDensity):
    """Transforms in double precision, whatever it is given."""

    def transform(self, X):
        return np.asarray(X, dtype=np.float64)


class ReadsDigits(GaussianDensity):
    def fit(self, X, y=None, sample_weight=None):
        X = X.astype(np.float64) if getattr(X, "dtype", None) == np.dtype(object) else X
        return super().fit(X, y, sample_weight)


class AnswersTheFirstBatch(GaussianDensity):
    def score_samples(self, X):
        return super().score_samples(X[0] if isinstance(X, list) else X)


class RefusesArraysAlone(GaussianDensity):
    """Of arrays it has no density, of streams it has."""

    def score_samples(self, X):
        if isinstance(X, np.ndarray):
            raise ValueError("the density is not computed")
        return super().score_samples(X)


class ScoresWithoutWeights(GaussianDensity):
    def score(self, X, y=None, sample_weight=None):
        return super().score(X)


class ForgetsNamedWeights(GaussianDensity):
    def fit(self, X, y=None, sample_weight=None):
        if isinstance(sample_weight, str):
            X, sample_weight = X.drop(columns=sample_weight), None
        return super().fit(X, y, sample_weight)


class DividesByItsSpread(GaussianDensity):
    """In units of the spread of each column, whatever that is."""

    def fit(self, X, y=None, sample_weight=None):
        return super().fit(np.asarray(X) / np.std(X, axis=0), y, sample_weight)


class ForgetsNames(GaussianDensity):
    def fit(self, X, y=None, sample_weight=None):
        return super().fit(np.asarray(X), y, sample_weight)


class SilentNaN(GaussianDensity):
    def score_samples(self, X):
        scores = super().score_samples(X)
        return np.where(self.jitter_.max() > 0, np.nan, scores)


class Overflows(GaussianDensity):
    """Works in raw determinants."""

    def score_samples(self, X):
        with np.errstate(all="ignore"):
            return super().score_samples(X) + 0.0 * np.log(np.prod(np.diag(self.covariance_)))


class ScoresTheSum(GaussianDensity):
    def score(self, X, y=None):
        return float(np.sum(self.score_samples(X)))


class StartsAgain(GaussianDensity):
    """`partial_fit` forgets what came before."""

    def partial_fit(self, X, y=None, sample_weight=None):
        if len(X) > 1:
            vars(self).pop("statistic_", None)
        return super().partial_fit(X, y, sample_weight)


class MergesIntoItself(GaussianDensity):
    def merge(self, other):
        return self.from_statistic(self.statistic_ + other.statistic_)


class SummarizesIntoItself(GaussianDensity):
    def summarize(self, X, y=None, sample_weight=None):
        return self.fit(X, y, sample_weight).statistic_


class HalvesTheDigits(GaussianDensity):
    def score_samples(self, X):
        return super().score_samples(np.asarray(X, np.float32).astype(np.float64))


class FirstBatchOnly(GaussianDensity):
    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X[0] if isinstance(X, list) and np.ndim(X[0]) == 2 else X, y, sample_weight)


class LooksAhead(GaussianDensity):
    """Reads a batch to see how wide it is, and begins anew."""

    def fit(self, X, y=None, sample_weight=None):
        if not isinstance(X, (np.ndarray, list)) and hasattr(X, "__iter__"):
            next(iter(X))
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize(
    ("law", "broken"),
    [
        ("batches_that_are_used_up_lose_no_row", LooksAhead),
        ("rows_may_be_stored_anyhow", WritesToRows),
        ("float32_is_accepted", Rounds),
        ("transforms_keep_float32", Widens),
        ("objects_are_numbers_or_refused", ReadsDigits),
        ("sources_are_answered_as_arrays", AnswersTheFirstBatch),
        ("sources_are_answered_as_arrays", RefusesArraysAlone),
        ("bad_rows_are_one_clear_error", HalfChanged),
        ("bad_rows_are_one_clear_error", Fills),
        ("bad_weights_are_one_clear_error", ForgetsWeights),
        ("numbers_too_large_to_square_are_one_clear_error", ForgetsWeights),
        ("numbers_too_large_to_square_are_one_clear_error", ClipsBatches),
        ("weights_are_repetitions", ForgetsWeights),
        ("extreme_scales_change_the_scale_alone", Overflows),
        ("degenerate_rows_are_answered_or_refused", SilentNaN),
        ("predicting_changes_nothing", Counts),
        ("columns_of_a_frame_may_be_named", ForgetsNamedWeights),
        ("subnormal_rows_are_answered_or_refused", DividesByItsSpread),
        ("scores_count_rows_by_their_weights", ScoresWithoutWeights),
        ("column_names_are_remembered", ForgetsNames),
        ("density_questions_agree", ScoresTheSum),
        ("pieces_make_the_whole", StartsAgain),
        ("merging_is_fitting_both", MergesIntoItself),
        ("statistics_are_values", SummarizesIntoItself),
        ("batches_are_rows", FirstBatchOnly),
        ("far_rows_are_fitted_as_near_ones", HalvesTheDigits),
    ],
)
def test_estimator_laws_have_power(law, broken, rng):
    getattr(estimator_laws, law)(GaussianDensity(), rng)
    with pytest.raises(AssertionError):
        getattr(estimator_laws, law)(broken(), rng)


class VarianceAsStd(Average):
    def predict(self, X, return_std=False, **options):
        dist = self.predict_dist(X)
        return (dist.mean, dist.variance) if return_std else dist.mean


class LevelsReversed(Average):
    def predict_quantiles(self, X, alpha=(0.05, 0.95), **options):
        return super().predict_quantiles(X, 1.0 - np.asarray(alpha), **options)


class HalfTheTail(Average):
    def predict_interval(self, X, coverage=0.9, **options):
        return self.predict_quantiles(X, [1.0 - coverage, coverage])


class LeavesOutTheNoise(Average):
    """The printed predictive variance, without the noise of a new observation."""

    def predict_dist(self, X, *, include_noise=True):
        return super().predict_dist(X, include_noise=False)


class ClipsLevels(Average):
    def predict_interval(self, X, coverage=0.9, **options):
        return super().predict_interval(X, float(np.clip(coverage, 0.01, 0.99)), **options)


@pytest.mark.parametrize(
    ("law", "broken"),
    [
        ("summaries_come_from_the_distribution", VarianceAsStd),
        ("quantiles_invert_the_cdf", LevelsReversed),
        ("intervals_are_equal_tailed", HalfTheTail),
        ("noise_widens_the_prediction", LeavesOutTheNoise),
        ("levels_are_checked", ClipsLevels),
    ],
)
def test_predictive_laws_have_power(law, broken, rng):
    getattr(estimator_laws, law)(Average(), rng)
    with pytest.raises(AssertionError):
        getattr(estimator_laws, law)(broken(), rng)


def test_every_law_has_a_mutant():
    import ast
    from pathlib import Path

    named = {
        node.value
        for node in ast.walk(ast.parse(Path(__file__).read_text()))
        if isinstance(node, ast.Constant)
    }
    laws = (
        *statistic_laws.STATISTIC_LAWS,
        *estimator_laws.ESTIMATOR_LAWS,
        *estimator_laws.ONE_PASS_LAWS,
        *estimator_laws.PREDICTIVE_LAWS,
    )
    assert [law.__name__ for law in laws if law.__name__ not in named] == []


def test_the_toys_themselves_are_sound(rng):
    estimator_laws.check_estimator(Standardiser(), rng)
    assert isinstance(Average().fit([[1.0], [2.0]], [1.0, 2.0]).predict_dist([[3.0]]), Normal)
