"""The bodies of servers' and logs' answers: which shape one has, and the parts of it that make an answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from polyculture.generate.engines.endings import ending_of

Shape = Literal["chat", "completions", "responses", "anthropic", "gemini", "bedrock", "message", "flat"]

# Names of fields and kinds of parts with reasoning, and not with what is said of it: `reasoning_effort`.
_REASONING = re.compile(
    r"(?!.*(?:effort|budget|tokens?|signature|mode|level|time|id)$).*(?:reasoning|think|thought)", re.IGNORECASE
)
_TEXTS = ("text", "value", "content", "summary")  # where a part has its text
# Names of a text and of its ending in a body of no other shape, in small letters without underscores.
_FLAT = frozenset(
    {"generatedtext", "generation", "completion", "response", "content", "text", "outputtext", "output", "answer"}
)
_ENDING = re.compile(
    "^(?:finish|stop|done|end|completion|termination)(?:reason|type|status)$|^(?:done|status|stopped[a-z]+)$"
)


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a body that make an answer, as its shape names them."""

    text: object = None
    ending: object = None
    reasoning: str | None = None
    refusal: object = None
    error: object = None
    usage: object = None
    shape: Shape | None = None  # None: no known one


def parts_of(body: Mapping[str, Any]) -> Parts:
    """The parts of a body by its shape; of one without a known shape its usage and its error."""
    shape = shape_of(body)
    found = Parts(usage=body.get("usage")) if shape is None else _SHAPES[shape][1](body)
    return replace(found, ending=_word(found.ending), error=found.error or _error_of(body), shape=shape)


def shape_of(body: Mapping[str, Any]) -> Shape | None:
    """Which of the known shapes a body has; None where it is none of them."""
    return next((shape for shape, (fits, _) in _SHAPES.items() if fits(body)), None)


def _chat(body: Mapping[str, Any]) -> Parts:
    """https://platform.openai.com/docs/api-reference/chat/object and what servers add to it."""
    choice = first_choice(body.get("choices"))
    message = table_of(choice.get("message"))
    content = message.get("content")
    text, thought = content_of(content)
    fields = (_plain_text(table[name]) for table in (message, choice) for name in table if _is_reasoning(name))
    reasoning = next(filter(None, fields), None) or thought
    ending, native = choice.get("finish_reason"), choice.get("native_finish_reason")
    if not ending or (isinstance(native, str) and ending_of(native) in ("cut", "withheld", "broken")):
        ending = native  # a gateway may call it "stop" when the model behind it was stopped
    refusal = message.get("refusal") or next((table_of(one).get("refusal") for one in _list(content)), None)
    return Parts(text, ending, reasoning, refusal, choice.get("error") or message.get("error"), body.get("usage"))


def _completions(body: Mapping[str, Any]) -> Parts:
    """https://platform.openai.com/docs/api-reference/completions/object"""
    choice = first_choice(body.get("choices"))
    return Parts(choice.get("text"), choice.get("finish_reason"), error=choice.get("error"), usage=body.get("usage"))


def _responses(body: Mapping[str, Any]) -> Parts:
    """https://platform.openai.com/docs/api-reference/responses/object"""
    texts: list[str] = []
    thoughts: list[str] = []
    refusal = None
    for item in map(table_of, _list(body.get("output"))):
        parts = [table_of(one) for one in (*_list(item.get("content")), *_list(item.get("summary")))]
        into = thoughts if item.get("type") == "reasoning" else texts
        into += [one["text"] for one in parts if isinstance(one.get("text"), str)]
        refusal = refusal or next((one["refusal"] for one in parts if one.get("refusal")), None)
    why = table_of(body.get("incomplete_details")).get("reason")
    ending = why if body.get("status") == "incomplete" and why else body.get("status")
    text = "".join(texts) if texts or body.get("status") == "completed" else None
    return Parts(text, ending, "\n\n".join(thoughts) or None, refusal, body.get("error"), body.get("usage"))


def _anthropic(body: Mapping[str, Any]) -> Parts:
    """https://docs.anthropic.com/en/api/messages"""
    text, thought = content_of(body.get("content"))
    return Parts(text or "", body.get("stop_reason"), thought, usage=body.get("usage"))


