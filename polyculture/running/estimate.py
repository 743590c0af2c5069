"""What `plan` tells: the tokens, money and hours that are left, and what `run` would meet.

The latter are keys that are not set, prices without a model, and what models cannot do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from polyculture.cache.errors import EngineError
from polyculture.cache.store.model_facts import BATCH, DIRECT
from polyculture.cache.store.schema import WANTED_RESPONSES, Prompt
from polyculture.cache.store.store import asked_store
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.cache.work.faults import RetryFailed
from polyculture.cache.work.worker import Load, Step, Work, is_untouched, models_of, work_state
from polyculture.experiment.file import Experiment
from polyculture.experiment.sections import GAZETTEER
from polyculture.experiment.workspace import Workspace
from polyculture.generate.engines import ModelSpec, find_kind, read_options
from polyculture.generate.engines.base import Request
from polyculture.generate.sampling import joined
from polyculture.generate.tokens import PER_CHAT, count_tokens
from polyculture.generate.wording import read_wording
from polyculture.running.batching import asked_in_batches
from polyculture.running.calibration import read_rates
from polyculture.running.extraction import ExtractionStage, samples_left
from polyculture.running.instrument_calls import InstrumentCall
from polyculture.running.money import NAMED, SPENT, NamedTotal, named_totals

_MEANS = """
SELECT stage, asked, sum(prompt_tokens) / count(*) FILTER (status = 'ok') AS read,
    sum(completion_tokens) / count(*) FILTER (status = 'ok') AS written
FROM purchases WHERE completion_tokens IS NOT NULL GROUP BY stage, asked HAVING written IS NOT NULL
"""
# For every reader: stored answers are read again, without a new query.
_EXTRACTED = """
SELECT extractor_model, count(DISTINCT response_id)
FROM stored_extractions AS e
SEMI JOIN wanted_extractions AS w ON e.request_id = w.request_id AND e.extractor_id = w.extractor_id AND e.sample < w.n
WHERE e.status = 'ok'
GROUP BY extractor_model
"""
# Equal texts of a job are asked about once.
_DISTINCT = """
SELECT count(DISTINCT (model, language, topic, text)) / count(*) FROM responses
WHERE status = 'ok' HAVING count(*) > 0
"""


@dataclass(frozen=True, slots=True)
class StageEstimate:
    """One model's remaining work in one stage. Tokens and cost cover that remainder; None if unknown."""

    stage: str
    model: str
    jobs: int
    prompts: int
    responses: int
    left: int
    prompt_tokens: int
    # Expected: as its answers had so far; before there are any, of texts as long as prompts ask for. Else the most.
    answer_tokens: int
    most_tokens: int  # if every answer is as long as it may be
    counted_by: str
    cost: float | None  # by the tokens that are expected
    free: bool  # nobody bills them
    most: float | None  # if every answer is as long as it may be
    hours: float | None  # at the rate that `plan --calibrate` measured
    named: NamedTotal | None = None  # what its server named of its answers until now, in place of the file's prices

    @property
    def line(self) -> str:
        """What is printed before a model is asked."""
        cost = "no price is known" if self.most is None else f"at most ${self.most:,.2f}"
        return (
            f"{self.stage}, {self.model}: {self.left:,} to ask, {self.prompt_tokens:,} tokens in, at most "
            f"{self.most_tokens:,} out; {'no bill' if self.free else cost}"
        )


@dataclass(frozen=True, slots=True)
class _Means:
    """Tokens of a model's answers until now, per usable answer."""

    prompt: float
    answer: float


def estimates(
    workspace: Workspace, retry: RetryFailed | None = None, calls: Iterable[InstrumentCall] = ()
) -> Iterator[StageEstimate]:
    """An estimate per model that samples, one for the extractor where it is a model, and those of `calls`.

    Final failures that `retry` names are asked again.
    """
    yield from _as_named(workspace, _estimates(workspace, retry, calls))


def _estimates(
    workspace: Workspace, retry: RetryFailed | None, calls: Iterable[InstrumentCall]
) -> Iterator[StageEstimate]:
    means = _means(workspace)
    rates = read_rates(workspace.run)
    for model in () if workspace.experiment.imported or not workspace.jobs else workspace.experiment.models:
        yield _sampling(workspace, model, means.get(("generate", model)), rates.get(model), retry)
    if workspace.experiment.extract.by_model:
        yield _extraction(workspace, means)
    yield from _of_instruments(workspace, calls, retry)


