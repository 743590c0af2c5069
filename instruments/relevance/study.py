"""The work of the command: questions with what stands before them, the steps that ask, and what is said of the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from polyculture.cache.folding import fold
from polyculture.cache.layout import Table
from polyculture.cache.manifest import setup_id
from polyculture.cache.parquet import objects_to_table, read_rows
from polyculture.cache.run_folder import Job
from polyculture.cache.worker import Step
from polyculture.generate.engines.base import Decoding
from polyculture.generate.engines.models import Models
from polyculture.instruments.choices.reading_step import ReadingStep
from polyculture.instruments.contract import Asked, Listing, Setup, Shown, Study, Validity
from polyculture.instruments.culture_mcq.asking import GENERATED, Method
from polyculture.instruments.culture_mcq.model import McqQuestion
from polyculture.instruments.culture_mcq.opened import open_blend, open_questions, some_questions, tell_left_out
from polyculture.instruments.culture_mcq.prompts import McqPrompt, read_prompts
from polyculture.instruments.culture_mcq.rows import LANGUAGE
from polyculture.instruments.cultures.cultures import Cultures, read_cultures
from polyculture.instruments.probe.splitting import echo_of
from polyculture.instruments.relevance.asking import RelevanceJob, prompt_id
from polyculture.instruments.relevance.conditions import CONDITIONS, PROBE, Condition, Context
from polyculture.instruments.relevance.contexts import Contexts, Rules, context_row
from polyculture.instruments.relevance.knowledge import Knowledge, read_knowledge
from polyculture.instruments.relevance.options import RelevanceOptions
from polyculture.instruments.relevance.reading import readers, reading_row
from polyculture.instruments.relevance.rows import RELEVANCE_ANSWERS, RELEVANCE_READINGS
from polyculture.instruments.relevance.rows import RELEVANCE_CONTEXTS as CONTEXTS
from polyculture.instruments.relevance.source_table import Source, check_used, read_source
from polyculture.instruments.relevance.steps import GeneratedStep, ScoredStep
from polyculture.instruments.relevance.wording import ContextWording, read_wording

_OWN = Path(__file__).parent
PLANNED = "Relevance: what is asked under each condition, and what is not"
Shows = Mapping[str, Sequence[tuple[McqQuestion, Sequence[Context]]]]  # model -> questions with their contexts
Parts = tuple[list[Step[Any, Models]], dict[str, Setup], dict[str, str]]


def made(asked: Asked, options: RelevanceOptions) -> Study:
    """Asks under all conditions. Raises `DataSetError` without any question, and for a table that cannot be used."""
    cultures = read_cultures(options.cultures)
    source = None if options.concepts is None else read_source(options.concepts, cultures)
    lines: list[str] = []
    dataset, questions, knowledge = _questions(asked, options, cultures, lines.append)
    shown = _contexts(asked, options, cultures, dataset, questions, knowledge, source)
    steps, setups, ids = _asking(asked, options, dataset, shown)
    if knowledge.probed:  # else the steps refuse to ask, in one line
        _tell(shown, lines.append)
        for line in lines:
            asked.say(line)
    known = readers()

    def derive() -> None:
        from polyculture.instruments.relevance.numbers import measure_relevance

        measure_relevance(asked.run)

    values = {"dataset": dataset, "model": list(asked.models)}
    return Study(
        [*steps, ReadingStep(asked.run, RELEVANCE_ANSWERS, RELEVANCE_READINGS, known, reading_row)],
        Validity(
            setups,
            ids,
            partial(_present, asked, dataset, shown),
            f"relevance of {dataset!r}: the probe, the questions or what is shown with them have changed",
            {reader.name: reader.reader_id for reader in known},
        ),
        derive,
        (
            Shown(_OWN / "relevance.sql", values),
            Shown(_OWN / "relevance_gains.sql", values),
        ),
        view="relevance_answers",
        planned={PLANNED: partial(_planned, shown)},
    )  # fmt: skip


def _questions(
    asked: Asked, options: RelevanceOptions, cultures: Cultures, say: Callable[[str], None]
) -> tuple[str, Sequence[McqQuestion], Knowledge]:
    """The questions' data set, those that are asked, and what the probe read out."""
    found = open_questions(options.mode, options.sheets, options.blend, cultures, options.seed)
    tell_left_out(found, say)
    places = {(one.source_id, one.target) for one in found.questions}
    knowledge = read_knowledge(asked.run, asked.models, places, cultures, options.probed, options.filter)
    if knowledge.probed:
        typed = [one for one in found.questions if one.question_type in options.type]
        some = tuple(one for one in typed if (one.source_id, one.target) in knowledge.probed)
        if len(some) < len(typed):
            say(f"relevance: {len(typed) - len(some)} of {len(typed)} questions were not probed, and are not asked")
        found = replace(found, questions=some)
    return found.name, some_questions(found, options.type, options.questions, options.seed), knowledge


def _contexts(
    asked: Asked,
    options: RelevanceOptions,
    cultures: Cultures,
    dataset: str,
    questions: Sequence[McqQuestion],
    knowledge: Knowledge,
    source: Source | None,
) -> Shows:
    """What is shown with each question. Raises `DataSetError` where no question is in the table of concepts."""
    rules = Rules(options.most, options.draws, options.seed, options.without_echoes)
    topics = _topics(options, cultures)
    made: dict[str, Contexts] = {
        model: Contexts(model, dataset, knowledge, rules, source, topics) for model in asked.models
    }
    if source is not None and made and knowledge.probed:  # else the steps refuse to ask, and say why
        some = next(iter(made.values()))
        check_used(source, [(one.source_id, some.topic(one), one.target) for one in questions])
    return {model: [(one, tuple(some.of(one))) for one in questions] for model, some in made.items()}


