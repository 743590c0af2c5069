"""One reading of an answer: every text that enters, whoever made it, and every server's or log's way to write one.

    read_text("<think>Food?</think>Pizza.", "stop")       Answer(text="Pizza.", reasoning="Food?", ending="whole", ...)
    read_answer({"choices": [...], "usage": {...}})       the same of a server's body, in any of the known shapes

Engines, batches, imports and extractors read their answers here and nowhere else. What decides that there is no text,
in this order: an error in the body, a withheld or broken ending, a refusal field, reasoning without an answer.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

from polyculture.cache.model_facts import DIRECT, Purchase
from polyculture.cache.sanitize import ResponseSanitizer
from polyculture.generate.engines.base import Completion, Ending
from polyculture.generate.engines.metering import Bill, Usage, read_usage
from polyculture.generate.engines.reasoning import end_turn, split_reasoning
from polyculture.generate.engines.reasoning import names_of_speakers as names_of_speakers

Shape = Literal["chat", "completions", "responses", "anthropic", "gemini", "bedrock", "message", "flat"]

NO_ANSWER = "no answer behind the reasoning"
# Names of fields and kinds of parts with reasoning, and not with what is said of it: `reasoning_effort`.
_REASONING = re.compile(
    r"(?!.*(?:effort|budget|tokens?|signature|mode|level|time|id)$).*(?:reasoning|think|thought)", re.IGNORECASE
)
_TEXTS = ("text", "value", "content", "summary")  # where a part has its text
LONGEST_NAME = 200  # characters of a finish reason, of a model's name, of a fingerprint
_ENDINGS = Path(__file__).with_name("endings.toml")
# Names of a text and of its ending in a body of no other shape, in small letters without underscores.
_FLAT = frozenset(
    {"generatedtext", "generation", "completion", "response", "content", "text", "outputtext", "output", "answer"}
)
_ENDING = re.compile(
    "^(?:finish|stop|done|end|completion|termination)(?:reason|type|status)$|^(?:done|status|stopped[a-z]+)$"
)
_SHORTEST_STEM = 4  # letters of a stem that is looked for within a word
_PREFIX = re.compile(r"^finish_?reason[._]")
_PART = re.compile(r"[a-z]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


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

    @property
    def bill(self) -> Bill:
        """What it cost."""
        return self.usage.bill


class NoAnswerError(ValueError):
    """A body without an answer in any known shape. `bill` is what it cost all the same, `status` the HTTP status that
    an error in the body names."""

    def __init__(self, reason: str, bill: Bill, status: int | None = None) -> None:
        super().__init__(reason)
        self.bill, self.status = bill, status


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of a body that make an answer, as its shape names them."""

    text: object = None
    ending: object = None
    reasoning: str | None = None
    refusal: object = None
    error: object = None
    usage: object = None


@lru_cache(maxsize=1024)
def ending_of(word: str | None) -> Ending:
    """How an answer ended, by the server's word or its parts (`endings.toml`): else unknown."""
    name, known = _folded(word or ""), _endings()
    words: dict[str, Ending] = {one: ending for ending, some in known["words"].items() for one in some}
    if name in words:
        return words[name]
    parts = _PART.findall(name)
    found = next((ending for ending, some in known["parts"].items() if any(_is_part(one, parts) for one in some)), None)
    found = found or next((ending for ending, some in known["parts"].items() if _holds(some, name)), None)
    return "unknown" if found is None or (found == "whole" and "not" in parts) else found


