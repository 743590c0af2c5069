"""What `polyculture ask` does: the part of sets that is asked, the jobs, the steps, and what counts from now on."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from polyculture.cache.errors import DataSetError
from polyculture.cache.identity import content_id
from polyculture.cache.store.parquet import present_rows
from polyculture.cache.store.run_folder import Job
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.cache.work.worker import Step
from polyculture.generate.engines.models import Models
from polyculture.generate.sampling import SamplingSettings
from polyculture.instruments.contract import AskedExperiment, Shown
from polyculture.instruments.declared import Inquiry
from polyculture.instruments.questions.asking import GENERATED, AskJob, Method, question_rows, topic_of
from polyculture.instruments.questions.asking_step import AskStep, AttentionStep, GenerationStep, LikelihoodStep
from polyculture.instruments.questions.layout import ANSWERS, ATTENTION, QUESTIONS
from polyculture.instruments.questions.model import Prompt, Question, QuestionSet
from polyculture.instruments.questions.options import AskOptions, SetOptions
from polyculture.instruments.questions.reading_step import ReadingStep, unread_lines
from polyculture.instruments.questions.rules.check import lacking
from polyculture.instruments.questions.rules.questions import LEFT_OUT
from polyculture.instruments.questions.shown import ATTENTION_TESTS, MAIN, SCORES
from polyculture.sources.left_out import by_reason

_RANGE = re.compile(r"(\d+)(?:\.\.|-)(\d+)")
_NAMED = 3  # reasons that a line names


@dataclass(frozen=True)
class AskedPart:
    """The part of a set that is asked."""

    of: QuestionSet
    questions: Sequence[Question]
    prompts: Mapping[str, Sequence[Prompt | None]]  # by language
    methods: Sequence[Method]


def inquiry(asked: AskedExperiment, options: AskOptions) -> Inquiry[AskJob]:
    """Asks the questions and reads the answers. Raises `DataSetError` without any question."""
    sets = options.opened(asked.run.root)
    for one in sets:
        tell_remarks(one, asked.warning)
    parts = [part_of(one, options, asked.seed, asked.info) for one in sets]
    shown = [Shown(ATTENTION_TESTS, {"dataset": [one.name for one in sets], "model": list(asked.models)})]
    attends = any(ATTENTION in part.methods for part in parts)
    return replace(
        read_inquiry(asked, sets, _steps, shown if attends else ()),
        jobs=lambda model: [job for part in parts for job in ask_jobs(part, options, model, asked.seed)],
    )


def read_inquiry(
    asked: AskedExperiment,
    sets: Sequence[QuestionSet],
    steps: Callable[[Sequence[AskJob]], Iterable[Step[Any, Models]]],
    shown: Iterable[Shown] = (),
) -> Inquiry[AskJob]:
    """An inquiry of some sets, whose jobs nobody has named yet: steps that bring answers, then the one that reads them,
    and the numbers.

    Other sets stay in the run, and other languages of these. What was asked before is still, e.g. after a command that
    asks fewer units.
    """
    names = [one.name for one in sets]
    reading = ReadingStep(asked.run, sets)
    rows = {row.question_id: row for one in sets for row in question_rows(one)}

    def derive() -> None:
        from polyculture.instruments.questions.numbers.measure import measure_questions

        measure_questions(asked.run)
        if any(job.topic.endswith(f"-{ATTENTION}") for job in asked.run.jobs(ANSWERS.name)):
            from polyculture.instruments.questions.attention.measure import measure_attention

            measure_attention(asked.run)
        for line in unread_lines(asked.run, names):
            asked.warning(line)

    return Inquiry(
        lambda _model: (),
        lambda jobs: [*steps(jobs), reading],
        lambda _jobs: present_rows(asked.run, QUESTIONS, list(rows.values())),
        derive=derive,
        shown=[Shown(SCORES, {"dataset": names, "metric": [*MAIN]}), *shown],
        reason=f"{', '.join(names)}: not all that was asked is among the questions now",
        ids=reading.ids,
    )


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
    counted = sorted(by_reason(one.remarks), key=lambda line: not line[0].startswith(LEFT_OUT))
    if counted:
        told = "; ".join(f"{number} x {reason} ({place})" for reason, number, place in counted[:_NAMED])
        more = f"; and {len(counted) - _NAMED} more reasons, in `polyculture data check`"
        say(f"{one.name}: {told}" + (more if len(counted) > _NAMED else ""))


def ask_jobs(part: AskedPart, options: AskOptions, model: str, seed: int) -> Iterator[AskJob]:
    """A job per method, language and topic of what a model is asked."""
    sampling = SamplingSettings(options.n, options.temperature, 1.0, None, options.max_tokens, seed)
    for method in part.methods:
        jobs: defaultdict[Job, list[Question]] = defaultdict(list)
        for question in part.questions:
            if question.facets.get("model", model) == model:
                jobs[Job(model, question.language, topic_of(question, method))].append(question)
        for job, some in sorted(jobs.items()):
            prompts = part.prompts[job.language]
            yield AskJob(job, method, some, prompts, options.orders, part.of.orders, sampling=sampling)


def _steps(jobs: Sequence[AskJob]) -> Iterator[AskStep]:
    """A step per method."""
    for method in dict.fromkeys(job.method for job in jobs):
        some = [job for job in jobs if job.method == method]
        if method == GENERATED:
            yield GenerationStep("ask", some)
        else:
            yield AttentionStep("attend", some) if method == ATTENTION else LikelihoodStep(f"score {method}", some)


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


def _prompts(one: QuestionSet, language: str, names: Sequence[str]) -> list[Prompt]:
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
