"""What is usual in a culture: with the answers of other cultures as options, or as open questions.

`culture-mcq` is the study's sheets. `culture-open` by selection: 'blend' (the default), 'camel2', or 'culturescope',
the sheets' questions without their options; all in English.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from polyculture.cache.errors import DataSetError, did_you_mean
from polyculture.instruments.cultures.blend import ANNOTATIONS, Blend, load_blend
from polyculture.instruments.cultures.cultures import Cultures, read_cultures
from polyculture.instruments.datasets.model import LeftOut, SourceLocation
from polyculture.instruments.datasets.opened import data_folder, place_of
from polyculture.instruments.probe.published import open_published
from polyculture.instruments.probe.questions import OpenQuestion
from polyculture.instruments.questions.loaders.sheets import LANGUAGE, sheet_questions
from polyculture.instruments.questions.model import Kind, Prompt, Question, QuestionSet

RELEASED = "released"
OPEN: Mapping[str, Mapping[str, int]] = {  # data -> what the paper states (Table 6)
    "blend": {"questions": 5726},
    "camel2": {"questions": 1862},
    "culturescope": {},
}
_SHEETS = {"questions": 8826}  # Table 4: 5,050 resource and 3,776 region questions


def culture_mcq(
    folder: Path | None,
    selection: str | None = None,
    *,
    blend: Path | None = None,
    cultures: Path | None = None,
) -> QuestionSet:
    """Questions with hard negatives of both types.

    `folder` has the sheets. With the folder `blend`, or where BLEnD was fetched, topics are known, and whether
    annotators of the target gave a wrong option as well. `cultures` takes the place of the study's countries, regions
    and levels.
    Raises `DataSetError` where files are missing or hold no question.
    """
    chosen(selection, (RELEASED,))
    known = read_cultures(cultures)
    place = place_of(folder, "culturescope")
    answers = _answers(blend, known)
    found, remarks = sheet_questions(place, known, "culture-mcq", answers)
    return QuestionSet(
        "culture-mcq", "What is usual in a culture, among the answers of others", "choice", place,
        tuple(one for one in found if all(one.options)), (prompt("choice"),), ("levels", "hypotheses"), tuple(remarks),
        published=_SHEETS,
    )  # fmt: skip


def culture_open(folder: Path | None, selection: str | None = None, *, cultures: Path | None = None) -> QuestionSet:
    """The same questions without options: all that people of the culture answered is right.

    Of BLEnD without what nobody answered and what asks for a number; CAMeL-2 asks for the entity in a text. Raises
    `DataSetError` where files are missing or hold no question.
    """
    data = chosen(selection, OPEN)
    opened = open_published(data, folder, (LANGUAGE,), cultures)  # type: ignore[arg-type]
    name = f"culture-open-{data}"
    questions = tuple(
        open_question(name, SourceLocation(opened.where.name), one)
        for one in opened.questions
        if one.language == LANGUAGE
    )
    remarks = tuple(LeftOut(SourceLocation(opened.where.name), line) for line in opened.told)
    return QuestionSet(
        name, "What is usual in a culture, asked openly", "open", opened.where, questions, (prompt("open"),),
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


def chosen(selection: str | None, known: Sequence[str] | Mapping[str, object]) -> str:
    """The selection, or the first known. Raises `DataSetError` for another."""
    if selection is None:
        return next(iter(known))
    if selection not in known:
        raise DataSetError(f"there is no selection {selection!r}", remedy=did_you_mean(selection, known))
    return selection


def _answers(blend: Path | None, cultures: Cultures) -> Blend | None:
    """What annotators answered, where BLEnD is at hand."""
    fetched = data_folder("blend")
    if blend is None and not any((place / ANNOTATIONS).is_dir() for place in (fetched, fetched / "data")):
        return None
    return load_blend(place_of(blend, "blend"), cultures)


@cache
def wordings() -> Mapping[str, Mapping[str, Any]]:
    """Our wordings, by the kind of question."""
    return tomllib.loads(Path(__file__).with_name("prompts.toml").read_text(encoding="utf-8"))


def prompt(kind: Kind) -> Prompt:
    """Our own prompt of a kind of question, in English."""
    told = wordings()[kind]
    return Prompt("house", LANGUAGE, told["template"].strip(), option=told.get("option", ""))