def read_text(
    text: str | None,
    ending_raw: str | None,
    *,
    reasoning: str | None = None,
    refusal: str | None = None,
    error: str | None = None,
    prompt_tail: str = "",
    usage: Usage = Usage(),  # noqa: B008
    version: str | None = None,
    notes: Sequence[str] = (),
) -> Answer:
    """A text that a model wrote, as an answer.

    `reasoning` is what a server told apart already, `refusal` its own field for one, `error` what came beside the text,
    `prompt_tail` the end of the prompt as the model read it: chat templates may open the reasoning themselves.
    """
    sanitizer = ResponseSanitizer()
    text, reasoning = sanitizer.text("text", text), sanitizer.text("reasoning", reasoning)
    refusal, error = sanitizer.text("refusal", refusal), sanitizer.text("error", error)
    ending_raw = sanitizer.text("finish_reason", ending_raw, LONGEST_NAME)
    ending: Ending = "broken" if error else ending_of(ending_raw)
    split = split_reasoning(text or "", cut=ending == "cut", prompt_tail=prompt_tail)
    body, mark = (None, None) if split.answer is None else end_turn(split.answer, prompt_tail=prompt_tail)
    if mark is not None:
        known = ending == "cut" or ending_raw is None  # a word that nobody knows stays so, and is told
        ending = "whole" if known and ending in ("cut", "unknown") else ending
        sanitizer.notes.append(f"text: it ended at {mark}")
    parts = [part for part in (reasoning, split.reasoning) if part]
    if refusal and not (text or "").strip() and ending != "broken":
        ending = "withheld"
    # Of hidden reasoning a server tells the tokens alone.
    reasoned = bool(parts) or bool(usage.reasoning)
    why = _why_no_text(body, text, ending, ending_raw, refusal, error, reasoned=reasoned)
    if why is None and mark is not None and not (body or "").strip():
        behind = (split.answer or "").partition(mark)[2]
        why = f"no text before {mark}" if end_turn(behind)[0].strip() else None
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
        return _line(f"broken: {error or ending_raw}")
    if ending == "withheld":
        return _line(f"refused: {refusal or ending_raw}")
    if body is None or (reasoned and not body.strip()):
        return f"{NO_ANSWER}: finish reason {ending_raw}"
    none = text is None or (ending == "cut" and not body.strip())
    return f"no text: finish reason {ending_raw}" if none else None


def read_answer(body: object, *, prompt_tail: str = "") -> Answer:
    """The answer in a parsed body: the first choice, in the shape that the body has.

    Raises `NoAnswerError` where it has none: an error, a table without a choice, a content that is no text.
    """
    sanitizer = ResponseSanitizer()
    answer = _table(first_choice(body) if isinstance(body, list) else body)  # errors come in lists, too
    shape = shape_of(answer)
    parts = _Parts() if shape is None else _SHAPES[shape][1](answer)
    usage = read_usage(parts.usage if shape else answer.get("usage"), sanitizer)
    error = parts.error or _error_of(answer)
    text = parts.text if isinstance(parts.text, str) else None
    if shape is None or (text is None and parts.text is not None) or (error is not None and not text):
        # What says that it is an error costs nothing, unless it says that, too.
        free = usage.bill.unknown and error is not None
        known = (
            ""
            if shape or error is not None or not answer
            else f"no answer in a known form: it has {_line(', '.join(answer))}"
        )
        raise NoAnswerError(_words(error) or known, Bill.nothing() if free else usage.bill, _status(error))
    word = _word(parts.ending)
    refusal, ending = (one if isinstance(one, str) and one else None for one in (parts.refusal, word))
    if usage.completion == 0 and (text or refusal or parts.reasoning):
        sanitizer.drop("completion_tokens", "no number of tokens of a text", 0)
        usage = replace(usage, completion=None, nonsense="0 completion tokens for a text")
    names = (
        sanitizer.text(name, answer.get(name), LONGEST_NAME) for name in ("model", "modelVersion", "system_fingerprint")
    )
    for name, value in (("finish_reason", word), ("refusal", parts.refusal)):
        if value is not None and not isinstance(value, str):
            sanitizer.drop(name, "no text", value)
    return read_text(
        text,
        ending,
        reasoning=parts.reasoning,
        refusal=refusal,
        error=None if error is None else _words(error),
        prompt_tail=prompt_tail,
        usage=usage,
        version=" ".join(name for name in names if name) or None,
        notes=sanitizer.notes,
    )