def requests_estimate(stage: str, model: ModelSpec, requests: Sequence[Request]) -> StageEstimate:
    """An estimate of requests without an experiment, which would say what a token costs."""
    counted = count_tokens(model, [joined(request.messages) for request in requests])
    size, most = len(requests), sum(request.decoding.max_tokens for request in requests)
    return StageEstimate(
        stage=stage, model=model.model, jobs=1, prompts=size, responses=size, left=size,
        prompt_tokens=sum(counted.tokens), answer_tokens=most, most_tokens=most, counted_by=counted.counted_by,
        cost=None, free=not find_kind(model).paid, most=None, hours=None,
    )  # fmt: skip


def instrument_estimates(
    workspace: Workspace, calls: Iterable[InstrumentCall], retry: RetryFailed | None = None
) -> Iterator[StageEstimate]:
    """An estimate per step and model of some instruments alone."""
    yield from _as_named(workspace, _of_instruments(workspace, calls, retry))


def _of_instruments(
    workspace: Workspace, calls: Iterable[InstrumentCall], retry: RetryFailed | None
) -> Iterator[StageEstimate]:
    means = _means(workspace)
    for asked in calls:
        yield from _instrument(workspace, asked, means, retry)


def _as_named(workspace: Workspace, costs: Iterable[StageEstimate]) -> Iterator[StageEstimate]:
    """Estimates by the costs that servers named until now, where the file's prices make something else of them."""
    named = {one.model: one for one in named_totals(_rows(workspace, NAMED)) if one.line}
    for estimate in costs:
        one = named.get(estimate.model)
        if one is None:
            yield estimate
        else:
            cost, most = (None if money is None else money * one.factor for money in (estimate.cost, estimate.most))
            yield replace(estimate, cost=cost, most=most, named=one)


def cap_line(workspace: Workspace, costs: Sequence[StageEstimate]) -> str | None:
    """Where `max_cost` will, or may, end the run before it is complete: what is spent, and what is left to pay."""
    limit = workspace.experiment.max_cost
    if limit is None:
        return None
    spent = next((spent or 0.0 for spent, *_ in _rows(workspace, SPENT)), 0.0)
    left, most = (sum(money or 0.0 for money in some) for some in zip(*((e.cost, e.most) for e in costs), strict=True))
    if spent + max(left, most) <= limit:
        return None
    will = "will" if spent + left > limit else "may"
    return (
        f"max_cost = {limit:g} {will} end the run before it is complete: {spent:.2f} is spent, and what is left is "
        f"expected to cost {left:.2f}, at most {most:.2f}. Raise max_cost, or ask for less"
    )


def _means(workspace: Workspace) -> dict[tuple[str, str], _Means]:
    told = _rows(workspace, _MEANS)
    return {(stage, asked): _Means(read or 0.0, written) for stage, asked, read, written in told}


def asked_later(calls: Iterable[InstrumentCall]) -> Iterator[str]:
    """A line for each part that asks about the results of another, as long as there are none: how much it will ask."""
    for asked in calls:
        if asked.part is not None and asked.follows is not None and not asked.known.steps:
            texts, times = Counter[str](), asked.part.times
            for step, work in asked.follows.works():
                loads = {load.text for load in map(step.load, work.items()) if load is not None}  # of all its arms
                texts[models_of(work)[0]] += len(loads)
            for model, number in texts.items():
                what = f"at most {times * number:,} answers, {times} to each of its {number:,} questions"
                yield f"{asked.title}, {model}: asked after the {asked.part.after}: {what}"


def _instrument(
    workspace: Workspace, asked: InstrumentCall, means: Mapping[tuple[str, str], _Means], retry: RetryFailed | None
) -> Iterator[StageEstimate]:
    """An estimate per step and model of an instrument's queries. A step without a model is free."""
    for step in asked.known.steps:
        works = sorted((work for work in step.works() if work.models), key=models_of)
        for models, group in groupby(works, key=models_of):
            yield _of_step(workspace, asked, step, models[0], list(group), means, retry)


