"""The command `tractable`: reports, fits and predictions of tables without writing code."""

from tractable.cli.app import app, main

__all__ = ["app", "main"]
