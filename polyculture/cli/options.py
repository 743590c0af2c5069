"""Arguments, options and command groups that several commands share."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from typer import BadParameter
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from polyculture.cache.errors import ExperimentError, StoreError
from polyculture.cache.text.suggestions import near_words

if TYPE_CHECKING:
    from polyculture.cache.work.faults import RetryFailed

ExperimentFile = Annotated[Path, typer.Argument(metavar="EXPERIMENT", help="The experiment file, e.g. exp.toml.")]
Runs = Annotated[
    Path | None,
    typer.Option("--runs", envvar="POLYCULTURE_RUNS", help="The folder of runs. Default: runs/ next to the file."),
]
JobShare = Annotated[
    str | None, typer.Option("--job", metavar="K/N", help="Only the K-th of N shares of the jobs (for job arrays).")
]
OnlyModel = Annotated[str | None, typer.Option("--model", help="Only the jobs of this model.")]
OnlyLanguage = Annotated[str | None, typer.Option("--language", help="Only the jobs in this language.")]
OnlyTopic = Annotated[str | None, typer.Option("--topic", help="Only the jobs of this topic.")]
AcceptChanges = Annotated[
    bool, typer.Option("--accept-changes", help="Redo what a changed experiment file makes stale.")
]
Packs = Annotated[
    list[Path] | None, typer.Option("--catalog", metavar="FOLDER", help="A culture pack; may be repeated.")
]
SnapshotName = Annotated[str, typer.Option("--snapshot", help="A snapshot's file, or starter.")]
Contact = Annotated[
    str | None,
    typer.Option(
        "--contact", help="An e-mail address or a page that its operators can write to. Default: the experiment's."
    ),
]
Replace = Annotated[bool, typer.Option("--replace", help="Overwrite what is there.")]
STAGE = "stage"  # the hidden command that a group runs when no other is named
FLAG = "--retry-failed"
RETRY_HELP = (
    "Also retry permanent failures, except content-policy refusals. With REASON, retry only failures of that kind or "
    "whose message contains it."
)
RetryOption = Annotated[str | None, typer.Option(FLAG, metavar="[REASON]", help=RETRY_HELP)]


class Format(StrEnum):
    """How rows are printed."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


# Of a file of rows: how it is written where `--format` does not say it.
ENDINGS: Mapping[str, Format] = {**{f".{one}": one for one in Format if one is not Format.TABLE}, ".jsonl": Format.JSON}
F = TypeVar("F")


def format_of(output: Path, endings: Mapping[str, F], otherwise: F) -> F:
    """The format that a file's ending says; `otherwise` of a device or a pipe. Raises `StoreError` for another one."""
    if output.exists() and not output.is_file():
        return otherwise
    ending = output.suffix.lower()
    if ending not in endings:
        what = f"nobody knows how to write a file that ends in {ending!r}" if ending else "its name has no ending"
        remedy = f"Let it end in {', '.join(list(endings)[:-1])} or {list(endings)[-1]}, or add --format."
        raise StoreError(what, where=output, remedy=remedy)
    return endings[ending]


def rows_format(format: Format, output: Path | None) -> Format:
    """How rows are written: a file has no table for a terminal, so its ending says it. Raises as `format_of`.

    What writes rows asks for it; a command that takes long asks before it begins.
    """
    return format if format is not Format.TABLE or output is None else format_of(output, ENDINGS, Format.CSV)


OutputFormat = Annotated[
    Format,
    typer.Option(
        "--format", "-f", help="How the rows are written. Without it, the ending of --output says it: .csv, .json, ..."
    ),
]
OutputFile = Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file instead of the terminal.")]


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


def many_values(base: type[Any], *options: str) -> type[Any]:
    """A class of commands whose `options` take several values each, as a shell expands *."""

    class ManyValues(base):  # type: ignore[misc]
        def parse_args(self, ctx: Any, args: list[str]) -> Any:
            return super().parse_args(ctx, repeated(args, options))

    return ManyValues


class UsageError(TyperException):
    """Options or arguments that do not go together; the message says which."""


