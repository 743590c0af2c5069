"""What a rules file makes of its files, for `polyculture data check`: counts beside the published ones, and remarks.

With `--published`, what a paper counts of a question set is shown beside the questions that were read.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Set
from decimal import Decimal
from statistics import fmean, pstdev
from typing import Any

from scipy import stats

from polyculture.cache.text.suggestions import did_you_mean
from polyculture.instruments.cultures.cultures import read_cultures
from polyculture.instruments.datasets.check import DATA, CheckRow, FileCount, no_file, printed_rows, rows_by_reason
from polyculture.instruments.questions.asking import labels_of, message, shown_options
from polyculture.instruments.questions.loaders.culturescope import OWN
from polyculture.instruments.questions.model import BIASED, OTHER, Question, QuestionSet
from polyculture.instruments.questions.numbers.declared import declared_numbers
from polyculture.instruments.questions.numbers.families import Family, families
from polyculture.instruments.questions.rules.questions import NO_DIRECTION
from polyculture.published.cells import PAPERS, PublishedCell, published
from polyculture.sources.left_out import by_reason

SHOWN = 3  # questions that are shown as they will be asked


def check_rows(found: QuestionSet) -> Iterator[CheckRow]:
    """Everything that can be counted about a set."""
    questions = found.questions
    yield CheckRow("questions", "", len(questions), found.published.get("questions"))
    for key, number in found.published.items():
        facet, equals, value = key.partition("=")
        if equals:
            mine = sum(question.facets.get(facet) == value for question in questions)
            yield CheckRow("questions", key, mine, number)
    yield CheckRow("units", "", len({question.unit for question in questions}), note="of sampling")
    yield from _counted("language", [question.language for question in questions])
    if found.kind != "open":
        yield from _counted("options", [f"{len(question.options)} a question" for question in questions])
        yield from _counted("role", [role or "none" for question in questions for role in question.roles])
    yield from _counted("context", [one.facets["context"] for one in questions if "context" in one.facets])
    undirected = [remark for remark in found.remarks if remark.reason == NO_DIRECTION]
    if undirected or any(BIASED in question.roles for question in questions):
        note = f"{undirected[0].place}: {NO_DIRECTION}" if undirected else ""
        yield CheckRow("without a direction", "", len(undirected), note=note)
    for family, reason in lacking(found):
        yield CheckRow("numbers", family, 0, note=f"cannot be computed: {reason}")
    yield from rows_by_reason([one for one in found.remarks if one.reason != NO_DIRECTION])


def lacking(found: QuestionSet) -> Iterator[tuple[str, str]]:
    """The families of numbers of a set whose questions lack something that they need, with what is missing."""
    roles = {role for question in found.questions for role in question.roles}
    for name in found.numbers:
        missing = list(_missing(found, families()[name], roles)) if name in families() else []
        if missing:
            yield name, ", ".join(missing)
    declared = declared_numbers(found.numbers).values()
    for role in sorted({role for number in declared for share in number.shares for role in share.roles} - roles):
        yield f"declared with {role}", f"no option has the role {role!r}"
    yield from _unknown_facets(found)


def _unknown_facets(found: QuestionSet) -> Iterator[tuple[str, str]]:
    """The declared numbers of which brackets name a facet that no question has, or a value that none has there."""
    facets: dict[str, set[str]] = {}
    for question in found.questions:
        for facet, value in question.facets.items():
            facets.setdefault(facet, set()).add(value)
    for name, number in declared_numbers(found.numbers).items():
        for facet, values in dict.fromkeys(where for share in number.shares for where in share.where):
            if facet not in facets:
                yield name, f"no question has the facet {facet!r}. {did_you_mean(facet, sorted(facets))}".rstrip()
            elif absent := [value for value in values if value not in facets[facet]]:
                near = did_you_mean(absent[0], sorted(facets[facet]))
                yield name, f"no question has {facet}={'|'.join(absent)}. {near}".rstrip()


def _missing(found: QuestionSet, family: Family, roles: Set[str]) -> Iterator[str]:
    """What no question of a set has, and a family's numbers are counted by."""
    yield from (f"no option has the role {role!r}" for role in family.roles if role not in roles)
    shares = [share for number in family.numbers.values() for share in number.shares]
    by_context = any(facet == "context" for share in shares for facet, _ in share.where)
    if by_context and not any("context" in question.facets for question in found.questions):
        yield "no question has the facet 'context'"
    if any(share.needs_right for share in shares) and not any(question.right for question in found.questions):
        yield "no question has a right option"


