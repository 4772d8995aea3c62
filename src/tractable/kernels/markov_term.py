"""The state-space form of a kernel of time: a term whose states form a Markov chain."""

from math import log

import numpy as np

from tractable.value import value

#: Up to this time, in units of a term, the noise of its states is computed by quadrature: nothing cancels.
SHORT = 1.0
#: Nodes of that quadrature, of a polynomial times an exponential.
NODES = 12


@value
class MarkovTerm:
    """A function of time whose states form a Markov chain: the solution of x' = λ F x + noise, f = x_0.

    States are scaled by powers of λ, so that F and the covariance of a stationary state are numbers: over a
    time t the states are multiplied by A = exp(F λt).

    Parameters
    ----------
    drift : array (s, s)
        F. Where it is damped all its eigenvalues are -1, else F² = -I.
    stationary : array (s, s)
        Covariance of the states of a function of variance one.
    variance : float
        That of the function.
    rate : float
        λ, one over a time; zero of a constant.
    damped : bool
        Whether the function forgets its past.

    Examples
    --------
    >>> from tractable.kernels import Matern
    >>> [term] = Matern(2.0, nu=0.5).markov_terms()
    >>> term.transitions(np.array([1.0])).round(4).tolist()
    [[[0.3679]]]
    """

    drift: np.ndarray
    stationary: np.ndarray
    variance: float
    rate: float
    damped: bool = True

    @property
    def logs(self) -> tuple[float, float]:
        """Logarithms of the variance and of the rate; zero for that of a constant."""
        return log(self.variance), log(self.rate) if self.rate > 0.0 else 0.0

    def transitions(self, times: np.ndarray) -> np.ndarray:
        """Return A of times λt, (n, s, s)."""
        identity = np.eye(len(self.drift))
        t = np.minimum(times, 1e4)[:, None, None]  # exp(-t) is zero from 745 on
        if not self.damped:
            return np.cos(times)[:, None, None] * identity + np.sin(times)[:, None, None] * self.drift
        # F + I is nilpotent: exp(Ft) = exp(-t) Σ_j (F + I)^j t^j / j!, of as many terms as states.
        nilpotent, power = self.drift + identity, identity
        total, factor = np.zeros((len(times), *identity.shape)), np.ones_like(t)
        for j in range(len(identity)):
            total += factor * power
            power, factor = power @ nilpotent, factor * t / (j + 1)
        return np.exp(-t) * total

    def noises(self, times: np.ndarray, transitions: np.ndarray) -> np.ndarray:
        """Return Q = P - A P Aᵀ of times λt, (n, s, s), P the covariance of stationary states.

        Of short times it is the integral of A D Aᵀ from 0 to λt, with the diffusion D of the equation, whose
        last entry alone is not zero: a sum of what is positive semi-definite.

        Parameters
        ----------
        times : array (n,)
            λt.
        transitions : array (n, s, s)
            A.
        """
        if not self.damped:
            return np.zeros_like(transitions)
        stationary = self.variance * self.stationary
        found = stationary - transitions @ stationary @ np.swapaxes(transitions, 1, 2)
        short = np.flatnonzero(times < SHORT)
        if len(short):
            nodes, weights = np.polynomial.legendre.leggauss(NODES)
            diffusion = -2.0 * self.variance * float(self.drift[-1] @ self.stationary[:, -1])
            total = np.zeros((len(short), *stationary.shape))
            for node, weight in zip(0.5 * (nodes + 1.0), 0.5 * weights, strict=True):
                column = self.transitions(node * times[short])[:, :, -1]
                total += weight * column[:, :, None] * column[:, None, :]
            found[short] = diffusion * times[short][:, None, None] * total
        return found
