"""What a report of a bug should say: the version, the form of the loops, the threads, and the libraries."""

import platform
from importlib import metadata

from tractable._core import native_level
from tractable.primitives.threads import default_threads

__all__ = ["show_versions", "versions"]

#: Libraries that answers depend on.
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "pyarrow", "pandas", "polars", "dask", "torch")


def versions() -> dict[str, str]:
    """Return what :func:`show_versions` prints, as a mapping from names to text.

    Examples
    --------
    >>> versions()["python"].startswith("3.")
    True
    """
    level = native_level()
    own = {
        "tractable": metadata.version("tractable"),
        "loops": f"native, level {level}" if level else "array API, without the native core",
        "threads": str(default_threads()),
        "python": platform.python_version(),
        "platform": platform.platform(),
    }
    return own | {name: _version(name) for name in LIBRARIES}


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def show_versions() -> None:
    """Print the versions, the processor level and the threads in use, for a report of a bug.

    Examples
    --------
    >>> show_versions()  # doctest: +SKIP
    tractable     0.1.0
    loops         native, level 4
    threads       8
    """
    for name, text in versions().items():
        print(f"{name:14}{text}")  # noqa: T201
