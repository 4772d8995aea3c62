"""A statement run in a fresh interpreter, as a contender."""

import os
import subprocess
import sys


def statement(code):
    """Return a contender that runs the code in a new process and returns its exit status."""
    command = [sys.executable, "-c", code]

    def run(_data=None):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        return subprocess.run(command, check=True, env=environment).returncode

    return run


def nothing(size, folder):
    """Set up nothing: the statement is all there is."""


def both_ended_well(ours, peer):
    """Statements have no answer but their exit status."""
    assert ours == peer == 0
