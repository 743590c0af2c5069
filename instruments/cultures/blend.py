"""BLEnD (Myung et al. 2024): questions about daily life and what annotators of each country answered, with votes.

`annotations/<country>_data.json` has questions and answers, `questions/<country>_questions.csv` topics. Left out are a
question that nobody answered, and one that asks for a number, a time or a date ("Provide Arabic numerals ...", "Provide
in HH:MM format ..."), as its answers are no names of anything; "Provide the official name." asks for a name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from polyculture.cache.errors import DataSetError
from polyculture.cache.text.folding import fold
from polyculture.instruments.cultures.cultures import Cultures
from polyculture.instruments.questions.rules.opened import rules_of
from polyculture.sources.left_out import LeftOut, SourceLocation
from polyculture.sources.rows import Joined, files_of, read_rows

REPOSITORY = "https://github.com/nlee0212/BLEnD"
NUMERIC, UNANSWERED = "asks for a number", "nobody answered it"
ANNOTATIONS = "annotations"
_PROVIDE = re.compile(r"\bProvide\b[^)]*(?:\d|numeral|format)")


@dataclass(frozen=True, slots=True)
class BlendAnswer:
    """An answer in its English spellings, the usual one first, and how many annotators gave it."""

    spellings: tuple[str, ...]
    votes: int
    local: tuple[str, ...] = ()  # as it was given, in the country's language


@dataclass(frozen=True)
class BlendQuestion:
    """A question as it was asked in one country. Answers have the order of the file: most votes first."""

    source_id: str
    country: str
    text: str  # in English
    local_text: str
    topic: str | None
    answers: tuple[BlendAnswer, ...]

    @cached_property
    def given(self) -> frozenset[str]:
        """All that annotators answered, folded."""
        return frozenset(fold(text) for one in self.answers for text in one.spellings)


@dataclass(frozen=True)
class Blend:
    """The questions that stay, what was counted and left out of each country, and rows that cannot be read."""

    questions: Mapping[tuple[str, str], BlendQuestion]  # (source_id, country) -> one that stays
    answered: Mapping[tuple[str, str], BlendQuestion]  # the same with those that ask for a number
    asked: Mapping[str, int]  # country -> questions in its file
    excluded: Mapping[tuple[str, str], int]  # (country, reason) -> questions left out by the rule
    left_out: tuple[LeftOut, ...] = ()


def asks_for_number(text: str) -> bool:
    """Whether a question of BLEnD, in English, asks for a number, a time or a date."""
    return _PROVIDE.search(text) is not None


def load_blend(folder: Path, cultures: Cultures) -> Blend:
    """All countries of a folder that are cultures here. Raises `DataSetError` where there is no file of annotations."""
    form = rules_of("blend-short").questions[0]
    files = files_of(folder, [form])
    if not files:
        remedy = f"Clone {REPOSITORY}, and name its folder `data`."
        raise DataSetError(f"there is no {ANNOTATIONS}/<country>_data.json", where=folder, remedy=remedy)
    topics = Joined(folder, form.join[0])
    questions, answered = dict[tuple[str, str], BlendQuestion](), dict[tuple[str, str], BlendQuestion]()
    asked, excluded, left_out = Counter[str](), Counter[tuple[str, str]](), list[LeftOut]()
    for file, _, told in files:
        culture, place = cultures.country(told["culture"]), SourceLocation(file.relative_to(folder).as_posix())
        if culture is None or asked[culture.country]:
            known = culture and f"the answers of {culture.country} were read already"
            reason = known or f"{told['culture']!r} is no country of the cultures"
            left_out.append(LeftOut(place, f"left out: {reason}"))
            continue
        try:
            rows = list(read_rows(folder, file, form, told))
        except DataSetError as fault:
            left_out.append(LeftOut(place, f"left out: cannot be read: {fault.what}"))
            continue
        for row in rows:
            asked[culture.country] += 1
            if isinstance(row, LeftOut):
                left_out.append(row)
                continue
            source_id = str(row.record.values["key"])
            try:
                topic = topics.columns(row, source_id)["Topic"]
                question = _question(source_id, culture.country, row.record.values, topic or None)
            except ValueError as fault:
                left_out.append(LeftOut(place, f"left out: {fault}", source_id))
                continue
            key, why = (source_id, culture.country), _excluded(question)
            if why:
                excluded[culture.country, why] += 1
            else:
                questions[key] = question
            if question.answers:
                answered[key] = question
    left_out += topics.remarks
    if not questions:
        first = f": {left_out[0].place}: {left_out[0].reason}" if left_out else ""
        raise DataSetError(
            f"holds no question that can be used{first}", where=folder, remedy="See docs/question-sets.md."
        )
    return Blend(questions, answered, asked, excluded, tuple(left_out))


def _excluded(question: BlendQuestion) -> str | None:
    """Why a question stays out; one that nobody answered is not counted among the numeric ones."""
    if not question.answers:
        return UNANSWERED
    return NUMERIC if asks_for_number(question.text) else None


def _question(source_id: str, country: str, entry: Mapping[str, Any], topic: str | None) -> BlendQuestion:
    """An entry as a question. Raises `ValueError` with what is wrong."""
    if not isinstance(entry.get("annotations"), list):
        raise ValueError("it has no list of annotations")
    text = str(entry.get("en_question") or "").strip()
    if not text:
        raise ValueError("it has no English text")
    answers = tuple(_answers(entry["annotations"]))
    if entry["annotations"] and not answers:
        raise ValueError("none of its answers is in English")
    return BlendQuestion(source_id, country, text, str(entry.get("question") or "").strip(), topic, answers)


def _answers(annotations: Sequence[Any]) -> Iterator[BlendAnswer]:
    """The answers that have an English spelling. Raises `ValueError` where votes are no number."""
    for one in annotations:
        votes = one.get("count") if isinstance(one, dict) else None
        if isinstance(votes, bool) or not isinstance(votes, int):
            raise ValueError("an answer has no number of votes")
        if texts := _texts(one.get("en_answers")):
            yield BlendAnswer(texts, votes, _texts(one.get("answers")))


def _texts(told: Any) -> tuple[str, ...]:
    """The texts of a list that are not empty; none where it is no list."""
    return (
        tuple(text.strip() for text in told if isinstance(text, str) and text.strip()) if isinstance(told, list) else ()
    )
