"""Estimators of other libraries made ours."""

from tractable.interop.adopt import adopt

__all__ = ["adopt"]
