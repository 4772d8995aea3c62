"""Laws of distributions.

A law that needs something not every family has (a distribution function, a fit, a support that is a box) asks
for it and holds trivially elsewhere; a law that a family breaks for a reason is exempted on its row.
"""

import copy
import pickle
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from tractable.testing.assertions import (
    Law,
    assert_frozen,
    assert_mean,
    at,
    check_laws,
    each,
    flat,
    largest_ks_distance,
    laws_above,
    length,
    parts,
    refused,
    shapes,
    standardized,
)
from tractable.testing.density_laws import DENSITY_LAWS, TAIL_LAWS
from tractable.value import parameters, replace

SUMMARIES = ("mean", "variance", "stddev", "mode")
VOCABULARY = (
    *("log_prob", "prob", "sample", "entropy", "kl_divergence", *SUMMARIES),
    *("batch_shape", "event_shape", "support", "discrete"),
)


def has_the_common_names(d: Any, rng: np.random.Generator) -> None:
    """Every distribution answers to the same names."""
    missing = [name for name in VOCABULARY if not hasattr(d, name)]
    assert not missing, f"{type(d).__name__} has no {', '.join(missing)}"


def shapes_are_sample_batch_event(d: Any, rng: np.random.Generator) -> None:
    """Draws are (n, *batch, *event); summaries lose the axes they sum over."""
    whole = [d.batch_shape + shape for shape in shapes(d)]
    for n in (0, 1, 3):
        x = d.sample(n, rng=rng)
        found = [part.shape for part in parts(x)]
        assert found == [(n, *shape) for shape in whole], f"sample({n}) has shape {found}"
        assert d.log_prob(x).shape == (n, *d.batch_shape)
    for name in SUMMARIES:
        found = [np.shape(part) for part in parts(getattr(d, name))]
        assert found == whole, f"{name} has shape {found}"
    assert np.shape(d.entropy()) == d.batch_shape
    assert np.shape(d.kl_divergence(d)) == d.batch_shape


def empty_batches_give_empty_results(d: Any, rng: np.random.Generator) -> None:
    """Every method of an empty batch returns an empty result of the right shape."""
    empty = d.expand((0, *d.batch_shape))
    if empty.batch_shape == d.batch_shape:  # a family that has no batches
        return
    whole = [(*empty.batch_shape, *shape) for shape in shapes(d)]
    try:
        x = empty.sample(2, rng=rng)
        assert [part.shape for part in parts(x)] == [(2, *shape) for shape in whole]
        for name in SUMMARIES:
            found = [np.shape(part) for part in parts(getattr(empty, name))]
            assert found == whole, f"{name} has shape {found}"
        answers = (empty.entropy(), empty.kl_divergence(empty), d.kl_divergence(empty))
        assert [np.shape(a) for a in answers] == [empty.batch_shape] * 3
        assert np.shape(empty.log_prob(x)) == (2, *empty.batch_shape)
        for end in empty.interval(0.5) if hasattr(d, "interval") else ():
            assert [np.shape(part) for part in parts(end)] == whole
    except (ValueError, IndexError) as error:
        raise AssertionError(f"an empty batch of {type(d).__name__}: {error}") from error


def stddev_is_the_root_of_variance(d: Any, rng: np.random.Generator) -> None:
    """stddev² = variance."""
    for root, square in zip(parts(d.stddev), parts(d.variance), strict=True):
        np.testing.assert_allclose(root**2, square, rtol=1e-14)


def prob_is_exp_of_log_prob(d: Any, rng: np.random.Generator) -> None:
    """P = exp(log p)."""
    x = d.sample(20, rng=rng)
    np.testing.assert_allclose(d.prob(x), np.exp(d.log_prob(x)), rtol=1e-14)


