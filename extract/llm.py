"""The extractor `llm`: a model lists a text's entities as JSON, constrained by a schema where possible."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import Any

from polyculture.cache.catalog import Topic
from polyculture.cache.errors import ExperimentError
from polyculture.cache.identity import content_id
from polyculture.cache.text.inflection import NO_ENDINGS, Endings
from polyculture.extract.answer import CUT_SHORT, REPEATED, UnusableAnswerError, answer_schema, write_answer
from polyculture.extract.base import MAX_TOKENS, Extracted, NamedEntity, ResponseText, unpaid
from polyculture.extract.reading import read_mentions, read_raw
from polyculture.extract.room import room_named
from polyculture.generate.engines.answer import text_in
from polyculture.generate.engines.base import Completion, Decoding, Message, Request
from polyculture.generate.engines.capabilities import Sampling
from polyculture.generate.refusals import is_refusal_anywhere
from polyculture.generate.request import as_lists, request_id

# The first attempt is greedy. After an unusable answer the next is sampled, since a greedy answer would be the same
# again. After one that the token limit cut, it is asked as before with more room.
TEMPERATURES = (0.0, 0.4, 0.8)
MORE_ROOM = 2  # times the tokens
# Behind an answer in words: what they mean, in any language, its own model knows best. It shows no list, which a model
# that repeats what it is told would be read by.
_AS_JSON = (
    "Write that as JSON in the form asked for, and nothing else; with an empty list if it says that nothing is named. "
    "If it says something else, write it again as it is."
)


def llm_extractor_id(
    model: str,
    topic: Topic,
    setup: Mapping[str, Any] = MappingProxyType({}),
    instruction: str | None = None,
    max_tokens: int = MAX_TOKENS,
) -> str:
    """The request of a model in its setup about a topic, but for the text, without opening the model: of all attempts.

    Who reads the answers is known by `reading.present_reader`.
    """
    return request_id("extract", model, setup, *_sent(topic, instruction, max_tokens))


def prompt_hash(topic: Topic, instruction: str | None = None) -> str:
    """A hash of what any model is sent with each text of a topic, in all attempts, but for the limit of its answer."""
    return content_id(*_sent(topic, instruction, MAX_TOKENS))


def _sent(topic: Topic, instruction: str | None, max_tokens: int) -> tuple[list[Any], list[Any]]:
    """The messages of an extraction but for the text, and the decoding settings of all attempts."""
    decoding = [asdict(_decoding(topic, temperature, max_tokens)) for temperature in TEMPERATURES] + [MORE_ROOM]
    return [*as_lists(prompt_head(topic, instruction)), _AS_JSON], decoding


def asked_id(extractor_id: str, text: str) -> str:
    """The request about a text: what is asked of equal texts is paid once."""
    return content_id(extractor_id, text)


def read_request(
    topic: Topic, text: ResponseText, instruction: str | None = None, max_tokens: int = MAX_TOKENS
) -> Request:
    """What the model is first sent with a text."""
    return _request(prompt_head(topic, instruction), topic, text, max_tokens)


class LlmExtractor:
    """Extracts the mentions of a topic's kinds with `engine`, which runs `model`.

    An answer of which nothing can be read (`extract.answer`), or that is endless, is unusable: the model is asked to
    write its own words as JSON, or where it refused for the same again with another seed. An answer that the token
    limit cut is asked for again with `MORE_ROOM`, unless it repeats itself; where that is refused with a number, with
    as much as there is. After the last attempt, or where the model
    has no more room, the whole mentions of the cut answer with most of them count, marked as `cut`; without any the
    response has failed, with the answer kept. Each unusable answer is a row of its own as it comes, since its cost is
    paid even if the run is killed before the next attempt. Errors of the engine are not retried here; `retryable` says
    whether a later run should.
    """

    costly = True

    def __init__(
        self,
        engine: Sampling,
        model: str,
        topic: Topic,
        extractor_id: str | None = None,
        instruction: str | None = None,
        endings: Endings = NO_ENDINGS,
        max_tokens: int = MAX_TOKENS,
    ) -> None:
        self.extractor_id = extractor_id or llm_extractor_id(
            model, topic, instruction=instruction, max_tokens=max_tokens
        )
        self._engine, self._model, self._topic, self._endings = engine, model, topic, endings
        self._max_tokens = max_tokens
        self._head = prompt_head(topic, instruction)

    def extract(self, responses: Iterable[ResponseText]) -> Iterator[Extracted]:
        """Yields results as answers come; repeated requests come after all others.

        `responses` is consumed lazily, as the engine takes requests. Blank texts give an empty result without a
        request.
        """
        later: list[list[ResponseText]] = [[] for _ in TEMPERATURES]  # by their next attempt
        known: list[Extracted] = []
        for attempt in range(len(TEMPERATURES)):
            asked = iter(later[attempt]) if attempt else self._first_attempts(responses, later, known)
            yield from self._round(attempt, asked, later)
        yield from known

    def _first_attempts(
        self, responses: Iterable[ResponseText], later: list[list[ResponseText]], known: list[Extracted]
    ) -> Iterator[ResponseText]:
        """Yields the responses without earlier attempts; puts the others aside, and results that need no request."""
        for response in responses:
            if not response.text.strip():
                known.append(Extracted(response.response_id, "ok", attempts=0))
            elif len(response.unusable) >= len(TEMPERATURES):  # killed right before the last result
                *before, last = response.unusable
                known += list(self._settled(replace(response, unusable=tuple(before)), last))[-1:]
            elif response.unusable:
                later[len(response.unusable)].append(response)
            else:
                yield response

    def _round(
        self, attempt: int, asked: Iterator[ResponseText], later: list[list[ResponseText]]
    ) -> Iterator[Extracted]:
        waiting: dict[str, ResponseText] = {}

        def requests() -> Iterator[Request]:
            for response in asked:
                waiting[response.response_id] = response
                yield _request(self._head, self._topic, response, self._max_tokens)

        for answer in self._engine.sample(requests()):
            response = waiting.pop(answer.request_id)
            result = self._result(response, attempt, answer)
            if result.status == "unusable" and attempt + 1 < len(TEMPERATURES):
                later[attempt + 1].append(replace(response, unusable=(*response.unusable, result)))
                yield result
            elif result.status == "ok" or result.retryable:
                yield result
            else:
                yield from self._settled(response, result)

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
            named_cost=answer.named_cost,
            body=answer.body,
        )
        text, ending = answer.text, answer.finish_reason
        if text is None and answer.tool_call is not None:  # it calls a tool with what it was asked for
            text, ending = answer.tool_call, None
        if text is None:
            failed = replace(result, error=answer.error or "the model gave no answer", retryable=answer.retryable)
            more = any(map(_asks_for_room, response.unusable)) and not failed.retryable
            return (
                replace(failed, status="unusable")
                if more and _fits_more(response, failed, self._max_tokens)
                else failed
            )
        try:
            read = read_mentions(text, ending, response.text, self._topic, response.language, self._endings)
        except UnusableAnswerError as fault:
            return replace(result, status="unusable", error=str(fault), retryable=False)
        if not read.cut:
            return read.result(result, answer.note)
        # An answer that ends before its limit was cut by the window of its model, which has no more room.
        room = _room(response, self._max_tokens)
        status = "failed" if (answer.completion_tokens or room) < room else "unusable"
        return replace(result, status=status, error=REPEATED if read.repeats else CUT_SHORT, retryable=False)

    def _settled(self, response: ResponseText, last: Extracted) -> Iterator[Extracted]:
        """The results after the last attempt: of the cut answers the one that lists most, or the failure."""
        partial: Extracted | None = None
        for answer in (*response.unusable, last):
            try:
                read = read_raw(
                    answer.raw or "", answer.finish_reason, response.text, self._topic, response.language, self._endings
                )
            except UnusableAnswerError:
                continue
            if partial is None or len(read.mentions) > len(partial.mentions):
                partial = read.result(answer, answer.note)
        if partial is None:
            yield replace(last, status="failed")
        elif partial.raw == last.raw:
            yield replace(partial, attempts=last.attempts)
        else:
            yield replace(last, status="unusable")
            yield unpaid(replace(partial, attempts=last.attempts))


def _request(head: tuple[Message, ...], topic: Topic, response: ResponseText, max_tokens: int) -> Request:
    """What is sent after the unusable answers about a text. A cut one is not shown again, and a refusal neither, since
    an empty list is what many models would make of it."""
    attempt = len(response.unusable)
    last = response.unusable[-1] if attempt else None
    words = (text_in(last.raw or "") or "") if last is not None and last.ending != "cut" else ""
    shown = words.strip() and not is_refusal_anywhere(words)
    again = (Message("assistant", words), Message("user", _AS_JSON)) if shown else ()
    messages = (*head, Message("user", response.text), *again)
    greedy = sum(_asks_for_room(one) or one.raw is None for one in response.unusable)  # a refused one has no answer
    temperature = TEMPERATURES[attempt - greedy]
    decoding = _decoding(topic, temperature, _room(response, max_tokens))
    return Request(response.response_id, messages, decoding, seeds=(attempt,))


def _asks_for_room(answer: Extracted) -> bool:
    """Whether more tokens may make an unusable answer whole."""
    return answer.error == CUT_SHORT


def _room(response: ResponseText, max_tokens: int) -> int:
    """The tokens of the next answer about a text: no more than whoever refused to give as many says that there are."""
    wanted = max_tokens * int(MORE_ROOM ** sum(map(_asks_for_room, response.unusable)))
    named = [room for one in response.unusable if (room := room_named(one.error)) is not None]
    return min([wanted, *named])


def _fits_more(response: ResponseText, refused: Extracted, max_tokens: int) -> bool:
    """Whether a request for more room was refused by somebody who says how much there is: more than was cut before."""
    cut, asked = (_room(one, max_tokens) for one in (replace(response, unusable=response.unusable[:-1]), response))
    return cut < _room(replace(response, unusable=(*response.unusable, refused)), max_tokens) < asked


def _decoding(topic: Topic, temperature: float, max_tokens: int) -> Decoding:
    return Decoding(temperature, top_p=1.0, top_k=None, max_tokens=max_tokens, schema=answer_schema(topic.kinds))


_FOLDER = Path(__file__).with_name("prompts")
_KNOWN = ("topic", "kinds")  # what a prompt may have filled in: `$topic`, `$kinds`


def prompt_head(topic: Topic, instruction: str | None = None) -> tuple[Message, ...]:
    """The messages before the text: the same for all of a topic, so that engines cache the prefix.

    `instruction` is the study's own, a template; None: ours, with its examples.
    """
    kinds = "\n".join(f"- {name}: {kind.description}" for name, kind in topic.kinds.items())
    template = Template(instruction or (_FOLDER / "system.txt").read_text(encoding="utf-8"))
    turns = [Message("system", template.substitute(topic=topic.name.lower(), kinds=kinds).strip())]
    for text, entities, declined in [] if instruction else _examples(topic):
        turns += [Message("user", text), Message("assistant", write_answer(entities, declined))]
    return tuple(turns)


def read_prompt(file: Path) -> str:
    """The instruction in a study's own file. Raises `ExperimentError` where it cannot be read or filled in."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        why = "is not UTF-8" if isinstance(fault, UnicodeDecodeError) else (fault.strerror or str(fault))
        raise ExperimentError(
            f"extract.prompt cannot be read: {why}", where=file, remedy="Name a text file."
        ) from fault
    template = Template(text)
    unknown = sorted(set(template.get_identifiers()) - set(_KNOWN))
    if not text.strip() or unknown or not template.is_valid():
        what = f"has ${unknown[0]}, which nothing fills in" if unknown else "has a $ that begins no name"
        raise ExperimentError(
            f"extract.prompt {what if text.strip() else 'is empty'}",
            where=file,
            remedy="Write the instruction; $topic and $kinds are filled in, and $$ is a dollar sign.",
        )
    return text


def _examples(topic: Topic) -> list[tuple[str, list[NamedEntity], bool]]:
    """Texts, their entities, and whether they decline their task: the topic's own, else of its file; none where the
    file has other kinds."""
    if topic.examples:
        own = topic.examples
        return [(e.text, _entities({"text": e.text, "mentions": e.mentions}), e.declined) for e in own]
    file = _FOLDER / "examples" / f"{topic.code}.toml"
    if not file.exists():
        return []
    examples = tomllib.loads(file.read_text(encoding="utf-8"))["examples"]
    if not all(set(example["mentions"]) <= set(topic.kinds) for example in examples):
        return []
    return [(example["text"], _entities(example), example.get("declined", False)) for example in examples]


def _entities(example: dict[str, Any]) -> list[NamedEntity]:
    entities = [
        NamedEntity(text, kind, name, english or None)
        for kind, listed in example["mentions"].items()
        for text, name, english in listed
    ]
    return sorted(entities, key=lambda entity: example["text"].index(entity.text))
