"""The steps that ask: questions in, answers in the store out. Nothing is read here: see `reading_step`.

An answer that names no option is an answer: only what did not come at all is a failure, a row with its reason.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher

from polyculture.cache.worker import Done, Kept, Load, Work
from polyculture.generate.engines import SCORING, Scored, ScoreRequest, TokenScore
from polyculture.generate.engines.base import Message, Request
from polyculture.generate.engines.capabilities import SAMPLING
from polyculture.generate.engines.models import MODEL, Models
from polyculture.instruments.questions.asking import Ask, AskJob
from polyculture.instruments.questions.layout import ANSWERS, AnswerRow
from polyculture.instruments.row_step import AnswerStep, completion_columns


class AskStep(AnswerStep[Ask]):
    """Jobs of questions whose answers are rows of `answers`."""

    tables = (ANSWERS,)
    of_now = ("answer_id", "request_id", "sample", "question_id", "prompt", "order", "labels", "shown")

    def __init__(self, name: str, jobs: Sequence[AskJob]) -> None:
        self.name = name
        self._jobs = {one.job: one for one in jobs}

    def works(self) -> Iterator[Work[Ask]]:
        """A work per job."""
        for job, one in self._jobs.items():
            yield Work(job, {MODEL: job.model}, one.asks, one.size, f"{job.model} {job.language} {job.topic}")


class GenerationStep(AskStep):
    """Asks models to write an answer."""

    def ask(self, work: Work[Ask], items: Iterator[Ask], models: Models, kept: Kept) -> Iterator[Done]:
        """A row per sample, as the answers come."""
        asked = self._jobs[work.job]
        waiting: dict[str, Ask] = {}
        for said in models.open(SAMPLING).sample(_requests(asked, items, waiting)):
            row = answer_row(asked, waiting.pop(said.request_id))
            yield Done((replace(row, **completion_columns(said)),))

    def load(self, item: Ask) -> Load:
        """The message, and the tokens that an answer has at most."""
        return Load(item.text, next(iter(self._jobs.values())).sampling.max_tokens)


def _requests(asked: AskJob, items: Iterator[Ask], waiting: dict[str, Ask]) -> Iterator[Request]:
    decoding = asked.sampling.decoding
    for ask in items:
        waiting[ask.answer_id] = ask
        yield Request(ask.answer_id, (Message("user", ask.text),), decoding, (ask.seed,), group=ask.group)


def answer_row(asked: AskJob, ask: Ask) -> AnswerRow:
    """The row of an answer of which nothing came yet."""
    return AnswerRow(
        ask.answer_id, ask.request_id, ask.question_id, asked.job.model, asked.job.language, asked.job.topic,
        asked.method, ask.prompt, list(ask.order), list(ask.labels), list(ask.shown), ask.sample,
        *(None,) * 5, "ok", *(None,) * 6,
    )  # fmt: skip


@dataclass
class _Waiting:
    """The scores of a question that have come: by the number of the request, then of the candidate."""

    ask: Ask
    requests: list[ScoreRequest]
    scores: dict[tuple[int, int], Scored] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        return len(self.scores) == sum(len(request.continuations) for request in self.requests)

    def of(self, number: int) -> list[Scored]:
        """The scores of a request's candidates; none where there is no such request."""
        found = self.requests[number].continuations if number < len(self.requests) else ()
        return [self.scores[number, place] for place in range(len(found))]


class LikelihoodStep(AskStep):
    """Scores candidates by models that give log-probabilities."""

    def ask(self, work: Work[Ask], items: Iterator[Ask], models: Models, kept: Kept) -> Iterator[Done]:
        """A row per question, once all its scores are there."""
        asked = self._jobs[work.job]
        waiting: dict[str, _Waiting] = {}
        for scored in models.open(SCORING).score(_score_requests(asked, items, waiting)):
            number, _, key = scored.request_id.partition(" ")
            one = waiting[key]
            one.scores[int(number), scored.index] = scored
            if one.whole:
                del waiting[key]
                yield Done((_scored(asked, one),))

    def load(self, item: Ask) -> Load:
        """What is read for one candidate; nothing is written."""
        first = next(iter(self._jobs.values())).scored(item)[0]
        return Load(f"{first.prefix}{max(first.continuations, key=len)}", 0, len(first.continuations))


def _score_requests(asked: AskJob, items: Iterator[Ask], waiting: dict[str, _Waiting]) -> Iterator[ScoreRequest]:
    for ask in items:
        requests = asked.scored(ask)
        waiting[ask.answer_id] = _Waiting(ask, requests)
        for number, request in enumerate(requests):
            yield replace(request, request_id=f"{number} {ask.answer_id}")


def _scored(asked: AskJob, one: _Waiting) -> AnswerRow:
    every = list(one.scores.values())
    row = replace(
        answer_row(asked, one.ask),
        prompt_tokens=_sum([scored.prompt_tokens for scored in every]),
        completion_tokens=_sum([scored.completion_tokens for scored in every]),
        model_version=every[0].model_version,
        purchase=every[0].purchase,
        note="; ".join(dict.fromkeys(scored.note for scored in every if scored.note)) or None,
    )
    failed = next((scored for scored in every if scored.total is None), None)
    if failed is not None:
        return replace(row, status="failed", error=failed.error or "no score", retryable=failed.retryable)
    candidates, alone = [list(scored.tokens) for scored in one.of(0)], [list(scored.tokens) for scored in one.of(1)]
    if asked.method == "sentence" and all(scored.masked for scored in every):
        candidates = shared_tokens(candidates)
    if not all(candidates):
        return replace(row, status="failed", error="the sentences share no token", retryable=False)
    return replace(
        row,
        scores=_totals(candidates),
        tokens=[float(len(some)) for some in candidates],
        unconditional=_totals(alone) or None,
    )


def shared_tokens(sentences: Sequence[Sequence[TokenScore]]) -> list[list[TokenScore]]:
    """Of two sentences the tokens that both have, in order: those that a masked model is asked about (CrowS-Pairs,
    Nangia et al. 2020, section 4; each is masked alone, and what tells the sentences apart stays visible)."""
    first, second = sentences
    same = SequenceMatcher(None, [one.token for one in first], [one.token for one in second], autojunk=False)
    blocks = same.get_matching_blocks()
    return [
        [token for block in blocks for token in first[block.a : block.a + block.size]],
        [token for block in blocks for token in second[block.b : block.b + block.size]],
    ]


def _totals(candidates: Sequence[Sequence[TokenScore]]) -> list[float]:
    return [math.fsum(token.log_probability for token in some) for some in candidates]


def _sum(counts: Sequence[int | None]) -> int | None:
    told = [count for count in counts if count is not None]
    return sum(told) if told else None
