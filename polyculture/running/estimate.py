"""What `plan` prints: the tokens, money and hours that are left, and what `run` would meet.

The latter are prices without a model, and what models cannot do.

Each step of a call says what its models read and write (`Step.remaining`). This file counts the tokens, expects answers
as long as those that the run has bought, and knows no stage by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from polyculture.cache.store.model_facts import BATCH, DIRECT
from polyculture.cache.store.store import open_store
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.cache.work.faults import RetryFailed
from polyculture.cache.work.worker import AnswerText, Load, Step, Work, models_of, works_by_model
from polyculture.experiment.file import Experiment
from polyculture.experiment.jobs import JobSelection
from polyculture.experiment.workspace import Workspace
from polyculture.generate.engines import ModelSpec, find_kind, read_options
from polyculture.generate.engines.base import Request
from polyculture.generate.engines.kind import TokenCounter
from polyculture.generate.sampling import joined
from polyculture.generate.tokens import PER_CHAT, PER_TEXT, count_tokens, token_counter
from polyculture.running.batching import in_batches
from polyculture.running.calibration import read_rates
from polyculture.running.calls import Call, InstrumentCall
from polyculture.running.layout import layout_of
from polyculture.running.models import asked_models
from polyculture.running.money import NAMED, SPENT, NamedTotal, named_totals

_ALL = JobSelection()
_BOUGHT = """
SELECT stage, asked, topic, count(*) FILTER (status = 'ok') AS answers,
    coalesce(sum(prompt_tokens), 0) AS prompt_tokens, sum(completion_tokens) AS completion_tokens
FROM purchases WHERE completion_tokens IS NOT NULL GROUP BY stage, asked, topic
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
    # Expected: as its answers had so far; before there are any, as long as prompts ask for. Else the most.
    answer_tokens: int
    most_tokens: int  # if every answer is as long as it may be
    counted_by: str
    cost: float | None  # by the tokens that are expected
    free: bool  # nobody bills them
    most: float | None  # if every answer is as long as it may be
    hours: float | None  # at the rate that `plan --calibrate` measured
    assumed: tuple[str, ...] = ()  # what had to be taken for granted, a sentence each
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
class _BoughtAnswers:
    """A model's answers about the jobs of a topic until now, and their tokens, those of unusable ones included."""

    stage: str
    model: str
    topic: str
    answers: int  # that are usable
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class _Means:
    """Tokens of a model's answers until now, per usable answer."""

    prompt: float
    answer: float


def estimates(
    workspace: Workspace, calls: Iterable[Call], retry: RetryFailed | None = None, part: JobSelection = _ALL
) -> Iterator[StageEstimate]:
    """An estimate per step of some calls, and model that it asks about the jobs of a part; where a server names other
    costs than the file's prices, by these.

    Final failures that `retry` names are asked again. Raises what the calls' studies raise.
    """
    ledger = _Purchases(
        [_BoughtAnswers(*row) for row in _rows(workspace, _BOUGHT)],
        {one.model: one for one in named_totals(_rows(workspace, NAMED)) if one.line},
    )
    for call in calls:
        for step in call.known.steps:
            for model, works in works_by_model(step).items():
                if mine := part.share(works, lambda work: work.job):
                    yield _estimate(workspace, call.stage(step), step, model, mine, ledger, retry)


def requests_estimate(stage: str, model: ModelSpec, requests: Sequence[Request]) -> StageEstimate:
    """An estimate of requests without an experiment, which would say what a token costs."""
    counted = count_tokens(model, [joined(request.messages) for request in requests])
    size, most = len(requests), sum(request.decoding.max_tokens for request in requests)
    return StageEstimate(
        stage=stage, model=model.model, jobs=1, prompts=size, responses=size, left=size,
        prompt_tokens=sum(counted.tokens), answer_tokens=most, most_tokens=most, counted_by=counted.counted_by,
        cost=None, free=not find_kind(model).paid, most=None, hours=None,
    )  # fmt: skip


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


