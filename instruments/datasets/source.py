"""Where data sets are published: a TOML file each, of contexts and entities (`rules`) or of questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


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
    # File -> SHA-256 of the version known here.
    digests: Mapping[str, Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]] = {}
