"""One line about the machine, so that a figure can be read."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.clock import SEES_OTHERS
from benchmarks.peers import PACKAGES as PEERS

PACKAGES = dict.fromkeys(("tractable", "numpy", "scipy", "scikit-learn", "numba", "pyarrow", *PEERS.values()))


def machine():
    """Return what the figures depend on."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "usable_cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "blas": _blas(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
        "sees_other_processes": SEES_OTHERS,
    }


def machine_line(facts):
    """Return the facts in one line."""
    packages = " · ".join(f"{name} {number}" for name, number in facts["packages"].items())
    noise = (
        ""
        if facts["sees_other_processes"]
        else " · other processes cannot be seen here: no pair is discarded"
    )
    cores = f"{facts['usable_cores']} of {facts['cores']} cores"
    return f"{facts['cpu']} · {cores} · BLAS {facts['blas']} · Python {facts['python']} · {packages}{noise}"


def _cpu_model():
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _blas():
    import numpy as np  # noqa: F401  (its BLAS must be loaded to be seen)
    from threadpoolctl import threadpool_info

    found = [lib for lib in threadpool_info() if lib["user_api"] == "blas"]
    names = {f"{lib['internal_api']} {lib['version']} ({lib['num_threads']} threads)" for lib in found}
    return ", ".join(sorted(names)) or "unknown"


def _version(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return None