def _gemini(body: Mapping[str, Any]) -> Parts:
    """https://ai.google.dev/api/generate-content#generatecontentresponse"""
    candidate = first_choice(body.get("candidates"))
    blocked = table_of(body.get("promptFeedback")).get("blockReason")
    parts = [table_of(one) for one in _list(table_of(candidate.get("content")).get("parts"))]
    said = [(bool(one.get("thought")), one["text"]) for one in parts if isinstance(one.get("text"), str)]
    text = "".join(words for thought, words in said if not thought)
    thoughts = "\n\n".join(words for thought, words in said if thought)
    ending = (blocked and "blocked") or candidate.get("finishReason")
    return Parts(text, ending, thoughts or None, refusal=blocked, usage=body.get("usageMetadata"))


def _bedrock(body: Mapping[str, Any]) -> Parts:
    """https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html"""
    text, thought = content_of(table_of(table_of(body.get("output")).get("message")).get("content"))
    return Parts(text, body.get("stopReason"), thought, usage=body.get("usage"))


def _message(body: Mapping[str, Any]) -> Parts:
    """One message with its ending beside it: a choice alone, Ollama's chat, Cohere's
    (https://docs.cohere.com/reference/chat)."""
    choice = {**body, "finish_reason": body.get("finish_reason") or body.get("done_reason")}
    return _chat({"choices": [choice], "usage": body.get("usage", body if "eval_count" in body else None)})


def _flat(body: Mapping[str, Any]) -> Parts:
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
    return Parts(_flat_text(body[text]), ended, _plain_text(thought), usage=usage)


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
            if flat_names(one := {**body, **one, **table_of(one.get("data"))}) is not None:
                return one
    return body


def _is_message(body: Mapping[str, Any]) -> bool:
    message = table_of(body.get("message"))
    said = message.get("role", "assistant") not in ("user", "system", "developer", "tool", "human")
    return said and "content" in message and any(name in body for name in ("finish_reason", "done_reason", "done"))


def _is_output(output: object) -> bool:
    return isinstance(output, list) and all("type" in table_of(one) for one in output)


def _is_gemini(candidate: Mapping[str, Any]) -> bool:
    return "content" in candidate or "finishReason" in candidate


# Shape -> what a body has that is of it, and its reader; the first that fits.
_SHAPES: Mapping[Shape, tuple[Callable[[Mapping[str, Any]], bool], Callable[[Mapping[str, Any]], Parts]]] = {
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
        one = table_of(part)
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
    table = table_of(value)
    within = (table[name] for name in table if name in _TEXTS or _is_reasoning(name))
    return next((text for one in within if (text := _plain_text(one)) is not None), None)


def first_choice(choices: object) -> Mapping[str, Any]:
    """The choice with the lowest `index`: servers may write them in any order."""
    found = [one for one in _list(choices) if isinstance(one, Mapping)]
    numbered = [one for one in found if str(one.get("index", "")).isdecimal()]
    return min(numbered, key=lambda one: int(one["index"])) if numbered else next(iter(found), {})


def table_of(value: object) -> Mapping[str, Any]:
    """A table as it is, and an empty one in place of anything else."""
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _error_of(body: Mapping[str, Any]) -> object:
    """The error in a body, which servers write under HTTP 200, too; None where there is none."""
    error = body.get("error")
    return error if error else ({"message": body.get("message")} if body.get("object") == "error" else None)


def error_words(error: object) -> str:
    """An error's own words with its code."""
    if error is None:
        return ""
    table = table_of(error)
    words = [table.get("code"), table.get("message")] if table else [error]
    return one_line(" ".join(str(one) for one in words if one is not None) or "error")


def error_status(error: object) -> int | None:
    """The HTTP status that an error names as its code."""
    code = table_of(error).get("code")
    found = int(code) if isinstance(code, int | str) and str(code).isdecimal() else 0
    return found if 400 <= found < 600 else None


def _word(ending: object) -> object:
    """The word of an ending, which some servers have in a table or a list."""
    if isinstance(ending, Mapping):
        return ending.get("reason") or ending.get("type") or ending
    return ending[0] if isinstance(ending, list) and len(ending) == 1 else ending


def one_line(words: str) -> str:
    """Words without line breaks, and with single blanks."""
    return " ".join(words.split())
