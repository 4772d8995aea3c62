"""The joint distribution of the columns of a table as a latent tree."""

from tractable.density.latent_tree.estimator import LatentTreeDensity

__all__ = ["LatentTreeDensity"]
