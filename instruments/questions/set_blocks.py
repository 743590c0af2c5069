"""What the report's section on question sets shows: a set and language a block, with figures and a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any

import pandas as pd

from polyculture.instruments.questions.reading_step import UNREAD, unread_by_language
from polyculture.instruments.questions.rules.opened import citation_of
from polyculture.instruments.questions.section import COVERAGE, SCORES, SETTINGS, TEXTS
from polyculture.reports.figures.figure import Key, Panel, key_of
from polyculture.reports.figures.kinds import dots
from polyculture.reports.names import short
from polyculture.reports.numbers import FormattedEstimate, count, decimal, estimate, known, lacking, share
from polyculture.reports.section import ReportData
from polyculture.reports.table_section import Column, PageTable, counted, page_table
from polyculture.reports.texts import section_texts, texts

SIGNED = ("diff_bias_a", "diff_bias_d", "s_amb", "s_dis")
_MATCHES = ("exact_match", "f1", "soft_match", "weighted_match")  # one column: its group says which it is
_BOUNDS = ("chance", "max_bias_a", "max_bias_d")
_KEYED = ("accuracy", "ranked_first")  # of answers to questions that have a right option
_MARKS = ("ᵃ", "ᵇ", "ᶜ", "ᵈ", "ᵉ", "ᶠ", "ᵍ")  # of reasons, each of which is written below the table once
_WARNED = 0.05  # of the answers that cannot be read: from here on the section says so
_STUDY = ("dataset", "language", "model", "method", "reader", "condition", "prompt")
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Unread:
    """The answers of a model to a set that a reader could not read."""

    title: str
    share: str
    texts: tuple[str, ...]  # up to three of them


@dataclass(frozen=True, slots=True)
class Marks:
    """A figure: a row a model, a mark a number."""

    panels: tuple[Panel, ...]
    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class SetBlock:
    """A set in a language."""

    title: str
    asked: tuple[str, ...]  # how it was asked, a sentence each method
    cite: str
    figures: tuple[Marks, ...]
    table: PageTable
    unkeyed: int  # answers to questions without a right option
    undirected: int
    has_bounds: bool  # a number depends on whether unread answers are counted as 'unknown'
    covered: str  # how many of the set's questions were answered
    differing: str | None  # that models answered different ones
    missing: tuple[tuple[str, str], ...]  # marks in the table, each with the reason why a number or interval is missing


@dataclass(frozen=True, slots=True)
class QuestionSets:
    """The context of the section."""

    sets: tuple[SetBlock, ...]
    unread: tuple[Unread, ...]
    languages: tuple[str, ...]  # of a model and set: shares that are not read by language, where they differ


def build(data: ReportData) -> QuestionSets | None:
    """The context of the section; None where no answer of a question set was measured."""
    lines = _study_lines(data.reading.rows(SCORES, part="any"))
    if not lines:
        return None
    covered: dict[Any, list[Row]] = defaultdict(list)
    for row in data.reading.rows(COVERAGE):
        covered[row["dataset"], row["language"]].append(row)
    asked: dict[Any, list[Row]] = defaultdict(list)
    for row in data.reading.rows(SETTINGS):
        asked[row["dataset"], row["language"]].append(row)
    blocks = groupby(lines, key=lambda line: (line["dataset"], line["language"]))
    return QuestionSets(
        tuple(_block(data, *key, list(some), covered[key], asked[key]) for key, some in blocks),
        tuple(_unread(data)),
        tuple(_languages(data)),
    )


def _study_lines(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """A line per study and part, with its `numbers` by metric."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        key = tuple(row[name] for name in (*_STUDY, "part", "value"))
        found.setdefault(
            key, {**row, "condition": row["condition"] or "", "prompt": row["prompt"] or "", "numbers": {}}
        )["numbers"]["match" if row["metric"] in _MATCHES else row["metric"]] = row
    return list(found.values())


def _title(data: ReportData, dataset: str, language: str) -> str:
    return f"{short(dataset)}, {data.names.language(language)}"


