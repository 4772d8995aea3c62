"""Kernel density whose windows have the covariance of the neighbours about them."""
