"""The health of the data: how many requests, answers and mentions were usable, and warnings where too few were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from polyculture.cache.store.linked import SnapshotItems
from polyculture.metrics.limits import limits
from polyculture.reports.headline import totals
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import FEWEST, Rows, count, share
from polyculture.reports.reading import RUN_FACTS, SQL
from polyculture.reports.section import ReportData
from polyculture.reports.sections import THIN
from polyculture.reports.snapshot_items import item_lines, too_few
from polyculture.reports.table_section import Column, PageTable, TextCell, counted, model_table, plain_table, written
from polyculture.reports.texts import DoubtColumn, Warning, texts

_REASONS = 3  # of failures
_PLACES = 6  # a warning names the worst places


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning and its worst places."""

    worst: str
    varies: bool  # other lines of the table have another share
    text: str
    places: tuple[str, ...]
    more: int

    @property
    def before(self) -> str:
        """What stands before the share: it pools the cells of a model and language, and single ones may be worse."""
        return "Of a model in a language, up to " if self.varies else ""


@dataclass(frozen=True, slots=True)
class Health:
    """The context of the section."""

    table: PageTable
    notices: tuple[Notice, ...]
    answered: int
    resolution: PageTable | None  # None where no mention was looked up
    disagreements: PageTable | None  # None where no English name matches another item than own words
    countryless: tuple[str, ...]  # 'Food: 13 of 38'
    failures: PageTable | None  # the most frequent reasons
    losses: PageTable | None  # None where no model has extracted
    limited: bool  # the run's sources limit its numbers: see `reports.limits`
    held: PageTable | None  # what the snapshot has; None where the store does not say
    scarce: str  # countries with too few items of a topic; empty for none
    thin: str  # how many numbers rest on fewer than `fewest` linked items; empty for none
    fewest: int = FEWEST


def build(data: ReportData) -> Health:
    """The context from what the store holds."""
    rows = data.reading.rows(SQL / "health.sql")
    return Health(
        _health_table(data, rows),
        notices(rows, data.names),
        totals(rows).get("answered", 0),
        _resolution(data),
        _disagreements(data),
        tuple(
            f"{data.names.topic(row['topic'])}: {count(row['without_country'])} of {count(row['items'])}"
            for row in data.reading.rows(SQL / "items_without_country.sql")
        ),
        _failures(data.reading.lines(SQL / "failures.sql")[:_REASONS]),
        _losses(data),
        bool(limits(data.manifest)),
        _held(data),
        scarce_countries(data),
        count(thin) if (thin := len(data.frame(THIN))) else "",
    )


def scarce_countries(data: ReportData) -> str:
    """From which countries the snapshot has too few items of a topic, as printed: 'Food: Thailand (2)'."""
    few = too_few(_snapshot_items(data), data.manifest.topics, data.manifest.countries)
    return "; ".join(
        f"{data.names.topic(topic)}: {', '.join(f'{data.names.country(code)} ({items})' for code, items in some)}"
        for topic, some in few.items()
    )


def _snapshot_items(data: ReportData) -> list[SnapshotItems]:
    return [SnapshotItems(**row) for row in data.reading.rows(RUN_FACTS["snapshot_items"])]


def _held(data: ReportData) -> PageTable | None:
    """The table of names and items that `plan` prints."""
    rows, manifest, names = _snapshot_items(data), data.manifest, data.names
    if not rows:
        return None
    lines = item_lines(
        rows, manifest.topics, manifest.languages, names.by_region(manifest.countries), names.language, names.country
    )
    title = "Items in the snapshot, by topic, language and country"
    columns = [Column(names.topic(topic), partial(_of_topic, place)) for place, topic in enumerate(manifest.topics)]
    label = written("label")
    found = [{"label": line.label.strip(), "counts": line.counts} for line in lines]
    return plain_table(found, columns, title=title, caption=title, line_head="Items", label=label)


def _of_topic(place: int, row: Mapping[str, Any]) -> str:
    return count(row["counts"][place])


def _health_table(data: ReportData, rows: Rows) -> PageTable:
    title = "Health of the data by model and language"
    return model_table(data, rows, _columns(texts().health), title=title, caption=title, axis="language")


def _losses(data: ReportData) -> PageTable | None:
    rows = data.reading.rows(SQL / "extraction_losses.sql")
    title = "What extraction lost, by model and language"
    columns = _columns(texts().losses)
    return model_table(data, rows, columns, title=title, caption=title, axis="language") if rows else None


def _columns(columns: Sequence[DoubtColumn]) -> list[Column]:
    return [Column(column.name, partial(_count, column), column.says) for column in columns]


