"""What kernels made of others share."""

from numbers import Real
from typing import Any, ClassVar

from tractable.kernels.base import Kernel
from tractable.kernels.constant import Constant


class Combinator(Kernel):
    """Kernels put together in an order; each has a number, ``k1``, ``k2``, …."""

    #: The argument of the constructor that holds them.
    _argument: ClassVar[str]

    @property
    def _together(self) -> tuple[Kernel, ...]:
        return getattr(self, self._argument)

    def _part_arguments(self, parts: list[Kernel]) -> dict[str, Any]:
        return {self._argument: parts}

    @classmethod
    def _checked(cls, name: str, given: Any) -> tuple[Kernel, ...]:
        try:
            found = tuple(given)
        except TypeError:
            found = ()
        if not found or not all(isinstance(k, Kernel) for k in found):
            raise ValueError(f"{name} must be kernels, one at least, got {given!r:.80}")
        return found

    @property
    def _parts(self) -> tuple[tuple[str, Kernel], ...]:
        return tuple((f"k{i}", k) for i, k in enumerate(self._together, 1))

    @property
    def is_stationary(self) -> bool:  # type: ignore[override]
        """Whether the kernel is a function of x - x' alone."""
        return all(k.is_stationary for k in self._together)

    @property
    def is_isotropic(self) -> bool:  # type: ignore[override]
        """Whether the kernel is a function of |x - x'| alone."""
        return all(k.is_isotropic for k in self._together)

    @property
    def is_positive_semidefinite(self) -> bool:  # type: ignore[override]
        """Whether the kernel is positive semi-definite at all its parameters."""
        return all(k.is_positive_semidefinite for k in self._together)


class Wrapped(Kernel):
    """A kernel made of one other, its argument `kernel`."""

    kernel: Kernel

    @property
    def _parts(self) -> tuple[tuple[str, Kernel], ...]:
        return (("kernel", self.kernel),)

    @property
    def is_stationary(self) -> bool:  # type: ignore[override]
        """Whether the kernel is a function of x - x' alone."""
        return self.kernel.is_stationary

    @property
    def is_isotropic(self) -> bool:  # type: ignore[override]
        """Whether the kernel is a function of |x - x'| alone."""
        return self.kernel.is_isotropic

    @property
    def is_positive_semidefinite(self) -> bool:  # type: ignore[override]
        """Whether the kernel is positive semi-definite at all its parameters."""
        return self.kernel.is_positive_semidefinite


def as_kernel(x: Any) -> Kernel:
    """Return a kernel, or the constant kernel of a number."""
    if isinstance(x, Kernel):
        return x
    if isinstance(x, Real):
        return Constant(float(x))
    raise ValueError(f"a kernel is added to kernels and numbers, got {x!r:.80}")
