"""The command `tractable`: a table and a question in, an answer out, without writing code."""

from tractable.cli.app import app, main

__all__ = ["app", "main"]
