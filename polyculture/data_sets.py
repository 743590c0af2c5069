"""Where data sets of contexts and entities lie on this machine, and what is in them, as rows for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.console import say
from polyculture.home import cache_folder

if TYPE_CHECKING:
    from metrics.datasets.model import DataSet
    from metrics.datasets.rules import Rules

OWN = "own"


def data_folder(name: str) -> Path:
    """Where `polyculture data fetch` puts a data set: in the user's cache folder."""
    return cache_folder() / "data" / name


def open_data_set(name: str, folder: Path | None, *, english: bool = False) -> DataSet:
    """A data set, by name or rules file, from `folder` or from where it was fetched to. Raises `DataSetError`."""
    from metrics.datasets.english import in_english
    from metrics.datasets.load import load
    from metrics.datasets.rules import rules_of

    rules = rules_of(name)
    dataset = load(rules, folder or data_folder(rules.name))
    return in_english(dataset) if english else dataset


def list_rows(data_sets: Iterable[Rules]) -> Iterable[tuple[Any, ...]]:
    """Name, title, licence, publisher and commit, and where it lies."""
    for rules in data_sets:
        folder = data_folder(rules.name)
        commit = f"{rules.repository} at {rules.commit[:12]}" if rules.repository and rules.commit else None
        yield rules.name, rules.title, rules.licence, commit, str(folder) if folder.is_dir() else None


def entity_rows(dataset: DataSet) -> list[tuple[Any, ...]]:
    """Language, type, culture and how many entities."""
    counts = Counter((e.language, e.entity_type, e.culture) for e in dataset.entities)
    return [(*key, number) for key, number in sorted(counts.items())]


def context_rows(dataset: DataSet) -> list[tuple[Any, ...]]:
    """Language, culture, setting, form, type and how many contexts."""
    counts = Counter((c.language, c.culture, c.setting, c.form, c.entity_type) for c in dataset.contexts)
    return [(*key, number) for key, number in sorted(counts.items())]


def left_out_rows(dataset: DataSet) -> list[tuple[Any, ...]]:
    """File, sheet, row, reason and text of what is not part of the data set, or not as it stands."""
    return [(lo.place.file, lo.place.sheet, lo.place.row, lo.reason, lo.text) for lo in dataset.left_out]


def tell_left_out(dataset: DataSet, name: str) -> None:
    """Says in one line how much of a data set is left out or read otherwise than written, and where the list is."""
    number = len(dataset.left_out)
    if number:
        first = dataset.left_out[0]
        lines = "line is" if number == 1 else "lines are"
        say(f"{dataset.folder}: {number} {lines} left out or read otherwise, the first: {first.place}: {first.reason}. "
            f"All: polyculture data check {name} --folder {dataset.folder}")  # fmt: skip
