"""Where a data set is published, of contexts and entities or of questions alike."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.catalog.read import read_toml
from polyculture.cache.errors import DataSetError, did_you_mean
from polyculture.instruments.datasets.rules import known_data_sets, rules_of
from polyculture.instruments.datasets.source import Source


def holds_questions(name: str) -> bool:
    """Whether a name, or a rules file, is of a set of questions, not of contexts and entities."""
    from polyculture.instruments.questions.rules.opened import known_sets

    if name.endswith(".toml"):
        return not read_toml(Path(name), DataSetError).keys().isdisjoint(("questions", "loader"))
    return name in known_sets()


def source_of(name: str) -> Source:
    """Where a data set is published: by name, or by a rules file. Raises `DataSetError` where there is none of it."""
    from polyculture.instruments.questions.rules.opened import known_sets, read_rules

    found = known_sets()
    if name in found:
        return found[name]
    if name.endswith(".toml") and holds_questions(name):
        return read_rules(Path(name))
    known = known_data_sets()
    if ":" in name or name.endswith(".toml") or name in known:
        return rules_of(name)
    raise DataSetError(f"there is no data set {name!r}", remedy=did_you_mean(name, [*known, *found]))
