"""Monte Carlo, inverse transforms, rejection, importance sampling, and Markov chains under one driver."""

from contextlib import contextmanager

import numpy as np
import pytest
from scipy import stats

import tractable
from rows.samplers import (
    COVARIANCE,
    MEAN,
    NORMAL,
    ROWS,
    both_of_normal,
    conditional,
    draw_normal,
    log_normal,
    named,
)
from tractable.distributions import Beta, Gamma, Mixture, MultivariateNormal, Normal, Uniform
from tractable.sampling import (
    RandomWalk,
    gaussian_gibbs,
    gibbs,
    importance,
    inverse_transform,
    metropolis_hastings,
    monte_carlo,
    nuts,
    rejection,
    sample,
    slice,  # noqa: A004
)
from tractable.sampling.driver import State
from tractable.testing import FiniteChain, transition_matrix

STANDARD = Normal(mean=0.0, stddev=1.0)


@pytest.mark.spec("SAMP-01", "PROB-18")
@pytest.mark.parametrize("dim", [1, 20])
def test_the_error_of_an_average_does_not_depend_on_the_dimension(dim):
    x = MultivariateNormal(mean=np.zeros(dim), covariance=np.eye(dim))
    found = [monte_carlo(lambda x: x.sum(axis=1) / np.sqrt(dim), x, 1000, rng=seed) for seed in range(200)]
    values = np.array([float(one) for one in found])
    assert np.mean([one.standard_error for one in found]) == pytest.approx(1000**-0.5, rel=0.02)
    assert values.std() == pytest.approx(1000**-0.5, rel=0.25)  # √(Var f / M), in any dimension


@pytest.mark.spec("SAMP-01")
@pytest.mark.parametrize("method", ["random", "antithetic", "quasi"])
@pytest.mark.parametrize("target", [Normal(mean=1.0, stddev=0.5), Gamma(shape=2.0, rate=1.0), NORMAL])
def test_averages_are_within_their_standard_errors(method, target):
    f = (lambda x: x[:, 0] * x[:, 1]) if target is NORMAL else np.square
    truth = COVARIANCE[0, 1] + MEAN[0] * MEAN[1] if target is NORMAL else target.variance + target.mean**2
    z = []
    for seed in range(20):
        found = monte_carlo(f, target, 2000, method=method, rng=seed)
        z.append((found.value - truth) / found.standard_error)
    assert np.abs(np.mean(z)) < 5 / np.sqrt(20) * 1.3
    assert 0.4 < np.std(z) < 2.0


@pytest.mark.spec("SAMP-01")
def test_variance_is_reduced():
    plain = monte_carlo(np.exp, STANDARD, 4096, rng=0)
    control = monte_carlo(np.exp, STANDARD, 4096, control=lambda x: x, control_mean=0.0, rng=0)
    assert control.standard_error < 0.8 * plain.standard_error
    assert (
        monte_carlo(np.exp, STANDARD, 4096, method="antithetic", rng=0).standard_error < plain.standard_error
    )
    assert (
        monte_carlo(np.exp, STANDARD, 4096, method="quasi", rng=0).standard_error < 0.3 * plain.standard_error
    )
    exact = monte_carlo(lambda x: 3.0 * x + 1.0, STANDARD, control=lambda x: x, control_mean=0.0, rng=0)
    assert float(exact) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.spec("SAMP-02")
def test_rare_draws_that_matter_are_said():
    tame = monte_carlo(np.square, STANDARD, 5000, rng=0)
    wild = monte_carlo(lambda x: np.exp(4.0 * x), STANDARD, 5000, rng=0)
    assert tame.largest_share < 0.01
    assert wild.largest_share > 0.1
    assert abs(float(wild) - np.exp(8.0)) > 5 * wild.standard_error  # the standard error says nothing then


