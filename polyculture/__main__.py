"""`polyculture` and `python -m polyculture`."""

from __future__ import annotations

import sys
import traceback
from types import TracebackType

from polyculture.cache.errors import PolycultureError
from polyculture.console import say

INTERRUPTED = 130  # what a shell expects after Ctrl-C


def main() -> None:
    """Runs the command line. Errors of Polyculture end in one line and an exit code, without a traceback."""
    sys.excepthook = _print_traceback
    try:
        _run()
    except PolycultureError as error:
        say(f"polyculture: {error}")
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        say("polyculture: stopped; the same command resumes")
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except Exception as fault:
        from polyculture.cache.corrupt_files import damaged_file  # loads DuckDB, which not every command needs
        from polyculture.running.layout import store_layout

        damaged = damaged_file(fault, store_layout())
        if damaged is None:
            raise
        say(f"polyculture: {damaged}")
        sys.exit(damaged.exit_code)


def _print_traceback(kind: type[BaseException], fault: BaseException, trace: TracebackType | None) -> None:
    """What nobody foresaw, without keys and passwords."""
    say("".join(traceback.format_exception(kind, fault, trace)).rstrip())


def _run() -> None:
    """Imports the commands, which takes long enough for a Ctrl-C, and runs the requested one."""
    from typer.exceptions import TyperException

    from polyculture.cli.app import app
    from polyculture.cli.usage import message_of

    try:
        code = app(standalone_mode=False)
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        sys.exit(code if isinstance(code, int) else 0)
    except TyperException as error:
        message = message_of(error)
        asked_for_help = message.startswith("Usage:")  # a group that was called without a command
        say(message if asked_for_help else f"polyculture: {message.rstrip('.')}. See: polyculture --help")
        sys.exit(2)


if __name__ == "__main__":
    main()
