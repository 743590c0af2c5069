"""The extractor `llm`: a model names a text's entities in JSON, constrained by a schema where its engine can."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace

from polyculture.cache.catalog import Topic
from polyculture.cache.identity import content_id
from polyculture.extract.answer import AnswerError, answer_schema, read_answer
from polyculture.extract.base import Extracted, ResponseText
from polyculture.extract.offsets import locate
from polyculture.extract.prompt import prompt_head
from polyculture.extract.rules import rules_hash
from polyculture.generate.engines.base import Completion, Decoding, Message, Request
from polyculture.generate.engines.capabilities import Sampling

VERSION = 1  # of the rules in the code that decide mentions: raise it when they change
MAX_TOKENS = 1024
# The first attempt is greedy; after it the same question would get the same answer, so the next ones are not.
TEMPERATURES = (0.0, 0.4, 0.8)


def llm_extractor_id(model: str, topic: Topic) -> str:
    """The identity of `LlmExtractor` for a model and topic, without opening the model."""
    prompt = [asdict(message) for message in prompt_head(topic)]
    decoding = [asdict(_decoding(topic, attempt)) for attempt in range(len(TEMPERATURES))]
    return content_id("llm", VERSION, model, topic.code, prompt, decoding, rules_hash())


class LlmExtractor:
    """Asks `engine`, which runs `model`, for the mentions of a topic's kinds.

    An answer that is no JSON, was cut, goes on for ever or has an unknown kind is asked for again with another seed;
    after the last attempt the response is failed, with the answer kept as it came. Nothing of such an answer is used;
    what it cost is told the moment it comes, since whoever is killed before the next attempt has paid for it.
    A failure of the engine's own is not asked again here; its `retryable` says whether a later run should.
    """

    costly = True

    def __init__(self, engine: Sampling, model: str, topic: Topic) -> None:
        self.extractor_id = llm_extractor_id(model, topic)
        self._engine, self._model, self._topic = engine, model, topic
        self._head = prompt_head(topic)

    def extract(self, responses: Iterable[ResponseText]) -> Iterator[Extracted]:
        """Yields a result per response as answers come; those that must be asked again come after the others.

        `responses` is consumed lazily, as the engine takes requests. A text without a letter is asked of nobody.
        """
        later: list[list[ResponseText]] = [[] for _ in TEMPERATURES]  # by the attempt that is theirs next
        silent: list[Extracted] = []
        yield from self._round(0, self._at_once(responses, later, silent), later, silent)
        for attempt in range(1, len(TEMPERATURES)):
            yield from self._round(attempt, iter(later[attempt]), later, silent)

    def _at_once(
        self, responses: Iterable[ResponseText], later: list[list[ResponseText]], silent: list[Extracted]
    ) -> Iterator[ResponseText]:
        """Those that nobody was asked about; the others are put aside."""
        for response in responses:
            if not response.text.strip():
                silent.append(Extracted(response.response_id, "ok", attempts=0))
            elif response.unusable:
                later[response.unusable].append(response)
            else:
                yield response

    def _round(
        self,
        attempt: int,
        asked: Iterator[ResponseText],
        later: list[list[ResponseText]],
        silent: list[Extracted],
    ) -> Iterator[Extracted]:
        waiting: dict[str, ResponseText] = {}
        for answer in self._engine.sample(self._requests(attempt, asked, waiting)):
            response = waiting.pop(answer.request_id)
            result = self._result(response, attempt, answer)
            if result.status == "unusable":
                later[attempt + 1].append(response)
            yield result
            yield from _drain(silent)
        yield from _drain(silent)

    def _requests(
        self, attempt: int, asked: Iterator[ResponseText], waiting: dict[str, ResponseText]
    ) -> Iterator[Request]:
        decoding = _decoding(self._topic, attempt)
        for response in asked:
            waiting[response.response_id] = response
            messages = (*self._head, Message("user", response.text))
            yield Request(response.response_id, messages, decoding, seeds=(attempt,))

    def _result(self, response: ResponseText, attempt: int, answer: Completion) -> Extracted:
        result = Extracted(
            response.response_id,
            "failed",
            attempts=attempt + 1,
            raw=answer.as_it_came,
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
            extractor_model=self._model,
            purchase=answer.purchase,
        )
        if answer.text is None:
            return replace(result, error=answer.error or "the model gave no answer", retryable=answer.retryable)
        try:
            named = read_answer(answer.text, self._topic.kinds, answer.finish_reason)
        except AnswerError as fault:
            last = result.attempts == len(TEMPERATURES)
            return replace(result, status="failed" if last else "unusable", error=str(fault), retryable=False)
        return replace(result, status="ok", mentions=locate(response.text, named, response.language))


def _decoding(topic: Topic, attempt: int) -> Decoding:
    schema = answer_schema(topic.kinds)
    return Decoding(TEMPERATURES[attempt], top_p=1.0, top_k=None, max_tokens=MAX_TOKENS, schema=schema)


def _drain(results: list[Extracted]) -> Iterator[Extracted]:
    while results:
        yield results.pop()