def _of_step(
    workspace: Workspace,
    asked: InstrumentCall,
    step: Step[Any, Any],
    model: str,
    works: Sequence[Work[Any]],
    means: Mapping[tuple[str, str], _Means],
    retry: RetryFailed | None,
) -> StageEstimate:
    texts, asks, at_most, apart, settled = Counter[str](), 0, 0, 0, 0
    for work in works:
        done, loads = _left(workspace, step, work, retry)
        settled += done
        for load in loads:
            texts[load.text] += load.times
            asks, at_most = asks + load.times, at_most + load.answer_tokens * load.times
            if load.apart:
                texts[load.apart] += 1
                apart += 1
    counted = count_tokens(workspace.experiment.model_spec(model), list(texts))
    read = sum(tokens * times for tokens, times in zip(counted.tokens, texts.values(), strict=True)) - PER_CHAT * apart
    so_far = means.get((asked.command, model))
    written = asks * so_far.answer if so_far else at_most
    size = sum(work.size for work in works)
    sizes = {"jobs": len(works), "prompts": asks, "responses": size, "left": size - settled}
    return _estimate(workspace, asked.stage(step), model, sizes, (read, written), (read, at_most), counted.counted_by)


def _estimate(
    workspace: Workspace,
    stage: str,
    model: str,
    sizes: Mapping[str, int],
    expected: tuple[float, float],
    most: tuple[float, int],
    counted_by: str,
    hours: float | None = None,
) -> StageEstimate:
    """The tokens that are read and written, as expected and at most, with what they cost."""
    return StageEstimate(
        named=None,
        stage=stage,
        model=model,
        **sizes,
        prompt_tokens=round(expected[0]),
        answer_tokens=round(expected[1]),
        most_tokens=most[1],
        free=not find_kind(workspace.experiment.model_spec(model)).paid,
        counted_by=counted_by,
        cost=_cost(workspace, model, *expected),
        most=_cost(workspace, model, *most),
        hours=hours,
    )


def _left(
    workspace: Workspace, step: Step[Any, Any], work: Work[Any], retry: RetryFailed | None
) -> tuple[int, Iterator[Load]]:
    """How much of a work is settled, and what the rest of it costs at most."""
    if work.loads is not None and is_untouched(workspace.run, step, work):
        return 0, work.loads()
    state = work_state(workspace.run, step, work, retry)
    loads = (load for item in state.missing if (load := step.load(item)) is not None)
    return state.outcome.done + state.outcome.failed, loads


def _sampling(
    workspace: Workspace, model: str, means: _Means | None, rate: float | None, retry: RetryFailed | None
) -> StageEstimate:
    spec, sampling = workspace.experiment.model_spec(model), workspace.sampling
    asked = workspace.requests
    chats = (asked[model, prompt.language].chat(prompt.text) for prompt in workspace.prompts)
    counted = count_tokens(spec, [joined(chat) for chat in chats])
    tokens_of = dict(zip((prompt.prompt_id for prompt in workspace.prompts), counted.tokens, strict=True))
    jobs = [job for job in workspace.jobs if job.model == model]
    left, read, written, asked_of = 0, 0.0, 0.0, 0
    for job in jobs:
        prompts = workspace.prompts_of(job)
        asked_of += len(prompts)
        missing = samples_left(workspace, job, retry)
        left += missing
        read += missing * sum(tokens_of[prompt.prompt_id] for prompt in prompts) / len(prompts)
        answers = [_as_asked(workspace, prompt, tokens_of[prompt.prompt_id]) for prompt in prompts]
        written += missing * (means.answer if means else sum(answers) / len(answers))
    sizes = {"jobs": len(jobs), "prompts": asked_of, "responses": asked_of * sampling.n, "left": left}
    most, hours = (read, left * sampling.max_tokens), left / rate / 3600 if rate else None
    return _estimate(workspace, "generate", model, sizes, (read, written), most, counted.counted_by, hours)


def _as_asked(workspace: Workspace, prompt: Prompt, tokens: int) -> float:
    """The tokens of an answer as long as its prompt asks for, of words or letters like the prompt's own.

    The most that an answer may have where the prompt says no length.
    """
    most = workspace.sampling.max_tokens
    length = read_wording(workspace.catalog.language(prompt.language), workspace.catalog.countries).length
    if length is None or length.amount not in map(int, re.findall(r"\d+", prompt.text)):
        return most
    units = len(prompt.text.split()) if length.unit == "words" else len(prompt.text)
    return min(most, length.amount * max(tokens - PER_CHAT, 1) / units)


