"""Texts by the region, or culture, of what they name: a line for each model and topic, a column for each label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from polyculture.metrics.text_regions import RegionShare, region_shares
from polyculture.reports.names import Names
from polyculture.reports.numbers import FormattedEstimate, Row, count, estimate_of, known, lacking
from polyculture.reports.section import ReportData
from polyculture.reports.sections import SAID, TEXTS
from polyculture.reports.table_section import Column, PageTable, TextCell, page_table
from polyculture.reports.texts import section_texts

if TYPE_CHECKING:
    import pandas as pd

    from polyculture.cache.store.store import Store

MOST_REGIONS = 6  # with more, as those of M49, the section would be a wall of numbers
_LEFT_OUT = ("refused", "empty", "failed", "unread")
_PLACE = ("model", "language", "condition", "topic")


def shown_shares(store: Store) -> list[RegionShare]:
    """The shares, where the regions are few enough for a table; else none, and no text is looked at."""
    return region_shares(store) if _few_regions(store) else []


def _few_regions(store: Store) -> bool:
    regions: int = store.sql("SELECT count(DISTINCT region) FROM known_countries").fetchall()[0][0]
    return 0 < regions <= MOST_REGIONS


def shares_frame(data: ReportData) -> pd.DataFrame:
    """The table of texts: a row is a label's share in a place, with what became of all texts there."""
    import pandas as pd

    shares = region_shares(data.reading.store)
    rows = [{**{k: v for k, v in asdict(one).items() if k != "counts"}, **asdict(one.counts)} for one in shares]
    return pd.DataFrame(rows)


def build(data: ReportData) -> PageTable | None:
    """The section's table from the rows of `shares_frame`; None where no text is labelled, or regions are many."""
    if not _few_regions(data.reading.store):
        return None
    shares = data.frame(TEXTS).to_dict("records")
    rows: list[Row] = [{str(k): known(v) for k, v in row.items()} for row in shares]
    if not any(row["labelled"] for row in rows):
        return None
    said = section_texts(SAID, "text_regions")
    names = dict(data.reading.store.sql(_NAMES).fetchall())
    labels = {row["label"]: said.words["labels"].get(row["label"]) or names[row["label"]] for row in rows}
    several = len({(row["language"], row["condition"]) for row in rows}) > 1
    lines = [
        {**own[0], "shares": {row["label"]: row for row in own}}
        for _, found in groupby(rows, key=lambda row: tuple(row[name] for name in _PLACE))
        if (own := list(found))
    ]
    columns = (
        *(Column(name, partial(_share, label)) for label, name in labels.items()),
        Column(said.words["labelled"], partial(_labelled, said.words["left_out"]), is_size=True),
        Column(said.words["unplaced"], lambda row: count(row["unplaced"]), is_size=True),
    )
    return page_table(
        data, lines, columns, title=said.title, caption=said.words["caption"], by=(),
        label=partial(_place, several=several, all_topics=said.words["all"]), line_head=said.words["line"],
    )  # fmt: skip


_NAMES = "SELECT DISTINCT region, region_name FROM known_countries WHERE region IS NOT NULL"


def _place(row: Row, names: Names, *, several: bool, all_topics: str) -> str:
    topic = all_topics if row["topic"] is None else names.topic(row["topic"])
    return ", ".join(
        [topic, *([names.language(row["language"]), names.condition(row["condition"])] if several else [])]
    )


def _labelled(words: Mapping[str, str], row: Row) -> TextCell:
    """How many texts have a label, and what became of the others."""
    left = {**row, "missing": row["asked"] - sum(row[name] for name in ("labelled", *_LEFT_OUT))}
    said = [f"{count(left[name])} {word}" for name, word in words.items() if left[name]]
    return TextCell(f"{count(row['labelled'])} of {count(row['asked'])}", ", ".join(said))


def _share(label: str, line: Row) -> FormattedEstimate:
    row = line["shares"][label]
    if row["share"] is None:
        return lacking("unanswered")
    return estimate_of({**row, "estimate": row["share"]}, "share")