def batch_is_a_loop(d: Any, rng: np.random.Generator) -> None:
    """A batch answers as its members would, one by one."""
    x = d.sample(4, rng=rng)
    together, entropy = d.log_prob(x), np.asarray(d.entropy())
    first = d[(0,) * len(d.batch_shape)] if d.batch_shape else d
    there, back = np.asarray(first.kl_divergence(d)), np.asarray(d.kl_divergence(first))
    levels = _distribution_function(d, x)
    for i in np.ndindex(d.batch_shape):
        one = d[i]
        assert one.batch_shape == ()
        np.testing.assert_allclose(
            one.log_prob(at(x, (slice(None), *i))), together[(slice(None), *i)], rtol=1e-12
        )
        np.testing.assert_allclose(one.entropy(), entropy[i], rtol=1e-12)
        np.testing.assert_allclose(first.kl_divergence(one), there[i], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(one.kl_divergence(first), back[i], rtol=1e-9, atol=1e-9)
        for name in SUMMARIES:
            for own, all_ in zip(parts(getattr(one, name)), parts(getattr(d, name)), strict=True):
                np.testing.assert_allclose(own, all_[i], rtol=1e-12, err_msg=name)
        for name, own in _distribution_function(one, at(x, (slice(None), *i))).items():
            axes = (slice(None), *i) if name in ("cdf", "survival") else i
            for part, all_ in zip(parts(own), parts(levels[name]), strict=True):
                np.testing.assert_allclose(part, all_[axes], rtol=1e-10, err_msg=name)


def arguments_broadcast(d: Any, rng: np.random.Generator) -> None:
    """One event is scored under every member of a batch; many events keep their axes."""
    first = at(d.sample(6, rng=rng), (slice(None), *(0,) * len(d.batch_shape)))
    lead = (2, 3) + (1,) * len(d.batch_shape)
    scored = d.log_prob(each(lambda part: part.reshape(lead + part.shape[1:]), first))
    assert scored.shape == (2, 3, *d.batch_shape)
    np.testing.assert_allclose(d.log_prob(at(first, 4)), scored[1, 1], rtol=1e-12)


def seeds_reproduce(d: Any, rng: np.random.Generator) -> None:
    """A seed gives one answer; another seed another; a generator moves on."""
    assert _same(d.sample(8, rng=7), d.sample(8, rng=7))
    assert _same(d.sample(8, rng=np.random.default_rng(7)), d.sample(8, rng=7))
    assert not _same(d.sample(50, rng=7), d.sample(50, rng=8))
    assert not _same(d.sample(50, rng=rng), d.sample(50, rng=rng))


def _same(x: Any, y: Any) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(parts(x), parts(y), strict=True))


def survives_pickling_and_copying(d: Any, rng: np.random.Generator) -> None:
    """A copy, a pickle and a rebuilt value are the same distribution, to the last bit."""
    x = d.sample(5, rng=rng)
    rebuilt = type(d)(**parameters(d))
    for other in (pickle.loads(pickle.dumps(d)), copy.copy(d), copy.deepcopy(d), rebuilt):  # noqa: S301
        assert type(other) is type(d)
        np.testing.assert_array_equal(other.log_prob(x), d.log_prob(x))
        assert _same(other.sample(3, rng=1), d.sample(3, rng=1))


def cannot_be_changed(d: Any, rng: np.random.Generator) -> None:
    """Neither attributes nor arrays can be written, and arrays given are copied."""
    assert_frozen(d)
    mine = {k: np.array(x) if isinstance(x, np.ndarray) else x for k, x in parameters(d).items()}
    other, x = type(d)(**mine), d.sample(3, rng=rng)
    before = other.log_prob(x)
    for array in (a for a in mine.values() if isinstance(a, np.ndarray)):
        np.add(array, 1, out=array)
    np.testing.assert_array_equal(other.log_prob(x), before)


def arguments_are_left_alone(d: Any, rng: np.random.Generator) -> None:
    """Scoring writes to no argument, and takes read-only and strided ones."""
    x = each(np.array, d.sample(6, rng=rng))
    kept = each(np.copy, x)
    scored = d.log_prob(x)
    assert _same(x, kept), "the argument was changed"
    for part in parts(x):
        part.setflags(write=False)
    np.testing.assert_array_equal(d.log_prob(x), scored)
    strided = each(lambda part: np.repeat(part, 2, axis=0)[::2], x)
    np.testing.assert_allclose(d.log_prob(strided), scored, rtol=1e-14)


