"""What is usual in a culture, as open questions in English.

By selection: 'blend' (the default), 'camel2', or 'culturescope', the study's sheets without their options.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from polyculture.cache.errors import DataSetError
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.instruments.probe.published import open_published
from polyculture.instruments.probe.questions import OpenQuestion
from polyculture.instruments.questions.model import Prompt, Question, QuestionSet
from polyculture.sources.left_out import LeftOut, SourceLocation

LANGUAGE = "en"
OPEN: Mapping[str, Mapping[str, int]] = {  # data -> what the paper states (Table 6)
    "blend": {"questions": 5726},
    "camel2": {"questions": 1862},
    "culturescope": {},
}


def question_set(folder: Path | None, selection: str | None, _concepts: Path | None) -> QuestionSet:
    """Questions about cultures without options: all that people of the culture answered is right.

    Of BLEnD without what nobody answered and what asks for a number; CAMeL-2 asks for the entity in a text. Raises
    `DataSetError` where files are missing or hold no question.
    """
    data = selection or next(iter(OPEN))
    if data not in OPEN:
        raise DataSetError(f"there is no selection {data!r}", remedy=did_you_mean(data, OPEN))
    opened = open_published(data, folder, (LANGUAGE,), None)  # type: ignore[arg-type]
    name = f"culture-open-{data}"
    questions = tuple(
        open_question(name, SourceLocation(opened.where.name), one)
        for one in opened.questions
        if one.language == LANGUAGE
    )
    remarks = tuple(LeftOut(SourceLocation(opened.where.name), line) for line in opened.told)
    return QuestionSet(
        name, "What is usual in a culture, asked openly", "open", opened.where, questions, (open_prompt(),),
        ("exact_match",), remarks, published=OPEN[data],
    )  # fmt: skip


def open_question(name: str, place: SourceLocation, one: OpenQuestion) -> Question:
    """A question of the set `name`. Every spelling of an answer has the votes of the answer."""
    given = [(spelling, float(answer.votes or 1)) for answer in one.answers for spelling in answer.spellings]
    facets = {"country": one.culture, "topic": one.topic, "level": one.level, "region": one.region}
    return Question(
        name=f"{one.question_id} {one.culture}",
        set=name,
        language=one.language,
        kind="open",
        unit=one.question_id,
        text=one.question,
        options=(),
        roles=(),
        right=(),
        place=place,
        answers=tuple(spelling for spelling, _ in given),
        weights=tuple(votes for _, votes in given),
        facets={key: value for key, value in facets.items() if value is not None},
    )


@cache
def wordings() -> Mapping[str, Mapping[str, Any]]:
    """Our wordings of open questions, and of what stands before them."""
    return tomllib.loads(Path(__file__).with_name("prompts.toml").read_text(encoding="utf-8"))


def open_prompt() -> Prompt:
    """Our own prompt of open questions, in English."""
    return Prompt("house", LANGUAGE, wordings()["open"]["template"].strip())
