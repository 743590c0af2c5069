"""The questions of a set as a probe asks them: openly, each about a culture, and their rows in the store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from polyculture.cache.errors import DataSetError
from polyculture.cache.identity import content_id
from polyculture.cache.store.parquet import present_rows
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.instruments.cultures.cultures import Cultures
from polyculture.instruments.probe.flattening import FEWEST
from polyculture.instruments.probe.layout import (
    PROBE_HUMAN_ANSWERS,
    PROBE_QUESTIONS,
    HumanAnswerRow,
    ProbedQuestion,
)
from polyculture.instruments.questions.model import Question, QuestionSet

if TYPE_CHECKING:
    import pyarrow as pa

    from polyculture.cache.store.layout import Table
    from polyculture.cache.store.run_folder import RunFolder

_ASKED = ("open", "choice")  # kinds of questions that have a text to be asked alone
_OF_CULTURE = ("culture", "country")  # facets that say which culture a question is about: the first that is there


def culture_of(question: Question) -> str:
    """The culture that a question is about, as its set calls it; "" where it does not say."""
    return next((question.facets[facet] for facet in _OF_CULTURE if question.facets.get(facet)), "")


def check_set(one: QuestionSet) -> None:
    """Raises `DataSetError` of a set whose questions cannot be asked openly, or are about no culture."""
    if one.kind not in _ASKED:
        what = f"{one.name} is of kind {one.kind!r}, and a probe asks questions"
        raise DataSetError(what, where=one.folder, remedy="Name a set of kind 'open' or 'choice'.")
    if not any(map(culture_of, one.questions)):
        remedy = "Give its rules a facet culture or country: see docs/probe.md."
        raise DataSetError(f"no question of {one.name} says which culture it is about", where=one.folder, remedy=remedy)


def named_cultures(one: QuestionSet, names: Sequence[str], cultures: Cultures) -> frozenset[str]:
    """The cultures of a set that are named, under any spelling. Raises `DataSetError` of one that it does not have."""
    there = set(map(culture_of, one.questions)) - {""}
    spelt = {known.country: name for name in there if (known := cultures.country(name))}
    found = set()
    for name in names:
        known = cultures.country(name)
        culture = name if name in there else spelt.get(known.country) if known else None
        if culture is None:
            what = f"{one.name} has no question about the culture {name!r}"
            raise DataSetError(what, where=one.folder, remedy=did_you_mean(name, there))
        found.add(culture)
    return frozenset(found)


def as_probed(questions: Iterable[Question], cultures: Cultures) -> dict[str, tuple[ProbedQuestion, Question]]:
    """The questions about a culture, by their keys: of a unit, culture and language the first one.

    Region, level and neighbours (the other cultures of the region) come from the file of cultures, where it knows the
    culture by any spelling. Of others the set may say region and level; their neighbours are the others that it lacks.
    """
    found: dict[tuple[str, str, str], Question] = {}
    for question in questions:
        if culture := culture_of(question):
            found.setdefault((culture, question.unit, question.language), question)
    unknown = sorted({culture for culture, *_ in found if cultures.country(culture) is None})
    rows = [(_probed(question, culture, cultures, unknown), question) for (culture, *_), question in found.items()]
    return {row.question_key: (row, question) for row, question in rows}


def _probed(question: Question, culture: str, cultures: Cultures, unknown: Sequence[str]) -> ProbedQuestion:
    text = f"{question.context}\n{question.text}" if question.context else question.text
    key = content_id("probe question", question.set, question.unit, culture, question.language, text)
    facets, known = question.facets, cultures.country(culture)
    region, level = (known.region, known.level) if known else (facets.get("region"), facets.get("level"))
    near = unknown if known is None else [
        name for name, other in cultures.countries.items() if other.region == known.region
    ]  # fmt: skip
    return ProbedQuestion(
        key, question.set, question.language, culture, question.unit, facets.get("topic") or None, text, region or None,
        level or None, [name for name in near if name != culture],
    )  # fmt: skip


def check_number(one: QuestionSet, chosen: Iterable[ProbedQuestion]) -> None:
    """Raises `DataSetError` of questions about fewer cultures than a score needs."""
    if (count := len({row.culture for row in chosen})) < FEWEST:
        what = f"{one.name}: {count} cultures are chosen, and a probe needs at least {FEWEST}"
        remedy = "Ask about more: the flattening score of two is 0 by construction."
        raise DataSetError(what, where=one.folder, remedy=remedy)


def present_questions(run: RunFolder, chosen: Iterable[tuple[ProbedQuestion, Question]]) -> dict[Table[Any], pa.Table]:
    """The tables to write so that these are the run's questions of their sets; none where they are. Other sets stay."""
    several = list(chosen)
    answers = [row for one, question in several for row in _answers(one, question)]
    return {
        **present_rows(run, PROBE_QUESTIONS, [one for one, _ in several]),
        **present_rows(run, PROBE_HUMAN_ANSWERS, answers),
    }


def _answers(one: ProbedQuestion, question: Question) -> list[HumanAnswerRow]:
    """What a question accepts, and how many people gave it; of options the right ones."""
    given = [(question.options[place], 1.0) for place in question.right]
    given += zip(question.answers, question.weights, strict=True)
    return [
        HumanAnswerRow(one.question_key, one.dataset, place, answer, int(votes))
        for place, (answer, votes) in enumerate(given, 1)
    ]