def _topics(options: RelevanceOptions, cultures: Cultures) -> dict[str, str]:
    """Question id -> topic, of BLEnD where its folder is named."""
    if options.blend is None:
        return {}
    blend = open_blend(options.blend, cultures)
    return {one.source_id: one.topic for one in blend.questions.values() if one.topic}


def _asking(
    asked: Asked,
    options: RelevanceOptions,
    dataset: str,
    shown: Shows,
) -> Parts:
    """The steps that ask models, with the setups and wordings that are valid."""
    prompts, wording = read_prompts(options.prompt), read_wording(options.wording)
    steps: list[Step[Any, Models]] = []
    setups: dict[str, Setup] = {}
    ids: dict[str, str] = {}
    for method in dict.fromkeys(options.method):
        use = "answer" if method == GENERATED else "score"
        jobs: list[RelevanceJob] = []
        for model in asked.models:
            setups[f"{use} {model}"] = setup = asked.setup(model, use)
            jobs += _jobs(asked, options, dataset, shown[model], prompts, wording, method, model, setup)
        decoding = jobs[0].decoding
        ids |= {
            f"{dataset} {method} {one.name}": prompt_id(one, wording, method, decoding, asked.seed) for one in prompts
        }
        steps.append(GeneratedStep(jobs) if method == GENERATED else ScoredStep(method, jobs))
    return steps, setups, ids


def _jobs(
    asked: Asked,
    options: RelevanceOptions,
    dataset: str,
    shown: Sequence[tuple[McqQuestion, Sequence[Context]]],
    prompts: Sequence[McqPrompt],
    wording: ContextWording,
    method: Method,
    model: str,
    setup: Setup,
) -> list[RelevanceJob]:
    """A job per type of questions."""
    decoding = Decoding(options.temperature, top_p=1.0, top_k=None, max_tokens=options.max_tokens)
    ending = "" if method == GENERATED else f"-{method}"
    by_type: dict[str, list[tuple[McqQuestion, Sequence[Context]]]] = {}
    for question, contexts in shown:
        by_type.setdefault(question.question_type, []).append((question, contexts))
    unknown = None if _probed(shown) else f"the probe of this run has read nothing of {model} about these questions"
    return [
        RelevanceJob(
            Job(model, LANGUAGE, f"{dataset}-{kind}{ending}"), dataset, method, setup_id(setup), some, prompts, wording,
            decoding if method == GENERATED else None, asked.seed, unknown,
        )
        for kind, some in by_type.items()
    ]  # fmt: skip


def _probed(shown: Sequence[tuple[McqQuestion, Sequence[Context]]]) -> bool:
    """Whether the probe kept something of any question."""
    return any(one.condition == PROBE and one.reason is None for _, contexts in shown for one in contexts)


def _present(asked: Asked, dataset: str, shown: Shows) -> dict[Table[Any], pa.Table]:
    """The table of contexts to write; none where it is so already. Other data sets and models stay."""
    rows = [
        context_row(model, dataset, question, context)
        for model, some in shown.items()
        for question, contexts in some
        for context in contexts
    ]
    now, path = objects_to_table(CONTEXTS, rows), asked.run.table(CONTEXTS.name)
    if not path.exists():
        return {CONTEXTS: now}
    before = read_rows(path, CONTEXTS).cast(CONTEXTS.schema)
    own = (pc.field("dataset") == dataset) & pc.field("model").isin(list(shown))
    return {} if before.filter(own).equals(now) else {CONTEXTS: pa.concat_tables([before.filter(~own), now])}


def _tell(shown: Shows, say: Callable[[str], None]) -> None:
    """A line per model and condition under which questions are not asked, with the reasons; and one on names."""
    for model, condition, questions, reasons in _left_out(shown):
        told = "; ".join(f"{reason}: {count}" for reason, count in sorted(reasons.items()))
        if reasons:
            say(f"relevance {model} {condition}: {sum(reasons.values())} of {questions} not asked: {told}")
    some = next(iter(shown.values()), ())
    named = sum(echo_of(fold(one.target), [("", fold(one.text))]) is not None for one, _ in some)
    if named:
        say(f"relevance: {named} of {len(some)} questions name their culture themselves")


def _left_out(shown: Shows) -> Iterator[tuple[str, Condition, int, Counter[str]]]:
    """By model and condition: how many questions there are, and how many are not asked, by reason."""
    for model, some in shown.items():
        for condition in CONDITIONS:
            own = [[one for one in contexts if one.condition == condition] for _, contexts in some]
            reasons = Counter(one.reason for contexts in own for one in contexts if one.reason is not None)
            if any(own):
                yield model, condition, len(own), reasons


def _planned(shown: Shows) -> Listing:
    """Per model and condition, what is asked and what is not."""
    rows = []
    for model, condition, questions, reasons in _left_out(shown):
        asks = sum(
            one.condition == condition and one.reason is None for _, contexts in shown[model] for one in contexts
        )
        why = "; ".join(f"{reason}: {count}" for reason, count in sorted(reasons.items()))
        rows.append((model, condition, questions - sum(reasons.values()), asks, sum(reasons.values()), why))
    return Listing(("model", "condition", "questions", "contexts", "not asked", "why"), rows)
