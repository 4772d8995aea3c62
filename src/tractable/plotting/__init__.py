"""Pictures: results are values, and `plot` draws them."""

from tractable.plotting.plot import plot

__all__ = ["plot"]
