"""Laws of tables of probabilities: the axioms, the sum, product and chain rules, Bayes' rule, factors."""

from itertools import permutations
from typing import Any

import numpy as np

from tractable.distributions import Event, ProbabilityTable, bayes_rule
from tractable.testing.assertions import check_laws, laws_above, refused


def axioms_hold(table: Any, rng: np.random.Generator) -> None:
    """P(A) ≥ 0, P(Ω) = 1, and P(A ∪ B) = P(A) + P(B) of disjoint events."""
    for joint in _joints(table):
        a, b = _events(joint, rng)
        everything = joint.event({})
        _assert_equal(everything.probability, 1)
        assert a.probability >= 0
        _assert_equal((a | (b & ~a)).probability, a.probability + (b & ~a).probability)


def events_obey_their_algebra(table: Any, rng: np.random.Generator) -> None:
    """Complements, the empty event, inclusion and exclusion, the union bound, monotonicity."""
    for joint in _joints(table):
        a, b = _events(joint, rng)
        _assert_equal((~a).probability, 1 - a.probability)
        _assert_equal((a & ~a).probability, 0)
        union, both = (a | b).probability, (a & b).probability
        _assert_equal(union, a.probability + b.probability - both)
        slack = 0 if joint.is_exact else 1e-12
        assert union <= a.probability + b.probability + slack
        assert (a & b) <= a <= (a | b)
        assert both <= a.probability <= union + slack


def condition_is_division(table: Any, rng: np.random.Generator) -> None:
    """P(A | B) = P(A, B) / P(B): by events, by tables and by levels."""
    for joint in _joints(table):
        a, b = _events(joint, rng)
        if b.probability > 0:
            _assert_equal(a.given(b) * b.probability, (a & b).probability)
            within = joint.condition(b)
            _assert_equal(within.probability(Event(table=within, outcomes=a.outcomes)), a.given(b))
        name, rest = joint.names[0], joint.names[1:]
        for level in joint.levels(name) if rest else ():
            mass = joint.probability({name: level})
            there = joint.condition({name: level})
            assert there.names == rest
            _assert_equal(there.probabilities * mass, joint.factor.reduce({name: level}).values)


def marginals_are_sums_over_events(table: Any, rng: np.random.Generator) -> None:
    """The sum rule: p(x = level) is the probability of the event that x has the level."""
    for joint in _joints(table):
        for name in joint.names:
            sums = [joint.probability({name: level}) for level in joint.levels(name)]
            _assert_equal(joint.marginal(name).probabilities, np.array(sums))
            gone = [other for other in joint.names if other != name]
            _assert_equal(joint.factor.sum(gone).values, joint.marginal(name).probabilities)


def chain_rule_rebuilds_in_any_order(table: Any, rng: np.random.Generator) -> None:
    """The product of p(x_1), p(x_2 | x_1), … is the joint, whatever comes first."""
    for joint in _joints(table):
        for order in list(permutations(joint.names))[:6]:
            factors = joint.chain_rule(order)
            assert [f.names for f in factors] == [(name,) for name in order]
            rebuilt = factors[0]
            for factor in factors[1:]:
                rebuilt = rebuilt * factor
            assert rebuilt.given == joint.given
            _assert_equal(rebuilt.marginal(joint.names).probabilities, joint.probabilities)


def bayes_rule_turns_conditionals_around(table: Any, rng: np.random.Generator) -> None:
    """The posterior of p(y) and p(x | y) is p(y | x), by tables, by vectors and in logarithms."""
    for joint in _joints(table):
        if joint.dim < 2:
            continue
        pair = joint.marginal(joint.names[:2]) if joint.dim > 2 else joint
        y, x = pair.names
        prior, likelihood = pair.marginal(y), pair.conditional(y)
        posterior = bayes_rule(prior, likelihood)
        assert posterior.names == (y,)
        _assert_equal(posterior.probabilities, pair.conditional(x).probabilities)
        p, columns = prior.probabilities.astype(float), likelihood.probabilities.astype(float).T
        _assert_equal(bayes_rule(p, columns), posterior.probabilities.astype(float))
        with np.errstate(divide="ignore"):
            logs = np.log(columns)
        _assert_equal(bayes_rule(p, log_likelihood=logs - 900.0), posterior.probabilities.astype(float))


def factors_multiply_by_name(table: Any, rng: np.random.Generator) -> None:
    """Products commute and associate, sums are taken in any order, and a sum is at least the maximum."""
    whole = table[(0,) * len(table.batch_shape)] if not table.given and table.batch_shape else table
    f = whole.factor
    parts = [f.sum([name for name in f.names if name != keep]) for keep in f.names]
    ours, theirs = f, f.transpose(f.names[::-1])
    for part in parts:
        ours, theirs = ours * part, part * theirs
    _assert_equal(theirs.transpose(ours.names).values, ours.values)
    cells = ours.values
    for axis, part in enumerate(parts):
        cells = cells / np.expand_dims(part.values, [i for i in range(cells.ndim) if i != axis])
    _assert_equal(cells, f.values)
    for name in f.names:
        rest = [other for other in f.names if other != name]
        _assert_equal(f.sum(name).sum(rest).total, f.sum(rest).total)
        assert np.all(f.max(name).values <= f.sum(name).values)
        where = f.argmax()
        _assert_equal(f.reduce(where).total, f.max(f.names).total)
        _assert_equal((f * parts[0] / parts[0]).transpose(f.names).values, f.values)