def float32_gives_float32(d: Any, rng: np.random.Generator) -> None:
    """Single precision in, single precision out, where the parameters can be written in it."""
    single = as_single(d)
    if single is None:
        return
    x = single.sample(4, rng=rng)
    divergence = single.kl_divergence(single)
    assert not np.isnan(divergence).any(), "the divergence of float32 parameters is NaN"
    for name, found in {
        "sample": x,
        "log_prob": single.log_prob(x),
        "entropy": single.entropy(),
        "kl_divergence": divergence,
        **{name: getattr(single, name) for name in SUMMARIES},
        **_distribution_function(single, x),
    }.items():
        for part in parts(found):
            assert part.dtype == np.float32, f"{name} of float32 parameters is {part.dtype}"


def _distribution_function(d: Any, x: Any) -> dict[str, Any]:
    """Return the distribution function and quantiles, where a distribution has them."""
    found = {name: getattr(d, name)(x) for name in ("cdf", "survival") if hasattr(d, name)}
    if hasattr(d, "icdf"):
        found["icdf"] = d.icdf(0.3)
    if hasattr(d, "interval"):
        found["low"], found["high"] = d.interval(0.8)
    return found


def nan_parameters_are_refused(d: Any, rng: np.random.Generator) -> None:
    """A NaN in a parameter is one ValueError that names it."""
    for name, x in parameters(d).items():
        if isinstance(x, np.ndarray) and x.dtype.kind == "f":
            bad = np.array(x)
            bad.flat[-1] = np.nan
            refused(partial(replace, d, **{name: bad}), name)


def bad_arguments_are_refused(d: Any, rng: np.random.Generator) -> None:
    """A wrong number of draws, seed or event shape is one ValueError that names the argument."""
    for n in (-1, 1.5, "2", True):
        refused(partial(d.sample, n), "n_samples")
    refused(partial(d.sample, rng="seed"), "rng")
    sizes = shapes(d)
    for k, shape in enumerate(sizes):
        if shape:
            wide = [np.zeros(s) if j != k else np.zeros((*s[:-1], s[-1] + 1)) for j, s in enumerate(sizes)]
            refused(partial(d.log_prob, tuple(wide) if len(sizes) > 1 else wide[0]), "x")
    if len(sizes) > 1:
        refused(partial(d.log_prob, np.zeros(len(sizes))), "x")


VALUE_LAWS = laws_above(globals())


def as_single(record: Any) -> Any:
    """Return the same value with float32 arrays, or None where a number does not fit."""
    try:
        return type(record)(**{name: _single(x) for name, x in parameters(record).items()})
    except (OverflowError, ValueError):  # a matrix may be definite only in double precision
        return None


def _single(x: Any) -> Any:
    if isinstance(x, tuple):
        return tuple(_single(part) for part in x)
    if hasattr(x, "__dataclass_fields__"):
        found = as_single(x)
        if found is None:
            raise OverflowError
        return found
    if not isinstance(x, np.ndarray) or x.dtype != np.float64:
        return x
    with np.errstate(over="ignore", under="ignore"):
        found = x.astype(np.float32)
    if not np.array_equal(np.sign(found), np.sign(x)) or not np.isfinite(found).all():
        raise OverflowError
    return found


N_DRAWS = 20_000


def samples_match_mean_and_variance(d: Any, rng: np.random.Generator) -> None:
    """Standardised draws have mean 0 and mean square 1."""
    z, stddev = _standardized_draws(d, rng), flat(d, d.stddev)
    assert_mean(z, 0.0, "standardised draws")
    spread = np.where(np.isfinite(stddev) & (stddev > 0), 1.0, 0.0)
    assert_mean(z * z, spread, "squares of standardised draws")