@pytest.mark.spec("SAMP-03")
@pytest.mark.parametrize(
    "given",
    [
        {"icdf": lambda u: -np.log1p(-u)},
        {"icdf": Gamma(shape=1.0, rate=1.0)},
        {"cdf": lambda x: -np.expm1(-np.maximum(x, 0.0))},
        {"cdf": lambda x: -np.expm1(-x), "support": (0.0, np.inf)},
        {"table": (-np.log1p(-np.linspace(0, 1 - 1e-9, 20_001)), np.linspace(0, 1, 20_001))},
    ],
)
def test_draws_by_the_inverse_cdf_pass_a_kolmogorov_test(given):
    x = inverse_transform(5000, rng=0, **given)
    assert stats.kstest(x, "expon").pvalue > 1e-3
    assert stats.kstest(x, "norm").pvalue < 1e-6


@pytest.mark.spec("SAMP-04", "SAMP-05", "W-26")
def test_two_thirds_are_kept():
    found = rejection(lambda x: np.log(18.0 * x * (1.0 - x)), Uniform(low=0.0, high=1.0), 4.5, 20_000, rng=0)
    assert found.acceptance == pytest.approx(2 / 3, abs=5 * np.sqrt(2 / 9 / found.n_proposed))
    assert abs(found.normalizer - 3.0) < 5 * found.normalizer_error
    assert stats.kstest(found.draws, stats.beta(2, 2).cdf).pvalue > 1e-3
    normalised = rejection(Beta(alpha=2.0, beta=2.0), Uniform(low=0.0, high=1.0), 1.5, 20_000, rng=1)
    assert normalised.acceptance == pytest.approx(1 / 1.5, abs=0.02)


@pytest.mark.spec("SAMP-04")
def test_a_bound_that_is_crossed_is_an_error():
    with pytest.raises(ValueError, match=r"k = 1\.2 is too small: at 0\."):
        rejection(Beta(alpha=2.0, beta=2.0), Uniform(low=0.0, high=1.0), 1.2, 1000, rng=0)


@pytest.mark.spec("SAMP-06")
@pytest.mark.parametrize("dim", [1, 2, 5, 10])
def test_the_bound_grows_with_the_dimension(dim):
    p = MultivariateNormal(mean=np.zeros(dim), covariance=np.eye(dim))
    q = MultivariateNormal(mean=np.zeros(dim), covariance=1.44 * np.eye(dim))
    found = rejection(p, q, 1.2**dim, 2000, rng=0)
    assert found.acceptance == pytest.approx(1.2**-dim, rel=0.1)
    if dim < 3:  # few proposals are near the mode in many dimensions, where the bound is crossed
        with pytest.raises(ValueError, match="k = "):
            rejection(p, q, 0.97 * 1.2**dim, 20_000, rng=0)


@pytest.mark.spec("SAMP-07", "SAMP-08", "SAMP-09", "SAMP-10", "W-27", "E000-59")
def test_importance_sampling_of_a_shifted_normal():
    p, q = Normal(mean=1.0, stddev=1.0), Normal(mean=0.0, stddev=1.5)
    found = importance(p, q, 20_000, rng=0)
    # ∫ p²/q in closed form gives ESS / M = 0.62.
    assert found.ess / 20_000 == pytest.approx(0.62, abs=0.01)
    assert found.mean_weight == pytest.approx(1.0, abs=0.03)
    assert abs(found.log_evidence) < 5 * found.log_evidence_error
    for normalized in (True, False):
        for f, truth in ((lambda x: x, 1.0), (np.square, 2.0)):
            one = found.expectation(f, self_normalized=normalized)
            assert abs(one.value - truth) < 5 * one.standard_error
    unnormalised = importance(lambda x: p.log_prob(x) + np.log(7.0), q, 20_000, rng=0)
    assert float(unnormalised.expectation()) == pytest.approx(float(found.expectation()))
    assert unnormalised.log_evidence == pytest.approx(np.log(7.0), abs=5 * unnormalised.log_evidence_error)
    assert found.complaints() == []
    chosen = found.resample(5000, rng=1)
    assert stats.kstest(chosen, stats.norm(1.0, 1.0).cdf).pvalue > 1e-4


