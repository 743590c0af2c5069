"""Command lines that no command takes."""

from typer import BadParameter
from typer.exceptions import TyperException


class UsageError(TyperException):
    """Options or arguments that do not go together; the message says which."""


def message_of(error: TyperException) -> str:
    """What is wrong with the command line, with the option's name where Typer knows it."""
    # Errors of Typer's parser all have `format_message`, from a class that it does not name in public.
    parser_error = BadParameter.__bases__[0]
    message = str(error.format_message()) if isinstance(error, parser_error) else str(error)
    return message.replace(": Value error, ", ": ")  # words of the library that reads options