def _standardized_draws(d: Any, rng: np.random.Generator) -> np.ndarray:
    """Draw events, each entry in units of its standard deviation, all entries on the last axis."""
    x = d.sample(N_DRAWS, rng=rng)
    return standardized(flat(d, x), flat(d, d.mean), flat(d, d.stddev))


def samples_match_covariance(d: Any, rng: np.random.Generator) -> None:
    """Products of standardised entries of a vector have the declared correlation as their mean."""
    if not hasattr(d, "covariance") or len(d.event_shape) != 1:
        return
    z = _standardized_draws(d, rng)
    known = np.isfinite(d.stddev) & (d.stddev > 0)
    scale = np.where(known, d.stddev, 1.0)
    both = known[..., :, None] & known[..., None, :]
    correlation = np.where(both, d.covariance, 0.0) / scale[..., :, None] / scale[..., None, :]
    assert_mean(z[..., :, None] * z[..., None, :], correlation, "products of standardised draws")


def samples_follow_the_cdf(d: Any, rng: np.random.Generator) -> None:
    """The empirical distribution function stays within the Dvoretzky-Kiefer-Wolfowitz bound."""
    if not hasattr(d, "cdf"):
        return
    x = np.sort(d.sample(N_DRAWS, rng=rng), axis=0)
    expected = d.cdf(x)
    for i in np.ndindex(d.batch_shape):
        column = x[(slice(None), *i)]
        empirical = np.searchsorted(column, column, side="right") / len(column)
        distance = np.abs(empirical - expected[(slice(None), *i)]).max()
        assert distance < largest_ks_distance(N_DRAWS), f"Kolmogorov-Smirnov distance {distance:.4f}"


def draws_are_independent(d: Any, rng: np.random.Generator) -> None:
    """Neither successive draws nor members of a batch go together."""
    z = _standardized_draws(d, rng)
    assert_mean(z[:-1:2] * z[1::2], 0.0, "products of successive draws")
    n_batch = len(d.batch_shape)
    for axis in range(1, 1 + n_batch):
        if z.shape[axis] > 1:
            here, there = (np.take(z, i, axis=axis) for i in (0, 1))
            assert_mean(here * there, 0.0, "products of draws of two members of the batch")


def entropy_is_the_expected_negative_log_prob(d: Any, rng: np.random.Generator) -> None:
    """Entropy = -E log p(x)."""
    assert_mean(-d.log_prob(d.sample(N_DRAWS, rng=rng)), d.entropy(), "negative log density")


def kl_vanishes_on_itself(d: Any, rng: np.random.Generator) -> None:
    """KL(p, p) = 0."""
    np.testing.assert_allclose(d.kl_divergence(d), 0.0, atol=1e-9)


def kl_is_the_expected_log_ratio(d: Any, rng: np.random.Generator) -> None:
    """KL(p, q) = E log p(x)/q(x) > 0, with q another of the family."""
    other = partner(d, rng)
    if other is None:
        return
    divergence = d.kl_divergence(other)
    assert np.all(divergence > 0), f"KL divergence {divergence}"
    x = d.sample(N_DRAWS, rng=rng)
    ratio, finite = d.log_prob(x) - other.log_prob(x), np.isfinite(divergence)
    lacking = np.isinf(ratio).any(axis=0)
    assert np.all(finite != lacking), "infinite where, and only where, the other lacks some of the draws"
    assert_mean(np.where(finite, ratio, 0.0), np.where(finite, divergence, 0.0), "log ratio")


def fit_is_the_most_likely(d: Any, rng: np.random.Generator) -> None:
    """None of the family is likelier on data than the fitted one: neither the true nor a near one."""
    if not hasattr(type(d), "fit") or d.batch_shape:
        return
    x = d.sample(_enough(d), rng=rng)
    fit = fitted_to(d, x)
    fitted, true = fit.log_prob(x).sum(), d.log_prob(x).sum()
    assert fitted >= true - 1e-9 * abs(true), f"log likelihood {fitted} of the fit, {true} of the truth"
    for name, near in _neighbours(fit):
        other = near.log_prob(x).sum()
        assert not other > fitted + 1e-9 * abs(fitted), f"{other} > {fitted} with another {name}"


