"""The base of every estimator: contract with scikit-learn, tags, and fits that succeed or change nothing."""

import copy
from abc import ABC
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from tractable.arrays.devices import beside, clear_device_errors, empty_tensor, on_host
from tractable.arrays.namespace import is_collection, is_foreign_array, is_numpy_array, library_of
from tractable.base.options import by_seed_name, is_inert, take_options
from tractable.base.parameters import check_flags, plain_numbers
from tractable.primitives import native
from tractable.primitives.threads import FEW_COLUMNS, FEW_ROWS, single_threaded_blas
from tractable.value import value


@value
class ModelTags:
    """What kind of model an estimator is.

    Parameters
    ----------
    kind : {"generative", "discriminative", "mapping"}
        Generative models describe p(x), discriminative ones p(y given x); a mapping has no likelihood.
    parametric : bool
        Whether the size of the fitted model is independent of the number of rows.
    streaming : {"exact in one pass", "exact over several passes", "approximate", "no"}
        What `partial_fit` and sources give, compared with the rows held in memory.
    missing_values : bool
        Whether NaN entries are marginalised, in learning and in predictions.
    missing_in_predictions : bool
        Whether predictions marginalise NaN entries where learning refuses them; scikit-learn has no such tag.
    """

    kind: Literal["generative", "discriminative", "mapping"]
    parametric: bool
    streaming: Literal["exact in one pass", "exact over several passes", "approximate", "no"]
    missing_values: bool = False
    missing_in_predictions: bool = False

    @property
    def predicts_missing(self) -> bool:
        """Whether rows with NaN entries have predictions."""
        return self.missing_values or self.missing_in_predictions


def tags(estimator: Any) -> ModelTags:
    """Return the tags of an estimator: its task, how it streams, what input it takes.

    Parameters
    ----------
    estimator : estimator
        An estimator of this library.

    Examples
    --------
    >>> import tractable
    >>> tractable.tags(tractable.GaussianDensity()).streaming
    'exact in one pass'
    """
    found = getattr(estimator, "model_tags", None)
    if not isinstance(found, ModelTags):
        raise ValueError(f"estimator must be one of this library's models, got {type(estimator).__name__}")
    return found


#: Entries up to which rows of few columns in memory are learned from with one thread of BLAS.
SMALL = 2**22

#: What a search and a fold leave to be read, merged and drawn; it stays where it was made.
RECORDS = ("statistic_", "cv_curve_", "objective_trace_", "lower_bounds_")

#: What is known of each row of a fit: as long as the rows, and never learned from.
OF_ROWS = ("labels_",)

F = TypeVar("F", bound=Callable[..., Any])

# The core is loaded with the models: a child that is forked during an import waits for its lock.
native(np.empty(0))


class FitInterrupted(KeyboardInterrupt):
    """Ctrl-C during a search: the best model so far is the result."""


class Estimator(BaseEstimator, ABC):
    """An estimator whose constructor only stores parameters and whose learned names end in ``_``."""

    model_tags: ModelTags
    #: Whether columns may be text and categories, whether numbers must not be negative, whether rows may be
    #: sparse, and whether a row may have several targets.
    _reads_text: ClassVar[bool] = False
    _positive_only: ClassVar[bool] = False
    _takes_sparse: ClassVar[bool] = False
    #: The methods that take sparse rows as they are; others are given them in dense blocks.
    _sparse_methods: ClassVar[tuple[str, ...]] = ()
    _several_targets: ClassVar[bool] = False
    #: Whether parameters are learned on the host from statistics of rows that stay on a device; what users
    #: read is then moved to the device, and the state of the search is not.
    _learns_on_host: ClassVar[bool] = False
    #: Whether rows that are stored may be on a device: the model is learned, and answers, there.
    _stores_tensors: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            cls.__init__ = take_options(vars(cls)["__init__"])  # type: ignore[method-assign]

    @classmethod
    @cache
    def _get_param_names(cls) -> Any:
        """Return the names of the parameters, read off the constructor once a class."""
        return super()._get_param_names()

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; ``kernel__length_scale=2.0`` replaces a kernel, which is a value."""
        names = self.get_params(deep=False)
        params = by_seed_name(params, names)
        params = {n: x for n, x in params.items() if n in names or not is_inert(type(self), n)}
        inside: dict[str, dict[str, Any]] = {}
        for name in list(params):
            outer, _, inner = name.partition("__")
            held = params.get(outer, names.get(outer))
            if inner and hasattr(held, "with_params"):
                inside.setdefault(outer, {})[inner] = params.pop(name)
        super().set_params(**params)
        for outer, changes in inside.items():
            setattr(self, outer, getattr(self, outer).with_params(**changes))
        return self

    def to(self, device: Any) -> Self:
        """Return a copy of the fitted model whose arrays are tensors of torch on a device.

        Parameters
        ----------
        device : str or torch.device
            "cpu", "cuda", "cuda:1", …
        """
        check_fitted(self)
        with clear_device_errors():
            return self._moved(empty_tensor(device))

    def numpy(self) -> Self:
        """Return a copy of the fitted model whose arrays are NumPy's, on the host."""
        check_fitted(self)
        return self._moved(np.empty(0))

    def _device_of_parameters(self, X: Any) -> Any:
        """Return an array where the parameters of a model that learns on the host are to be; None there."""
        if not self._learns_on_host:
            return None
        if is_foreign_array(X):
            return X
        held = next((x for x in vars(self).values() if is_foreign_array(x)), None)
        return X if held is not None and is_numpy_array(X) else held

    def _moved(self, like: Any) -> Self:
        """Return a copy whose arrays are in the library, and on the device, of another."""
        moved = copy.copy(self)
        for name, x in vars(self).items():
            if name.endswith("_") and (is_numpy_array(like) or self._follows_rows(name)):
                moved.__dict__[name] = beside(x, like)
        moved._library_ = None if is_numpy_array(like) else library_of(like)
        return moved

    def _follows_rows(self, name: str) -> bool:
        """Return whether an attribute is on the device of the rows."""
        return name not in RECORDS and not (self._learns_on_host and name.startswith("_"))

    def _answers_sparse(self, method: str, X: Any) -> bool:
        """Whether a method takes these sparse rows as they are, not in dense blocks."""
        known = X.shape[1] == getattr(self, "n_features_in_", None) and not hasattr(self, "feature_names_in_")
        return known and method in self._sparse_methods

    def __sklearn_tags__(self) -> Any:
        found = super().__sklearn_tags__()
        found.input_tags.allow_nan = self.model_tags.missing_values
        found.input_tags.categorical = found.input_tags.string = self._reads_text
        found.input_tags.positive_only = self._positive_only
        found.input_tags.sparse = self._takes_sparse
        if self._several_targets:
            found.target_tags.multi_output = True
        if found.transformer_tags is not None:
            found.transformer_tags.preserves_dtype = ["float64", "float32"]
        return found