def expectations_are_towers(table: Any, rng: np.random.Generator) -> None:
    """E[E[f | y]] = E[f]; marginal expectations Σ p(x) f(x, y); cov[x, y] = E[x y] - E[x] E[y]."""
    for joint in _joints(table):
        f = rng.standard_normal(joint.probabilities.shape)
        mean = _expected(joint, f)
        _assert_equal(mean, (joint.probabilities * f).sum())
        x = joint.atoms
        p = joint.prob(x)
        np.testing.assert_allclose(joint.mean, p @ x, rtol=1e-12, atol=1e-12)
        product = (p[:, None] * x).T @ x - np.outer(joint.mean, joint.mean)
        np.testing.assert_allclose(joint.covariance, product, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(np.diag(joint.covariance), joint.variance, rtol=1e-9, atol=1e-12)
        if joint.dim > 1:
            first, rest = joint.names[0], joint.names[1:]
            inner = _expected(joint.conditional(first), f)
            _assert_equal(_expected(joint.marginal(first), inner), mean)
            apart = joint.marginal(rest).probabilities
            _assert_equal(_expected(joint, f, over=rest), [(apart * row).sum() for row in f])


def _expected(table: Any, f: np.ndarray, **options: Any) -> Any:
    return table.expectation(lambda *_: f, **options)


def independence_is_a_product(table: Any, rng: np.random.Generator) -> None:
    """The product of marginals is independent; information is KL(p(x, y) ‖ p(x) p(y))."""
    for joint in _joints(table):
        if joint.dim < 2:
            continue
        x, y = joint.names[:2]
        pair = joint.marginal([x, y]) if joint.dim > 2 else joint
        apart = pair.marginal(x) * pair.marginal(y)
        assert apart.is_independent(x, y)
        np.testing.assert_allclose(apart.mutual_information(x, y), 0.0, atol=1e-12)
        information = float(pair.mutual_information(x, y))
        np.testing.assert_allclose(information, pair.kl_divergence(apart), rtol=1e-9, atol=1e-12)
        assert pair.is_independent(x, y) == (information < 1e-14)


def labels_are_translated(table: Any, rng: np.random.Generator) -> None:
    """Events are decoded to labels and back, and rows of labels have the probability of their events."""
    for joint in _joints(table):
        x = joint.sample(20, rng=rng)
        labels = joint.decode(x)
        columns = {name: labels[:, j].tolist() for j, name in enumerate(joint.names)}
        np.testing.assert_array_equal(joint.encode(columns), x)
        np.testing.assert_array_equal(joint.log_prob(columns), joint.log_prob(x))
        for row, level in zip(x, labels, strict=True):
            event = joint.probability(dict(zip(joint.names, level, strict=True)))
            np.testing.assert_allclose(joint.prob(row), float(event), rtol=1e-14)


def nonsense_is_refused(table: Any, rng: np.random.Generator) -> None:
    """Levels and axes that do not exist, masses that do not add up, and conditions of probability zero."""
    joint = next(_joints(table))
    name = joint.names[0]
    refused(lambda: joint.probability({name: "no such level"}), name)
    refused(lambda: joint.marginal("no such axis"), "no such axis")
    refused(lambda: ProbabilityTable(probabilities=joint.probabilities / 2, axes=joint.axes), "add up to 1")
    refused(lambda: ProbabilityTable(probabilities=-joint.probabilities, axes=joint.axes), "probabilities")
    refused(lambda: joint * joint, name)
    nothing = joint.event({}) & ~joint.event({})
    refused(lambda: joint.condition(nothing), "probability 0")
    refused(lambda: joint.event({}).given(nothing), "probability 0")
    if joint.dim > 1:
        p = np.array(joint.probabilities)
        p[-1] = p[-1] + p[0]
        p[0] = 0 * p[0]
        without = ProbabilityTable(probabilities=p, axes=joint.axes)
        refused(lambda: without.condition({name: joint.levels(name)[0]}), name)
        refused(lambda: without.conditional(name), name)


TABLE_LAWS = laws_above(globals())


def _joints(table: Any) -> Any:
    """Yield the tables of a batch, at most three, or the one that it is."""
    for i in list(np.ndindex(table.batch_shape))[:3]:
        yield table[i] if table.batch_shape else table


def _events(table: Any, rng: np.random.Generator) -> tuple[Event, Event]:
    """Draw two events."""
    shape = table.probabilities.shape
    return tuple(Event(table=table, outcomes=rng.random(shape) < 0.5) for _ in range(2))  # type: ignore[return-value]


def _assert_equal(found: Any, expected: Any) -> None:
    """Raise unless fractions are equal, and other numbers up to rounding."""
    found, expected = np.asarray(found), np.asarray(expected)
    if found.dtype == object and expected.dtype in (object, np.int64):
        assert np.all(found == expected), f"{found} is not {expected}"
        return
    np.testing.assert_allclose(found.astype(float), expected.astype(float), rtol=1e-10, atol=1e-12)


def check_table(table: Any, rng: Any = 0) -> None:
    """Run every law of tables of probabilities on one.

    Examples
    --------
    >>> import tractable
    >>> check_table(tractable.ProbabilityTable(probabilities=[[0.1, 0.3], [0.4, 0.2]], axes={"a": 2, "b": 2}))
    """
    check_laws(TABLE_LAWS, table, rng)
