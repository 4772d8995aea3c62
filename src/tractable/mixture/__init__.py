"""Mixtures and clusters: rows that come from one of several sources, unseen."""
