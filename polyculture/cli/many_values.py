"""Options that may have several values each, as a shell expands *."""

from __future__ import annotations


def repeated(args: list[str], options: tuple[str, ...]) -> list[str]:
    """`--corpus a b` as `--corpus a --corpus b`."""
    written: list[str] = []
    option = ""
    for arg in args:
        if arg.startswith("-"):
            option = arg if arg in options else ""
            written += [] if option else [arg]
        else:
            written += [option, arg] if option else [arg]
    return written
