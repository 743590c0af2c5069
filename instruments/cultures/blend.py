"""BLEnD (Myung et al. 2024): questions about daily life and what annotators of each country answered, with votes.

`annotations/<country>_data.json` has the answers, `questions/<country>_questions.csv` the topics and, in `Translation`,
the question in English; its README has the two columns of text the other way round, so the one is taken that agrees
with the annotations. A question is left out where nobody answered it, and where it asks for a number, a time or a date
("Provide Arabic numerals ...", "Provide in HH:MM format ..."), as its answers are no names of anything; "Provide the
official name." asks for a name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from polyculture.cache.errors import DataSetError
from polyculture.cache.folding import fold
from polyculture.instruments.cultures.cultures import Cultures
from polyculture.instruments.datasets.model import LeftOut, SourceLocation
from polyculture.instruments.datasets.sheets import read_sheets

REPOSITORY = "https://github.com/nlee0212/BLEnD"
NUMERIC, UNANSWERED = "asks for a number", "nobody answered it"
ANNOTATIONS, QUESTIONS = "annotations", "questions"
_ENDING = "_data.json"
_PROVIDE = re.compile(r"\bProvide\b[^)]*(?:\d|numeral|format)")
_COLUMNS = ("Translation", "Question")  # the first that agrees with the annotations is the English one


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

    def of_country(self, country: str) -> int:
        """How many questions of a country stay."""
        return sum(name == country for _, name in self.questions)


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
            told = orjson.loads(file.read_bytes())
        except (OSError, orjson.JSONDecodeError) as fault:
            self._leave(file, f"left out: cannot be read: {fault}")
            return
        if not isinstance(told, dict):
            self._leave(file, "left out: it holds no question by its id")
            return
        texts = self._texts(named, told)
        for source_id, entry in told.items():
            self.asked[culture.country] += 1
            try:
                question = _question(source_id, culture.country, entry, texts.get(source_id))
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

    def _texts(self, named: str, told: Mapping[str, Any]) -> Mapping[str, tuple[str, str | None]]:
        """Of each question in the sheet: its English text and its topic."""
        file = self.root / QUESTIONS / f"{named}_questions.csv"
        if not file.is_file():
            self._leave(file, "there is none: the questions are worded as beside the answers, without topics")
            return {}
        try:
            sheets = read_sheets(self.root, file)
        except DataSetError as fault:
            self._leave(file, f"left out: {fault.what}")
            return {}
        sheet = sheets[0] if sheets else None
        if sheet is None or sheet.column(["ID"]) is None:
            self._leave(file, "left out: no column 'ID'")
            return {}
        names = ("ID", "Topic", *_COLUMNS)
        columns = {name: sheet.column([name]) for name in names}
        rows = [
            {name: row[at] if at is not None and at < len(row) else "" for name, at in columns.items()}
            for _, row in sheet.numbered()
        ]
        english = max(_COLUMNS, key=lambda name: sum(_agrees(told.get(row["ID"]), row[name]) for row in rows))
        missing = told.keys() - {row["ID"] for row in rows}
        if missing:
            self._leave(file, f"lacks {len(missing)} of {len(told)} questions: these are worded as beside the answers")
        return {row["ID"]: (row[english], row["Topic"] or None) for row in rows}

    def _leave(self, file: Path, reason: str, text: str | None = None) -> None:
        self.left_out.append(LeftOut(SourceLocation(file.relative_to(self.root).as_posix()), reason, text))


def _agrees(entry: Any, text: str) -> bool:
    return isinstance(entry, dict) and bool(text) and text == str(entry.get("en_question", "")).strip()


def _excluded(question: BlendQuestion) -> str | None:
    """Why a question stays out; one that nobody answered is not counted among the numeric ones."""
    if not question.answers:
        return UNANSWERED
    return NUMERIC if asks_for_number(question.text) else None


def _question(source_id: str, country: str, entry: Any, told: tuple[str, str | None] | None) -> BlendQuestion:
    """An entry as a question. Raises `ValueError` with what is wrong."""
    if not isinstance(entry, dict) or not isinstance(entry.get("annotations"), list):
        raise ValueError("it has no list of annotations")
    text = (told[0] if told else "") or str(entry.get("en_question") or "").strip()
    if not text:
        raise ValueError("it has no English text")
    answers = tuple(_answers(entry["annotations"]))
    if entry["annotations"] and not answers:
        raise ValueError("none of its answers is in English")
    topic = told[1] if told else None
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
