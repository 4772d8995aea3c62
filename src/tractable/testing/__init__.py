"""Laws, shipped: a user's own distribution, statistic or estimator gets the same examination as ours.

A law is a function ``law(instance, rng)`` that raises ``AssertionError`` when the instance breaks it. Each
kind of object has a tuple of its laws, and ``check_*`` runs them all.
"""
