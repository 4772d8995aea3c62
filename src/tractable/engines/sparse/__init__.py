"""Sparse fits: least squares with an absolute penalty along a path, exactly or on a grid; proximal Newton."""