def _count(column: DoubtColumn, row: Mapping[str, Any]) -> TextCell:
    """A count, its share where it has one, and whether the share is worth a warning."""
    bad = any(_exceeds(warning, row) for warning in texts().warnings if warning.count == column.count)
    part = share(row[column.count], row[column.of]) if column.of else None
    return TextCell(count(row[column.count]), part or "", bad=bad)


def _resolution(data: ReportData) -> PageTable | None:
    """A line per model and language, a column per topic: without an item, names per item, links by English alone."""
    rows = [row for row in data.reading.rows(SQL / "resolution.sql") if row["looked_up"]]
    lines: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        own = lines.setdefault((row["model"], row["language"]), {"model": row["model"], "language": row["language"]})
        own[f"topic {row['topic']}"] = row
    topics = ordered(data.manifest.topics, [row["topic"] for row in rows])
    columns = [Column(data.names.topic(topic), partial(_without_item, topic)) for topic in topics]
    title, caption = (
        "Mentions without an item, by topic and language",
        ("Mentions without an item, and names per item, by topic and language"),
    )
    found = list(lines.values())
    return model_table(data, found, columns, title=title, caption=caption, axis="language") if found else None


def _without_item(topic: str, line: Mapping[str, Any]) -> TextCell | str:
    row = line.get(f"topic {topic}")
    if row is None:
        return "–"
    without, names = share(row["nil"], row["looked_up"]) or "", row["surfaces_per_entity"]
    if names is None:
        return TextCell(without, "no item")
    english = f", {share(row['by_english'], row['linked'])} by English alone" if row["by_english"] else ""
    return TextCell(without, f"{names:.1f} names an item{english}")


def _disagreements(data: ReportData) -> PageTable | None:
    """A line per language whose own words and English names lead to different items, with an example."""
    rows = data.reading.rows(SQL / "disagreements.sql")
    columns = (
        Column("Of linked mentions", _disagreeing),
        Column("For example", written("surface"), is_number=False),
        Column("Linked to", lambda row: TextCell(row["label"] or row["qid"], row["qid"]), is_number=False),
        Column("English name", lambda row: TextCell(row["english"], row["english_qid"]), is_number=False),
    )
    title = "Where own words and the English name disagree, by language"
    order = ordered(data.manifest.languages, [row["language"] for row in rows])
    return (
        plain_table(
            sorted(rows, key=lambda row: order.index(row["language"])), columns, title=title, caption=title,
            line_head="Language", label=lambda row: data.names.language(row["language"]),
        )
        if rows
        else None
    )  # fmt: skip


def _disagreeing(row: Mapping[str, Any]) -> TextCell:
    return TextCell(
        share(row["disagreeing"], row["linked"]) or "", f"{count(row['disagreeing'])} of {count(row['linked'])}"
    )


def notices(health: Rows, names: Names) -> tuple[Notice, ...]:
    """The warnings of `texts.toml` that apply; each names its worst places first."""
    found = [_notice(warning, health, names) for warning in texts().warnings]
    return tuple(notice for notice in found if notice is not None)


def _failures(rows: Rows) -> PageTable | None:
    columns = (
        Column("Reason", written("reason"), is_number=False),
        Column("Answers", counted("rows")),
        Column("Asked again by the next run", counted("retryable")),
    )
    title = "Why answers are missing"
    return (
        plain_table(rows, columns, title=title, caption=title, line_head="Stage", label=written("stage"))
        if rows
        else None
    )


def _exceeds(warning: Warning, row: Mapping[str, Any]) -> bool:
    return bool(row[warning.of]) and row[warning.count] / row[warning.of] > warning.limit


def _notice(warning: Warning, health: Rows, names: Names) -> Notice | None:
    bad = [row for row in health if _exceeds(warning, row)]
    bad.sort(key=lambda row: -row[warning.count] / row[warning.of])
    if not bad:
        return None
    places = [_place(row, warning, names) for row in bad[:_PLACES]]
    worst, shares = _share(bad[0], warning), {_share(row, warning) for row in health if row[warning.of]}
    return Notice(worst, len(shares) > 1, warning.text, tuple(places), max(0, len(bad) - _PLACES))


def _share(row: Mapping[str, Any], warning: Warning) -> str:
    return share(row[warning.count], row[warning.of]) or ""


def _place(row: Mapping[str, Any], warning: Warning, names: Names) -> str:
    model = f"{names.model(row['model'])}, " if len(names.models) > 1 else ""
    counts = f"{count(row[warning.count])} of {count(row[warning.of])}"
    return f"{model}{names.language(row['language'])}: {_share(row, warning)} ({counts})"
