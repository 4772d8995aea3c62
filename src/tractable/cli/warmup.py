"""`tractable warmup`: numerical kernels compiled in advance, for images and continuous integration."""

from os.path import commonpath
from typing import Annotated

import typer

from tractable.cli.console import Console, StepProgress, with_console


@with_console
def warmup(
    console: Console,
    family: Annotated[
        str | None, typer.Argument(metavar="FAMILY", help="Only the kernels of one family, as kmeans.")
    ] = None,
) -> None:
    """Compile numerical kernels in advance, so that no fit waits for the compiler.

    Their code is stored where later processes find it: in the folder NUMBA_CACHE_DIR, else beside the
    package, else in your cache folder.

    Some examples:

      tractable warmup

      tractable warmup em

      NUMBA_CACHE_DIR=/opt/kernels tractable warmup
    """
    from tractable.primitives.compiled_options import entry_kernels

    every = entry_kernels()
    kernels = [kernel for kernel in every if family in (None, kernel.family)]
    if not kernels:
        known = ", ".join(sorted({kernel.family for kernel in every}))
        raise ValueError(f"FAMILY must be one of {known}; got {family!r}")
    folders = [kernel.folder for kernel in kernels]
    if None in folders:
        raise ValueError(
            "no folder can be written to, and every process compiles anew: set NUMBA_CACHE_DIR to one"
        )
    with StepProgress(console) as step:
        for done, kernel in enumerate(kernels):
            step(f"compiling: {kernel.family}, {kernel.__name__}", done / len(kernels))
            kernel.dispatcher  # noqa: B018  (which compiles it, or reads it from disk)
    folder = commonpath([str(each) for each in folders])
    found = {"kernels": [f"{kernel.family}.{kernel.__name__}" for kernel in kernels], "folder": folder}
    console.result(found, [f"{len(kernels)} kernels are compiled: {folder}"])
