"""`--retry-failed [REASON]`: an option whose value may be missing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from polyculture.cache.faults import RetryFailed

FLAG = "--retry-failed"
RETRY_HELP = (
    "Ask again what failed for good, too: all but what a content policy withheld; or what failed for REASON, "
    "a kind of fault or words of its reason."
)
RetryOption = Annotated[str | None, typer.Option(FLAG, metavar="[REASON]", help=RETRY_HELP)]


def with_reason(args: list[str]) -> list[str]:
    """The arguments, with an empty reason where none follows: an option, nothing, or a file is none."""
    if FLAG not in args:
        return args
    after = args.index(FLAG) + 1
    given = after < len(args) and not args[after].startswith("-") and not _is_file(args[after])
    return args if given else [*args[:after], "", *args[after:]]


def retry_failed(reason: str | None) -> RetryFailed | None:
    """What the option says, for the steps."""
    from polyculture.cache.faults import RetryFailed

    return None if reason is None else RetryFailed(reason)


class RetryCommand(TyperCommand):
    """A command with the option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, with_reason(args))


def _is_file(word: str) -> bool:
    return word.endswith(".toml") or Path(word).exists()
