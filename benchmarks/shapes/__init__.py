"""Ours and scikit-learn over the shapes of tables: rows, columns, classes and components."""