def all_or_nothing(*, afresh: bool, square: bool = False) -> Callable[[F], F]:
    """Make a method that learns change its estimator only when it succeeds.

    It runs on a copy, once parameters that are True or False are seen to be, with the numbers of NumPy among
    its parameters as Python's: eight bits hold what was given, and not what is computed from it. An
    interruption (Ctrl-C) leaves the estimator as it was too, unless the method raises `FitInterrupted`: a
    model was learned before it stopped. With `afresh`, the copy begins without what earlier fits learned.
    A model whose matrices are of rows × rows says so by `square`: BLAS then has a thread for few rows alone.
    """

    def decorate(learn: F) -> F:
        @wraps(learn)
        def learned(self: Any, *args: Any, **options: Any) -> Any:
            check_flags(self)
            X = args[0] if args else options.get("X")
            like = self._device_of_parameters(X)
            narrow = plain_numbers(self)
            work = object.__new__(type(self))
            if afresh:
                kept = {name: x for name, x in vars(self).items() if name[-1] != "_"}
            else:
                kept = vars(self) if like is None else _learned_on_host(self)
            work.__dict__ = {**kept, **narrow}
            try:
                with single_threaded_blas(_is_narrow(X, square)), clear_device_errors():
                    learn(work, *args, **options)
            except FitInterrupted:
                _take_over(self, work, narrow, like)
                raise
            _take_over(self, work, narrow, like)
            return self

        return learned  # type: ignore[return-value]

    return decorate


def _learned_on_host(estimator: Any) -> dict[str, Any]:
    """Return attributes, those that learning reads on the host; what is as long as the rows stays there."""
    small = {name: x for name, x in vars(estimator).items() if name.endswith("_") and name not in OF_ROWS}
    return vars(estimator) | on_host(small)


def _is_narrow(X: Any, square: bool) -> bool:
    """Return whether the matrices of a fit to X are too small for several threads of BLAS.

    Folds use every core, a block a thread. Threads that share one small product or factor wait for each
    other, for a thousand times the work where the cores are busy.
    """
    if is_collection(X):  # its rows are folded elsewhere
        return not square
    shape: Any = getattr(X, "shape", ())
    if square:
        return len(shape) == 2 and shape[0] <= FEW_ROWS
    return len(shape) == 2 and shape[1] <= FEW_COLUMNS and shape[0] * shape[1] <= SMALL


def _take_over(estimator: Any, work: Any, narrow: dict[str, Any], like: Any) -> None:
    """Give an estimator what its copy learned, and leave its own parameters as they were given.

    Where the rows are on a device, that of `like`, so is what was learned.
    """
    work = work if like is None else work._moved(like)  # noqa: SLF001
    estimator.__dict__ = {**vars(work), **{name: vars(estimator)[name] for name in narrow}}


def check_fitted(estimator: Any) -> None:
    """Raise scikit-learn's NotFittedError where nothing has been learned: no name ends in ``_``."""
    # Its own check asks for all tags first: half of the work of a prediction of one row.
    known = vars(estimator)
    if "n_features_in_" in known:
        return
    if not any(name.endswith("_") and not name.startswith("__") for name in known):
        check_is_fitted(estimator)


def check_answerable(estimator: Any) -> None:
    """Raise where nothing has been learned, or where the rows so far do not determine the model."""
    check_fitted(estimator)
    if hasattr(estimator, "undetermined_"):
        raise ValueError(f"more rows are needed: {estimator.undetermined_}")
