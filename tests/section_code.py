"""The code that a section of a report shows, run as a reader would."""

import contextlib
import io
import warnings

__all__ = ["run_code"]


def run_code(section, frame):
    """Run a section's code where `frame` is the table, and return what it leaves behind.

    What the fits warn of, the section says in its notes.
    """
    scope = {"frame": frame}
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(section.code, scope)
    return scope
