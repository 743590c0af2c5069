"""What the section on question sets says in words: how a set was asked, what was answered, and what cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from polyculture.instruments.questions.layout import ASK_METHODS
from polyculture.instruments.questions.rules.opened import citation_of
from polyculture.instruments.questions.shown import TEXTS
from polyculture.instruments.questions.unread import UNREAD, unread_by_language
from polyculture.reports.names import short
from polyculture.reports.numbers import Row, count, share
from polyculture.reports.section import ReportData
from polyculture.reports.texts import section_texts

STUDY = ("dataset", "language", "model", "method", "reader", "condition", "prompt")
_WARNED = 0.05  # of the answers that cannot be read: from here on the section says so


@dataclass(frozen=True, slots=True)
class Unread:
    """The answers of a model to a set that a reader could not read."""

    title: str
    share: str
    texts: tuple[str, ...]  # up to three of them


def title_of(data: ReportData, dataset: str, language: str) -> str:
    return f"{short(dataset)}, {data.names.language(language)}"


def how_asked(row: Row) -> str:
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
    return f"{word_for('methods', row['method'])}{': ' if parts else ''}{'; '.join(parts)}."


def citation(dataset: str) -> str:
    """What to cite for a set: its rules say it; rules of a user's own are not kept with the run."""
    cited = citation_of(dataset)
    return f"Cite the set as: {cited}." if cited else "Cite the set as its publisher asks."


def coverage(answered: Sequence[Row]) -> str:
    """How many questions of a set stand behind its numbers."""
    if not answered:
        return "The questions of the set"
    least, most = (end(row["questions"] for row in answered) for end in (min, max))
    of_set = max(row["of_set"] for row in answered)
    if least >= of_set:
        return f"All {count(of_set)} questions of the set"
    some = count(least) if least == most else f"{count(least)} to {count(most)}, by model,"
    return f"{some} of the set's {count(of_set)} questions"


def different_questions(data: ReportData, answered: Sequence[Row]) -> str | None:
    """Which models answered different questions of a set, and how many are the same; None where all are."""
    some = [row for row in answered if row["differs"]]
    if not some:
        return None
    own = ", ".join(f"{data.names.model(row['model'])} {count(row['questions'])}" for row in some)
    shared = min(row["shared"] for row in some)
    return f"{own}; answered by all of these models: {count(shared) if shared else 'none'}"


def part_label(row: Row, names: Any) -> str:
    if row["part"] == "all":
        return str(word_for("parts", "all"))
    if row["part"] == "country":
        return str(names.country(row["value"]))
    declared = section_texts(TEXTS).words["parts"].get(f"{row['dataset']} {row['part']} {row['value']}")
    if declared is not None:
        return str(declared)
    value = short(str(row["value"])).replace("_", " ")
    return value if row["part"] == "category" else f"{row['part'].replace('_', ' ')}: {value}"


def study_label(row: Row) -> str:
    """How a model was asked, and who read it: what stands behind its name."""
    method = f"of the {row['method']}" if ASK_METHODS[row["method"]].is_choice else ""
    prompt = row["prompt"] and f"prompt {row['prompt']}"
    parts = (word_for("readers", row["reader"]), method, row["condition"], prompt)
    return "".join(f", {part}" for part in parts if part)


def unread_share(line: Row) -> str:
    """What is said behind the name of a model of which many answers pick no option: unread, refusals and ties."""
    return f" ({share(line['unread'], 1)} pick no option)" if (line["unread"] or 0) >= _WARNED else ""


def word_for(kind: str, name: str) -> str:
    return str(section_texts(TEXTS).words[kind].get(name, name))


def unread_answers(data: ReportData) -> Iterable[Unread]:
    rows = data.reading.rows(UNREAD)
    for _, some in groupby(rows, key=lambda row: tuple(row[name] for name in STUDY[:5])):
        found = list(some)
        first, lost, answered = found[0], *(sum(row[name] for row in found) for name in ("lost", "answered"))
        if lost and lost >= _WARNED * answered:
            title = f"{data.names.model(first['model'])}, {title_of(data, first['dataset'], first['language'])}"
            title += f"; {word_for('readers', first['reader'])}"
            texts = dict.fromkeys(text for row in found for text in row["texts"] or ())
            yield Unread(title, share(lost, answered) or "", tuple(short(text) or "(empty)" for text in texts)[:3])


def unread_by_languages(data: ReportData) -> Iterable[str]:
    """'Model, MBBQ; its answers: Spanish 41 %, English 0 %'."""
    for one in unread_by_language(data.reading.rows(UNREAD)):
        named = ", ".join(f"{data.names.language(code)} {share(part, 1)}" for code, part in one.by_language.items())
        yield f"{data.names.model(one.model)}, {short(one.dataset)}; {word_for('readers', one.reader)}: {named}"
