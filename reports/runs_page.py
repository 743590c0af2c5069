"""The page of a leaderboard of runs: one HTML file, made of the report's own pieces over the joined run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any

from polyculture.cache.catalog import Catalog
from polyculture.cache.files import replacing
from polyculture.cache.store.manifest import Manifest
from polyculture.cache.text.quantity import quantity
from polyculture.metrics.comparison.table import explained
from polyculture.metrics.leaderboard import (
    TEXTS,
    Excluded,
    IntervalEstimate,
    Leaderboard,
    LeaderboardModel,
    RankBoard,
    RankedModel,
)
from polyculture.metrics.model_health import ModelHealth
from polyculture.reports.building import build_sections, open_report
from polyculture.reports.evidence import read_evidence
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import FormattedEstimate, bound, count, estimate, share
from polyculture.reports.opening import picture
from polyculture.reports.page import render_page
from polyculture.reports.reading import SQL
from polyculture.reports.section import ReportData, ReportTable, Section
from polyculture.reports.sections import ASKED_ABOUT, CLOSING_SECTIONS, SAID, TEXT_SECTIONS
from polyculture.reports.table_section import Column, Group, Line, PageTable, TextCell, counted, plain_table, written
from polyculture.reports.texts import MetricText, texts

_TEMPLATES = Path(__file__).parent / "templates"
_END = re.compile(r"[.!?؟।]+[\"'»”)]*(?=\s)|[。！？]+[」』）]*|\n+")  # of a sentence
_LONGEST = 280  # letters of a passage
SENTENCES = 3  # of a model in a language


@dataclass(frozen=True, slots=True)
class RunsOpening:
    """The context of the page's opening."""

    title: str
    manifest: Manifest
    names: Names
    study: str
    of: str  # what models are ranked by: 'texts', 'answers' to questions, or 'scores' of items
    asked: tuple[str, ...]  # '2 languages: English, Japanese'; of items 'gsm8k by acc, f1'
    runs: int
    health: PageTable
    bounds: str
    excluded: tuple[Excluded, ...]
    unranked_metrics: tuple[str, ...]  # 'Granularity: why'
    doubts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShownBoard:
    """A metric: what it is, how many groups there are, and its table."""

    metric: MetricText | None  # None of items: nobody knows what another harness measured
    title: str
    summary: str
    goal: str
    table: PageTable
    asked: str  # how questions were asked and read; '' of items and texts


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence that a model wrote, and the row that holds it."""

    before: str
    name: str  # the mention
    after: str
    asked: str  # 'food, Japan'
    row: str  # 'run mine, table responses: request_id ..., sample 3'


@dataclass(frozen=True, slots=True)
class Quotes:
    """The sentences of a model in a language."""

    model: str
    language: str
    code: str
    quotes: tuple[Quote, ...]


def write_page(
    found: Leaderboard,
    path: Path,
    answers: Sequence[Section] = (),
    titles: Mapping[str, str] = MappingProxyType({}),
    catalog: Catalog | None = None,
) -> None:
    """Writes the page. The same runs give the same bytes. Raises `StoreError` where it cannot be written.

    `answers` are the sections behind the boards of a leaderboard that is not of texts, and `titles` those of boards of
    questions, by metric.
    """
    of_texts = found.data is TEXTS
    about_texts = (
        replace(_section("asked_about", picture), tables=(ASKED_ABOUT,)),
        *(replace(one, tables=_but(ASKED_ABOUT, one)) for one in TEXT_SECTIONS if one.name == "origins"),
        _section("sentences", partial(_sentences, found)),
        *(one for one in CLOSING_SECTIONS if one.name == "evidence"),
    )
    own = (_section("boards", partial(_boards, found, titles)), *(about_texts if of_texts else answers))
    with open_report(found.run, catalog, found.data.layout, own) as data:
        evidence = {**read_evidence(data.reading, data.manifest, data.names), "parts": {}}  # the page is one file
        sections = build_sections(replace(data, about_texts=of_texts), own)
        page = render_page(data, sections, evidence, _opening(found, data), "runs_opening.html.jinja")
    with replacing(path) as temporary:
        temporary.write_text(page, encoding="utf-8")


def _section(name: str, build: Any) -> Section:
    return Section(name, build, _TEMPLATES / f"{name}.html.jinja", SAID, first=True)


def _but(table: ReportTable, section: Section) -> tuple[ReportTable, ...]:
    return tuple(one for one in section.tables if one is not table)


def _opening(found: Leaderboard, data: ReportData) -> RunsOpening:
    manifest, names, of_texts = found.manifest, data.names, found.data is TEXTS
    lists = {
        "language": [names.language(code) for code in manifest.languages_asked],
        "topic": [names.topic(code) for code in manifest.topics],
        "country": [names.country(code) for code in manifest.countries],
    }
    many = {"language": "languages", "topic": "topics", "country": "countries"}
    asked = (f"{quantity(len(some), what, many[what])}: {', '.join(some)}" for what, some in lists.items())
    samples = f"{count(manifest.n)} {'sample' if manifest.n == 1 else 'samples'} of each prompt"
    return RunsOpening(
        f"{len(found.models)} models of one study",
        manifest,
        names,
        found.study.id,
        "texts" if of_texts else "scores" if found.bounds.keys() == {"missing"} else "answers",
        (*asked, samples) if of_texts else tuple(_scored(found)),
        len(found.runs),
        _health(found, names),
        ", ".join(f"{bound(most)} {name}" for name, most in found.bounds.items()),
        tuple(found.excluded),
        tuple(
            f"{texts().metrics[metric].name if of_texts else metric}: {explained(reason)}"
            for metric, reason in found.unranked_metrics.items()
        ),
        tuple(found.doubts),
    )


def _scored(found: Leaderboard) -> Iterator[str]:
    """Each data set with the metrics that rank models on its questions or items."""
    for names, boards in groupby(found.boards, lambda board: (board.dataset, board.setting)):
        yield f"{', '.join(filter(None, names))} by {', '.join(board.metric for board in boards)}"


def _health(found: Leaderboard, names: Names) -> PageTable:
    """A line for each model, the ranked ones first, with the shares that decide whether it is ranked."""
    rows: list[dict[str, Any]] = [_health_row(one.name, one.run, one.health) for one in found.models]
    columns = [
        Column("Run", written("run"), is_number=False),
        Column("Asked", counted("asked"), is_size=True),
        Column("Answered", counted("answered"), is_size=True),
        *(Column(name.capitalize(), partial(_share, name)) for name in found.bounds),
    ]
    title = "Models and the health of their answers"
    return plain_table(
        rows, columns, title=title, caption=title, line_head="Model", label=lambda row: names.model(row["model"])
    )


def _health_row(model: str, run: str, health: ModelHealth) -> dict[str, Any]:
    return {"model": model, "run": run, "asked": health.asked, "answered": health.answered, **health.shares}


def _share(name: str, row: Mapping[Any, Any]) -> str:
    return share(row[name], 1) or "–" if name in row else "–"


def _boards(found: Leaderboard, titles: Mapping[str, str], data: ReportData) -> tuple[ShownBoard, ...] | None:
    return tuple(_board(board, found.models, titles, data) for board in found.boards) or None


def _board(
    board: RankBoard, entries: Sequence[LeaderboardModel], titles: Mapping[str, str], data: ReportData
) -> ShownBoard:
    metric = None if board.dataset else texts().metrics[board.metric]
    run_of = {entry.name: entry.run for entry in entries}
    several = {language for one in board.models for language in one.languages}
    languages = ordered(data.manifest.languages, several) if len(several) > 1 else []
    columns = [Column("All languages" if languages else "Estimate", _nothing)]
    columns += [Column(data.names.language(code), _nothing) for code in languages]
    groups = tuple(
        Group("", _group(group), tuple(_line(board.metric, one, languages, run_of, data.names) for one in members))
        for group, members in groupby(board.models, lambda one: one.group)
    )
    of = board.where if metric is None else f"{data.names.condition(board.setting)}, {board.variant}"
    name = board.metric if metric is None else metric.name
    if board.dataset and board.setting and board.metric in titles:  # a metric of another harness may have the same name
        name = f"{titles[board.metric]} ({board.metric})"
    title, caption = f"{name}: {of}", f"{name} by group, with 95 % intervals"
    table = PageTable(title, caption, "Model", tuple(columns), groups)
    asked = board.setting if board.dataset else ""
    return ShownBoard(metric, title, f"{board.summary}.", texts().goals[board.goal], table, asked)


def _group(group: int | None) -> str:
    return "Not ranked" if group is None else f"Group {group}"


def _line(metric: str, one: RankedModel, languages: Sequence[str], run_of: Mapping[str, str], names: Names) -> Line:
    whole: FormattedEstimate | TextCell
    if one.value is None:
        whole = FormattedEstimate(None, None, texts().missing.get(one.reason, one.reason))
    else:
        whole = _value(metric, one.value)
    cells = (whole, *(_value(metric, one.languages[code]) if code in one.languages else "–" for code in languages))
    note = "; ".join(filter(None, (f"run {run_of[one.model]}", one.doubt)))
    return Line(names.model(one.model), cells, note=note)


def _value(metric: str, value: IntervalEstimate) -> FormattedEstimate:
    return estimate(metric, value.estimate, value.low, value.high)


def _nothing(_: Any) -> str:
    """The cells of these tables are made line by line."""
    return ""


def _sentences(found: Leaderboard, data: ReportData) -> tuple[tuple[str, tuple[Quotes, ...]], ...] | None:
    """By model, some sentences in each language."""
    of = {entry.name: entry for entry in found.models}
    rows = data.reading.rows(SQL / "sentences.sql", most=SENTENCES)
    models, languages = data.manifest.models, ordered(data.manifest.languages, [row["language"] for row in rows])
    rows.sort(key=lambda row: (models.index(row["model"]), languages.index(row["language"])))
    found_of: list[tuple[str, tuple[Quotes, ...]]] = []
    for model, own in groupby(rows, lambda row: str(row["model"])):
        by_language = [
            Quotes(model, data.names.language(code), code, tuple(_quote(row, of[model], data.names) for row in some))
            for code, some in groupby(own, lambda row: str(row["language"]))
        ]
        found_of.append((data.names.model(model), tuple(by_language)))
    return tuple(found_of) or None


def _quote(row: Mapping[str, Any], entry: LeaderboardModel, names: Names) -> Quote:
    before, name, after = passage(row["text"], row["start"], row["end"])
    asked = ", ".join([names.topic(row["topic"]), names.country(row["country"])])
    request = entry.joined.own_id(row["request_id"])
    return Quote(
        before, name, after, asked, f"run {entry.run}, table responses: request_id {request}, sample {row['sample']}"
    )


def passage(text: str, start: int, end: int) -> tuple[str, str, str]:
    """The sentence around a mention, in three parts: what stands before it, the mention, and what follows; of a long
    one what is near the mention."""
    first = max((one.end() for one in _END.finditer(text, 0, start)), default=0)
    last = next((one.end() for one in _END.finditer(text, end)), len(text))
    room = max(0, _LONGEST - (end - start)) // 2
    before, after = text[first:start].lstrip(), text[end:last].rstrip()
    cut_before, cut_after = len(before) > room, len(after) > room
    return (
        f"…{before[len(before) - room :]}" if cut_before else before,
        text[start:end],
        f"{after[:room]}…" if cut_after else after,
    )