def asked_later(calls: Iterable[Call]) -> Iterator[str]:
    """A line for each part that asks about the results of another, as long as there are none: how much it will ask."""
    for asked in calls:
        if isinstance(asked, InstrumentCall) and asked.part and asked.follows and not asked.known.steps:
            texts, times = Counter[str](), asked.answers_to_each
            for step, work in asked.follows.works():
                # Questions, of all its arms: what is written into layers is no turn of a chat.
                questions = {load.text for load in step.loads(work, work.items()) if load.chat}
                texts[models_of(work)[0]] += len(questions)
            for model, number in texts.items():
                what = f"at most {times * number:,} answers, {times} to each of its {number:,} questions"
                yield f"{asked.title}, {model}: asked after the {asked.part.after}: {what}"


@dataclass(frozen=True)
class _Purchases:
    """What a run has bought until now: the tokens of its answers, and costs that servers name."""

    bought: Sequence[_BoughtAnswers]
    named: Mapping[str, NamedTotal]
    # The tokens of an answer as steps that were estimated before expect them, by stage and model.
    expected: dict[tuple[str | None, str], float] = field(default_factory=dict)

    def means(self, stage: str | None, model: str, topics: Collection[str]) -> _Means | None:
        """The mean tokens of a model's answers about the jobs of some topics, in which all is asked alike; None where
        it has no usable answer yet."""
        alike = [one for one in self.bought if (one.stage, one.model) == (stage, model) and one.topic in topics]
        answers = sum(one.answers for one in alike)
        if not answers:
            return None
        read, written = sum(one.prompt_tokens for one in alike), sum(one.completion_tokens for one in alike)
        return _Means(read / answers, written / answers)

    def answer(self, text: AnswerText, topics: Collection[str]) -> float:
        """The expected tokens of an answer: as that model's until now, or as those of all models of the stage; before
        there are any as the step expects that asks for them; else the most."""
        if found := self.means(text.stage, text.model, topics):
            return found.answer
        models = dict.fromkeys(one.model for one in self.bought)
        alike = [found.answer for model in models if (found := self.means(text.stage, model, topics))]
        if alike:
            return sum(alike) / len(alike)
        return self.expected.get((text.stage, text.model), text.most_tokens)


@dataclass
class _TokenEstimate:
    """The tokens of loads of one model in one stage, as they are expected and at most."""

    ledger: _Purchases
    topics: Collection[str]  # of the jobs
    so_far: _Means | None
    counter: TokenCounter
    bound: Callable[[int], int]  # the most tokens of an answer that is asked for with so many, by the model's options
    read: float = 0.0
    written: float = 0.0
    times: int = 0  # how often the model is asked
    most_read: float = 0.0
    most_written: int = 0
    assumed: dict[str, None] = field(default_factory=dict)

    def add(self, loads: Iterable[Load]) -> None:
        """Adds those of a work, in which texts recur."""
        known: dict[str, int] = {}
        for load in loads:
            if load.text not in known:
                known[load.text] = self.counter.encode(load.text)
            self._add(load, known[load.text])
            if load.assumed:
                self.assumed[load.assumed] = None

    def _add(self, load: Load, text_tokens: int) -> None:
        times, answer = load.times * load.distinct, load.answer
        so_far = self.so_far if load.chat else None  # what is written behind a scored text is known
        tokens = text_tokens + (PER_CHAT if load.chat else PER_TEXT)
        of_answer = self.ledger.answer(answer, self.topics) if answer else 0.0
        # A text that nobody has counted is expected to be as long as those that the model was sent until now.
        self.read += times * (so_far.prompt if so_far and answer else tokens + of_answer)
        self.most_read += load.times * (tokens + (answer.most_tokens if answer else 0))
        if load.varying:
            varying = self.counter.encode(load.varying)
            self.read, self.most_read = self.read + varying, self.most_read + varying
        most = self.bound(load.most_tokens) if load.chat and load.most_tokens else load.most_tokens
        self.written += times * (so_far.answer if so_far else _expected(load, most, text_tokens, of_answer))
        self.most_written += load.times * most
        self.times += load.times


