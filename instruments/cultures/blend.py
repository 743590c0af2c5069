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

from polyculture.cache.errors import DataSetError, UserError
from polyculture.cache.folding import fold
from polyculture.imports.files import read_file
from polyculture.imports.record import BadRow, Record
from polyculture.instruments.cultures.cultures import Cultures
from polyculture.instruments.datasets.model import LeftOut, SourceLocation

REPOSITORY = "https://github.com/nlee0212/BLEnD"
NUMERIC, UNANSWERED = "asks for a number", "nobody answered it"
ANNOTATIONS, QUESTIONS = "annotations", "questions"
_ENDING = "_data.json"
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
    root = next((place for place in (folder, folder / "data") if (place / ANNOTATIONS).is_dir()), None)
    files = sorted((root / ANNOTATIONS).glob(f"*{_ENDING}")) if root else []
    if root is None or not files:
        remedy = f"Clone {REPOSITORY}, and name its folder `data`."
        raise DataSetError(f"there is no {ANNOTATIONS}/<country>{_ENDING}", where=folder, remedy=remedy)
    found = _Reading(root, cultures)
    for file in files:
        found.read(file)
    if not found.questions:
        first = f": {found.left_out[0].place}: {found.left_out[0].reason}" if found.left_out else ""
        raise DataSetError(
            f"holds no question that can be used{first}", where=root, remedy="See docs/question-sets.md."
        )
    return Blend(found.questions, found.answered, found.asked, found.excluded, tuple(found.left_out))


class _Reading:
    def __init__(self, root: Path, cultures: Cultures) -> None:
        self.root, self.cultures = root, cultures
        self.questions: dict[tuple[str, str], BlendQuestion] = {}
        self.answered: dict[tuple[str, str], BlendQuestion] = {}
        self.asked: Counter[str] = Counter()
        self.excluded: Counter[tuple[str, str]] = Counter()
        self.left_out: list[LeftOut] = []

    def read(self, file: Path) -> None:
        named = file.name.removesuffix(_ENDING)
        culture = self.cultures.country(named)
        if culture is None:
            self._leave(file, f"left out: {named!r} is no country of the cultures")
            return
        if self.asked[culture.country]:
            self._leave(file, f"left out: the answers of {culture.country} were read already")
            return
        try:
            rows = list(read_file(file))
        except (OSError, UserError) as fault:
            self._leave(file, f"left out: cannot be read: {fault}")
            return
        records = [row for row in rows if isinstance(row, Record)]
        if len(rows) != 1 or not records:
            bad = next((f"cannot be read: {row.reason}" for row in rows if isinstance(row, BadRow)), "")
            self._leave(file, f"left out: {bad or 'it holds no question by its id'}")
            return
        topics = self._topics(named)
        for source_id, entry in records[0].values.items():
            self.asked[culture.country] += 1
            try:
                question = _question(source_id, culture.country, entry, topics.get(source_id))
            except ValueError as fault:
                self._leave(file, f"left out: {fault}", source_id)
                continue
            key, reason = (source_id, culture.country), _excluded(question)
            if reason:
                self.excluded[culture.country, reason] += 1
            else:
                self.questions[key] = question
            if question.answers:
                self.answered[key] = question

    def _topics(self, named: str) -> Mapping[str, str]:
        """The topic of each question in the sheet."""
        file = self.root / QUESTIONS / f"{named}_questions.csv"
        try:
            rows = [row.values for row in read_file(file) if isinstance(row, Record)]
        except (OSError, UserError) as fault:
            self._leave(file, f"the questions have no topics: {fault}")
            return {}
        if not rows or not {"ID", "Topic"} <= rows[0].keys():
            self._leave(file, "the questions have no topics: no column 'ID' or 'Topic'")
            return {}
        return {row["ID"]: row["Topic"].strip() for row in rows if row["Topic"].strip()}

    def _leave(self, file: Path, reason: str, text: str | None = None) -> None:
        self.left_out.append(LeftOut(SourceLocation(file.relative_to(self.root).as_posix()), reason, text))


def _excluded(question: BlendQuestion) -> str | None:
    """Why a question stays out; one that nobody answered is not counted among the numeric ones."""
    if not question.answers:
        return UNANSWERED
    return NUMERIC if asks_for_number(question.text) else None


def _question(source_id: str, country: str, entry: Any, topic: str | None) -> BlendQuestion:
    """An entry as a question. Raises `ValueError` with what is wrong."""
    if not isinstance(entry, dict) or not isinstance(entry.get("annotations"), list):
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