def _neighbours(d: Any) -> Iterator[tuple[str, Any]]:
    """Yield distributions with one parameter, a number, moved by a thousandth of itself or of its spread."""
    known = getattr(type(d), "known", ())
    for name, x in parameters(d).items():
        if name in known or not isinstance(x, np.ndarray) or x.ndim:
            continue
        spread = np.nan_to_num(np.max(flat(d, d.stddev)), nan=0.0, posinf=0.0)
        for step in (1e-3, -1e-3):
            try:
                yield name, replace(d, **{name: x + step * (x if x > 0 else spread)})
            except ValueError:  # outside what the parameter may be
                continue


def weights_of_fit_are_repetitions(d: Any, rng: np.random.Generator) -> None:
    """An integer weight counts an observation so many times."""
    if not hasattr(type(d), "fit") or d.batch_shape:
        return
    x = d.sample(_enough(d), rng=rng)
    times = rng.integers(0, 4, size=length(x))
    weighted = fitted_to(d, x, times.astype(float))
    repeated = fitted_to(d, each(lambda part: np.repeat(part, times, axis=0), x))
    np.testing.assert_allclose(weighted.log_prob(x), repeated.log_prob(x), rtol=1e-8, atol=1e-8)


SAMPLE_LAWS = laws_above(globals())


def partner(d: Any, rng: np.random.Generator) -> Any:
    """Return another distribution of the family: a fit to a few draws, or a neighbour in the batch."""
    if d.batch_shape:
        return None if d.batch_shape[0] == 1 else d[np.roll(np.arange(d.batch_shape[0]), 1)]
    return fitted_to(d, d.sample(_enough(d), rng=rng)) if hasattr(type(d), "fit") else None


def fitted_to(d: Any, x: Any, weights: np.ndarray | None = None) -> Any:
    """Return the fit of d's family to data; what the family calls `known` is taken from d, not learnt."""
    known = {name: getattr(d, name) for name in getattr(type(d), "known", ())}
    return type(d).fit(x, weights, **known)


def _enough(d: Any) -> int:
    return 60 + 10 * flat(d, d.mean).shape[-1]


def repr_rebuilds(d: Any, rng: np.random.Generator) -> None:
    """What is printed is the call that makes the value: evaluated, it is the same to the last bit."""
    names = {**vars(np), **_classes(d)}
    with np.printoptions(precision=17, floatmode="unique", threshold=10**6):
        written = repr(d)
    try:
        again = eval(written, names)  # noqa: S307
    except (NameError, SyntaxError, TypeError, ValueError) as error:
        raise AssertionError(f"{written} does not rebuild the value: {error}") from error
    assert type(again) is type(d)
    assert again.batch_shape == d.batch_shape
    x = d.sample(5, rng=rng)
    np.testing.assert_array_equal(again.log_prob(x), d.log_prob(x))
    assert _same(d.sample(3, rng=1), again.sample(3, rng=1))


def _classes(x: Any) -> dict[str, Any]:
    """Return the classes of a value and of the values it is made of, by name."""
    if isinstance(x, tuple):
        return {name: cls for part in x for name, cls in _classes(part).items()}
    if not hasattr(x, "__dataclass_fields__"):
        return {}
    return {type(x).__name__: type(x), **_classes(tuple(parameters(x).values()))}


DISTRIBUTION_LAWS: tuple[Law, ...] = (
    *VALUE_LAWS,
    repr_rebuilds,
    *DENSITY_LAWS,
    *TAIL_LAWS,
    *SAMPLE_LAWS,
)


def check_distribution(distribution: Any, rng: Any = 0) -> None:
    """Run every law of distributions on one; AssertionError says which it breaks and how.

    Examples
    --------
    >>> import tractable
    >>> check_distribution(tractable.Normal(mean=1.0, stddev=2.0))
    """
    check_laws(DISTRIBUTION_LAWS, distribution, rng)