def shape_of(body: Mapping[str, Any]) -> Shape | None:
    """Which of the known shapes a body has; None where it is none of them."""
    return next((shape for shape, (fits, _) in _SHAPES.items() if fits(body)), None)


def _chat(body: Mapping[str, Any]) -> _Parts:
    """https://platform.openai.com/docs/api-reference/chat/object and what servers add to it."""
    choice = first_choice(body.get("choices"))
    message = _table(choice.get("message"))
    content = message.get("content")
    text, thought = content_of(content)
    fields = (_plain_text(table[name]) for table in (message, choice) for name in table if _is_reasoning(name))
    reasoning = next(filter(None, fields), None) or thought
    ending, native = choice.get("finish_reason"), choice.get("native_finish_reason")
    if not ending or (isinstance(native, str) and ending_of(native) in ("cut", "withheld", "broken")):
        ending = native  # a gateway may call it "stop" when the model behind it was stopped
    refusal = message.get("refusal") or next((_table(one).get("refusal") for one in _list(content)), None)
    return _Parts(text, ending, reasoning, refusal, choice.get("error") or message.get("error"), body.get("usage"))


def _completions(body: Mapping[str, Any]) -> _Parts:
    """https://platform.openai.com/docs/api-reference/completions/object"""
    choice = first_choice(body.get("choices"))
    return _Parts(choice.get("text"), choice.get("finish_reason"), error=choice.get("error"), usage=body.get("usage"))


def _responses(body: Mapping[str, Any]) -> _Parts:
    """https://platform.openai.com/docs/api-reference/responses/object"""
    texts: list[str] = []
    thoughts: list[str] = []
    refusal = None
    for item in map(_table, _list(body.get("output"))):
        parts = [_table(one) for one in (*_list(item.get("content")), *_list(item.get("summary")))]
        into = thoughts if item.get("type") == "reasoning" else texts
        into += [one["text"] for one in parts if isinstance(one.get("text"), str)]
        refusal = refusal or next((one["refusal"] for one in parts if one.get("refusal")), None)
    why = _table(body.get("incomplete_details")).get("reason")
    ending = why if body.get("status") == "incomplete" and why else body.get("status")
    text = "".join(texts) if texts or body.get("status") == "completed" else None
    return _Parts(text, ending, "\n\n".join(thoughts) or None, refusal, body.get("error"), body.get("usage"))


def _anthropic(body: Mapping[str, Any]) -> _Parts:
    """https://docs.anthropic.com/en/api/messages"""
    text, thought = content_of(body.get("content"))
    return _Parts(text or "", body.get("stop_reason"), thought, usage=body.get("usage"))


def _gemini(body: Mapping[str, Any]) -> _Parts:
    """https://ai.google.dev/api/generate-content#generatecontentresponse"""
    candidate = first_choice(body.get("candidates"))
    blocked = _table(body.get("promptFeedback")).get("blockReason")
    parts = [_table(one) for one in _list(_table(candidate.get("content")).get("parts"))]
    said = [(bool(one.get("thought")), one["text"]) for one in parts if isinstance(one.get("text"), str)]
    text = "".join(words for thought, words in said if not thought)
    thoughts = "\n\n".join(words for thought, words in said if thought)
    ending = (blocked and "blocked") or candidate.get("finishReason")
    return _Parts(text, ending, thoughts or None, refusal=blocked, usage=body.get("usageMetadata"))


def _bedrock(body: Mapping[str, Any]) -> _Parts:
    """https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html"""
    text, thought = content_of(_table(_table(body.get("output")).get("message")).get("content"))
    return _Parts(text, body.get("stopReason"), thought, usage=body.get("usage"))


