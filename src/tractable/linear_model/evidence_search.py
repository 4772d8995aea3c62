"""The precisions of prior and noise that make the targets most probable."""

from math import log
from typing import Any

from tractable.arrays.namespace import namespace_of
from tractable.engines import em
from tractable.linear_model.evidence import EvidencePoint, EvidenceSpectrum
from tractable.linear_model.fixed_point import bounded_ratio, fixed_point
from tractable.value import value

__all__ = ["METHODS", "EvidenceSearch", "HyperPriors", "Precisions"]

#: A prior this much surer than the rows leaves nothing of them.
SUREST = 1e12


@value
class Precisions:
    """Precisions of the coefficients and of the noise."""

    prior: float
    noise: float


@value
class HyperPriors:
    """Gamma priors of both precisions (shape and rate; zero for a flat one), and a floor of the noise."""

    prior_shape: float
    prior_rate: float
    noise_shape: float
    noise_rate: float
    noise_floor: float

    def log_density(self, prior: float, noise: float) -> float:
        """Return their log density but for a constant."""
        return float(
            _log_gamma(prior, self.prior_shape, self.prior_rate)
            + _log_gamma(noise, self.noise_shape, self.noise_rate)
        )


@value
class EvidenceSearch:
    """Where a search ended.

    Parameters
    ----------
    point : EvidencePoint
    scores : tuple of float
        The objective before the first step and after each.
    converged : bool
    interrupted : bool
    """

    point: EvidencePoint
    scores: tuple[float, ...]
    converged: bool
    interrupted: bool = False


@value
class _Step:
    """Precisions, and the coefficients that they were made from."""

    at: Precisions
    coef: Any = None


@value
class _Expected:
    """A point and its penalised evidence, as the engine of EM wants it."""

    point: EvidencePoint
    objective: float


def mackay(
    spectrum: EvidenceSpectrum, start: Precisions, hyper: HyperPriors, *, tol: float, max_iter: int
) -> EvidenceSearch:
    """Repeat MacKay's fixed point, prior = γ / |m|² and 1 / noise = |y - Xm|² / (N - γ).

    It stops when the coefficients move by less than `tol` in all, as scikit-learn does. A step may lose
    evidence; the fixed point is that of EM.
    """
    xp = namespace_of(spectrum.singular)

    def step(before: _Step) -> tuple[_Step, float, bool]:
        expected = _expect(spectrum, hyper, before.at)
        point = expected.point
        at = _precisions(
            spectrum, hyper, point, point.gamma, point.length, spectrum.weight - point.gamma, point.residual
        )
        coef = spectrum.basis @ point.coef
        settled = before.coef is not None and float(xp.sum(xp.abs(coef - before.coef))) < tol
        return _Step(at=at, coef=coef), expected.objective, settled

    found = fixed_point(step, _Step(at=start), max_iter=max_iter)
    last = _expect(spectrum, hyper, found.state.at)
    return EvidenceSearch(
        point=last.point,
        scores=(*found.scores, last.objective),
        converged=found.converged,
        interrupted=found.interrupted,
    )


def expectation_maximisation(
    spectrum: EvidenceSpectrum, start: Precisions, hyper: HyperPriors, *, tol: float, max_iter: int
) -> EvidenceSearch:
    """Repeat the steps of EM, prior = D / (|m|² + Tr S) and 1 / noise = (|y - Xm|² + Tr XSXᵀ) / N.

    The penalised evidence never falls. It has plateaus, so the search stops when both precisions
    change by less than `tol` of themselves.
    """

    def expect(at: Precisions) -> _Expected:
        return _expect(spectrum, hyper, at)

    def settled(at: Precisions, following: Precisions) -> bool:
        return _near(at.prior, following.prior, tol) and _near(at.noise, following.noise, tol)

    def maximize(expected: _Expected) -> Precisions:
        point = expected.point
        return _precisions(
            spectrum,
            hyper,
            point,
            spectrum.basis.shape[0],
            point.length + point.trace,
            spectrum.weight,
            point.residual + point.trace_fit,
        )

    found = em(expect, maximize, start, max_iter=max_iter, label="evidence", settled=settled)
    return EvidenceSearch(
        point=expect(found.params).point,
        scores=found.trace,
        converged=found.converged,
        interrupted=found.interrupted,
    )


METHODS: dict[str, Any] = {"mackay": mackay, "em": expectation_maximisation}


def _expect(spectrum: EvidenceSpectrum, hyper: HyperPriors, at: Precisions) -> _Expected:
    point = spectrum.at(at.prior, at.noise)
    return _Expected(point=point, objective=point.log_evidence + hyper.log_density(at.prior, at.noise))


def _precisions(
    spectrum: EvidenceSpectrum,
    hyper: HyperPriors,
    point: EvidencePoint,
    n_coef: float,
    length: float,
    n_rows: float,
    residual: float,
) -> Precisions:
    """Return new precisions from numbers of terms and sums of squares; bounded, so that nothing overflows."""
    xp = namespace_of(spectrum.singular)
    reach = point.noise * float(xp.max(spectrum.singular)) ** 2
    surest = SUREST * reach if reach > 0.0 else point.prior
    shape, rate = n_coef + 2.0 * hyper.prior_shape, length + 2.0 * hyper.prior_rate
    rows, squares = n_rows + 2.0 * hyper.noise_shape, residual + 2.0 * hyper.noise_rate
    return Precisions(
        prior=float(bounded_ratio(shape, rate, surest, point.prior)),
        noise=float(bounded_ratio(rows, squares, 1.0 / hyper.noise_floor, point.noise)),
    )


def _log_gamma(x: float, shape: float, rate: float) -> float:
    return shape * log(x) - rate * x


def _near(a: float, b: float, tol: float) -> bool:
    return abs(a - b) <= tol * b
