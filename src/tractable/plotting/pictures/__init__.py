"""One module for each kind of picture; importing it registers what it draws."""

from tractable.plotting.pictures import conjugate, gaussian

__all__ = ["conjugate", "gaussian"]
