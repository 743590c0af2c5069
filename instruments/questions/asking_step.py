"""The steps that ask: questions in, answers in the store out. Nothing is read here: see `reading_step`.

An answer that names no option is an answer: only what did not come at all is a failure, a row with its reason.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from polyculture.cache.store.run_folder import Job
from polyculture.cache.work.worker import Done, Load, StoredRows, Work
from polyculture.generate.engines import ATTENDING, SCORING, Scored, TokenScore
from polyculture.generate.engines.base import SCORE_TOKENS, Completion, Message, Request
from polyculture.generate.engines.capabilities import SAMPLING
from polyculture.generate.engines.models import Models
from polyculture.generate.engines.patching import Attention
from polyculture.instruments.questions.asking import Ask, AskJob
from polyculture.instruments.questions.layout import ANSWERS
from polyculture.instruments.row_step import AnswerStep, TextStep, held, score_columns

if TYPE_CHECKING:
    from polyculture.generate.engines.patching import Vector


class AskStep(AnswerStep[Ask, AskJob]):
    """Jobs of questions whose answers are rows of `answers`."""

    tables = (ANSWERS,)

    def __init__(self, name: str, jobs: Sequence[AskJob]) -> None:
        super().__init__(jobs)
        self.name = name


class GenerationStep(AskStep, TextStep[Ask, AskJob]):
    """Asks models to write an answer."""

    use = "answer"

    def completions(self, job: Job, asks: Iterator[Ask], models: Models) -> Iterator[Completion]:
        return models.open(SAMPLING).sample(_requests(self.asked[job], asks))

    def loads(self, work: Work[Ask], items: Iterable[Ask]) -> Iterator[Load]:
        """The message, and the tokens that an answer has at most."""
        most = self.asked[work.job].sampling.max_tokens
        return (Load(item.text, most) for item in items)


def _requests(asked: AskJob, asks: Iterator[Ask]) -> Iterator[Request]:
    decoding = asked.sampling.decoding
    for ask in asks:
        yield Request(ask.answer_id, (Message("user", ask.text),), decoding, (ask.seed,), group=ask.group)


class LikelihoodStep(AskStep):
    """Scores candidates by models that give log-probabilities."""

    use = "score"

    def ask(self, work: Work[Ask], items: Iterator[Ask], models: Models, kept: StoredRows) -> Iterator[Done]:
        """A row per question, once all its scores are there."""
        asked = self.asked[work.job]
        waiting: dict[str, Ask] = {}
        found: defaultdict[str, dict[int, Scored]] = defaultdict(dict)
        for scored in models.open(SCORING).score(map(asked.scored, held(items, waiting))):
            ask, scores = waiting[scored.request_id], found[scored.request_id]
            scores[scored.index] = scored
            if len(scores) == len(asked.scored(ask).continuations):
                del waiting[scored.request_id], found[scored.request_id]
                came = _scored(asked, [scores[place] for place in sorted(scores)])
                yield Done((self.row(work.job, ask, **came),))

    def loads(self, work: Work[Ask], items: Iterable[Ask]) -> Iterator[Load]:
        """What is read once for each candidate, and the candidates."""
        for request in map(self.asked[work.job].scored, items):
            candidates, end = request.continuations, request.suffix if request.to_end else ""
            yield Load(request.prefix + end, SCORE_TOKENS, len(candidates), " ".join(candidates), chat=False)


def _scored(asked: AskJob, every: Sequence[Scored]) -> dict[str, Any]:
    """The columns of an answer that follow from the scores of its candidates."""
    came = score_columns(every)
    if came["error"]:
        return came
    candidates = [list(scored.tokens) for scored in every]
    if asked.method == "sentence" and all(scored.masked for scored in every):
        candidates = shared_tokens(candidates)
    if not all(candidates):
        return came | {"status": "failed", "error": "the sentences share no token", "retryable": False}
    scores = [math.fsum(token.log_probability for token in some) for some in candidates]
    return came | {"scores": scores, "tokens": [float(len(some)) for some in candidates]}


class AttentionStep(AskStep):
    """Reads how much models attend to options. They write nothing, and a failure is not tried again."""

    use = "attend"

    def ask(self, work: Work[Ask], items: Iterator[Ask], models: Models, kept: StoredRows) -> Iterator[Done]:
        """A row per question. Raises `EngineError` where the model does not give its attention."""
        asked = self.asked[work.job]
        waiting: dict[str, Ask] = {}
        for found in models.open(ATTENDING).attend(map(asked.attended, held(items, waiting))):
            yield Done((self.row(work.job, waiting.pop(found.request_id), **_attended(found)),))

    def loads(self, work: Work[Ask], items: Iterable[Ask]) -> Iterator[Load]:
        """The message, which is read once for all options; nothing is written."""
        return (Load(item.text, 0) for item in items)


def _attended(found: Attention) -> dict[str, Any]:
    """The columns of an answer that follow from the attention to its options."""
    came: dict[str, Any] = {"model_version": found.model_version}
    if found.weights is None:
        return came | {"status": "failed", "error": found.error, "retryable": False}
    sizes = [float(weights.shape[1]) for weights in found.weights]
    return came | {"status": "ok", "scores": [contribution(one) for one in found.weights], "tokens": sizes}


def contribution(attention: Vector) -> float:
    """The attention to an option, of attention [layers, tokens]: the mean over layers, the largest of its tokens
    (CultureScope 5.1, equation 7)."""
    return float(attention.mean(axis=0).max())


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