def _block(
    data: ReportData,
    dataset: str,
    language: str,
    lines: Sequence[Row],
    answered: Sequence[Row],
    settings: Sequence[Row],
) -> SetBlock:
    words = section_texts(TEXTS).words
    there = dict.fromkeys(name for line in lines for name in line["numbers"])
    declared = {
        name: str(row["declared"]) for line in lines for name, row in line["numbers"].items() if row["declared"]
    }
    heads = {name: (name, text) for name, text in declared.items()} | words["metrics"]
    metrics = [name for name in heads if name in there]
    title = _title(data, dataset, language)
    marks: dict[str, str] = {}
    columns = [
        *(Column(heads[name][0], partial(_noted_cell, name, marks), heads[name][1]) for name in metrics),
        Column("Not read", _not_read, "answers that pick no option, of those that came"),
        Column("Answers", counted("answered"), is_size=True),
        Column("Failed", counted("failed"), "answers that did not come", is_size=True),
    ]
    sized = [line for line in lines if line["answered"] is not None]
    table = page_table(
        data,
        lines,
        columns if len(sized) == len(lines) else columns[: len(metrics)],
        title=title,
        caption=f"{title}, with 95 % intervals",
        by=("method", "reader", "condition", "prompt"),
        head=_way,
        label=_part,
        line_head="Questions",
    )
    whole = [line for line in lines if line["part"] == "all"]
    figures = _figures(data, title, whole, [name for name in metrics if name not in (*_BOUNDS, *declared)])
    keyed = [(line, line["numbers"][name]["n"]) for line in whole for name in _KEYED if name in line["numbers"]]
    unkeyed = max(((line["answered"] or 0) - (n or 0) for line, n in keyed), default=0)
    undirected = max((line["undirected"] or 0 for line in whole), default=0)
    return SetBlock(
        title,
        tuple(map(_asked, settings)),
        _cited(dataset),
        tuple(figures),
        table,
        unkeyed,
        undirected,
        any(row["as_unknown"] is not None for line in lines for row in line["numbers"].values()),
        _covered(answered),
        _differing(data, answered),
        tuple((mark, reason) for reason, mark in marks.items()),
    )


def _asked(row: Row) -> str:
    """How a set was asked by a method: 'The model wrote its answer: prompts 1, 2; ...'."""
    parts = [f"prompt{'s' if len(row['prompts']) > 1 else ''} {', '.join(row['prompts'])}"] if row["prompts"] else []
    if row["orders"] > 1:
        parts.append(f"the options in {row['orders']} orders")
    if row["imported"]:
        parts.append("the answers were imported, and their file does not say how they were sampled")
    elif row["method"] == "generated":
        times = " or ".join(map(str, row["n"]))
        parts.append(f"{times} answer{'s' if row['n'] != [1] else ''} to each request")
        parts.append(f"temperature {' or '.join(f'{value:g}' for value in row['temperature'])}")
        parts.append(f"at most {' or '.join(map(count, row['max_tokens']))} tokens")
    return f"{_words('methods', row['method'])}{': ' if parts else ''}{'; '.join(parts)}."


def _cited(dataset: str) -> str:
    cited = citation_of(dataset)
    return f"Cite the set as: {cited}." if cited else "Cite the set as its publisher asks."


def _covered(answered: Sequence[Row]) -> str:
    """How many questions of a set stand behind its numbers."""
    if not answered:
        return "The questions of the set"
    least, most = (end(row["questions"] for row in answered) for end in (min, max))
    of_set = max(row["of_set"] for row in answered)
    if least >= of_set:
        return f"All {count(of_set)} questions of the set"
    some = count(least) if least == most else f"{count(least)} to {count(most)}, by model,"
    return f"{some} of the set's {count(of_set)} questions"


def _differing(data: ReportData, answered: Sequence[Row]) -> str | None:
    """Which models answered different questions of a set, and how many are the same; None where all are."""
    some = [row for row in answered if row["differs"]]
    if not some:
        return None
    own = ", ".join(f"{data.names.model(row['model'])} {count(row['questions'])}" for row in some)
    shared = min(row["shared"] for row in some)
    return f"{own}; answered by all of these models: {count(shared) if shared else 'none'}"


def _part(row: Row, names: Any) -> str:
    if row["part"] == "all":
        return str(_words("parts", "all"))
    if row["part"] == "country":
        return str(names.country(row["value"]))
    declared = section_texts(TEXTS).words["parts"].get(f"{row['dataset']} {row['part']} {row['value']}")
    if declared is not None:
        return str(declared)
    value = short(str(row["value"])).replace("_", " ")
    return value if row["part"] == "category" else f"{row['part'].replace('_', ' ')}: {value}"


def _way(row: Row) -> str:
    """How a model was asked, and who read it: what stands behind its name."""
    method = "" if row["method"] in ("generated", "sentence", "gap") else f"of the {row['method']}"
    prompt = row["prompt"] and f"prompt {row['prompt']}"
    parts = (_words("readers", row["reader"]), method, row["condition"], prompt)
    return "".join(f", {part}" for part in parts if part)


def _lost(line: Row) -> str:
    """What stands behind the name of a model of which many answers could not be read."""
    return f" ({share(line['unread'], 1)} not read)" if (line["unread"] or 0) >= _WARNED else ""


def _words(kind: str, name: str) -> str:
    return str(section_texts(TEXTS).words[kind].get(name, name))


