"""Open questions about cultures: from a table of tabs, the part that is asked, and their rows in the store."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.cache.errors import DataSetError
from polyculture.cache.identity import content_id
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.instruments.probe.flattening import FEWEST
from polyculture.instruments.probe.layout import (
    PROBE_HUMAN_ANSWERS,
    PROBE_QUESTIONS,
    WANTED_PROBES,
    HumanAnswerRow,
    QuestionRow,
    WantedProbe,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from polyculture.cache.store.layout import Table
    from polyculture.cache.store.run_folder import RunFolder

COLUMNS = ("question_id", "culture", "language", "question")


@dataclass(frozen=True, slots=True)
class HumanAnswer:
    """What people answered, in its spellings, the usual one first, and how many; None: the source does not say."""

    spellings: tuple[str, ...]
    votes: int | None


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question about a culture. The same question about other cultures has the same `question_id`."""

    question_id: str
    culture: str
    language: str
    question: str
    topic: str | None = None
    region: str | None = None
    level: str | None = None  # of resources
    answers: tuple[HumanAnswer, ...] = ()
    neighbours: tuple[str, ...] = ()  # the other cultures of its region


def read_questions(file: Path) -> list[OpenQuestion]:
    """The questions of a table (UTF-8, tabs, a header). Raises `DataSetError` that names file and line."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as opened:
            rows = csv.DictReader(opened, delimiter="\t", quoting=csv.QUOTE_NONE)
            missing = [name for name in COLUMNS if name not in (rows.fieldnames or ())]
            if missing:
                what = f"has no column {', '.join(map(repr, missing))}"
                remedy = f"Give a table of tabs whose header has {', '.join(COLUMNS)}, and topic where there is one."
                raise DataSetError(what, where=file, remedy=remedy)
            found = [_question(file, number, row) for number, row in enumerate(rows, 2)]
    except (OSError, UnicodeDecodeError, csv.Error) as fault:
        raise DataSetError(f"cannot be read: {fault}", where=file, remedy="Give a UTF-8 table of tabs.") from fault
    _check_distinct(file, found)
    return found


def choose(
    file: Path,
    questions: Sequence[OpenQuestion],
    cultures: Sequence[str] = (),
    languages: Sequence[str] = (),
    per_culture: int | None = None,
    seed: int = 1,
) -> list[OpenQuestion]:
    """A part of the questions, in their order: of some cultures and languages, or of all; so many ids, by the seed.

    Raises `DataSetError` for a name that the table does not have, and for fewer than three cultures.
    """
    for what, asked, there in (
        ("culture", cultures, {one.culture for one in questions}),
        ("language", languages, {one.language for one in questions}),
    ):
        for name in asked:
            if name not in there:
                remedy = did_you_mean(name, there)
                raise DataSetError(f"has no question of the {what} {name!r}", where=file, remedy=remedy)
    chosen = [
        one
        for one in questions
        if (not cultures or one.culture in cultures) and (not languages or one.language in languages)
    ]
    if per_culture is not None:
        drawn = draw_ids(chosen, per_culture, seed)
        chosen = [one for one in chosen if one.question_id in drawn]
    if (count := len({one.culture for one in chosen})) < FEWEST:
        remedy = "Ask about more: the flattening score of two is 0 by construction."
        raise DataSetError(
            f"{count} cultures are chosen, and a probe needs at least {FEWEST}", where=file, remedy=remedy
        )
    return chosen


def draw_ids(questions: Sequence[OpenQuestion], number: int, seed: int) -> frozenset[str]:
    """So many question ids, jointly for all cultures: those first that most cultures have, in an order by the seed.

    Fewer are a part of more. Where an id is missing of a culture, that culture has as many questions less.
    """
    having: dict[str, set[str]] = {}
    for one in questions:
        having.setdefault(one.question_id, set()).add(one.culture)
    ordered = sorted(having, key=lambda one: (-len(having[one]), content_id("probe draw", seed, one)))
    return frozenset(ordered[:number])


def question_key(dataset: str, one: OpenQuestion) -> str:
    """A hash of all that is asked."""
    return content_id("probe question", dataset, one.question_id, one.culture, one.language, one.question)


def present_questions(
    run: RunFolder, dataset: str, questions: Sequence[OpenQuestion], wanted: Sequence[WantedProbe] = ()
) -> dict[Table[Any], pa.Table]:
    """The tables to write so that these are the run's questions of `dataset`, asked by these requests; none where they
    are. Other data sets stay, and what was asked of these questions under arms that are not asked now.
    """
    from polyculture.cache.store.parquet import present_rows

    asked = [
        QuestionRow(
            question_key(dataset, one), dataset, one.language, one.culture, one.question_id, one.topic, one.question,
            one.region, one.level, list(one.neighbours),
        )
        for one in questions
    ]  # fmt: skip
    answers = [
        HumanAnswerRow(
            question_key(dataset, one), dataset, place, answer.spellings[0], list(answer.spellings), answer.votes
        )
        for one in questions
        for place, answer in enumerate(one.answers, 1)
    ]
    return {
        **present_rows(run, PROBE_QUESTIONS, asked),
        **present_rows(run, PROBE_HUMAN_ANSWERS, answers),
        **present_rows(run, WANTED_PROBES, wanted),
    }


def _question(file: Path, number: int, row: dict[str, Any]) -> OpenQuestion:
    cells = {name: (row[name] or "").strip() for name in (*COLUMNS, "topic") if name in row}
    empty = [name for name in COLUMNS if not cells[name]]
    if empty or None in row:
        what = f"line {number}: {empty[0]} is empty" if empty else f"line {number} has more cells than the header"
        raise DataSetError(what, where=file, remedy="Give every question its id, culture, language and text.")
    question_id, culture, language, question = (cells[name] for name in COLUMNS)
    return OpenQuestion(question_id, culture, language, question, cells.get("topic") or None)


def _check_distinct(file: Path, found: Sequence[OpenQuestion]) -> None:
    seen: set[tuple[str, str, str]] = set()
    for one in found:
        key = one.question_id, one.culture, one.language
        if key in seen:
            what = f"question {one.question_id!r} of {one.culture!r} in {one.language!r} is there twice"
            raise DataSetError(what, where=file, remedy="Give each question of a culture an id of its own.")
        seen.add(key)
