"""What `polyculture ask` does: the jobs, the steps, and what follows their answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from polyculture.cache.store.parquet import present_rows
from polyculture.cache.store.run_folder import Job
from polyculture.cache.work.worker import Step
from polyculture.generate.engines.models import Models
from polyculture.generate.sampling import SamplingSettings
from polyculture.instruments.contract import AskedExperiment, PrintedTable, Setup
from polyculture.instruments.declared import Inquiry
from polyculture.instruments.questions.asking import GENERATED, AskJob, question_rows, topic_of
from polyculture.instruments.questions.asking_step import AskStep, AttentionStep, GenerationStep, LikelihoodStep
from polyculture.instruments.questions.attention.measure import measure_attention
from polyculture.instruments.questions.layout import ANSWERS, ATTENTION, QUESTIONS
from polyculture.instruments.questions.model import Question, QuestionSet
from polyculture.instruments.questions.numbers.declared import declared_numbers
from polyculture.instruments.questions.numbers.measure import measure_questions
from polyculture.instruments.questions.options import AskOptions
from polyculture.instruments.questions.reading_step import ReadingStep
from polyculture.instruments.questions.selection import AskedPart, part_of, tell_remarks
from polyculture.instruments.questions.shown import ATTENTION_TESTS, MAIN, SCORES
from polyculture.instruments.questions.unread import unread_lines


def inquiry(asked: AskedExperiment, options: AskOptions) -> Inquiry[AskJob]:
    """Asks the questions and reads the answers. Raises `DataSetError` without any question."""
    sets = options.opened(asked.run.root)
    for one in sets:
        tell_remarks(one, asked.warning)
    parts = [part_of(one, options, asked.seed, asked.info) for one in sets]
    shown = [PrintedTable(ATTENTION_TESTS, {"dataset": [one.name for one in sets], "model": list(asked.models)})]
    attends = any(ATTENTION in part.methods for part in parts)
    return replace(
        read_inquiry(asked, sets, _steps, shown if attends else ()),
        jobs=list(_jobs(asked, parts, options)),
    )


def read_inquiry(
    asked: AskedExperiment,
    sets: Sequence[QuestionSet],
    steps: Callable[[Sequence[AskJob]], Iterable[Step[Any, Models]]],
    shown: Iterable[PrintedTable] = (),
) -> Inquiry[AskJob]:
    """An inquiry of some sets, whose jobs nobody has named yet: steps that bring answers, then the one that reads them,
    and the numbers.

    Other sets stay in the run, and other languages of these. What was asked before is still, e.g. after a command that
    asks fewer units.
    """
    names = [one.name for one in sets]
    own = dict.fromkeys(number for one in sets for number in declared_numbers(one.numbers))
    reading = ReadingStep(asked.run, sets)
    rows = {row.question_id: row for one in sets for row in question_rows(one)}

    def derive() -> None:
        measure_questions(asked.run)
        if any(job.topic.endswith(f"-{ATTENTION}") for job in asked.run.jobs(ANSWERS.name)):
            measure_attention(asked.run)
        for line in unread_lines(asked.run, names):
            asked.warning(line)

    return Inquiry(
        (),
        lambda jobs: [*steps(jobs), reading],
        lambda _jobs: present_rows(asked.run, QUESTIONS, list(rows.values())),
        derive=derive,
        shown=[PrintedTable(SCORES, {"dataset": names, "metric": [*MAIN, *own]}), *shown],
        reason=f"{', '.join(names)}: not all that was asked is among the questions now",
    )


def _jobs(asked: AskedExperiment, parts: Sequence[AskedPart], options: AskOptions) -> Iterator[AskJob]:
    """The jobs of each model of the experiment, under its setup for what their method uses it for."""
    for model in asked.models:
        setups: dict[str, Setup] = {}
        for job in (job for part in parts for job in ask_jobs(part, options, model, asked.seed)):
            if job.use not in setups:
                setups[job.use] = asked.setup(model, job.use)
            yield job.of_model(model, setups[job.use])


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
