"""Dominance by model and topic: how many of a cell's responses name its most frequent item, and which item it is."""

from __future__ import annotations

from polyculture.reports.names import Names, short
from polyculture.reports.numbers import Row, count, estimate_of, known, share
from polyculture.reports.reading import SQL
from polyculture.reports.section import ReportData
from polyculture.reports.table_section import Column, PageTable, TextCell, counted, model_table
from polyculture.reports.texts import texts


def build(data: ReportData) -> PageTable | None:
    """The table of the rows of `sql/dominance.sql`; None where no number is known."""
    rows = [row for row in data.reading.rows(SQL / "dominance.sql") if row["estimate"] is not None]
    if not rows:
        return None
    columns = (
        Column(texts().metrics["dominance"].name, lambda row: estimate_of(row, thin=False)),
        Column("Largest share", lambda row: (row["qid"] and share(row["naming"], row["of_responses"])) or "–"),
        Column("Its item, and where", lambda row: _item(row, data.names) if row["qid"] else "–", is_number=False),
        Column("Responses", counted("responses"), is_size=True),
    )
    title = "Dominance by model and topic"
    caption, place = f"{title}, with 95 % intervals", ("model", "topic")
    return model_table(data, rows, columns, title=title, caption=caption, axis="topic", place=place)


def _item(row: Row, names: Names) -> TextCell:
    """The item of the cell that one item dominates most, and where that is."""
    axes = {"model": row["model"], "language": row["in_language"], "topic": row["topic"], "condition": row["condition"]}
    country = known(row["country"])
    place = {**axes, **({"country": country} if country else {}), "item": row["qid"]}
    where = ", ".join([names.language(row["in_language"]), names.condition(row["condition"]), names.country(country)])
    basis = f"{count(row['naming'])} of {count(row['of_responses'])} responses; {where}"
    often = f"most frequent in {count(row['cells_of_item'])} of {count(row['cells'])} cells"
    return TextCell(short(known(row["label"]) or row["qid"]), f"{basis}; {often}", place)
