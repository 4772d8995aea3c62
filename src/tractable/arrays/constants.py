"""Numbers that formulas share."""

import math

__all__ = ["HALF_LOG_2PI", "LOG_2PI"]

LOG_2PI = math.log(2.0 * math.pi)
HALF_LOG_2PI = 0.5 * LOG_2PI
