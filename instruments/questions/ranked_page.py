"""The section of a leaderboard's page with some answers of each model, and the rows that hold them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from polyculture.metrics.leaderboard import Leaderboard, LeaderboardModel
from polyculture.reports.section import ReportData, Section
from polyculture.reports.texts import section_texts

_FOLDER = Path(__file__).parent
_SHOWN = 280  # characters of a question or an answer
ANSWERS = 3  # of a model to a set in a language, by a method


@dataclass(frozen=True, slots=True)
class AnswerQuote:
    """An answer, and the row that holds it."""

    asked: str
    options: str
    said: str  # '' where nothing was written
    read: tuple[str, ...]  # 'ours: the young man (right)'
    row: str  # 'run mine, table answers: answer_id ...'


@dataclass(frozen=True, slots=True)
class AnswerQuotes:
    """Some answers of a model."""

    title: str  # 'kobbq, Korean, generated'
    code: str  # of the language
    quotes: tuple[AnswerQuote, ...]


def answer_sections(found: Leaderboard) -> tuple[Section, ...]:
    """The sections of the page of a leaderboard of answers."""
    template, said = _FOLDER / "ranked_page.html.jinja", _FOLDER / "ranked_page.toml"
    return (Section("answers", partial(_answers, found), template, said, first=True),)


def answer_titles() -> Mapping[str, str]:
    """The titles of boards of questions by metric, as the report has them."""
    of_metrics = section_texts(_FOLDER / "section.toml", "questions").boards
    titles = {key.removeprefix("questions."): title.removeprefix("Questions: ") for key, title in of_metrics.items()}
    return {metric: f"{title[:1].upper()}{title[1:]}" for metric, title in titles.items()}


def _answers(found: Leaderboard, data: ReportData) -> tuple[tuple[str, tuple[AnswerQuotes, ...]], ...] | None:
    """By model, some answers to each set in each language, by each method."""
    rows = data.reading.rows(_FOLDER / "ranked_quotes.sql", most=ANSWERS)
    of = {entry.name: entry for entry in found.models}
    places = {model: place for place, model in enumerate(data.manifest.models)}
    rows.sort(key=lambda row: places[row["model"]])
    shown = []
    for model, own in groupby(rows, lambda row: str(row["model"])):
        by_set = []
        for (dataset, language, method), some in groupby(own, _place):
            title = ", ".join([dataset, *([data.names.language(language)] if language != "-" else []), method])
            quotes = tuple(_quote(row, of[model]) for row in some)
            by_set.append(AnswerQuotes(title, language, quotes))
        shown.append((data.names.model(model), tuple(by_set)))
    return tuple(shown) or None


def _place(row: Mapping[Any, Any]) -> tuple[str, str, str]:
    return row["dataset"], row["language"], row["method"]


def _quote(row: Mapping[Any, Any], entry: LeaderboardModel) -> AnswerQuote:
    place = f"run {entry.run}, table answers: answer_id {entry.joined.own_id(row['answer_id'])}"
    asked = " ".join(filter(None, (row["context"], row["text"])))
    prompt = f", prompt {row['prompt']}" if row["prompt"] else ""
    return AnswerQuote(
        _short(asked), " | ".join(map(str, row["shown"])), _short(row["raw"] or ""), tuple(_read(row["readings"])),
        f"{place}{prompt}",
    )  # fmt: skip


def _read(readings: Any) -> Iterator[str]:
    """What each reader finds."""
    for one in readings:
        option = one["option"]
        if option is not None:
            right = "" if one["right"] is None else " (right)" if one["right"] else " (not right)"
            yield f"{one['reader']}: {option}{right}"
        elif one["outcome"] == "read" and one["matched"] is not None:
            yield f"{one['reader']}: {one['matched']:.2f}"
        else:
            yield f"{one['reader']}: no option ({one['ground'] or one['outcome']})"


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _SHOWN else f"{plain[:_SHOWN]}…"
