"""Mixtures of independent Bernoulli and of independent categorical columns."""

from typing import Any, ClassVar

import numpy as np

from tractable.base import check_number
from tractable.mixture.table.estimator import BaseTableMixture


class BernoulliMixture(BaseTableMixture):
    """Mixture of independent Bernoulli columns, for rows of zeros and ones, fitted by EM.

    p(x) = Σ_k π_k Π_j μ_kj^x_j (1 - μ_kj)^(1 - x_j) for rows of zeros and ones, Bishop (9.44), by EM.

    An iteration is two matrix products around a softmax. Missing entries (NaN) drop out exactly.

    The objective is the log likelihood and α Σ (log μ + log(1 - μ)), the log of a Beta(1 + α, 1 + α) prior:
    the M-step is μ_kj = (n_kj1 + α) / (n_kj + 2α), Laplace's smoothing for α = 1 (scikit-learn's default in
    its naive Bayes of the same family). α = 0 is maximum likelihood, under which a row that no component can
    have made is impossible.

    Parameters
    ----------
    n_components : int
        K.
    alpha : float
        Pseudo-observations of one and of zero in each column of each component.
    binarize : float or None
        Entries above are ones, others zeros, as in scikit-learn's BernoulliNB; None where rows are zeros and
        ones already.
    tol, max_iter, n_init, warm_start, random_state
        Of the search, as in :class:`tractable.TableMixture`.

    Attributes
    ----------
    distribution_ : Mixture
        Of a `Product` of `Bernoulli`, one a column.
    weights_ : array of shape (n_components,)
        Mixing weights π_k.
    probabilities_ : array of shape (n_components, n_features)
        μ.
    collapsed_, n_unseen_, n_parameters_, converged_, n_iter_, lower_bound_, objective_trace_
        As in :class:`tractable.TableMixture`.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X = np.array([[1, 1, 0], [1, 1, 0], [1, 1, 1], [0, 0, 1], [0, 0, 1]])
    >>> model = tractable.BernoulliMixture(2, alpha=0.01, random_state=0).fit(X)
    >>> model.probabilities_[model.predict(X)[0]].round(2)
    array([1.  , 1.  , 0.33])
    """

    _default: ClassVar[str] = "bernoulli"

    def __init__(
        self,
        n_components: int = 1,
        *,
        alpha: float = 1.0,
        binarize: float | None = 0.0,
        warm_start: bool = False,
        tol: float = 1e-5,
        max_iter: int = 500,
        n_init: int = 1,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_components, tol, max_iter, n_init, warm_start, random_state)
        self.alpha = alpha
        self.binarize = binarize

    @property
    def probabilities_(self) -> np.ndarray:
        """Probability of a one, (n_components, n_features)."""
        return self._density().components.mean

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.binarize is not None:
            check_number("binarize", self.binarize)

    def _coded(self, X: Any, leave: Any = None, *, reset: bool = False) -> Any:
        return X  # a frame of numbers or booleans is read as it is


class CategoricalMixture(BaseTableMixture):
    """Latent class model for categorical columns, p(x) = Σ_k π_k Π_j Cat(x_j | θ_kj), fitted by EM.

    Within a component the columns are independent; that components differ is what makes columns depend on one
    another. Missing entries (NaN, None) drop out exactly.

    The objective is the log likelihood and α Σ log θ, the log of a Dirichlet(1 + α) prior: the M-step is
    θ_kjc = (n_kjc + α) / (n_kj + α C_j), Laplace's smoothing for α = 1 (scikit-learn's default in its naive
    Bayes of categories). α = 0 is maximum likelihood, under which a row with a category that no component has
    seen is impossible.

    Parameters
    ----------
    n_components : int
        K.
    alpha : float
        Pseudo-observations of each category in each component.
    unseen, tol, max_iter, n_init, warm_start, random_state
        As in :class:`tractable.TableMixture`.

    Attributes
    ----------
    distribution_ : Mixture
        Of a `Product` of `Categorical`, one a column, over the codes of the categories.
    weights_ : array of shape (n_components,)
        Mixing weights π_k.
    probabilities_ : list of arrays of shape (n_components, C_j)
        θ_kj, the probabilities of the C_j categories of each column.
    categories_ : dict from column to its categories, of which position c has the code c
        Numbers are codes 0, 1, …, up to the largest seen; text is sorted; a frame's categories keep their
        order.
    collapsed_, n_unseen_, n_parameters_, converged_, n_iter_, lower_bound_, objective_trace_
        As in :class:`tractable.TableMixture`.

    Examples
    --------
    >>> import tractable
    >>> X = [["red", "round"], ["red", "round"], ["green", "long"], ["green", "long"], ["red", None]]
    >>> model = tractable.CategoricalMixture(2, alpha=0.1, random_state=0).fit(X)
    >>> model.categories_
    {0: ('green', 'red'), 1: ('long', 'round')}
    >>> bool(model.predict(X)[0] == model.predict(X)[4])
    True
    >>> model.condition({0: "red"}).mean.round(2)  # of the code: 1 is round
    array([0.91])
    """

    _default: ClassVar[str] = "categorical"
    _reads_text = _positive_only = True

    def __init__(
        self,
        n_components: int = 1,
        *,
        alpha: float = 1.0,
        unseen: str = "error",
        tol: float = 1e-5,
        max_iter: int = 500,
        n_init: int = 1,
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_components, tol, max_iter, n_init, warm_start, random_state)
        self.alpha, self.unseen = alpha, unseen

    @property
    def probabilities_(self) -> list[np.ndarray]:
        """Probabilities of the categories of each column, (n_components, C_j)."""
        return [part.probabilities for part in self._density().components.parts]

    @property
    def categories_(self) -> dict[Any, tuple[Any, ...]]:
        """The categories of each column."""
        return self._columns_.values_of_categories(self._encoding_.categorical, self._encoding_.sizes)
