"""Choice of the number and covariance shape of mixture components by BIC, ICL or AIC."""

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import clone

from tractable.arrays.namespace import is_foreign_array
from tractable.arrays.random import as_generator
from tractable.base import check_choice, check_columns, check_numbers, check_weights
from tractable.covariance.shapes import SHAPES
from tractable.data import is_streamed
from tractable.data.progress import progress
from tractable.engines.kmeans import shared_clusters
from tractable.mixture import CollapsedComponentWarning, GaussianMixture
from tractable.mixture.base import information_criteria
from tractable.mixture.gaussian.starts import best_starts, can_share_starts, initial_values
from tractable.mixture.gaussian.steps import GaussianProblem
from tractable.mixture.selection import ComponentChoice
from tractable.primitives.threads import single_threaded_blas

CRITERIA = ("bic", "icl", "aic")


def select_components(
    X: Any,
    n_components: Iterable[int] = range(1, 10),
    covariance_types: Iterable[str] = ("full", "tied", "diag", "spherical"),
    *,
    criterion: str = "bic",
    sample_weight: Any = None,
    estimator: Any = None,
) -> ComponentChoice:
    """Choose the number of components of a Gaussian mixture, and the shape of their covariances.

    BIC approximates the evidence; ICL also penalises overlap, for clusters; AIC approximates the prediction
    error. A mixture with a collapsed component, whose likelihood has no bound, is left out of the choice
    unless all have one. Warnings of the fits are given once, with the fits they concern.

    From several starts of a mixture there are runs of EM, of all mixtures of a shape together, until an
    iteration raises the mean log-likelihood of a row by less than 0.001; the best goes on (Biernacki, Celeux
    and Govaert 2003), to the `tol` of the estimator where it is near the best mixture by any of the criteria.
    The `tol` of a model says which it was.

    Parameters
    ----------
    X : array or frame (n_samples, n_features)
        Held in memory. Missing entries (NaN) are marginalised.
    n_components : iterable of int
        At most as many as there are rows that count.
    covariance_types : str or iterable of str
        Of those that `GaussianMixture` takes: "full", "tied", "diag", "spherical", "low_rank" and mclust's
        fourteen, which `MCLUST_SHAPES` in `tractable.covariance` lists.
    criterion : {"bic", "icl", "aic"}
        The one that decides; all are reported.
    sample_weight : array (n_samples,), optional
        How often each row counts.
    estimator : GaussianMixture, optional
        Every other parameter; six starts of each mixture when not given.

    Returns
    -------
    ComponentChoice
        With `best`, `best_model`, `scores` and `models`; `tractable.plot` draws it.

    Examples
    --------
    >>> import tractable
    >>> X = tractable.datasets.load("old_faithful").X
    >>> found = select_components(X, range(1, 4), ["full", "tied"])
    >>> found.best
    (3, 'tied')
    >>> found
    K      full      tied
    1  2607.62   2607.62
    2  2322.19   2325.22
    3  2325.42   2314.51*
    3 components, tied: lowest bic
    """
    check_choice("criterion", criterion, CRITERIA)
    numbers, kinds = check_numbers("n_components", n_components), _kinds(covariance_types)
    base = GaussianMixture(n_init=6, random_state=0) if estimator is None else estimator
    if not isinstance(base, GaussianMixture):
        raise ValueError(f"estimator must be a GaussianMixture, got {type(base).__name__}")
    _check_rows(base, X, sample_weight, numbers)
    models = [
        [clone(base).set_params(n_components=number, covariance_type=kind) for number in numbers]
        for kind in kinds
    ]
    race = Race(base=base, X=X, sample_weight=sample_weight, models=models)
    # Mixtures of as many components, whatever their shape, begin at the same clusters.
    with (
        shared_clusters(),
        single_threaded_blas(),
        progress("mixtures", len(kinds) * len(numbers)) as line,
    ):
        for i, kind in enumerate(kinds):
            starts = race.starts(i)
            for j, number in enumerate(numbers):
                race.start(i, j, starts.get(number, {}))
                line.advance(note=f"{number} {kind}")
        race.finish()
    _warn(race.warned)
    return ComponentChoice(
        n_components=np.asarray(numbers),
        covariance_types=tuple(kinds),
        scores=race.scores,
        criterion=criterion,
        models=tuple(map(tuple, models)),
    )


#: Growth of the mean log-likelihood of a row at which runs from several starts end, and mixtures that cannot
#: be chosen.
ROUGH = 1e-3

#: Iterations of EM, each with the growth at which a rough fit ended, by which it may still be the best.
MORE_STEPS = 20


