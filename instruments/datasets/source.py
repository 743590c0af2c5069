"""Where data sets are published: a TOML file each, of contexts and entities (`rules`) or of questions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from polyculture.cache.catalog.read import parse_model, read_toml
from polyculture.cache.errors import DataSetError


class Source(BaseModel):
    """A data set and its publisher."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$")]  # a folder is called like it
    title: str
    licence: str
    citation: str = ""
    repository: str | None = None  # a git repository: an https address or a folder
    published_at: str = ""  # where no git repository has it: an address
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")] | None = None
    pinned: str = ""  # how sure the commit is, and what of the data set it holds
    paths: tuple[str, ...] = ()  # the folders and files that are kept of the repository; empty: all
    digests: Mapping[
        str, Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    ] = {}  # file -> SHA-256 of the version known here


class QuestionSource(Source):
    """A data set of questions that an instrument asks."""

    command: str  # how it is asked: 'bbq kobbq'


def question_sets() -> dict[str, QuestionSource]:
    """The data sets of instruments, by name."""
    from polyculture.instruments import INSTRUMENTS
    from polyculture.instruments.contract import loaded

    commands = (command for instrument in loaded(INSTRUMENTS) for command in instrument.commands.values())
    files = (file for command in commands for file in command.sources)
    return {source.name: source for source in map(_read, files)}


def _read(file: Path) -> QuestionSource:
    return parse_model(QuestionSource, read_toml(file, DataSetError), file)