@pytest.mark.spec("SAMP-10", "E000-59")
def test_a_narrow_proposal_has_variance_and_is_told():
    p, narrow = Normal(mean=1.0, stddev=1.0), Normal(mean=0.0, stddev=0.2)
    found = importance(p, narrow, 20_000, rng=0)
    assert found.ess < 1000
    assert found.pareto_k > 0.7
    assert "heavier tails" in found.complaints()[0]


def finite_metropolis(p, q):
    """Metropolis-Hastings on finitely many states, with the proposal matrix q."""

    class Jump:
        batch_shape = (1,)

        def __init__(self, x):
            self.x = x.astype(int)

        def sample(self, _n, rng):
            return np.array([[rng.choice(len(p), p=q[i]) for i in self.x]], dtype=float)

        def log_prob(self, y):
            return np.log(q[self.x, y.astype(int)])

    step = metropolis_hastings(lambda x: np.log(p[x.astype(int)]), Jump)
    begun = [step.begin(None, np.array([float(i)])) for i in range(len(p))]
    return begun[0][0], [state for _, state in begun]


@pytest.mark.spec("SAMP-11", "SAMP-12", "SAMP-13", "SAMP-14", "W-29", "E000-61")
def test_detailed_balance_is_exact_on_finitely_many_states(rng):
    p, q = np.array([0.1, 0.2, 0.3, 0.4]), rng.dirichlet(np.ones(4), 4)
    step, states = finite_metropolis(p, q)
    chain = transition_matrix(step, states)
    assert chain.imbalance(p) < 1e-14
    assert chain.drift(p) < 1e-14
    np.testing.assert_allclose(chain.stationary, p, rtol=1e-12)
    assert FiniteChain(matrix=q).imbalance(p) > 1e-2  # of the transition, not of the proposal
    kept = q * np.minimum(1.0, p * q.T / (p[:, None] * q))
    np.testing.assert_allclose(chain.matrix, kept + np.diag(1.0 - kept.sum(axis=1)), atol=1e-15)
    curve = chain.mixing_curve(0, 200)
    assert np.all(np.diff(curve) <= 1e-15)
    assert curve[-1] < 1e-3
    assert curve[chain.mixing_time(0, 0.1)] < 0.1 <= curve[chain.mixing_time(0, 0.1) - 1]


@pytest.mark.spec("SAMP-12")
def test_a_wrong_acceptance_breaks_detailed_balance(rng):
    p, q = np.array([0.1, 0.2, 0.3, 0.4]), rng.dirichlet(np.ones(4), 4)
    step, states = finite_metropolis(p, q)
    wrong = tractable.value.replace(step, symmetric=True)
    assert transition_matrix(wrong, states).drift(p) > 1e-3


@pytest.mark.spec("SAMP-17", "SAMP-18")
def test_gibbs_is_metropolis_that_always_accepts(rng):
    table = rng.dirichlet(np.ones(6)).reshape(2, 3)

    def given(axis):
        name, other = ("a", "b")[axis], ("b", "a")[axis]

        def draw(rng, v):
            row = table[:, int(v["b"])] if axis == 0 else table[int(v["a"])]
            return rng.choice(len(row), p=row / row.sum())

        return name, other, draw

    step = gibbs({name: draw for name, _, draw in (given(0), given(1))}, vectorized=False)
    states = [State(position={"a": np.array([i]), "b": np.array([j])}) for i in range(2) for j in range(3)]
    chain = transition_matrix(step, states)
    assert chain.drift(table.ravel()) < 1e-14
    single = transition_matrix(gibbs({"a": given(0)[2]}, vectorized=False), states)
    assert single.imbalance(table.ravel()) < 1e-14  # one conditional alone is balanced in detail
    # p(x') q(x | x') / p(x) q(x' | x) of a move of one coordinate:
    a, b = np.array([0.3, -2.0]), np.array([1.7, -2.0])
    of = conditional(0, 1)(None, {"b": np.array(-2.0)})
    ratio = log_normal(b) - log_normal(a) + of.log_prob(a[0]) - of.log_prob(b[0])
    assert ratio == pytest.approx(0.0, abs=1e-12)


