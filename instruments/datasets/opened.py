"""Data sets of contexts and entities on this machine, and the options that select the part to query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from polyculture.cache.validation import ClosedModel
from polyculture.cache.written_paths import FilePath, NameOrRules
from polyculture.instruments.contract import AtLeastOne, SeveralNames, in_file
from polyculture.instruments.datasets.english import in_english
from polyculture.instruments.datasets.model import OF_CAUSAL, OF_ENGLISH, OF_SENTIMENT, gold_label
from polyculture.sources.left_out import in_short

if TYPE_CHECKING:
    from polyculture.instruments.datasets.model import DataSet
    from polyculture.instruments.datasets.selection import DataSelection


class DatasetOptions(ClosedModel):
    """Which contexts and entities of which data set."""

    data: Annotated[NameOrRules, Field(description="camellia, camel, camel2, own, own:NAME, or a rules file.")] = (
        "camellia"
    )
    folder: Annotated[FilePath | None, Field(description="The folder of the data set, if it was not fetched.")] = None
    english: Annotated[bool, in_file("The publisher's English translation.")] = False
    as_published: Annotated[
        bool, in_file("Keep repeated rows, names on both sides and contexts that begin with their gap.")
    ] = False
    language: Annotated[SeveralNames, Field(description="Only these languages.")] = ()
    culture: Annotated[SeveralNames, Field(description="Only these native cultures.")] = ()
    type: Annotated[SeveralNames, Field(description="Only these types of entities.")] = ()
    setting: Annotated[SeveralNames, in_file("Only these settings. Default: all but qa.")] = ()
    contexts: Annotated[AtLeastOne | None, Field(description="At most this many of each type and setting.")] = None
    entities: Annotated[AtLeastOne | None, Field(description="At most this many of each culture and type.")] = None

    def check_names(self) -> None:
        """Raises `DataSetError` of a data set that there is not."""
        from polyculture.instruments.datasets.rules import rules_of

        rules_of(self.data)

    def opened(self, say: Callable[[str], None], *, causal: bool = False) -> DataSet:
        """Opens the data set; one line reports the rows left out, for `causal` scoring too. Raises `DataSetError`."""
        dataset = self._of_choice(
            open_data_set(self.data, self.folder, english=self.english, as_published=self.as_published)
        )
        tell_left_out(dataset, say)
        told = left_out_of(dataset, OF_CAUSAL) if causal and not self.as_published else None
        if told:
            say(told)
        return dataset

    def _of_choice(self, dataset: DataSet) -> DataSet:
        """The data set with what was left out in the chosen languages and cultures alone: all that is told of it."""
        if not (self.language or self.culture):
            return dataset
        languages = {
            context.chooser
            for context in dataset.contexts
            if context.language in (self.language or (context.language,))
            and context.culture in (self.culture or (context.culture,))
        }
        lines = (line for line in dataset.told if not line.languages or languages.intersection(line.languages))
        return replace(dataset, told=tuple(lines))

    def selection(self, form: str) -> DataSelection:
        """The selection of contexts and entities."""
        from polyculture.instruments.datasets.selection import DataSelection

        return DataSelection(
            self.language, self.culture, self.type, self.setting, form, self.contexts, self.entities
        )  # fmt: skip


FileState = tuple[tuple[str, int, int], ...]  # path, time of the last change in nanoseconds, bytes


def open_data_set(name: str, folder: Path | None, *, english: bool = False, as_published: bool = False) -> DataSet:
    """A data set, by name or rules file, from `folder` or from where its files are. Raises `DataSetError`."""
    from polyculture.instruments.datasets.rules import SHELF, rules_of
    from polyculture.sources.rows import tables_in

    rules = rules_of(name)
    place = SHELF.folder_of(name, rules, folder)
    files = [*tables_in(place, rules.blocks), *([Path(name)] if name.endswith(".toml") else [])]
    found = ((file, file.stat()) for file in files)
    state = tuple((str(file), stat.st_mtime_ns, stat.st_size) for file, stat in found)
    dataset = _opened(name, place, state, english=english)
    return replace(dataset, as_published=True) if as_published else dataset


@lru_cache(maxsize=4)
def _opened(name: str, place: Path, _state: FileState, *, english: bool) -> DataSet:
    """The data set in these files. The parts of a paper's command open one data set a dozen times."""
    from polyculture.instruments.datasets.load import load
    from polyculture.instruments.datasets.rules import rules_of

    dataset = replace(load(rules_of(name), place), named=name)
    return in_english(dataset) if english else dataset


def tell_left_out(dataset: DataSet, say: Callable[[str], None]) -> None:
    """Says in one line how many rows of a data set are left out or changed, with the most frequent reasons.

    What one use alone leaves out is said there: `without_sentiment`, `left_out_of`, `english.in_english`.
    """
    lines = [line for line in dataset.left_out if not line.reason.endswith((OF_SENTIMENT, OF_CAUSAL, OF_ENGLISH))]
    if lines:
        number = "1 row is" if len(lines) == 1 else f"{len(lines):,} rows are"
        say(f"{dataset.folder}: {number} left out or changed: {in_short(lines, most=1)}. All: {dataset.check_command}")


def without_sentiment(dataset: DataSet) -> str | None:
    """A line about the contexts that have none of the three sentiments where others have one; None without any."""
    some = any(gold_label(context) for context in dataset.contexts)
    return left_out_of(dataset, OF_SENTIMENT) if some else None


def left_out_of(dataset: DataSet, use: str) -> str | None:
    """A line about the contexts that one use cannot have, by the end of their reasons; None without any."""
    lines = [line for line in dataset.left_out if line.reason.endswith(use)]
    if not lines:
        return None
    number = "1 context is" if len(lines) == 1 else f"{len(lines):,} contexts are"
    return f"{dataset.folder}: {number} not asked about: {in_short(lines, most=1)}"


def changed_reason(dataset: DataSet) -> str:
    """Why rows about a data set may be invalidated."""
    read = "as published" if dataset.as_published else "each row once, names of one side"
    return (
        f"data set {dataset.name!r}: not all that was asked about is in {dataset.folder} as it is read now, {read} (a "
        "second data set needs a name of its own: --data own:NAME)"
    )
