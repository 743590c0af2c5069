"""The rules files of a kind of data sets: those that come along, by name, and a user's own, by path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel

from polyculture.cache.errors import DataSetError
from polyculture.cache.files import is_folder_name
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.cache.toml_files import read_toml
from polyculture.sources.fetch import check_as_received, data_folder
from polyculture.sources.rules import SourceRules, checked

R = TypeVar("R", bound=SourceRules)


@dataclass(frozen=True)
class Shelf(Generic[R]):
    """Rules files of one kind."""

    kind: str  # as messages call it: 'data set', 'question set'
    folder: Path
    model: type[R]
    tables: Sequence[type[BaseModel]]  # that the model has beside those of files
    elsewhere: Mapping[Path, str]  # the folders of other kinds, and what to do with a set of them

    @property
    def names(self) -> list[str]:
        """The names of those that come along."""
        return sorted(file.stem for file in self.folder.glob("*.toml"))

    @cached_property
    def known(self) -> Mapping[str, R]:
        """Those that come along, by name."""
        return {name: self.read(self.folder / f"{name}.toml") for name in self.names}

    def comes_along(self, rules: R) -> bool:
        """Whether rules read files as shipped ones do, whatever they are called."""
        return any(rules.blocks == shipped.blocks for shipped in self.known.values())

    def read(self, file: Path) -> R:
        """The rules in a file. Raises `DataSetError`, naming file and place, where it is no TOML or does not fit."""
        return checked(self.model, read_toml(file, DataSetError), file, self.tables)

    def of(self, name: str) -> R:
        """The rules of a set, by name or by the path of a rules file. Raises `DataSetError` where there are none, and
        where a user's are called like others that come along: in a run both would be one set."""
        if name.endswith(".toml"):
            return self._named_apart(name, self.read(Path(name)))
        if name in self.names:
            return self.read(self.folder / f"{name}.toml")
        for folder, remedy in self.elsewhere.items():
            if is_folder_name(name) and (folder / f"{name}.toml").is_file():
                raise DataSetError(f"{name!r} is no {self.kind}", remedy=remedy.format(name=name))
        remedy = f"{did_you_mean(name, self.names)} Or name a rules file."
        raise DataSetError(f"there is no {self.kind} {name!r}", remedy=remedy)

    def _named_apart(self, file: str, rules: R) -> R:
        for name in self.names:
            shipped = self.read(self.folder / f"{name}.toml") if rules.name.startswith(name) else None
            if shipped is not None and rules.name in shipped.called and rules != shipped:
                what = f"name: {rules.name!r} is that of a shipped set, and the rules differ"
                raise DataSetError(what, where=file, remedy="Give yours a name of its own.")
        return rules

    def folder_of(self, name: str, rules: SourceRules, folder: Path | None) -> Path:
        """The folder of a set's files: the one that is named, or where it was fetched to, or that of a user's rules.

        People name `KoBBQ/data` as well as `KoBBQ`. Raises `DataSetError` where there is none, or files have changed
        since they were fetched.
        """
        fetched = data_folder(rules.files_of or rules.name)
        place = folder or (Path(name).parent if name.endswith(".toml") and not fetched.is_dir() else fetched)
        begin = {pattern.partition("/")[0] for block in rules.blocks for pattern in block.files if "/" in pattern}
        root = place.parent if place.name in begin and not (place / place.name).is_dir() else place
        if not root.is_dir():
            what = f"there is no folder with the {self.kind} {rules.name!r}"
            raise DataSetError(what, where=place, remedy=rules.how_to_get)
        check_as_received(root)
        return root