def _message(body: Mapping[str, Any]) -> _Parts:
    """One message with its ending beside it: a choice alone, Ollama's chat, Cohere's
    (https://docs.cohere.com/reference/chat)."""
    choice = {**body, "finish_reason": body.get("finish_reason") or body.get("done_reason")}
    return _chat({"choices": [choice], "usage": body.get("usage", body if "eval_count" in body else None)})


def _flat(body: Mapping[str, Any]) -> _Parts:
    """A text and its ending beside it, as servers have them that are of no other shape: llama.cpp, Ollama, TGI, SGLang,
    Cohere, Replicate, watsonx, and Bedrock's models by their own names."""
    body = _with_first(body)
    text, ending = flat_names(body) or ("", "")
    within = [body, *(value for value in body.values() if isinstance(value, Mapping))]
    ended = next((table[ending] for table in within if table.get(ending) is not None), None)
    if isinstance(ended, bool):
        ended = ending if ended and "_" in ending else None  # `stopped_eos`, and `done` of any end
    usage = {name: value for table in within[::-1] for name, value in table.items() if not isinstance(value, bool)}
    thought = next((body[name] for name in body if _is_reasoning(name)), None)
    return _Parts(_flat_text(body[text]), ended, _plain_text(thought), usage=usage)


def flat_names(body: Mapping[str, Any]) -> tuple[str, str] | None:
    """The names of a text and of its ending, where a body has both beside one another; None where it does not."""
    texts = (name for name in body if _small(name) in _FLAT and _flat_text(body[name]) is not None)
    tables = [body, *(value for value in body.values() if isinstance(value, Mapping))]
    endings = {name: value for table in tables for name, value in table.items() if _ENDING.search(_small(name))}
    said = (name for name, value in endings.items() if value not in (None, False, True))
    text, ending = next(texts, None), next(said, None) or next((name for name in endings if endings[name]), None)
    ending = ending or next(iter(endings), None)
    return None if text is None or ending is None else (text, ending)


def _small(name: object) -> str:
    return str(name).replace("_", "").casefold()


def _flat_text(value: object) -> str | None:
    """A text, as Replicate has it in pieces."""
    if isinstance(value, list):
        return "".join(value) if value and all(isinstance(one, str) for one in value) else None
    return value if isinstance(value, str) else None


