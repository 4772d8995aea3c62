"""Distributions of whole numbers, of labels and of vectors of counts."""
