"""The extractor `llm`: a model names a text's entities in JSON, constrained by a schema where its engine can."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace

from cache.catalog import Topic
from cache.errors import BudgetError
from cache.identity import content_id
from cache.prices import Purchase
from extract.answer import AnswerError, answer_schema, read_answer
from extract.base import Extracted, ResponseText
from extract.offsets import locate
from extract.prompt import prompt_head
from extract.rules import rules_hash
from generate.engines.base import Completion, Decoding, Engine, Message, Request

VERSION = 1  # of the rules in the code that decide mentions: raise it when they change
MAX_TOKENS = 1024
# The first attempt is greedy; after it the same question would get the same answer, so the next ones are not.
TEMPERATURES = (0.0, 0.4, 0.8)


@dataclass(slots=True)
class _Asked:
    """A response that is being asked about, and what its attempts so far have cost."""

    response: ResponseText
    attempts: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    purchase: Purchase | None = None

    def count(self, answer: Completion) -> None:
        self.attempts += 1
        self.purchase = answer.purchase
        self.prompt_tokens = _sum(self.prompt_tokens, answer.prompt_tokens)
        self.completion_tokens = _sum(self.completion_tokens, answer.completion_tokens)


def llm_extractor_id(model: str, topic: Topic) -> str:
    """The identity of `LlmExtractor` for a model and topic, without opening the model."""
    prompt = [asdict(message) for message in prompt_head(topic)]
    decoding = [asdict(_decoding(topic, attempt)) for attempt in range(len(TEMPERATURES))]
    return content_id("llm", VERSION, model, topic.code, prompt, decoding, rules_hash())


class LlmExtractor:
    """Asks `engine`, which runs `model`, for the mentions of a topic's kinds.

    An answer that is no JSON, was cut, goes on for ever or has an unknown kind is asked for again with another seed;
    after the last attempt the response is failed, with the answer kept as it came. Nothing of such an answer is used.
    A failure of the engine's own is not asked again here; its `retryable` says whether a later run should.
    """

    costly = True

    def __init__(self, engine: Engine, model: str, topic: Topic) -> None:
        self.extractor_id = llm_extractor_id(model, topic)
        self._engine, self._model, self._topic = engine, model, topic
        self._head = prompt_head(topic)

    def extract(self, responses: Iterable[ResponseText]) -> Iterator[Extracted]:
        """Yields a result per response as answers come; those that must be asked again come after the others.

        `responses` is consumed lazily, as the engine takes requests. A text without a letter is asked of nobody.
        """
        again: list[_Asked] = []
        silent: list[Extracted] = []
        asked = self._asked(responses, silent)
        for attempt in range(len(TEMPERATURES)):
            try:
                yield from self._round(attempt, asked, again, silent)
            except BudgetError:
                yield from self._given_up([*asked, *again] if attempt else again)
                raise
            asked, again = iter(again), []

    def _asked(self, responses: Iterable[ResponseText], silent: list[Extracted]) -> Iterator[_Asked]:
        for response in responses:
            if response.text.strip():
                yield _Asked(response)
            else:
                silent.append(Extracted(response.response_id, "ok", attempts=0))

    def _given_up(self, again: Iterable[_Asked]) -> Iterator[Extracted]:
        """What is not asked again because of a limit: failed for now, with what its attempts have cost."""
        for item in again:
            yield Extracted(
                item.response.response_id,
                "failed",
                attempts=item.attempts,
                error="not asked again: max_cost is reached",
                retryable=True,
                prompt_tokens=item.prompt_tokens,
                completion_tokens=item.completion_tokens,
                extractor_model=self._model,
                purchase=item.purchase,
            )

    def _round(
        self, attempt: int, asked: Iterator[_Asked], again: list[_Asked], silent: list[Extracted]
    ) -> Iterator[Extracted]:
        waiting: dict[str, _Asked] = {}
        for answer in self._engine.sample(self._requests(attempt, asked, waiting)):
            item = waiting.pop(answer.request_id)
            item.count(answer)
            result = self._result(item, answer)
            if result.error and answer.error is None and item.attempts < len(TEMPERATURES):
                again.append(item)
            else:
                yield result
            yield from _drain(silent)
        yield from _drain(silent)

    def _requests(self, attempt: int, asked: Iterator[_Asked], waiting: dict[str, _Asked]) -> Iterator[Request]:
        decoding = _decoding(self._topic, attempt)
        for item in asked:
            waiting[item.response.response_id] = item
            messages = (*self._head, Message("user", item.response.text))
            yield Request(item.response.response_id, messages, decoding, seeds=(attempt,))

    def _result(self, item: _Asked, answer: Completion) -> Extracted:
        response = item.response
        result = Extracted(
            response.response_id,
            "failed",
            attempts=item.attempts,
            raw=answer.text,
            prompt_tokens=item.prompt_tokens,
            completion_tokens=item.completion_tokens,
            extractor_model=self._model,
            purchase=answer.purchase,
        )
        if answer.text is None:
            return replace(result, error=answer.error or "the model gave no answer", retryable=answer.retryable)
        try:
            named = read_answer(answer.text, self._topic.kinds, answer.finish_reason)
        except AnswerError as fault:
            return replace(result, error=str(fault), retryable=False)
        return replace(result, status="ok", mentions=locate(response.text, named, response.language))


def _decoding(topic: Topic, attempt: int) -> Decoding:
    schema = answer_schema(topic.kinds)
    return Decoding(TEMPERATURES[attempt], top_p=1.0, top_k=None, max_tokens=MAX_TOKENS, schema=schema)


def _drain(results: list[Extracted]) -> Iterator[Extracted]:
    while results:
        yield results.pop()


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else one + other
