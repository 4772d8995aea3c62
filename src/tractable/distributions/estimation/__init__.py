"""Estimation: maximum likelihood of any density, Fisher information, estimators on simulated samples."""
