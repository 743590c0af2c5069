"""One reading of an answer: every text that enters, whoever made it.

    read_text("<think>Food?</think>Pizza.", "stop")       Answer(text="Pizza.", reasoning="Food?", ending="whole", ...)
    read_answer({"choices": [...], "usage": {...}})       the same of a server's body, in any of the known shapes

Engines, batches, imports and extractors read their answers here and nowhere else. What decides that there is no text,
in this order: an error in the body, a withheld or broken ending, a refusal field, reasoning without an answer.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import orjson

from polyculture.cache.store.model_facts import DIRECT, Purchase
from polyculture.cache.text.sanitize import CUT_WORDS, ResponseSanitizer
from polyculture.generate.engines.base import Completion, Ending
from polyculture.generate.engines.bodies import (
    documented,
    error_status,
    error_words,
    first_choice,
    one_line,
    parts_of,
    small,
    table_of,
)
from polyculture.generate.engines.endings import ending_of
from polyculture.generate.engines.error_body import message_of
from polyculture.generate.engines.metering import Usage, read_usage
from polyculture.generate.engines.reasoning import is_only_tags, split_reasoning
from polyculture.generate.engines.turns import end_turn, has_words, without_padding

NO_ANSWER = "no answer behind the reasoning"
LONGEST_NAME = 200  # characters of a finish reason, of a model's name, of a fingerprint


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model answered, and how the answer ended."""

    text: str | None  # without reasoning, chat markers and invented turns; None where it was withheld or broken
    reasoning: str | None = None
    ending: Ending = "unknown"
    ending_raw: str | None = None  # as it came
    usage: Usage = Usage()  # noqa: RUF009
    version: str | None = None  # what the server says it ran
    raw: str | None = None  # the content as it came, where `text` is another
    error: str | None = None  # why there is no text, on one line
    prompt_opened: bool = False  # its reasoning had no opening tag: the chat template writes it
    notes: tuple[str, ...] = ()  # what was mended or dropped

    @property
    def retryable(self) -> bool:
        """Whether another attempt may bring a text: of a broken answer alone."""
        return self.text is None and self.ending == "broken"

    @property
    def note(self) -> str | None:
        return "; ".join(dict.fromkeys(self.notes)) or None


class NoAnswerError(ValueError):
    """A body without an answer in any known shape. `bill` is what it cost all the same, `status` the HTTP status that
    an error in the body names."""

    def __init__(self, reason: str, bill: Usage, status: int | None = None) -> None:
        super().__init__(reason)
        self.bill, self.status = bill, status


def read_text(
    text: str | None,
    ending_raw: str | None,
    *,
    reasoning: str | None = None,
    refusal: str | None = None,
    error: str | None = None,
    prompt_tail: str = "",
    specials: Collection[str] = (),
    usage: Usage = Usage(),  # noqa: B008
    version: str | None = None,
    notes: Sequence[str] = (),
) -> Answer:
    """A text that a model wrote, as an answer.

    `reasoning` is what a server told apart already, `refusal` its own field for one, `error` what came beside the text,
    `prompt_tail` the end of the prompt as the model read it: chat templates may open the reasoning themselves.
    `specials` are the special tokens in the text, where an engine knows them: what no rule knows of them goes, and the
    words around it stay, as decoders that leave special tokens out have it.
    """
    sanitizer = ResponseSanitizer()
    text, reasoning = sanitizer.text("text", text), sanitizer.text("reasoning", reasoning)
    refusal, error = sanitizer.text("refusal", refusal), sanitizer.text("error", error)
    ending_raw = sanitizer.text("finish_reason", ending_raw, LONGEST_NAME)
    ending: Ending = "broken" if error else ending_of(ending_raw)
    written = without_padding(text or "", specials)
    split = split_reasoning(written, cut=ending == "cut", prompt_tail=prompt_tail)
    # Tags with nothing in them and behind them are no answer.
    only_tags = bool((text or "").strip()) and split.answer is not None and is_only_tags(split.answer)
    body, mark = (None, None) if split.answer is None else end_turn(split.answer, prompt_tail, specials)
    body = "" if only_tags else body
    if mark is not None:
        known = ending == "cut" or ending_raw is None  # a word that nobody knows stays so, and is told
        ending = "whole" if known and ending in ("cut", "unknown") else ending
        lost = f", {CUT_WORDS}" if has_words((split.answer or "").partition(mark)[2]) else ""
        sanitizer.notes.append(f"text: it ended at {mark}{lost}")
    parts = [part for part in (reasoning, split.reasoning) if part]
    if refusal and not (text or "").strip() and ending != "broken":
        ending = "withheld"
    # Of hidden reasoning a server tells the tokens alone.
    reasoned = bool(parts) or bool(usage.reasoning) or only_tags
    why = _why_no_text(body, text, ending, ending_raw, refusal, error, reasoned=reasoned)
    if why is None and mark is not None and not (body or "").strip():
        behind = (split.answer or "").partition(mark)[2]
        why = f"no text before {mark}" if end_turn(behind, specials=specials)[0].strip() else None
    return Answer(
        text=body if why is None else None,
        reasoning="\n\n".join(parts) or None,
        ending=ending,
        ending_raw=ending_raw,
        usage=usage,
        version=version,
        raw=(text or None) if why is not None or body != text else None,
        error=why,
        prompt_opened=split.prompt_opened,
        notes=(*notes, *sanitizer.notes),
    )