@pytest.mark.spec("SAMP-16")
def test_modes_far_apart_are_not_both_found():
    def two_modes(d):
        return lambda x: np.logaddexp(-0.5 * (x[..., 0] - d) ** 2, -0.5 * (x[..., 0] + d) ** 2)

    start = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    near = sample(metropolis_hastings(two_modes(1.5)), 1.5 * start, 2000, rng=0)
    apart = sample(metropolis_hastings(two_modes(10.0)), 10.0 * start, 2000, rng=0)
    assert near.diagnoses["x"].r_hat < 1.02
    assert apart.diagnoses["x"].r_hat > 1.5
    assert any("R-hat" in line for line in apart.complaints())


@pytest.mark.spec("SAMP-15", "SAMP-14")
def test_thinning_and_warm_up():
    step = metropolis_hastings(log_normal, RandomWalk(scale=0.5))
    start = np.zeros((4, 2))
    every = sample(step, start, 2000, n_warm_up=0, rng=0)
    tenth = sample(step, start, 200, n_warm_up=0, thin=10, rng=0)
    np.testing.assert_array_equal(tenth["x"], every["x"][:, 9::10])
    assert (tenth.thin, tenth.n_warm_up, tenth.n_draws) == (10, 0, 200)
    far = sample(step, start + 50.0, 500, n_warm_up=2000, rng=0)
    assert np.all(np.abs(far.flat().mean(axis=0) - MEAN) < 1.0)
    tuned = sample(metropolis_hastings(log_normal), start, 2000, rng=0)
    assert 0.1 < tuned.acceptance < 0.5


def test_a_run_goes_on_to_a_target_effective_sample_size():
    step = gaussian_gibbs(NORMAL)
    few = sample(step, np.zeros((4, 2)), 100, target_ess=500, max_samples=5000, rng=0)
    assert few.ess >= 500
    assert few.n_draws < 5000
    with pytest.warns(RuntimeWarning, match="target_ess = 1e\\+09 is not reached: 300 draws"):
        capped = sample(step, np.zeros((4, 2)), 100, target_ess=1e9, max_samples=300, rng=0)
    assert capped.n_draws == 300


def test_progress_is_never_beyond_the_whole(monkeypatch):
    """A run to a target effective sample size may take `max_samples`."""
    from tractable.data.progress import progress
    from tractable.sampling import driver

    lines = []

    @contextmanager
    def watched(label, total):
        with progress(label, total) as line:
            lines.append(line)
            yield line

    monkeypatch.setattr(driver, "progress", watched)
    sample(gaussian_gibbs(NORMAL), np.zeros((4, 2)), 100, n_warm_up=50, thin=2, target_ess=500, rng=0)
    sample(gaussian_gibbs(NORMAL), np.zeros((4, 2)), 100, n_warm_up=50, thin=2, rng=0)
    early, whole = lines
    assert 250 < early.done <= early.total == 2050
    assert whole.done == whole.total == 250


def test_any_pure_function_is_a_step():
    def walk(rng, x):
        return 0.5 * x + rng.standard_normal(x.shape), {"size": np.abs(x)}

    chains = sample(walk, Normal(mean=0.0, stddev=1.0), 500, n_chains=6, n_warm_up=10, rng=0)
    assert chains["x"].shape == (6, 500)
    assert chains.info["size"].shape == (6, 500)
    assert np.isnan(chains.acceptance)
    assert chains.flat().var() == pytest.approx(4 / 3, rel=0.15)


