"""The tables of a paper in its layout, from what a run has stored: a row a model, a column a type or a side.

Cultural Bias Scores are made by the paper's protocol, of the rows that it reads. Answers and vectors are those of the
last reading of the data set. What a cell lacks of the protocol is said beside it. No model is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import duckdb

from polyculture.cache.sql_file import read_sql
from polyculture.instruments.cbs.protocol import Protocol, columns_of, protocol_score
from polyculture.instruments.papers.answers_needed import Where, answers_needed
from polyculture.instruments.papers.needed import ALL, UNKNOWN, needed_in, read_as_published
from polyculture.instruments.papers.paper import Paper
from polyculture.instruments.papers.scored import QUERIES, places, scored_tallies
from polyculture.instruments.tokens.vocabulary import LETTERS
from polyculture.reports.text_labels import shown_shares

AVERAGE = "average"
OWN_TEXTS = "prompts and labels are ours, not the paper's"
TOKENS = "tokens"  # the part whose numbers are of vocabularies: its tables are of all languages
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TableCell:
    """A number of a paper's table, by the paper's protocol, and by ours where that is another."""

    measure: str  # 'cbs' | 'sentiment' | 'qa' | 'ner' | 'embeddings' | 'tokens' | 'texts'
    model: str
    column: str
    language: str
    culture: str
    setting: str
    variant: str  # the form of the contexts, who answered, or how tokens are counted
    value: float
    ours: float | None = None
    contexts: int | None = None
    lacking: str | None = None  # of what the paper's protocol compares: what is not scored, or not asked so


@dataclass(frozen=True, slots=True)
class PaperTable:
    """Cells that stand in one table."""

    measure: str
    language: str
    culture: str
    setting: str
    variant: str
    cells: tuple[TableCell, ...]

    @property
    def name(self) -> str:
        """The name of its files."""
        words = (self.measure, self.language, self.culture, self.setting, self.variant)
        return "-".join("".join(sign if sign.isalnum() else "-" for sign in word.lower()) for word in words if word)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns in their order; the average is the last."""
        return tuple(sorted(dict.fromkeys(cell.column for cell in self.cells), key=lambda name: name == AVERAGE))

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(cell.model for cell in self.cells))


def paper_tables(store: duckdb.DuckDBPyConnection, paper: Paper, data: str, seed: int) -> list[PaperTable]:
    """All tables that the store has numbers for; `data` is the name of the data set."""
    asked = [
        *_sentiment_cells(
            _rows(store, "sentiment_table", data, pooled=paper.pooled),
            _rows(store, "unreadable_table", data, pooled=paper.pooled),
        ),
        *_answer_cells(_rows(store, "answer_table", data)),
        *_embedding_cells(_rows(store, "embedding_table", data)),
    ]
    asked = [cell for cell in asked if cell.measure in paper.parts]
    shares = _rows(store, "vocabulary_table", None) if TOKENS in paper.parts else ()
    unlike, needed = _reading(read_as_published(store, data)), answers_needed(store, paper, data)
    cells = [
        *_score_cells(store, paper, data, seed),
        *(replace(cell, lacking=_joined(unlike, needed.get(_answered(cell)))) for cell in asked),
        *_vocabulary_cells(shares),
        *(_text_cells(store) if paper.texts else ()),
    ]
    key = _place_of
    return [PaperTable(*place, tuple(group)) for place, group in groupby(sorted(cells, key=key), key=key)]


def _answered(cell: TableCell) -> Where:
    return cell.measure, cell.model, cell.variant, cell.language, cell.culture


def _joined(*lacking: str | None) -> str | None:
    return "; ".join(filter(None, lacking)) or None


def _place_of(cell: TableCell) -> tuple[str, str, str, str, str]:
    return cell.measure, cell.language, cell.culture, cell.setting, cell.variant


def _rows(store: duckdb.DuckDBPyConnection, name: str, data: str | None, **values: object) -> list[Row]:
    """The rows of a query about a data set; about none, where `data` is None."""
    cursor = store.execute(read_sql(QUERIES, name), {**({"dataset": data} if data else {}), **values})
    columns = [column[0] for column in cursor.description or ()]
    return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]


