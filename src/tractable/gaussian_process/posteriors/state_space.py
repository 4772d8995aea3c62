"""Gaussian processes of time in their state-space form: evidence with its gradient and the posterior, O(n).

A Matérn kernel of ν = p + ½ is the covariance of a function that solves a linear stochastic differential
equation of order p + 1 (Hartikainen and Särkkä 2010): given the function and its first p derivatives at one
time, the past and the future are independent. Targets are y = f(t) + h(x)ᵀβ + ε, with f a sum of such
functions, a flat prior of β, and independent noise of variance σ² s.
"""

from itertools import pairwise
from math import log, pi
from typing import Any

import numpy as np

from tractable.arrays.linalg import solve_triangular
from tractable.gaussian_process.posteriors.exact import Observations
from tractable.kernels.markov_term import MarkovTerm
from tractable.primitives.state_space import kalman_filter, smoothing_sums
from tractable.value import value


@value
class StateSpacePosterior:
    """The posterior of f and β given targets at ordered times.

    Means, slopes and `dual` have a column for y - Hβ̂, and after it one for each column of H R⁻¹.
    """

    rows: Observations
    times: np.ndarray  # (n,), ascending
    terms: tuple[MarkovTerm, ...]
    means: np.ndarray  # (n, s, 1 + m), of the states given the targets up to each
    covariances: np.ndarray  # (n, s, s)
    slopes: np.ndarray  # (n, s, 1 + m), what the targets from each on say: see `SmoothingSums`
    curvatures: np.ndarray  # (n, s, s)
    dual: np.ndarray  # (n, 1 + m), C⁻¹ of the columns
    precisions: np.ndarray  # (n,), the diagonal of C⁻¹
    log_det: float  # log|C|
    coef: np.ndarray  # (m,), the posterior mean of β
    basis_factor: np.ndarray  # (m, m), R with RᵀR = HᵀC⁻¹H: the posterior covariance of β is (RᵀR)⁻¹
    fit: float  # yᵀ P y with P = C⁻¹ - C⁻¹H (HᵀC⁻¹H)⁻¹ HᵀC⁻¹

    @classmethod
    def of(
        cls, terms: tuple[MarkovTerm, ...], noise: float, rows: Observations, times: np.ndarray
    ) -> "StateSpacePosterior":
        """Return the posterior of rows in the order of their times.

        Parameters
        ----------
        terms : tuple of MarkovTerm
            Whose sum f is.
        noise : float
            σ², positive.
        rows : Observations
            Rows, of one target.
        times : array (n,)
            In ascending order; they may repeat.
        """
        _, transitions, noises = _chain(terms, times)
        observed, m = _observed(terms), rows.basis.shape[1]
        columns = np.concatenate([rows.y, rows.basis], axis=1)
        found = kalman_filter(transitions, noises, observed, columns, noise * rows.noise_scale)
        white = found.innovations / np.sqrt(found.variances)[:, None]
        q, r = np.linalg.qr(white[:, 1:])
        on_basis = q.T @ white[:, 0]
        rest = white[:, 0] - q @ on_basis
        # From columns y and H to y - Hβ̂ and H R⁻¹: the filter is linear in them.
        change = np.eye(1 + m)
        if m:
            change[1:, 1:] = solve_triangular(r.T, np.eye(m)).T
            change[1:, 0] = -change[1:, 1:] @ on_basis
        sums = smoothing_sums(transitions, observed, found.innovations @ change, found.variances, found.gains)
        return cls(
            rows=rows,
            times=times,
            terms=terms,
            means=found.means @ change,
            covariances=found.covariances,
            slopes=sums.slopes,
            curvatures=sums.curvatures,
            dual=sums.dual,
            precisions=sums.precisions,
            log_det=float(np.sum(np.log(found.variances))),
            coef=-change[1:, 0],
            basis_factor=r,
            fit=float(rest @ rest),
        )

    def log_evidence(self, noise: float) -> float:
        """Return log p(y) = -½ yᵀPy - ½ log|C| - ½ log|HᵀC⁻¹H| - ½ (n - m) log 2π, R&W (2.45)."""
        log_det = self.log_det + 2.0 * float(np.sum(np.log(np.abs(np.diagonal(self.basis_factor)))))
        level = log_det + self.rows.dof * log(2.0 * pi)
        return self.rows.log_density_of_repeats(noise) - 0.5 * (self.fit + level)

    def gradient(self, noise: float, jacobian: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the derivatives of the log evidence by the hyper-parameters θ, (p,), and by log σ².

        A predicted state of covariance P changes the evidence by ½ tr(∂P (Σ r rᵀ - N)), with the slope r and
        the curvature N of later targets in its mean; the sum is over the columns of y - Hβ̂ and H R⁻¹.

        Parameters
        ----------
        noise : float
            σ².
        jacobian : array (2k, p)
            Derivatives of the logarithms of variances and rates of the k terms, one term's after the other's,
            by θ: see `jacobian_of`.
        """
        gaps, transitions, _ = _chain(self.terms, self.times)
        step, back, r = transitions[1:], np.swapaxes(transitions[1:], 1, 2), self.slopes
        stationary = _stationary_covariance(self.terms)
        half = 0.5 * (r @ np.swapaxes(r, 1, 2) - self.curvatures)
        # m_k = A m_{k-1} and P_k = A (P_{k-1} - P) Aᵀ + P, with P the stationary covariance.
        by_step = r[1:] @ np.swapaxes(self.means[:-1], 1, 2)
        by_step += 2.0 * half[1:] @ step @ (self.covariances[:-1] - stationary)
        by_stationary = half.sum(axis=0) - np.sum(back @ half[1:] @ step, axis=0)
        slopes = []
        for term, at in zip(self.terms, _blocks(self.terms), strict=True):
            # ∂A/∂ log λ = λt F A
            by_log_rate = np.tensordot(gaps[1:], by_step[:, at, at] @ back[:, at, at], axes=1) * term.drift
            slopes += [
                float(np.sum(by_stationary[at, at] * stationary[at, at])),
                term.rate * float(np.sum(by_log_rate)),
            ]
        excess = np.sum(self.dual**2, axis=1) - self.precisions
        repeats = 0.5 * (self.rows.within / noise - self.rows.n_repeats)
        by_noise = 0.5 * noise * float(self.rows.noise_scale @ excess) + repeats
        return np.array(slopes) @ jacobian, by_noise

    def moments(self, times: np.ndarray, basis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of f + hᵀβ at new times, (q,) each: between, before and after the rows.

        Parameters
        ----------
        times : array (q,)
            New times, in any order.
        basis : array (q, m)
            h at the new rows.
        """
        n, observed = len(self.times), _observed(self.terms)
        after = np.searchsorted(self.times, times, side="right")
        last, following = np.maximum(after - 1, 0), np.minimum(after, n - 1)
        # The states given the rows before, by the filter; before the first they are stationary.
        step, noise = _steps(self.terms, np.where(after > 0, times - self.times[last], 0.0))
        step[after == 0], noise[after == 0] = 0.0, _stationary_covariance(self.terms)
        covariance = step @ self.covariances[last] @ np.swapaxes(step, 1, 2) + noise
        # What the rows after say of them; after the last there are none.
        onward, _ = _steps(self.terms, np.where(after < n, self.times[following] - times, 0.0))
        onward[after == n] = 0.0
        shared = covariance @ observed
        towards = np.einsum("qij,qj->qi", onward, shared)
        mean = np.einsum("i,qij,qjc->qc", observed, step, self.means[last], optimize=True)
        mean += np.einsum("qi,qic->qc", towards, self.slopes[following])
        prior = shared @ observed
        variance = prior - np.einsum("qi,qij,qj->q", towards, self.curvatures[following], towards)
        variance = np.maximum(variance, np.finfo(np.float64).eps * prior)
        if not len(self.coef):
            return mean[:, 0], variance
        gap = solve_triangular(self.basis_factor.T, basis.T).T - mean[:, 1:]
        return mean[:, 0] + basis @ self.coef, variance + np.sum(gap**2, axis=1)


def jacobian_of(kernel: Any) -> np.ndarray:
    """Return derivatives of the logarithms of variances and rates of a kernel's terms by its θ, (2k, p).

    They are constants: a variance is a product of hyper-parameters, and a rate a multiple of one over one.

    Examples
    --------
    >>> from tractable.kernels import Matern
    >>> np.allclose(jacobian_of(2.0 * Matern(3.0)), [[1.0, 0.0], [0.0, -1.0]])
    True
    """
    theta, here = kernel.theta, _logs(kernel)
    columns = [_logs(kernel.with_theta(theta + row)) - here for row in np.eye(len(theta))]
    return np.array(columns).T.reshape(len(here), len(theta))


def _logs(kernel: Any) -> np.ndarray:
    return np.array([number for term in kernel.markov_terms() for number in term.logs])


def _chain(terms: tuple[MarkovTerm, ...], times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return gaps between times, and A and Q of every step; the first leads to stationary states."""
    gaps = np.diff(times, prepend=times[:1])
    transitions, noises = _steps(terms, gaps)
    transitions[:1], noises[:1] = 0.0, _stationary_covariance(terms)
    return gaps, transitions, noises


def _steps(terms: tuple[MarkovTerm, ...], gaps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return A and Q of the states of all terms over times (n,), (n, s, s) each."""
    blocks = _blocks(terms)
    transitions, noises = np.zeros((2, len(gaps), blocks[-1].stop, blocks[-1].stop))
    for term, at in zip(terms, blocks, strict=True):
        times = term.rate * gaps
        step = term.transitions(times)
        transitions[:, at, at], noises[:, at, at] = step, term.noises(times, step)
    return transitions, noises


def _stationary_covariance(terms: tuple[MarkovTerm, ...]) -> np.ndarray:
    """Return the covariance of the states of all terms at one time, (s, s)."""
    blocks = _blocks(terms)
    found = np.zeros((blocks[-1].stop, blocks[-1].stop))
    for term, at in zip(terms, blocks, strict=True):
        found[at, at] = term.variance * term.stationary
    return found


def _observed(terms: tuple[MarkovTerm, ...]) -> np.ndarray:
    """Return h, (s,): the function is the sum of the first state of each term."""
    return np.concatenate([np.eye(1, len(term.drift))[0] for term in terms])


def _blocks(terms: tuple[MarkovTerm, ...]) -> list[slice]:
    """Return where the states of each term are."""
    ends = np.cumsum([0, *(len(term.drift) for term in terms)])
    return [slice(int(a), int(b)) for a, b in pairwise(ends)]
