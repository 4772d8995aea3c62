"""Rows of the catalogue, one file for each group of families."""
