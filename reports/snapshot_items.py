"""What the snapshot holds, by language, topic and country: one table, printed by `plan` and on the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from polyculture.cache.store.linked import SnapshotItems

FEWEST = 10  # items of a topic from a country: with fewer, its share says more of the snapshot than of a model


@dataclass(frozen=True, slots=True)
class ItemLine:
    """A line of the table: items, or names, of each topic."""

    label: str
    counts: tuple[int, ...]  # in the order of the topics


def item_lines(
    rows: Iterable[SnapshotItems],
    topics: Sequence[str],
    languages: Sequence[str],
    countries: Sequence[str],
    language_name: Callable[[str], str],
    country_name: Callable[[str], str],
) -> Iterator[ItemLine]:
    """The lines: all items, those with names in each language and their names, those from each country."""
    held = {(row.topic, row.language, row.country): row for row in rows}

    def counts(language: str | None, country: str | None, *, names: bool = False) -> tuple[int, ...]:
        found = (held.get((topic, language, country)) for topic in topics)
        return tuple((row.names if names else row.items) or 0 if row else 0 for row in found)

    yield ItemLine("all", counts(None, None))
    for code in languages:
        yield ItemLine(f"named in {language_name(code)}", counts(code, None))
        yield ItemLine("  their names", counts(code, None, names=True))
    for code in countries:
        yield ItemLine(f"from {country_name(code)}", counts(None, code))


def too_few(
    rows: Iterable[SnapshotItems], topics: Sequence[str], countries: Sequence[str]
) -> dict[str, list[tuple[str, int]]]:
    """By topic, the countries from which the snapshot has fewer than `FEWEST` items, each with their number."""
    held = {(row.topic, row.country): row.items for row in rows if row.country is not None}
    of = {topic: [(code, held[topic, code]) for code in countries if (topic, code) in held] for topic in topics}
    few = {topic: [one for one in some if one[1] < FEWEST] for topic, some in of.items()}
    return {topic: some for topic, some in few.items() if some}
