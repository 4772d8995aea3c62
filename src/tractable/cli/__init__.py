"""The command `tractable`: reports, fits and predictions of tables without writing code."""

import sys
from typing import Any

__all__ = ["app", "main"]


def main() -> None:
    """Run the command and exit.

    Ctrl-C has one exit code from the imports to the last moment: an interruption that no handler catches, and
    one while the interpreter ends, would kill the process by its signal.
    """
    import signal

    try:
        from tractable.cli.program import run_program

        code = run_program(sys.argv[1:])
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command is done
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        code = 130
    # Python remembers an interruption of code that is text, such as that of a data class, until it runs the
    # next, and `python -m` then kills the process by the signal, whatever the code.
    exec("")  # noqa: S102
    sys.exit(code)


def __getattr__(name: str) -> Any:
    """Return the Typer application, which is imported when it is asked for."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tractable.cli.program import app

    return app
