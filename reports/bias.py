"""How probable native and Western entities are: the Cultural Bias Scores, a table for each rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from polyculture.cache.manifest import Manifest
from polyculture.reports.groups import Group, Row, groups, place_label
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import Estimate, count, estimate, known, lacking, share

SETTINGS = ("grounded", "neutral")  # those of the published data sets come first
DIFFERENCE = "difference"
SAME = 1e-9  # a deviation that is rounding


@dataclass(frozen=True, slots=True)
class BiasLine:
    """A type of entities of a culture, in the order of the table's columns, and what it rests on."""

    label: str
    cells: tuple[Estimate, ...]
    sizes: tuple[str, ...]  # contexts, native and Western entities, failed scores, share of broken seams, draws


@dataclass(frozen=True, slots=True)
class BiasTable:
    """All scores under one rule."""

    rule: str
    columns: tuple[str, ...]
    groups: tuple[Group[BiasLine], ...]


def bias_tables(rows: Sequence[Row], manifest: Manifest, names: Names) -> list[BiasTable]:
    """A table per rule from the rows of `sql/bias.sql`, of plain contexts; none where nothing was scored."""
    rows = [row for row in rows if not (row["help"] or row["phrasing"])]
    return [_table(rule, list(of_rule), manifest, names) for rule, of_rule in groupby(rows, lambda row: row["rule"])]


def _table(rule: str, rows: Sequence[Row], manifest: Manifest, names: Names) -> BiasTable:
    settings = ordered(SETTINGS, [row["setting"] for row in rows])
    columns = [*settings, DIFFERENCE] if any(row["other_setting"] for row in rows) else settings

    def lines(own: Sequence[Row]) -> list[BiasLine]:
        return [_line(list(found), columns, names) for _, found in groupby(own, _place)]

    return BiasTable(rule, tuple(columns), groups(rows, "form", manifest, names, lines))


def _line(rows: Sequence[Row], columns: Sequence[str], names: Names) -> BiasLine:
    found = {DIFFERENCE if row["other_setting"] else row["setting"]: row for row in rows}
    scores = [found[column] for column in columns if column in found and column != DIFFERENCE]
    counts = [_joined(count(row["contexts"]) for row in scores)]
    counts += [_joined(_entities(row, side) for row in scores) for side in ("native", "western")]
    health = rows[0]  # the same in all of them; nothing where the scores themselves are gone
    lacking_for = {column: "no_pairing" if column == DIFFERENCE else "not_asked" for column in columns}
    cells = tuple(bias_cell(found.get(column), word) for column, word in lacking_for.items())
    failed = "" if known(health["failed"]) is None else count(health["failed"])
    drawn = _joined(map(_drawn, scores))
    sizes = (*counts, failed, share(health["broken_seams"], health["scored"]) or "", drawn)
    return BiasLine(place_label(health, names), cells, sizes)


def _place(row: Row) -> tuple[str | None, str | None, str | None]:
    return row["language"], row["culture"], row["entity_type"]


def bias_cell(row: Row | None, missing: str) -> Estimate:
    """A score or a difference with its interval; without a row, the word for why there is none."""
    if row is None:
        return lacking(missing)
    return estimate(row["metric"], row["estimate"], row["low"], row["high"], row["p"])


def _entities(row: Row, side: str) -> str:
    """How many entities of a side there are; where not every context has all of them, how many one has."""
    every, fewest = row[f"{side}_entities"], known(row[f"{side}_fewest"])
    if fewest is None or fewest == every:
        return count(every)
    return f"{count(every)} ({count(fewest)} to {count(row[f'{side}_most'])} a context)"


def _drawn(row: Row) -> str:
    """Mean and standard deviation over draws of entities; nothing where all draws are alike."""
    deviation = known(row["sampled_deviation"])
    if deviation is None or deviation <= SAME or known(row["draws"]) is None:
        return ""
    drawn = f"{count(row['draws'])} x {count(row['drawn'])}"
    return f"{drawn}: {row['sampled_mean']:.3f} ({deviation:.3f})"


def _joined(sizes: Iterable[str]) -> str:
    """A size; where settings differ, that of each in their order."""
    each = list(sizes)
    return each[0] if len(set(each)) == 1 else " / ".join(each)
