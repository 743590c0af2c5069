"""Cultural Bias Scores for the report: a table per rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from polyculture.cache.manifest import Manifest
from polyculture.reports.groups import Group, Row, groups, place_label
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import FormattedEstimate, count, estimate, known, lacking, share
from polyculture.reports.texts import section_texts

SETTINGS = ("grounded", "neutral")  # those of the published data sets come first
DIFFERENCE = "difference"
SAME = 1e-9  # a smaller deviation is rounding
TEXTS = Path(__file__).with_name("section.toml")


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """The scores of a type of entities of a culture, in the order of the columns, and their sample sizes."""

    label: str
    cells: tuple[FormattedEstimate, ...]
    sizes: tuple[
        str, ...
    ]  # contexts, native and Western entities, ties, failed scores, share of broken token boundaries, draws


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """All scores under a rule."""

    rule: str
    columns: tuple[str, ...]
    groups: tuple[Group[ScoreLine], ...]


def score_tables(rows: Sequence[Row], manifest: Manifest, names: Names) -> tuple[ScoreTable, ...]:
    """A table per rule from the rows of `bias.sql`, of plain contexts; none where no context was scored."""
    rows = [row for row in rows if not (row["context_prefix"] or row["phrasing"])]
    by_rule = groupby(rows, lambda row: row["rule"])
    return tuple(_table(rule, list(of_rule), manifest, names) for rule, of_rule in by_rule)


def _table(rule: str, rows: Sequence[Row], manifest: Manifest, names: Names) -> ScoreTable:
    settings = ordered(SETTINGS, [row["setting"] for row in rows])
    columns = [*settings, DIFFERENCE] if any(row["other_setting"] for row in rows) else settings

    def lines(own: Sequence[Row]) -> list[ScoreLine]:
        return [_line(list(found), columns, names) for _, found in groupby(own, _place)]

    return ScoreTable(rule, tuple(columns), groups(rows, "form", manifest, names, lines))


def _line(rows: Sequence[Row], columns: Sequence[str], names: Names) -> ScoreLine:
    found = {DIFFERENCE if row["other_setting"] else row["setting"]: row for row in rows}
    scores = [found[column] for column in columns if column in found and column != DIFFERENCE]
    counts = [_joined(count(row["contexts"]) for row in scores)]
    counts += [_joined(_entities(row, side) for row in scores) for side in ("native", "western")]
    health = rows[0]  # the same in all of them; nothing where the scores themselves are gone
    cells = tuple(score_cell(found[column]) if column in found else _absent(column) for column in columns)
    failed = "" if known(health["failed"]) is None else count(health["failed"])
    drawn = _joined(map(_drawn, scores))
    ties = _joined(map(_tied, scores))
    sizes = (*counts, ties, failed, share(health["broken_boundaries"], health["scored"]) or "", drawn)
    return ScoreLine(place_label(health, names), cells, sizes)


def _place(row: Row) -> tuple[str | None, str | None, str | None]:
    return row["language"], row["culture"], row["entity_type"]


def score_cell(row: Row) -> FormattedEstimate:
    """A score or a difference with its interval."""
    kind = "difference" if row["metric"] == "cbs_difference" else "score"
    without = known(row["lacking"]) or "no_interval"
    return estimate(kind, row["estimate"], row["low"], row["high"], row["p"], without)


def _absent(column: str) -> FormattedEstimate:
    """The reason why there is no score, or no difference."""
    if column == DIFFERENCE:
        return FormattedEstimate(None, None, section_texts(TEXTS).words["no_pairing"])
    return lacking("not_asked")


def _entities(row: Row, side: str) -> str:
    """The number of a side's entities, and per context where contexts differ."""
    every, fewest = row[f"{side}_entities"], known(row[f"{side}_fewest"])
    if fewest is None or fewest == every:
        return count(every)
    return f"{count(every)} ({count(fewest)} to {count(row[f'{side}_most'])} a context)"


def _tied(row: Row) -> str:
    """The pairs of equal likelihood."""
    return f"{count(row['tied'])} of {count(row['pairs'])}" if row["tied"] else "0"


def _drawn(row: Row) -> str:
    """Mean and standard deviation over draws of entities; empty where all draws are alike."""
    deviation = known(row["sampled_deviation"])
    if deviation is None or deviation <= SAME or known(row["draws"]) is None:
        return ""
    drawn = f"{count(row['draws'])} x {count(row['drawn'])}"
    return f"{drawn}: {row['sampled_mean']:.3f} ({deviation:.3f})"


def _joined(sizes: Iterable[str]) -> str:
    """A size; where settings differ, that of each, in order."""
    each = list(sizes)
    return each[0] if len(set(each)) == 1 else " / ".join(each)