class Race:
    """Mixtures (t, m) that are fitted roughly, and those near the best to the end.

    Parameters
    ----------
    base : GaussianMixture
        Whose `tol`, `n_init` and `warm_start` the fits end with.
    X, sample_weight
        The rows, and how often each counts.
    models : list of lists
        The mixtures, not yet fitted.
    """

    def __init__(self, base: GaussianMixture, X: Any, sample_weight: Any, models: list[list[Any]]) -> None:
        self.base, self.X, self.sample_weight, self.models = base, X, sample_weight, models
        shape = len(models), len(models[0])
        self.scores = {name: np.empty(shape) for name in CRITERIA}
        self._caught: dict[tuple[int, int], list[warnings.WarningMessage]] = {}

    def starts(self, i: int) -> dict[int, dict[str, Any]]:
        """Return initial parameters of the mixtures of a shape, by number; of none, where they are given."""
        model = clone(self.models[i][0])
        given = (self.base.weights_init, self.base.means_init, self.base.precisions_init)
        if (
            model.n_init == 1
            or model.covariance_type == "low_rank"
            or model.init_params != "kmeans"
            or any(part is not None for part in (*given, model.covariance_prior))
        ):
            return {}
        problem = self._problem(model)
        if not can_share_starts(problem):
            return {}
        rng = as_generator(model.random_state, name="random_state")
        numbers = [model.n_components for model in self.models[i]]
        tol = max(ROUGH, self.base.tol)
        found = best_starts(problem, numbers, model.n_init, rng, tol=tol, max_iter=model.max_iter)
        return {number: initial_values(params, problem) for number, params in found.items()}

    def start(self, i: int, j: int, initial: dict[str, Any]) -> None:
        """Fit a mixture roughly, from initial parameters where there are any."""
        self._fit(i, j, tol=max(ROUGH, self.base.tol), **initial)
        self._score(i, j)

    def finish(self) -> None:
        """Go on with the mixtures that may be the best, until the best is among those that were ended."""
        while near := [at for at in np.ndindex(*self.collapsed.shape) if self._may_be_best(*at)]:
            for i, j in near:
                self._fit(i, j, tol=self.base.tol, warm_start=True)
                self._score(i, j)

    @property
    def warned(self) -> dict[type[Warning], dict[str, str]]:
        """Of each category of warnings of the last fits, the messages by mixture."""
        found: dict[type[Warning], dict[str, str]] = {}
        for (i, j), caught in sorted(self._caught.items()):
            model = self.models[i][j]
            for warning in caught:
                name = f"{model.n_components} {model.covariance_type}"
                found.setdefault(warning.category, {}).setdefault(name, str(warning.message))
        return found

    @property
    def collapsed(self) -> np.ndarray:
        """Which mixtures have a collapsed component, (t, m)."""
        return np.array([[bool(np.any(model.collapsed_)) for model in fits] for fits in self.models])

    def _problem(self, model: GaussianMixture) -> GaussianProblem:
        model._check_parameters()  # noqa: SLF001  (the steps of its fit, for many at once)
        rows = model._validate_rows(self.X, None, self.sample_weight, reset=True)  # noqa: SLF001
        return model._em_problem(rows, fitted=False)  # noqa: SLF001

    def _fit(self, i: int, j: int, *, tol: float, warm_start: bool = False, **initial: Any) -> None:
        model = self.models[i][j]
        own = {name: getattr(self.base, name) for name in ("warm_start", "n_init", *initial)}
        n_init = 1 if initial else self.base.n_init
        model.set_params(tol=tol, warm_start=warm_start, n_init=n_init, **initial)
        with warnings.catch_warnings(record=True) as self._caught[i, j]:
            warnings.simplefilter("always")
            model.fit(self.X, sample_weight=self.sample_weight)
        model.set_params(**own)

    def _score(self, i: int, j: int) -> None:
        for name, value in information_criteria(self.models[i][j], self.X, self.sample_weight).items():
            self.scores[name][i, j] = value

    def _may_be_best(self, i: int, j: int) -> bool:
        """Whether a rough fit may by any criterion be better, at its end, than the best so far."""
        model, collapsed = self.models[i][j], self.collapsed
        if model.tol <= self.base.tol or (collapsed[i, j] and not collapsed.all()):
            return False
        open_to = np.ones_like(collapsed) if collapsed.all() else ~collapsed
        bic, aic = (self.scores[name][i, j] for name in ("bic", "aic"))
        n_rows = np.exp((bic - aic) / model.n_parameters_ + 2.0)  # BIC - AIC is parameters · (log n - 2)
        growth = 2.0 * n_rows * model.tol * MORE_STEPS
        return any(table[i, j] <= table[open_to].min() + growth for table in self.scores.values())


def _kinds(given: Any) -> list[str]:
    kinds = [given] if isinstance(given, str) else list(dict.fromkeys(given))
    if not kinds:
        raise ValueError("covariance_types must name at least one shape, got none")
    for kind in kinds:
        check_choice("covariance_types", kind, SHAPES)
    return kinds


def _check_rows(base: GaussianMixture, X: Any, sample_weight: Any, numbers: list[int]) -> None:
    """Raise before the first fit where the last could not be made."""
    if is_streamed(X) or is_foreign_array(X):
        raise ValueError("X must be an array of NumPy or a frame, held in memory: criteria look at it again")
    rows = check_columns(clone(base), X, reset=True)
    weights = None if isinstance(sample_weight, str) else check_weights(sample_weight, rows)
    n = len(rows) if weights is None else int(np.count_nonzero(weights))
    if numbers[-1] > n:
        raise ValueError(f"n_components must be at most the {n} rows of X that count, got {numbers[-1]}")


def _warn(warned: dict[type[Warning], dict[str, str]]) -> None:
    """Warn once of every category, with the fits it concerns."""
    for category, fits in warned.items():
        message = next(iter(fits.values()))
        if category is CollapsedComponentWarning:
            message = "components collapsed; these mixtures are chosen only where all are such"
        warnings.warn(f"{', '.join(fits)}: {message}", category, stacklevel=3)
