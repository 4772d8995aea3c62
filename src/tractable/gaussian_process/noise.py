"""The noise of a kernel: a term of a sum, however it is scaled."""

from typing import Any

import numpy as np

from tractable.kernels import Constant, Kernel, Product, Scaled, Sum, White


def split_noise(kernel: Kernel) -> tuple[Kernel, White | None]:
    """Return a kernel without its term of white noise, and this term.

    A scaled term, 2 White, is one too, and so is one within a scaled sum, 2 (k + White) = 2 k + 2 White.
    Where other hyper-parameters would then be learned than were asked for the noise stays where it is: where
    one has a prior, or where only the scale of such a sum is free.

    Parameters
    ----------
    kernel : Kernel
        The kernel that was given.
    """
    rest, white = _split(kernel)
    if len(white) > 1:
        raise ValueError(f"kernel must have one term of white noise at most, got {kernel!r}")
    if not rest:
        raise ValueError(f"kernel must have a term besides white noise, got {kernel!r}")
    return (rest[0] if len(rest) == 1 else Sum(terms=rest)), white[0] if white else None


def _split(kernel: Kernel) -> tuple[list[Kernel], list[White]]:
    """Return the terms of a kernel that are no white noise, and those that are."""
    if isinstance(kernel, White):
        return [], [kernel]
    if isinstance(kernel, Sum):
        found = [_split(term) for term in kernel.terms]
        return [k for rest, _ in found for k in rest], [k for _, white in found for k in white]
    inner, constant = _factored(kernel)
    if constant is None:
        return [kernel], []
    rest, white = _split(inner)
    if not white or not all(_folds(constant, noise, shared=bool(rest)) for noise in white):
        return [kernel], []
    scaled = [_times(constant, rest[0] if len(rest) == 1 else Sum(terms=rest))] if rest else []
    return scaled, [_scaled_noise(constant, noise) for noise in white]


def _factored(kernel: Kernel) -> tuple[Kernel, Constant | None]:
    """Return what a kernel scales by a number, and this number; the kernel and None where it is none."""
    if isinstance(kernel, Scaled) and kernel.function is None:
        constant = Constant(
            kernel.scale, constant_value_bounds=kernel.scale_bounds, constant_value_prior=kernel.scale_prior
        )
        return kernel.kernel, constant
    if isinstance(kernel, Product):
        at = [i for i, factor in enumerate(kernel.factors) if isinstance(factor, Constant)]
        others = [factor for i, factor in enumerate(kernel.factors) if i not in at[:1]]
        if at and others:
            found: Any = kernel.factors[at[0]]
            return others[0] if len(others) == 1 else Product(factors=others), found
    return kernel, None


def _folds(constant: Constant, noise: White, *, shared: bool) -> bool:
    """Whether a scale times noise is noise of one hyper-parameter; `shared` where it scales others too."""
    if constant.constant_value_prior is not None or noise.noise_level_prior is not None:
        return False
    return not shared or _is_fixed(constant.constant_value_bounds) or not _is_fixed(noise.noise_level_bounds)


def _scaled_noise(constant: Constant, noise: White) -> White:
    """Return the noise times a number; what is free of either is free."""
    ends = [
        np.full(2, number) if _is_fixed(bounds) else np.asarray(bounds, dtype=np.float64)
        for number, bounds in (
            (constant.constant_value, constant.constant_value_bounds),
            (noise.noise_level, noise.noise_level_bounds),
        )
    ]
    fixed = _is_fixed(constant.constant_value_bounds) and _is_fixed(noise.noise_level_bounds)
    bounds: Any = "fixed" if fixed else tuple(float(b) for b in ends[0] * ends[1])
    return White(constant.constant_value * noise.noise_level, noise_level_bounds=bounds)


def _times(constant: Constant, kernel: Kernel) -> Kernel:
    return Scaled(
        kernel,
        constant.constant_value,
        scale_bounds=constant.constant_value_bounds,
        scale_prior=constant.constant_value_prior,
    )


def _is_fixed(bounds: Any) -> bool:
    return isinstance(bounds, str)
