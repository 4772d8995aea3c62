"""Classifiers: discriminant functions, generative and discriminative models."""

__all__: list[str] = []