@pytest.mark.parametrize(
    ("step", "start"),
    [
        (metropolis_hastings(log_normal), np.zeros((3, 2))),
        (slice(log_normal), np.zeros((3, 2))),
        (nuts(both_of_normal, True), np.zeros((3, 2))),
        (nuts(both_of_normal, True, mass="dense"), np.zeros((3, 2))),
        (gaussian_gibbs(NORMAL), np.zeros((3, 2))),
        (gibbs({"a": conditional(0, 1), "b": conditional(1, 0)}), named(np.zeros((3, 2)))),
    ],
    ids=lambda x: type(x).__name__,
)
@pytest.mark.parametrize("broken_after", [110, 230])
def test_a_run_is_resumed_where_it_was_broken_off(step, start, broken_after, tmp_path):
    whole = sample(step, start, 120, n_warm_up=120, rng=5)

    class BrokenOff(type(step)):
        n_left = broken_after

        def __call__(self, rng, state):
            BrokenOff.n_left -= 1
            if BrokenOff.n_left < 0:
                raise KeyboardInterrupt
            return super().__call__(rng, state)

    BrokenOff.__name__ = type(step).__name__
    broken = BrokenOff(**tractable.value.parameters(step))
    path = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt), tractable.checkpoint(path, every=0.0):
        sample(broken, start, 120, n_warm_up=120, rng=5)
    with tractable.checkpoint(path, every=0.0):
        resumed = sample(step, start, 120, n_warm_up=120, rng=99)  # the seed is the saved one
    for name in whole.draws:
        np.testing.assert_array_equal(resumed[name], whole[name])
    assert resumed.info.keys() == whole.info.keys()


def test_another_run_is_not_resumed(tmp_path):
    path = tmp_path / "run"

    def stops(rng, x):
        raise KeyboardInterrupt

    step = metropolis_hastings(log_normal)
    with pytest.raises(KeyboardInterrupt), tractable.checkpoint(path, every=0.0):  # noqa: PT012
        sample(step, np.zeros((2, 2)), 10, rng=0)
        sample(stops, np.zeros((2, 2)), 10, rng=0)
    with pytest.raises(ValueError, match="another run"), tractable.checkpoint(path):
        sample(step, np.ones((2, 2)), 10, rng=0)


class BrokenOff:
    """A log density that stops the run at its thousandth evaluation."""

    def __init__(self, density):
        self.density, self.n_left = density, 1000

    def __call__(self, x):
        self.n_left -= 1
        if self.n_left < 0:
            raise KeyboardInterrupt
        return self.density(x)


def shifted(x):
    return log_normal(x - 5.0)


def zero_but_at_the_start(x):
    return np.where(x[..., 0] == 0.0, log_normal(x), -np.inf)


@pytest.mark.parametrize("other", [shifted, zero_but_at_the_start])
def test_a_run_does_not_go_on_with_another_target(other, tmp_path):
    """Half of the draws from one density and half from another would be silently wrong."""
    start = np.zeros((2, 2))
    with pytest.raises(KeyboardInterrupt), tractable.checkpoint(tmp_path / "run", every=0.0):
        sample(metropolis_hastings(BrokenOff(log_normal)), start, 1500, n_warm_up=200, rng=0)
    with pytest.raises(ValueError, match="another run"), tractable.checkpoint(tmp_path / "run"):
        sample(metropolis_hastings(BrokenOff(other)), start, 1500, n_warm_up=200, rng=0)


def test_a_step_with_other_parameters_does_not_go_on(tmp_path):
    start = np.zeros((2, 2))
    with pytest.raises(KeyboardInterrupt), tractable.checkpoint(tmp_path / "run", every=0.0):
        sample(metropolis_hastings(BrokenOff(log_normal)), start, 1500, n_warm_up=200, rng=0)
    other = metropolis_hastings(BrokenOff(log_normal), RandomWalk(scale=0.5))
    with pytest.raises(ValueError, match="another run"), tractable.checkpoint(tmp_path / "run"):
        sample(other, start, 1500, n_warm_up=200, rng=0)