def _expected(load: Load, most: int, tokens: int, of_answer: float) -> float:
    """The tokens of an answer before any was measured, `most` at most; `tokens` are those of the load's text."""
    if load.length is None:
        return most
    return min(most, load.length * (of_answer if load.answer else max(tokens, 1)))


def _estimate(
    workspace: Workspace,
    name: str,
    step: Step[Any, Any],
    model: str,
    works: Sequence[Work[Any]],
    ledger: _Purchases,
    retry: RetryFailed | None,
) -> StageEstimate:
    spec, stage = workspace.experiment.model_spec(model), step.tables[-1].stage
    counter, kind = token_counter(spec), find_kind(spec)
    options, settled = read_options(kind.options, spec), 0

    def bound(most: int) -> int:
        return kind.most_tokens(options, 0, most)[1]

    topics = {work.job.topic for work in works}
    found = _TokenEstimate(ledger, topics, ledger.means(stage, model, topics), counter, bound)
    for work in works:
        remaining = step.remaining(workspace.run, work, retry)
        settled += remaining.settled
        found.add(remaining.loads)
    if found.times:
        ledger.expected[stage, model] = found.written / found.times
    price, named = workspace.experiment.price(model), ledger.named.get(model)
    purchase = BATCH if in_batches(step, spec) else DIRECT

    def cost(read: float, written: float) -> float | None:
        return price.cost(round(read), round(written), purchase) * (named.factor if named else 1) if price else None

    size, rate = sum(work.size for work in works), read_rates(workspace.run).get((name, model))
    # Models are asked the same prompts of a language and topic: these are counted once.
    prompts = {(w.job.language, w.job.topic): w.size if w.prompts is None else w.prompts for w in works}
    return StageEstimate(
        stage=name,
        model=model,
        jobs=len(works),
        prompts=sum(prompts.values()),
        responses=size,
        left=size - settled,
        prompt_tokens=round(found.read),
        answer_tokens=round(found.written),
        most_tokens=found.most_written,
        counted_by=counter.name,
        cost=cost(found.read, found.written),
        free=not kind.paid,
        most=cost(found.most_read, found.most_written),
        hours=(size - settled) / rate / 3600 if rate else None,
        assumed=tuple(found.assumed),
        named=named,
    )


def _rows(workspace: Workspace, query: str) -> list[tuple[Any, ...]]:
    """The results of a query on what the run has bought, at the experiment's prices now; empty without a run."""
    if not workspace.run.manifest.exists():
        return []
    with open_store(workspace.run, layout_of(workspace.run), manifest=workspace.present) as store:
        return store.sql(query).fetchall()


def unknown_prices(experiment: Experiment) -> Iterator[str]:
    """A line for each model that has a price and is not asked."""
    asked = asked_models(experiment)
    for name in experiment.prices:
        if name not in asked:
            yield f"[prices] names {name}, which the experiment does not ask. {did_you_mean(name, asked)}"


@dataclass(frozen=True, slots=True)
class UnsupportedCommand:
    """What a model cannot do of a command, for one reason."""

    command: str
    model: str
    parts: tuple[str, ...]  # of a command that asks several; else none
    reason: str
    remedy: str


def unsupported(calls: Iterable[Call]) -> list[UnsupportedCommand]:
    """The commands and parts that models of the experiment cannot do, by what their engines declare. Opens nothing."""
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for asked in calls:
        command, part = (asked.whole or asked).command, asked.part.title if asked.part else ""
        for model, fault in asked.unable():
            key = command, model, fault.what.removeprefix(f"{model} "), fault.remedy or ""
            found.setdefault(key, []).extend([part] if part else [])
    return [UnsupportedCommand(command, model, tuple(parts), *why) for (command, model, *why), parts in found.items()]
