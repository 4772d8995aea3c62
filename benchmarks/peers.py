"""Which package a peer is, so that its version can be said."""

#: What a peer's name holds, and the package behind it.
PACKAGES = {
    "scikit-learn": "scikit-learn",
    "sklearn": "scikit-learn",
    "scipy": "scipy",
    "faiss": "faiss-cpu",
    "celer": "celer",
    "arviz": "arviz",
    "blackjax": "blackjax",
    "emcee": "emcee",
    "kdepy": "KDEpy",
    "pynndescent": "pynndescent",
    "opentsne": "openTSNE",
    "read_table": "pyarrow",
    "numpy": "numpy",
    "np.": "numpy",
    "x.t @ x": "numpy",
    "pandas": "pandas",
    "gpytorch": "gpytorch",
    "networkx": "networkx",
    "pgmpy": "pgmpy",
    "dask": "dask",
}

#: Packages that do a part of what is timed, to compare with; they claim no more.
YARDSTICKS = ("pandas",)


def package_of(peer):
    """Return the package of a peer; None where the peer is a yardstick of our own, or Python itself."""
    return next((package for part, package in PACKAGES.items() if part in peer.lower()), None)


def rival(peer):
    """Return whether a peer is another library that answers the same question."""
    return package_of(peer) not in {None, *YARDSTICKS}