def _counted(what: str, values: list[str]) -> Iterator[CheckRow]:
    yield from (CheckRow(what, value, number) for value, number in Counter(values).most_common())


def asked_texts(found: QuestionSet) -> Iterator[str]:
    """The first questions as a model will read them, and which options are right."""
    for question in found.questions[:SHOWN]:
        yield f"{question.place}: {question.name}\n{_as_asked(found, question)}{_told(question)}"


def _as_asked(found: QuestionSet, question: Question) -> str:
    prompt = next((prompt for prompt in found.prompts if prompt.language == question.language), None)
    order = tuple(range(len(question.options)))
    shown = shown_options(question, order, prompt)
    if prompt is not None:
        return message(question, prompt, shown, labels_of(question, prompt))
    return "\n".join(filter(None, (question.text, *(f"- {text}" for text in shown))))


def _told(question: Question) -> str:
    right = [question.options[place] for place in question.right]
    roles = [f"{text}: {role}" for text, role in zip(question.options, question.roles, strict=True) if role]
    answers = [repr(text) for text in question.answers[:SHOWN]]
    lines = [("right", right), ("roles", roles), ("answers", answers)]
    return "".join(f"\n  {name}: {'; '.join(values)}" for name, values in lines if values) + "\n"


_DATASETS = {"kobbq-all": "kobbq"}
_UNTOLD = "the set's files do not tell it"
_OF_ALL = "counted by: polyculture data check kobbq:all --published"
_REMOVED = "SR"  # the label of templates that were removed
_PRINTED_ROLES = {"right": OWN, "same region": BIASED, "other region": OTHER}  # others: a level


def published_rows(found: QuestionSet) -> list[tuple[Any, ...]]:
    """Every count that a paper prints of the set; one of no paper has none."""
    name = _DATASETS.get(found.name, found.name)
    cells = [one for paper in PAPERS for one in published(paper) if one.measure == DATA and one.dataset == name]
    # What was left out explains a number that lacks as many, and no other.
    left_out: dict[int | Decimal, str] = {
        number: f"{reason}: {number}" for reason, number, _ in by_reason(found.remarks)
    }
    left_out[len(found.remarks)] = "; ".join(left_out.values())
    there = {one.facets.get("country") for one in found.questions}
    absent = [country for country in read_cultures().countries if country not in there] if name == "blend" else []

    def read(cell: PublishedCell) -> FileCount:
        number = _read(found, cell)
        if absent and number is not None:
            return FileCount(number, no_file(absent), is_whole=False)
        if number is None:
            return FileCount(None, _OF_ALL if cell.metric == "samples" else _UNTOLD)
        return FileCount(number, left_out.get(cell.value - Decimal(number), ""))

    return printed_rows(cells, read)


def _read(found: QuestionSet, cell: PublishedCell) -> float | None:
    wanted = {key: value for key, value in cell.facets.items() if key != "option"}
    if cell.topic not in ("*", "-"):
        wanted["category"] = cell.topic
    some = [one for one in found.questions if all(one.facets.get(key) == value for key, value in wanted.items())]
    match cell.metric:
        case "questions" if cell.culture == "*":
            return len(some)
        case "cultures":
            return len({one.facets["country"] for one in some})
        case "options" | "options_low" | "options_high":
            return _options(some, cell.facets["option"])[cell.metric]
        case "templates" if cell.facets.get("label") != _REMOVED:
            return len({one.facets["template"] for one in some})
        case "samples" if found.name == "kobbq-all":
            return len(some)
        case "prompts":
            return len(found.prompts)
        case "requests" if found.name == "kobbq":
            return len(some) * len(found.prompts) * len(found.orders)
    return None


def _options(questions: list[Question], kind: str) -> dict[str, float | None]:
    """How often a culture's answer is an option of a kind: the mean over cultures, and Student's limits at 95 %."""
    counts = Counter(
        country
        for one in questions
        for role, country, group in zip(
            one.roles, one.facets["countries"].split("; "), one.facets["groups"].split("; "), strict=True
        )
        if (role == _PRINTED_ROLES[kind] if kind in _PRINTED_ROLES else role != OWN and group == kind)
    )
    values = list(counts.values())
    if len(values) < 2:
        return dict.fromkeys(("options", "options_low", "options_high"))
    mean, reach = fmean(values), float(stats.t.ppf(0.975, len(values) - 1)) * pstdev(values) / math.sqrt(len(values))
    return {"options": mean, "options_low": mean - reach, "options_high": mean + reach}