def test_a_run_from_starts_that_are_drawn_is_resumed_without_a_seed(tmp_path):
    with pytest.raises(KeyboardInterrupt), tractable.checkpoint(tmp_path / "run", every=0.0):
        sample(metropolis_hastings(BrokenOff(log_normal)), NORMAL, 1500, n_warm_up=200)
    with tractable.checkpoint(tmp_path / "run"):
        resumed = sample(metropolis_hastings(BrokenOff(log_normal)), NORMAL, 1500, n_warm_up=200)
    assert resumed.n_draws == 1500  # in fewer than a thousand evaluations


@pytest.mark.parametrize("scale", [1e-100, 1e-5, 1e5])
def test_slices_find_their_width(scale):
    """Warm-up narrows the first interval as it widens it, however far off it is."""
    step = slice(lambda x: -0.5 * np.sum((x / scale) ** 2, axis=-1))
    chains = sample(step, np.zeros((4, 1)), 500, n_warm_up=100, rng=0)
    assert chains.flat().std() / scale == pytest.approx(1.0, abs=0.1)
    assert chains.info["n_evaluations"].mean() < 10.0


def test_chains_are_saved_and_loaded(tmp_path):
    chains = sample(metropolis_hastings(log_normal), np.zeros((3, 2)), 20, rng=0)
    tractable.save(chains, tmp_path / "chains")
    back = tractable.load(tmp_path / "chains")
    np.testing.assert_array_equal(back["x"], chains["x"])
    assert back.n_warm_up == 1000


def test_a_mixture_of_the_library_is_a_target():
    mixture = Mixture(weights=[0.5, 0.5], components=Normal(mean=[-1.0, 2.0], stddev=[1.0, 0.5]))
    chains = sample(metropolis_hastings(mixture), np.zeros(20), 200, n_warm_up=200, rng=0)
    assert chains.flat().mean() == pytest.approx(0.5, abs=0.3)


def nan_inside(x):
    return np.where(x[..., 0] > 0.5, np.nan, -0.5 * np.sum(x**2, axis=-1))