def _with_first(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """A body with what its first result has, where its text is in a list of results."""
    if flat_names(body) is None:
        for name in ("results", "generations", "outputs", "completions"):
            one = first_choice(body.get(name))
            if flat_names(one := {**body, **one, **_table(one.get("data"))}) is not None:
                return one
    return body


def _is_message(body: Mapping[str, Any]) -> bool:
    message = _table(body.get("message"))
    said = message.get("role", "assistant") not in ("user", "system", "developer", "tool", "human")
    return said and "content" in message and any(name in body for name in ("finish_reason", "done_reason", "done"))


def _is_output(output: object) -> bool:
    return isinstance(output, list) and all("type" in _table(one) for one in output)


def _is_gemini(candidate: Mapping[str, Any]) -> bool:
    return "content" in candidate or "finishReason" in candidate


# Shape -> what a body has that is of it, and its reader; the first that fits.
_SHAPES: Mapping[Shape, tuple[Callable[[Mapping[str, Any]], bool], Callable[[Mapping[str, Any]], _Parts]]] = {
    "chat": (lambda body: isinstance(first_choice(body.get("choices")).get("message"), Mapping), _chat),
    "completions": (lambda body: "text" in first_choice(body.get("choices")), _completions),
    "responses": (lambda body: "status" in body and _is_output(body.get("output")), _responses),
    "anthropic": (lambda body: "content" in body and "stop_reason" in body, _anthropic),
    "gemini": (lambda body: "promptFeedback" in body or _is_gemini(first_choice(body.get("candidates"))), _gemini),
    "bedrock": (lambda body: "stopReason" in body and isinstance(body.get("output"), Mapping), _bedrock),
    "message": (_is_message, _message),
    "flat": (lambda body: flat_names(_with_first(body)) is not None, _flat),
}


def content_of(content: object) -> tuple[object, str | None]:
    """The text of a content and the reasoning beside it. A list, or one object, has parts; else it is as it is."""
    if isinstance(content, Mapping):
        if not ("type" in content or "parts" in content or _plain_text(content) is not None):
            return content, None
        content = content["parts"] if isinstance(content.get("parts"), list) else [content]
    if not isinstance(content, list):
        return content, None
    texts: list[str] = []
    thoughts: list[str] = []
    for part in content:
        one = _table(part)
        named = [name for name in one if _is_reasoning(name) and one[name] is not True]  # Gemini marks a part `thought`
        if named or _is_reasoning(str(one.get("type", ""))) or one.get("thought") is True:
            thoughts += filter(None, [_plain_text(one[named[0]] if named else one)])
        elif (text := _plain_text(part)) is not None:
            texts.append(text)
    return "".join(texts) if texts or not content or thoughts else None, "\n\n".join(thoughts) or None


def _is_reasoning(name: str) -> bool:
    return _REASONING.match(name) is not None


def _plain_text(value: object) -> str | None:
    """The text of a part or of reasoning: a string, a table with one, or a list of them; None where there is none."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n\n".join(filter(None, map(_plain_text, value))) or None
    table = _table(value)
    within = (table[name] for name in table if name in _TEXTS or _is_reasoning(name))
    return next((text for one in within if (text := _plain_text(one)) is not None), None)


def first_choice(choices: object) -> Mapping[str, Any]:
    """The choice with the lowest `index`: servers may write them in any order."""
    found = [one for one in _list(choices) if isinstance(one, Mapping)]
    numbered = [one for one in found if str(one.get("index", "")).isdecimal()]
    return min(numbered, key=lambda one: int(one["index"])) if numbered else next(iter(found), {})


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _error_of(body: Mapping[str, Any]) -> object:
    """The error in a body, which servers write under HTTP 200, too; None where there is none."""
    error = body.get("error")
    return error if error else ({"message": body.get("message")} if body.get("object") == "error" else None)


def _words(error: object) -> str:
    """An error's own words with its code."""
    if error is None:
        return ""
    table = _table(error)
    words = [table.get("code"), table.get("message")] if table else [error]
    return _line(" ".join(str(one) for one in words if one is not None) or "error")


def _status(error: object) -> int | None:
    code = _table(error).get("code")
    found = int(code) if isinstance(code, int | str) and str(code).isdecimal() else 0
    return found if 400 <= found < 600 else None


def _is_part(known: str, parts: Sequence[str]) -> bool:
    begin = known.removesuffix("*")
    return begin in parts or (begin != known and any(part.startswith(begin) for part in parts))


def _holds(stems: Iterable[str], name: str) -> bool:
    """Whether a word that is written as one has a stem in it, as `CONTENTFILTER` has, and not what denies it."""
    long = (re.escape(one[:-1]) for one in stems if one.endswith("*") and len(one) > _SHORTEST_STEM)
    return re.search(rf"(?<!un)(?<!in)(?<!not)(?:{'|'.join(long)})", name) is not None


def _word(ending: object) -> object:
    """The word of an ending, which some servers have in a table or a list."""
    if isinstance(ending, Mapping):
        return ending.get("reason") or ending.get("type") or ending
    return ending[0] if isinstance(ending, list) and len(ending) == 1 else ending


def _line(words: str) -> str:
    return " ".join(words.split())


def _folded(word: str) -> str:
    name = _CAMEL.sub("_", word.strip()).casefold().replace("-", "_").replace(" ", "_")
    return _PREFIX.sub("", name.replace("::", "."))


@cache
def _endings() -> Mapping[str, Mapping[Ending, Sequence[str]]]:
    """Of whole words and of their parts, those of each ending."""
    table: Mapping[str, Any] = tomllib.loads(_ENDINGS.read_text(encoding="utf-8"))
    return table
