"""The extractor `llm`: a model lists a text's entities as JSON, constrained by a schema where possible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice
from types import MappingProxyType
from typing import Any

from polyculture.cache.catalog import Topic
from polyculture.cache.identity import content_id
from polyculture.cache.inflection import NO_ENDINGS, Endings
from polyculture.extract.answer import LEFT_OUT, UnusableAnswerError, answer_schema, answers_schema, split_answers
from polyculture.extract.base import Extracted, ResponseText
from polyculture.extract.prompt import ExtractorPrompt, join_texts
from polyculture.extract.reading import read_mentions
from polyculture.generate.engines.base import Completion, Decoding, Message, Request
from polyculture.generate.engines.capabilities import Sampling
from polyculture.generate.request import as_lists, request_id

MAX_TOKENS = 1024  # for the answer about a text
# The first attempt is greedy. Later ones are sampled, since a greedy answer would be the same again.
TEMPERATURES = (0.0, 0.4, 0.8)
OURS = ExtractorPrompt()


def llm_extractor_id(
    model: str, topic: Topic, setup: Mapping[str, Any] = MappingProxyType({}), prompt: ExtractorPrompt = OURS
) -> str:
    """The request of a model in its setup about a topic, but for the text, without opening the model: of all attempts.

    Who reads the answers is known by `reading.present_reader`.
    """
    content: list[Any] = as_lists(prompt.head(topic))
    if prompt.texts > 1:
        content = [content, as_lists(prompt.head(topic, several=True)), prompt.texts]
    decoding = [asdict(_decoding(topic, temperature)) for temperature in TEMPERATURES]
    return request_id("extract", model, setup, content, decoding)


def asked_id(extractor_id: str, text: str) -> str:
    """The request about a text: what is asked of equal texts is paid once."""
    return content_id(extractor_id, text)


def read_request(topic: Topic, texts: Sequence[ResponseText], prompt: ExtractorPrompt = OURS) -> Request:
    """What the model is first sent with a text, or with several."""
    return _request(prompt.head(topic, len(texts) > 1), _decoding(topic, TEMPERATURES[0], len(texts)), texts, 0)


class LlmExtractor:
    """Extracts the mentions of a topic's kinds with `engine`, which runs `model`.

    An answer of which nothing can be read (`extract.answer`), or that is endless, is unusable: the request is repeated
    with another seed. After the last attempt the response has failed, with the answer kept. Each unusable answer is a
    row of its own as it comes, since its cost is paid even if the run is killed before the next attempt. Errors of the
    engine are not retried here; `retryable` tells whether a later run should.

    Where a request has several texts, each gets its part of the answer and an equal part of the tokens. A text that the
    answer leaves out is asked again alone, greedily at first.
    """

    costly = True

    def __init__(
        self,
        engine: Sampling,
        model: str,
        topic: Topic,
        extractor_id: str | None = None,
        prompt: ExtractorPrompt = OURS,
        endings: Endings = NO_ENDINGS,
    ) -> None:
        self.extractor_id = extractor_id or llm_extractor_id(model, topic, prompt=prompt)
        self._engine, self._model, self._topic, self._texts = engine, model, topic, prompt.texts
        self._endings = endings
        self._head, self._several = prompt.head(topic), prompt.head(topic, several=True)
        self._temperatures = TEMPERATURES if prompt.texts == 1 else (TEMPERATURES[0], *TEMPERATURES)

    def extract(self, responses: Iterable[ResponseText]) -> Iterator[Extracted]:
        """Yields results as answers come; repeated requests come after all others.

        `responses` is consumed lazily, as the engine takes requests. Blank texts give an empty result without a
        request.
        """
        later: list[list[ResponseText]] = [[] for _ in self._temperatures]  # by their next attempt
        blank: list[Extracted] = []
        yield from self._round(0, self._first_attempts(responses, later, blank), later, blank)
        for attempt in range(1, len(self._temperatures)):
            yield from self._round(attempt, iter(later[attempt]), later, blank)

    def _first_attempts(
        self, responses: Iterable[ResponseText], later: list[list[ResponseText]], blank: list[Extracted]
    ) -> Iterator[ResponseText]:
        """Yields the responses without earlier attempts; puts the others aside."""
        for response in responses:
            if not response.text.strip():
                blank.append(Extracted(response.response_id, "ok", attempts=0))
            elif response.unusable:
                later[response.unusable].append(response)
            else:
                yield response

    def _round(
        self,
        attempt: int,
        asked: Iterator[ResponseText],
        later: list[list[ResponseText]],
        blank: list[Extracted],
    ) -> Iterator[Extracted]:
        waiting: dict[str, list[ResponseText]] = {}
        for answer in self._engine.sample(self._requests(attempt, asked, waiting)):
            group = waiting.pop(answer.request_id)
            for response, part in zip(group, _parts(answer, len(group)), strict=True):
                result = self._result(response, attempt, part)
                if result.status == "unusable":
                    later[attempt + 1].append(response)
                yield result
            yield from _drain(blank)
        yield from _drain(blank)

    def _requests(
        self, attempt: int, asked: Iterator[ResponseText], waiting: dict[str, list[ResponseText]]
    ) -> Iterator[Request]:
        while group := list(islice(asked, 1 if attempt else self._texts)):
            decoding = _decoding(self._topic, self._temperatures[attempt], len(group))
            request = _request(self._several if len(group) > 1 else self._head, decoding, group, attempt)
            waiting[request.request_id] = group
            yield request

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
            ending=answer.ending,
            finish_reason=answer.finish_reason,
            note=answer.note,
        )
        if answer.text is None:
            return replace(result, error=answer.error or "the model gave no answer", retryable=answer.retryable)
        try:
            if answer.error:  # what is left of an answer about several texts
                raise UnusableAnswerError(answer.error)
            read = read_mentions(
                answer.text, answer.finish_reason, response.text, self._topic, response.language, self._endings
            )
        except UnusableAnswerError as fault:
            last = result.attempts == len(self._temperatures)
            return replace(result, status="failed" if last else "unusable", error=str(fault), retryable=False)
        note = "; ".join(filter(None, (answer.note, read.note))) or None
        return replace(result, status="ok", mentions=read.mentions, note=note)


def _request(head: tuple[Message, ...], decoding: Decoding, responses: Sequence[ResponseText], attempt: int) -> Request:
    texts = [response.text for response in responses]
    asked = texts[0] if len(texts) == 1 else join_texts(texts)
    ids = [response.response_id for response in responses]
    key = ids[0] if len(ids) == 1 else content_id("several", *ids)
    return Request(key, (*head, Message("user", asked)), decoding, seeds=(attempt,))


def _decoding(topic: Topic, temperature: float, texts: int = 1) -> Decoding:
    schema = answer_schema(topic.kinds) if texts == 1 else answers_schema(topic.kinds, texts)
    return Decoding(temperature, top_p=1.0, top_k=None, max_tokens=MAX_TOKENS * texts, schema=schema)


def _parts(answer: Completion, texts: int) -> Iterator[Completion]:
    """What an answer says of each of its texts, with an equal part of its tokens."""
    if texts == 1:
        yield answer
        return
    parts = split_answers(answer.text, texts) if answer.text is not None else {}
    for place in range(texts):
        read, written = (_share(tokens, texts, place) for tokens in (answer.prompt_tokens, answer.completion_tokens))
        part = replace(answer, prompt_tokens=read, completion_tokens=written, reasoning=None, raw=None)
        if answer.text is not None:
            own = parts.get(place + 1)
            part = replace(part, text=own or answer.text, error=None if own else LEFT_OUT)
        yield part


def _share(tokens: int | None, texts: int, place: int) -> int | None:
    """An equal part of the tokens; the first texts have the rest of the division, so that the sum is right."""
    return None if tokens is None else tokens // texts + (place < tokens % texts)


def _drain(results: list[Extracted]) -> Iterator[Extracted]:
    while results:
        yield results.pop()