START = np.zeros((2, 2))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (
            lambda: sample(metropolis_hastings(nan_inside), START, rng=0),
            r"log_prob must be .* at \[.*\] it is nan",
        ),
        (lambda: sample(slice(nan_inside), START, rng=0), r"log_prob must be .* at \[.*\] it is nan"),
        (lambda: sample(metropolis_hastings(lambda x: x[..., 0] * np.inf), START + 1, rng=0), "is inf"),
        (
            lambda: sample(metropolis_hastings(lambda x: x[..., 0] - np.inf), START, rng=0),
            "start must have pos",
        ),
        (lambda: sample(metropolis_hastings(lambda x: x[..., 0]), np.zeros(3), rng=0), "one row a chain"),
        (lambda: sample(metropolis_hastings(lambda x: "a"), START, rng=0), "log_prob"),
        (lambda: sample(metropolis_hastings(3.0), START, rng=0), "log_prob"),
        (lambda: sample(metropolis_hastings(log_normal, lambda x: x), START, rng=0), "proposal"),
        (lambda: sample(metropolis_hastings(log_normal, lambda x: STANDARD), START, rng=0), "proposal"),
        (lambda: metropolis_hastings(log_normal, 3.0), "proposal"),
        (lambda: RandomWalk(scale=-1.0), "scale"),
        (lambda: RandomWalk(scale="wide"), "scale"),
        (lambda: RandomWalk(covariance=[-1.0, 1.0]), "covariance must have variances above 0"),
        (lambda: RandomWalk(covariance=[[0.0, 0.0], [0.0, 1.0]]), "covariance must have variances above 0"),
        (lambda: RandomWalk(covariance="wide"), "covariance"),
        (
            lambda: sample(
                metropolis_hastings(log_normal, lambda x: Normal(mean=x, stddev=1.0)), START, rng=0
            ),
            "a batch of 2 distributions over vectors",
        ),
        (lambda: sample(metropolis_hastings(log_normal), {"a": START}), "start must be one array"),
        (lambda: sample(slice(log_normal), {"a": START}), "start must be one array"),
        (lambda: sample(nuts(both_of_normal, True), {"a": START}), "start must be one array"),
        (lambda: sample(metropolis_hastings(log_normal), np.zeros((4, 0))), "start"),
        (lambda: sample(lambda rng, x: x, START), "step must return a pair"),
        (lambda: sample(lambda rng, x: (x, None), START), "step must return a pair"),
        (lambda: sample(lambda rng, x: (x[:1], {}), START), "step must keep the shape"),
        (lambda: sample(lambda rng, x: ({}, {}), START), "step must keep the shape"),
        (lambda: sample(lambda rng, x: (x * np.nan, {}), START), "not finite"),
        (
            lambda: sample(metropolis_hastings(log_normal, RandomWalk(covariance=np.eye(3))), START),
            "covariance",
        ),
        (lambda: sample(metropolis_hastings(log_normal), [[np.nan, 0.0]]), "start"),
        (lambda: sample(metropolis_hastings(log_normal), "here"), "start"),
        (lambda: sample(metropolis_hastings(log_normal), START, 0), "n_samples"),
        (lambda: sample(metropolis_hastings(log_normal), START, thin=0), "thin"),
        (lambda: sample(metropolis_hastings(log_normal), START, n_warm_up=-1), "n_warm_up"),
        (lambda: sample(metropolis_hastings(log_normal), START, target_ess=-1), "target_ess"),
        (lambda: sample(metropolis_hastings(log_normal), START, max_samples=9), "max_samples"),
        (
            lambda: sample(metropolis_hastings(log_normal), START, target_ess=9, max_samples=0),
            "max_samples",
        ),
        (lambda: sample(metropolis_hastings(log_normal), START, rng="x"), "rng"),
        (lambda: sample(3.0, START), "step"),
        (lambda: slice(log_normal, max_steps=0), "max_steps"),
        (lambda: sample(slice(log_normal, width=-1.0), START), "width"),
        (lambda: gibbs({}), "conditionals"),
        (lambda: sample(gibbs({"a": lambda rng, v: v["a"]}), START), "start"),
        (lambda: sample(gibbs({"a": lambda rng, v: v["a"][:1]}), {"a": np.zeros(3)}), "conditionals"),
        (lambda: sample(gibbs({"a": lambda rng, v: v["a"] * np.nan}), {"a": np.zeros(3)}), "conditionals"),
        (lambda: sample(gibbs({"a": len}), {"a": np.zeros(3), "b": np.zeros(2)}), "start"),
        (lambda: gaussian_gibbs(STANDARD), "distribution"),
        (lambda: sample(gaussian_gibbs(NORMAL), np.zeros((2, 3))), "start"),
        (lambda: monte_carlo(np.exp, STANDARD, 1), "n_samples"),
        (lambda: monte_carlo(np.exp, 3.0), "distribution"),
        (lambda: monte_carlo(np.exp, Normal(mean=[0.0, 1.0], stddev=1.0)), "distribution"),
        (lambda: monte_carlo(np.log, STANDARD, rng=0), "f must be finite"),
        (lambda: monte_carlo(np.sum, STANDARD), "f must return"),
        (lambda: monte_carlo(np.exp, STANDARD, method="sobol"), "method"),
        (lambda: monte_carlo(np.exp, STANDARD, control=np.exp), "control_mean"),
        (
            lambda: monte_carlo(np.abs, tractable.Dirichlet(concentration=[1.0, 1.0]), method="quasi"),
            "method",
        ),
        (lambda: monte_carlo(np.exp, STANDARD, control=np.exp, control_mean=np.nan), "control_mean"),
        (lambda: monte_carlo(np.exp, STANDARD, control=np.exp, control_mean=[1.0, 2.0]), "control_mean"),
        (lambda: inverse_transform(3, icdf=3), "icdf"),
        (lambda: inverse_transform(3, cdf=3), "cdf"),
        (lambda: inverse_transform(3, cdf=STANDARD.cdf, support=(0.0,)), "support"),
        (lambda: rejection(STANDARD, STANDARD, True), "k must be"),
        (
            lambda: importance(lambda x: 900.0 - x, STANDARD, rng=0).expectation(self_normalized=False),
            "self_normalized",
        ),
        (lambda: tractable.sampling.pareto_k("heavy"), "log_weights"),
        (lambda: sample(slice(log_normal, width="wide"), START), "width"),
        (lambda: sample(nuts(log_normal, True), START), "log_prob must return the pair"),
        (lambda: inverse_transform(3), "icdf"),
        (lambda: inverse_transform(-1, icdf=np.sqrt), "n_samples"),
        (lambda: inverse_transform(3, icdf=np.sqrt, support=(0, 1)), "support"),
        (lambda: inverse_transform(3, cdf=lambda x: 0 * x, rng=0), "cdf"),
        (lambda: inverse_transform(3, cdf=lambda x: 5 + x, rng=0), "cdf"),
        (lambda: inverse_transform(3, table=([0, 1], [0, 0.5])), "table"),
        (lambda: inverse_transform(3, table=([0, 1, 1], [0, 0.5, 1])), "table"),
        (lambda: rejection(STANDARD, STANDARD, 0.0), "k must be"),
        (lambda: rejection(STANDARD, np.exp, 1.0), "proposal"),
        (lambda: rejection(lambda x: x * np.nan, STANDARD, 1.0), "log_prob"),
        (lambda: importance(lambda x: x[:1], STANDARD), "log_prob"),
        (lambda: importance(lambda x: x - np.inf, STANDARD), "proposal"),
        (lambda: importance(3, STANDARD), "log_prob"),
    ],
)
def test_bad_input_is_one_clear_error(call, named):
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=named):
        call()


