"""What the front door knows of a paper: `paper` is the one command that consists of other commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from pydantic import BaseModel

    from polyculture.instruments.papers.options import PaperOptions


def as_paper(command: str, options: BaseModel) -> PaperOptions | None:
    """The options of `paper`; None of each other command. Imports no instrument that nobody asks for."""
    return cast("PaperOptions", options) if command == "paper" else None