def message_of(error: TyperException) -> str:
    """What is wrong with the command line, with the option's name where Typer knows it, and the nearest known word."""
    # Errors of Typer's parser all have `format_message`, from a class that it does not name in public.
    parser_error = BadParameter.__bases__[0]
    message = str(error.format_message()) if isinstance(error, parser_error) else str(error)
    message = message.replace(": Value error, ", ": ")  # words of the library that reads options
    return _with_nearest(message, getattr(error, "ctx", None))


_UNKNOWN_COMMAND = re.compile(r"No such command '(?P<word>.+?)'\.?")
_UNKNOWN_FLAG = re.compile(r"No such option: (?P<dashes>--)(?P<word>\S+)")
_UNKNOWN_CHOICE = re.compile(r"(?:.*: )?'(?P<word>.+?)' is not one of (?P<known>.+)", re.DOTALL)


def _with_nearest(message: str, context: Any) -> str:
    """A message of Typer's about a word that it does not know, with the nearest one in place of Typer's own guess."""
    command = getattr(context, "command", None)
    if (found := _UNKNOWN_COMMAND.match(message)) and isinstance(command, TyperGroup):
        known = command.list_commands(context)
        if found["word"].endswith(".toml"):
            return f"{found[0].rstrip('.')}: a command comes first, as in: polyculture run {found['word']}"
    elif (found := _UNKNOWN_FLAG.match(message)) and command:
        flags = [flag for one in command.get_params(context) for flag in (*one.opts, *one.secondary_opts)]
        known = [flag[2:] for flag in flags if flag.startswith("--")]  # the dashes are no likeness
    elif found := _UNKNOWN_CHOICE.match(message):
        known = re.findall(r"'(.+?)'", found["known"])
    else:
        return message

    told, dashes = found[0].rstrip("."), found.groupdict().get("dashes", "")
    near = near_words(found["word"], known)
    return f"{told}. Did you mean {dashes + near[0]!r}?" if near else told


def help_for(error: TyperException) -> str:
    """The command whose help says what would have been right."""
    context = getattr(error, "ctx", None)
    if context is None:
        return "polyculture --help"
    return f"{context.command_path} --help"


_CONTEXT: Any = TyperCommand.context_class  # Typer's own, which has no public name


class _StageContext(_CONTEXT):  # type: ignore[misc]
    """Of the hidden command, which a user calls by the name of its group."""

    @property
    def command_path(self) -> str:
        return str(self.parent.command_path)


def as_stage(command: Any) -> Any:
    """The hidden command of a group, whose help has the group's name."""
    command.context_class = _StageContext
    return command


class StageGroup(TyperGroup):
    """A group whose first argument may be an experiment file, for the hidden command `stage`, if it has one."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in (*self.list_commands(ctx), "--help") and self.get_command(ctx, STAGE):
            args = [STAGE, *args]
        return super().parse_args(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command = super().get_command(ctx, cmd_name)
        return as_stage(command) if cmd_name == STAGE and command is not None else command

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The group's own options, then those that stand behind an experiment file."""
        if stage := self.get_command(ctx, STAGE):
            records = (one.get_help_record(ctx) for one in stage.get_params(ctx) if "--help" not in one.opts)
            with formatter.section(" ".join((ctx.command_path, *stage.collect_usage_pieces(ctx)))):
                formatter.write_dl([record for record in records if record])
        super().format_options(ctx, formatter)


def with_reason(args: list[str]) -> list[str]:
    """The arguments, with an empty reason where none follows: an option, nothing, or a file is none."""
    if FLAG not in args:
        return args
    after = args.index(FLAG) + 1
    given = after < len(args) and not args[after].startswith("-") and not _is_file(args[after])
    return args if given else [*args[:after], "", *args[after:]]


def retry_failed(reason: str | None) -> RetryFailed | None:
    """What the option says, for the steps."""
    from polyculture.cache.work.faults import RetryFailed

    return None if reason is None else RetryFailed(reason)


class RetryCommand(TyperCommand):
    """A command with the option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, with_reason(args))


def _is_file(word: str) -> bool:
    return word.endswith(".toml") or Path(word).exists()


def engine_options(options: Sequence[str]) -> dict[str, Any]:
    """Parses `context=4096` as a TOML value; anything else is a string."""
    read: dict[str, Any] = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals:
            raise ExperimentError(f"--option {option!r} is not KEY=VALUE", remedy="Write, for example, context=4096.")
        try:
            read[name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            read[name] = value
    return read