def _extraction(workspace: Workspace, means: Mapping[tuple[str, str], _Means]) -> StageEstimate:
    """Every distinct text is read once behind the instructions; until it is measured, as much is written as was read.

    Texts that are still to come are taken to repeat as those of the run do; `most` takes all for distinct.
    """
    experiment = workspace.experiment
    model, limit = experiment.extract.with_, experiment.extract.max_tokens
    counted, head = _instructions(workspace)
    each_read, each_written = _extraction_tokens(workspace, means)
    total = sum(map(workspace.extracted_of, workspace.jobs))
    # Responses that count under the experiment's present settings and that its present extractor has read.
    extracted = dict(_rows(workspace, _EXTRACTED)).get(model, 0)
    left = max(total - extracted - ExtractionStage(workspace).shared(), 0)
    [(distinct,)] = _rows(workspace, _DISTINCT) or [(1.0,)]
    read, written = left * distinct * each_read, left * distinct * each_written
    sizes = {"jobs": len(workspace.jobs), "prompts": len(workspace.prompts), "responses": total, "left": left}
    most = left * (head + workspace.sampling.max_tokens), left * limit
    return _estimate(workspace, "extract", model, sizes, (read, written), most, counted)


def _extraction_tokens(workspace: Workspace, means: Mapping[tuple[str, str], _Means]) -> tuple[float, float]:
    """What the extractor reads of a response, and writes."""
    so_far = means.get(("extract", workspace.experiment.extract.with_))
    if so_far:
        return so_far.prompt, so_far.answer
    texts = [m.answer for (stage, _), m in means.items() if stage == "generate"]
    text = sum(texts) / len(texts) if texts else workspace.sampling.max_tokens
    return _instructions(workspace)[1] + text, min(text, workspace.experiment.extract.max_tokens)


def _instructions(workspace: Workspace) -> tuple[str, float]:
    """The tokens that stand before every text that the extractor reads, and who counted them."""
    from polyculture.extract.llm import prompt_head

    experiment, instruction = workspace.experiment, ExtractionStage(workspace).instruction
    topics = map(workspace.catalog.topic, experiment.topics)
    heads = [" ".join(turn.content for turn in prompt_head(topic, instruction)) for topic in topics]
    counted = count_tokens(experiment.model_spec(experiment.extract.with_), heads)
    return counted.counted_by, sum(counted.tokens) / len(counted.tokens)


def _cost(workspace: Workspace, model: str, read: float, written: float) -> float | None:
    price = workspace.experiment.price(model)
    purchase = BATCH if asked_in_batches(workspace.experiment.model_spec(model)) else DIRECT
    return price.cost(round(read), round(written), purchase) if price else None


def _rows(workspace: Workspace, query: str) -> list[tuple[Any, ...]]:
    """The results of a query on the run's store, as the experiment is now; empty without a run. Writes no files."""
    if not workspace.run.manifest.exists():
        return []
    manifest = workspace.present.model_copy(update=ExtractionStage(workspace).provenance)
    wanted = {WANTED_RESPONSES.name: workspace.wanted_now}
    with asked_store(workspace.run, query, manifest=manifest, rows=wanted) as store:
        return store.sql(query).fetchall()


def not_ready(experiment: Experiment) -> Iterator[str]:
    """A line for each: the plan stands, and a run will refuse, or bill at no price. No service is asked anything."""
    asked = [model for model in dict.fromkeys(experiment.asked) if model != GAZETTEER]
    for model in asked:
        spec = experiment.model_spec(model)
        kind = find_kind(spec)
        options = read_options(kind.options, spec)
        try:
            kind.places(spec, options)
        except EngineError as fault:
            yield f"run will refuse: {fault}"
    for name in experiment.prices:
        if name not in asked:
            yield f"[prices] names {name}, which the experiment does not ask. {did_you_mean(name, asked)}"


@dataclass(frozen=True, slots=True)
class Unsupported:
    """What a model cannot do of a command, for one reason."""

    command: str
    model: str
    parts: tuple[str, ...]  # of a command that asks several; else none
    reason: str
    remedy: str


def unsupported(calls: Iterable[InstrumentCall]) -> list[Unsupported]:
    """The commands and parts that models of the experiment cannot do, by what their engines declare. Opens nothing."""
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for asked in calls:
        command, part = (asked.whole or asked).command, asked.part.name if asked.part else ""
        for model, fault in asked.unable():
            key = command, model, fault.what.removeprefix(f"{model} "), fault.remedy or ""
            found.setdefault(key, []).extend([part] if part else [])
    return [Unsupported(command, model, tuple(parts), *why) for (command, model, *why), parts in found.items()]