def read_content(content: object, ending_raw: str | None) -> Answer:
    """The content of a message, a text or its parts, as an answer. Raises `NoAnswerError` where it is neither."""
    return read_answer({"choices": [{"message": {"content": content}, "finish_reason": ending_raw}]})


def text_in(raw: str) -> str | None:
    """The text in an answer that is kept as it came; None where its reasoning does not end."""
    return read_text(raw, None).text


def completed(request_id: str, seed: int, answer: Answer, purchase: Purchase = DIRECT) -> Completion:
    """An answer as the completion of a request."""
    return Completion(
        request_id,
        seed,
        answer.text,
        ending=answer.ending,
        finish_reason=answer.ending_raw,
        prompt_tokens=answer.usage.prompt,
        completion_tokens=answer.usage.completion,
        model_version=answer.version,
        error=answer.error,
        retryable=answer.retryable,
        purchase=purchase,
        reasoning=answer.reasoning,
        reasoning_tokens=answer.usage.reasoning,
        prompt_opened=answer.prompt_opened,
        raw=answer.raw,
        note=answer.note,
        named_cost=answer.usage.cost,
    )


def _why_no_text(
    body: str | None,
    text: str | None,
    ending: Ending,
    ending_raw: str | None,
    refusal: str | None,
    error: str | None,
    *,
    reasoned: bool,
) -> str | None:
    """Why an answer has no text, on one line; None where it has one."""
    if ending == "broken":
        return one_line(f"broken: {error or ending_raw}")
    if ending == "withheld":
        return one_line(f"refused: {refusal or ending_raw}")
    if body is None or (reasoned and not body.strip()):
        return f"{NO_ANSWER}: finish reason {ending_raw}"
    none = text is None or (ending == "cut" and not body.strip())
    return f"no text: finish reason {ending_raw}" if none else None


def read_answer(body: object, *, prompt_tail: str = "", specials: Collection[str] = ()) -> Answer:
    """The answer in a parsed body: the first choice, in the shape that the body has; the rest as for `read_text`.

    Raises `NoAnswerError` where it has none: an error, a table without a choice, a content that is no text, or one in
    hundreds of tables.
    """
    try:
        return _read_answer(body, prompt_tail, specials)
    except RecursionError as fault:
        raise NoAnswerError("it is nested too deeply", Usage()) from fault


def _read_answer(body: object, prompt_tail: str, specials: Collection[str]) -> Answer:
    sanitizer = ResponseSanitizer()
    answer = table_of(first_choice(body) if isinstance(body, list) else body)  # errors come in lists, too
    parts = parts_of(answer)
    usage, error = read_usage(parts.usage, sanitizer), parts.error
    text = parts.text if isinstance(parts.text, str) else None
    counted = text is not None and usage.completion is not None
    strange = text is None and parts.text is not None and ending_of(str(parts.ending)) not in ("broken", "withheld")
    if not (parts.known or counted) or strange or (error is not None and not text):
        status, words = error_status(error) or error_status(answer), error_words(error)
        if not words and not parts.known and answer:
            said = f" ({one_line(message)})" if (message := message_of(answer)) else ""
            words = f"no answer in a known form: it has {one_line(', '.join(answer))}{said}"
        raise NoAnswerError(words, usage, status)
    raw_ending = str(parts.ending) if type(parts.ending) is int else parts.ending  # a number that nobody explains
    refusal, ending = (one if isinstance(one, str) and one else None for one in (parts.refusal, raw_ending))
    if usage.completion == 0 and (text or refusal or parts.reasoning):
        sanitizer.drop("completion_tokens", "no number of tokens of a text", 0)
        usage = replace(usage, completion=None, nonsense="0 completion tokens for a text")
    fields = {small(name): (name, value) for name, value in answer.items()}
    found = [fields[name] for name in documented("versions") if name in fields]
    names = [sanitizer.text(name, value, LONGEST_NAME) for name, value in found]
    for name, value in (("finish_reason", parts.ending), ("refusal", parts.refusal)):
        if value is not None and not isinstance(value, str):
            sanitizer.drop(name, "no text", value)
    result = read_text(
        text,
        ending,
        reasoning=parts.reasoning,
        refusal=refusal,
        error=None if error is None else error_words(error),
        prompt_tail=prompt_tail,
        specials=specials,
        usage=usage,
        version=" ".join(name for name in names if name) or None,
        notes=sanitizer.notes,
    )
    if result.text is None and parts.calls and not text:
        result = replace(result, raw=sanitizer.text("tool_calls", orjson.dumps(parts.calls).decode()))
    return result