def _score_cells(store: duckdb.DuckDBPyConnection, paper: Paper, data: str, seed: int) -> Iterator[TableCell]:
    protocol, ours = paper.protocol, Protocol()
    known = read_as_published(store, data) != {None}
    for place, types in places(store, data):
        tallies = scored_tallies(store, place, types, protocol.rule, as_published=True)
        whole = protocol_score(tallies, protocol, seed) if tallies else None
        if whole is None:
            continue
        own = scored_tallies(store, place, types, ours.rule, as_published=False)
        columns, mine = columns_of(tallies, protocol), columns_of(own, protocol)
        lacking = needed_in(store, place, known=known).lacking(tallies, protocol, seed)
        where = place.language, place.culture, place.setting, place.form
        of_column = replace(protocol, average="contexts")
        for column, one in columns.items():
            score = protocol_score([one], of_column, seed)
            beside = protocol_score([mine[column]], ours, seed) if column in mine else None
            told = lacking.get(one.entity_type, lacking[ALL] if lacking[ALL] == UNKNOWN else "") or None
            if score is not None:
                value = beside.value if beside else None
                yield TableCell("cbs", place.model, column, *where, score.value, value, score.contexts, told)
        beside = protocol_score(own, ours, seed) if own else None
        mean = beside.value if beside else None
        yield TableCell("cbs", place.model, AVERAGE, *where, whole.value, mean, whole.contexts, lacking[ALL] or None)


def _reading(was: set[bool | None]) -> str | None:
    """How the rows that answers and vectors rest on differ from the paper's: they are those of the last reading."""
    if was == {True}:
        return None
    if None in was:
        return "not recorded how the data set was read"
    how = "as published" if True in was else "without repeated rows and names on both sides"
    return f"the data set was last read {how}"


# The papers' false negative is a positive text with another label; the other reading, a text that is labelled negative
# and is not, stands beside.
_COUNTED = {"missed_positives": "FN", "false_positives": "FP", "false_negatives": "labelled negative"}


def _sentiment_cells(rows: Sequence[Row], unreadable: Sequence[Row]) -> Iterator[TableCell]:
    names = ("language", "culture", "setting", "answer_method")
    for counted, name in _COUNTED.items():
        for row in (one for one in rows if one["counted"] == counted):
            found = {f"{name} native": row["native"], f"{name} Western": row["western"]}
            signed = f"d{name}" if len(name) == 2 else f"d {name}"
            found |= {signed: row["difference"], f"|{signed}|": row["absolute_difference"]}
            found[f"|{signed}| by chance"] = row["chance"]
            if counted == "missed_positives":
                found |= {"texts native": row["native_texts"], "texts Western": row["western_texts"]}
            yield from _named("sentiment", row, names, found)
    for row in unreadable:
        found = {"unreadable native": row["native"], "unreadable Western": row["western"]}
        yield from _named("sentiment", row, names, found)


def _named(measure: str, row: Row, names: Sequence[str], found: Mapping[str, float | None]) -> Iterator[TableCell]:
    language, culture, setting, variant = (row[name] for name in names)
    for column, value in found.items():
        if value is not None:
            yield TableCell(measure, row["model"], column, language, culture, setting, variant, value)


def _answer_cells(rows: Sequence[Row]) -> Iterator[TableCell]:
    """Both sides, and Asian less Western: the sign of the papers. By characters alone where answers were read so."""
    names = ("task", "model", "answer_method", "language", "culture", "setting")
    for key, group in groupby(rows, key=lambda row: tuple(row[name] for name in names)):
        task, model, method, language, culture, setting = key
        sides = {row["side"]: row for row in group}
        strict = {side: row["normalised"] if row["strict"] is None else row["strict"] for side, row in sides.items()}
        ours = {side: row["normalised"] for side, row in sides.items()}
        for found in (strict, ours):
            if len(found) == 2:
                found["difference"] = found["native"] - found["western"]
        for side, value in strict.items():
            column = side.replace("western", "Western")
            yield TableCell(task, model, column, language, culture, setting, method, value, ours[side])


def _embedding_cells(rows: Sequence[Row]) -> Iterator[TableCell]:
    """Types, genders apart, and the stored mean over types, in which the genders of a type count as one."""
    for row in rows:
        if row["estimate"] is None:  # too few entities of a culture for an index
            continue
        column = ", ".join(filter(None, (row["entity_type"] or AVERAGE, row["gender"])))
        where = row["language"], row["culture"], row["setting"], row["form"]
        yield TableCell("embeddings", row["model"], column, *where, row["estimate"], contexts=row["contexts"])


def _text_cells(store: duckdb.DuckDBPyConnection) -> Iterator[TableCell]:
    """The shares of texts of each culture, of runs with regions of their own; `contexts` are the prompts behind one."""
    for one in shown_shares(store):
        if one.share is not None:
            place = f"{one.topic or 'all'}, {one.label}", one.language, "", one.condition, ""
            yield TableCell("texts", one.model, *place, one.share, contexts=one.prompts, lacking=OWN_TEXTS)


def _vocabulary_cells(rows: Sequence[Row]) -> Iterator[TableCell]:
    """A column a language: once per reading, where ranges of characters are counted."""
    for row in rows:
        column = row["language"] if row["characters"] == LETTERS else f"{row['language']}: {row['reading']}"
        yield TableCell(TOKENS, row["model"], column, "", "", "", row["characters"], row["share"])
