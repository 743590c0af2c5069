"""The part of a question set that options name: questions, prompts, methods; and what is left out of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from polyculture.cache.errors import DataSetError
from polyculture.cache.identity import content_id
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.instruments.questions.asking import Method
from polyculture.instruments.questions.model import PromptTemplate, Question, QuestionSet
from polyculture.instruments.questions.options import AskOptions, SetOptions
from polyculture.instruments.questions.rules.check import lacking
from polyculture.sources.left_out import in_short

_RANGE = re.compile(r"(\d+)(?:\.\.|-)(\d+)")


@dataclass(frozen=True)
class AskedPart:
    """The part of a set that is asked."""

    of: QuestionSet
    questions: Sequence[Question]
    prompts: Mapping[str, Sequence[PromptTemplate | None]]  # by language
    methods: Sequence[Method]


def part_of(one: QuestionSet, options: AskOptions, seed: int, say: Callable[[str], None]) -> AskedPart:
    """The part of a set that options ask. Raises `DataSetError` where they name what it does not have."""
    chosen = chosen_questions(one, options, seed, say, number=options.questions)
    languages = dict.fromkeys(question.language for question in chosen)
    needed = one.kind in ("choice", "open")
    prompts = {code: _prompts(one, code, options.prompts) if needed else [None] for code in languages}
    return AskedPart(one, chosen, prompts, options.methods_of(one.kind))


def chosen_questions(
    one: QuestionSet,
    options: SetOptions,
    seed: int,
    say: Callable[[str], None],
    kept: Callable[[Question], bool] = lambda _question: True,
    number: int | None = None,
) -> list[Question]:
    """The questions of a set that options name, of those that are `kept`; and how many these are of all.

    Raises `DataSetError` where they name what it does not have.
    """
    questions = [question for question in _only(one, options.only) if kept(question)]
    if options.language:
        questions = [question for question in questions if question.language in options.language]
        _check(one, "language", options.language, {question.language for question in one.questions})
    if not questions:
        what = "no question is of all that is named (--only, --language)"
        raise DataSetError(f"{one.name}: {what}", where=one.folder, remedy="Leave one of them out.")
    chosen = _drawn(questions, options.units, number, seed)
    if len(chosen) < len(one.questions):
        units, every = ({question.unit for question in some} for some in (chosen, one.questions))
        say(f"{one.name}: {len(chosen)} of {len(one.questions)} questions, {len(units)} of {len(every)} units")
    return chosen


def tell_remarks(one: QuestionSet, say: Callable[[str], None]) -> None:
    """Reports what of a set's files is left out or read otherwise, by reason, and what cannot be computed."""
    for family, reason in lacking(one):
        say(f"{one.name}: numbers of {family!r} cannot be computed: {reason}")
    tell_left_out(one, say)


def tell_left_out(one: QuestionSet, say: Callable[[str], None]) -> None:
    """Reports what of a set's files is left out or read otherwise, by reason."""
    if one.remarks:
        say(f"{one.name}: {in_short(one.remarks, one.check_command)}")


def _only(one: QuestionSet, only: Sequence[str]) -> list[Question]:
    """The questions that have one of the values that are named of each facet, in any case."""
    wanted: dict[str, set[str]] = {}
    for word in only:
        name, _, value = word.partition("=")
        wanted.setdefault(name, set()).add(value.casefold())
    for name, values in wanted.items():
        _check(one, "facet", [name], {facet for question in one.questions for facet in question.facets})
        known = {question.facets.get(name, "").casefold() for question in one.questions}
        if absent := sorted(values & one.unasked.keys() - known):
            if not values & known:
                what = f"{one.name}: no question can be asked with {name} {absent[0]!r}: {one.unasked[absent[0]]}"
                raise DataSetError(what, where=one.folder, remedy="Probe more questions, or ask with another.")
            values.difference_update(absent)  # what is left out is told among the remarks
        _check(one, name, values, known)
    return [
        question
        for question in one.questions
        if all(question.facets.get(name, "").casefold() in values for name, values in wanted.items())
    ]


def _check(one: QuestionSet, what: str, wanted: Sequence[str] | set[str], known: set[str]) -> None:
    for value in wanted:
        if value not in known:
            remedy = did_you_mean(value, known, otherwise=f"There are {', '.join(sorted(known)[:20])}.")
            raise DataSetError(f"{one.name} has no {what} {value!r}", where=one.folder, remedy=remedy)


def _drawn(questions: Sequence[Question], units: int | None, number: int | None, seed: int) -> list[Question]:
    """The questions of so many units, drawn by the seed, and at most `number` of them: over languages evenly, of the
    last unit the first ones.

    Of more the fewer ones are a part.
    """
    if units is None and number is None:
        return list(questions)
    drawn = sorted({question.unit for question in questions}, key=lambda unit: content_id("unit", seed, unit))
    place = {unit: rank for rank, unit in enumerate(drawn[:units])}
    some = sorted((one for one in questions if one.unit in place), key=lambda one: place[one.unit])
    by_language: dict[str, list[Question]] = {}
    for one in some:
        by_language.setdefault(one.language, []).append(one)
    turns = zip_longest(*(by_language[language] for language in sorted(by_language)))
    return [one for turn in turns for one in turn if one is not None][:number]


def _prompts(one: QuestionSet, language: str, names: Sequence[str]) -> list[PromptTemplate]:
    """The prompts of a language that are named: '3', '1..5'; all of them without a name."""
    there = {prompt.name: prompt for prompt in one.prompts if prompt.language == language}
    if not there:
        what = f"{one.name} has no prompt in {language!r}"
        raise DataSetError(what, where=one.folder, remedy=f"Write one under [prompts] in its rules, for {language!r}.")
    wanted = [part.strip() for name in names for several in name.split(",") for part in _range(several)]
    _check(one, "prompt", wanted, set(there))
    return [there[name] for name in dict.fromkeys(wanted or there)]


def _range(name: str) -> list[str]:
    """'1..3' as the numbers from the first to the last."""
    ends = _RANGE.fullmatch(name.strip())
    return [str(number) for number in range(int(ends[1]), int(ends[2]) + 1)] if ends else [name]
