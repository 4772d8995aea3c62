"""Beliefs as data arrive."""

from collections.abc import Iterator
from typing import Any

from tractable.value import value

__all__ = ["Updates"]


@value
class Updates:
    """The same model before any data and after each statistic: a result to draw.

    Parameters
    ----------
    models : tuple of ConjugateModel
        The first is what was believed before any data, the last what is believed after all of them.

    Examples
    --------
    >>> from tractable.conjugate import NormalMeanModel
    >>> from tractable.distributions import Normal
    >>> model = NormalMeanModel(prior=Normal(mean=0.0, variance=1.0), variance=4.0)
    >>> steps = model.trace([model.summarize([4.0]), model.summarize([6.0, 5.0])])
    >>> [round(float(m.mean()), 3) for m in steps]
    [0.0, 0.8, 2.143]
    """

    models: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.models)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.models)

    def __getitem__(self, index: int) -> Any:
        return self.models[index]
