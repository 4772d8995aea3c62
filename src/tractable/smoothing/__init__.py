"""Windows, and how wide they should be."""

from tractable.smoothing.window import Window
from tractable.smoothing.windows import WINDOWS, check_window

__all__ = ["WINDOWS", "Window", "check_window"]