def _cell(metric: str, line: Row) -> FormattedEstimate:
    row = line["numbers"].get(metric)
    if row is None or row["estimate"] is None:
        return lacking(row["no_estimate"] if row and row["no_estimate"] else "unread_answers")
    kind = "difference" if metric in SIGNED or "-" in (row["declared"] or "") else "share"
    if metric in _BOUNDS:
        return FormattedEstimate(decimal(row["estimate"], kind), None, None)
    reason = row["no_interval"] if row["no_interval"] in texts().missing else "no_interval"
    if row["as_unknown"] is None:
        return estimate(kind, row["estimate"], row["low"], row["high"], without=reason)
    first, second = (decimal(value, kind) for value in sorted((row["estimate"], row["as_unknown"])))
    ends = [known(row[name]) for name in ("low", "high", "as_unknown_from", "as_unknown_to")]
    whole = estimate(kind, row["estimate"], None, None, without=reason)
    if all(end is not None for end in ends):
        whole = estimate(kind, row["estimate"], min(ends[::2]), max(ends[1::2]))
    return replace(whole, value=f"{first} to {second}", thin="bounds")


def _noted_cell(metric: str, marks: dict[str, str], line: Row) -> FormattedEstimate:
    """A cell with a mark in the place of the reason why its number or interval is missing; `marks` takes the reason."""
    found = _cell(metric, line)
    if found.missing is None:
        return found
    mark = marks.setdefault(found.missing, _MARKS[min(len(marks), len(_MARKS) - 1)])
    return replace(found, value=f"{found.value or '–'}{mark}", missing=None)


def _not_read(line: Row) -> str:
    return "–" if line["unread"] is None else share(line["unread"], 1) or "–"


def _figures(data: ReportData, title: str, lines: Sequence[Row], metrics: Sequence[str]) -> Iterable[Marks]:
    """A figure of shares, and one of what can be below 0: a row a model and reader."""
    labels = {_place(line): f"{data.names.model(line['model'])}{_way(line)}{_lost(line)}" for line in lines}
    for signed, words in ((False, "share of the answers"), (True, "bias")):
        some = [
            name for name in metrics if (name in SIGNED) is signed and (name != "s_amb" or "diff_bias_a" not in metrics)
        ]
        marks = [
            (_place(line), name, line["numbers"][name])
            for line in lines
            for name in some
            if name in line["numbers"] and line["numbers"][name]["estimate"] is not None
        ]
        if marks:
            heads = {name: _head(name) for name in some}
            yield _marks(marks, heads, labels, words, f"{title}: {words}", signed=signed)


def _place(line: Row) -> str:
    """The row of a figure that a line is in."""
    return " ".join(str(line[name]) for name in _STUDY)


def _head(metric: str) -> str:
    return str(section_texts(TEXTS).words["metrics"][metric][0])


def _marks(
    marks: Sequence[tuple[str, str, Row]],
    series: Mapping[str, str],
    rows: Mapping[str, str],
    title: str,
    said: str,
    *,
    signed: bool,
) -> Marks:
    """A figure of marks (row, series, number), with its title and description; `signed`: numbers can be below 0."""
    frame = pd.DataFrame(
        [
            {"row": row, "series": name, "value": one["estimate"], "low": one["low"], "high": one["high"]}
            for row, name, one in marks
        ]
    ).astype({"value": float, "low": float, "high": float})
    limits = (-1.0, 1.0) if signed else (0.0, 1.0)
    chart = dots(frame, alternative=said, rows=rows, series=list(series), label=title, limits=limits)
    keys = tuple(key_of(name, number) for number, name in enumerate(series.values()))
    return Marks((Panel(title, chart),), keys)


def _unread(data: ReportData) -> Iterable[Unread]:
    rows = data.reading.rows(UNREAD)
    for _, some in groupby(rows, key=lambda row: tuple(row[name] for name in _STUDY[:5])):
        found = list(some)
        first, lost, answered = found[0], *(sum(row[name] for row in found) for name in ("lost", "answered"))
        if lost and lost >= _WARNED * answered:
            title = f"{data.names.model(first['model'])}, {_title(data, first['dataset'], first['language'])}"
            title += f"; {_words('readers', first['reader'])}"
            texts = dict.fromkeys(text for row in found for text in row["texts"] or ())
            yield Unread(title, share(lost, answered) or "", tuple(short(text) or "(empty)" for text in texts)[:3])


def _languages(data: ReportData) -> Iterable[str]:
    """'Model, MBBQ; its answers: Spanish 41 %, English 0 %'."""
    for one in unread_by_language(data.reading.rows(UNREAD)):
        named = ", ".join(f"{data.names.language(code)} {share(part, 1)}" for code, part in one.by_language.items())
        yield f"{data.names.model(one.model)}, {short(one.dataset)}; {_words('readers', one.reader)}: {named}"