def test_a_function_of_batches_alone_is_a_target():
    """``x[:, 0]`` does not work for one point."""
    chains = sample(metropolis_hastings(lambda x: -0.5 * x[:, 0] ** 2), np.zeros((4, 1)), 20, rng=0)
    both = sample(nuts(lambda x: -0.5 * x[:, 0] ** 2, lambda x: -x[:, :1]), np.zeros((4, 1)), 20, rng=0)
    assert chains.n_draws == both.n_draws == 20


@pytest.mark.parametrize("slope", [lambda x: x[:, :1], lambda x: 1.0, lambda x: x @ np.eye(7)])
def test_a_gradient_of_another_shape_is_one_clear_error(slope):
    with pytest.raises(ValueError, match="gradient must return the shape of the points"):
        sample(nuts(lambda x: -np.sum(x * x, axis=-1), slope), np.zeros((4, 3)), 10)


def test_every_sampler_has_a_row():
    """A step is a public class that `sample` can begin."""
    import tractable.sampling as package

    public = {one for one in vars(package).values() if isinstance(one, type) and hasattr(one, "begin")}
    assert len(public) >= 5
    assert public == {type(row.make().step) for row in ROWS}


def test_draws_of_exact_samplers_agree(rng):
    """Far ends of the tails too: Gibbs and slices against exact draws."""
    exact = draw_normal(rng, 4000)
    for step in (gaussian_gibbs(NORMAL), slice(log_normal)):
        chains = sample(step, np.zeros((40, 2)), 100, n_warm_up=50, thin=5, rng=0)
        for j in range(2):
            assert stats.ks_2samp(chains.flat()[:, j], exact[:, j]).pvalue > 1e-4
