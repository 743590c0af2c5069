"""Conversations: who speaks in a message, what is said, and what was asked before an answer.

Tools have many names for who speaks: a message says it by its value, whatever the field is called. A conversation may
also be one text, with a label before each turn ("Human: ...", "### Assistant:", "<|im_start|>user").
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from polyculture.generate.engines.bodies import content_of
from polyculture.generate.engines.turns import names_of_speakers
from polyculture.sources.cells import dotted, opened
from polyculture.sources.record import Record, folded, known_names

_ROLES = ("role", "from", "speaker", "author.role", "sender", "author")
_ASKERS = frozenset({"user", "human", "system", "developer", "tool", "function", "prompter", "customer", "you", "me"})
_ANSWERERS = frozenset(
    {"ai", "assistant", "bot", "chatbot", "model", "gpt", "chatgpt", "claude", "gemini", "llm", "agent"}
)
# Names of fields that say by true or false who speaks, and who does where it is true: SillyTavern's `is_user`.
_SAY_WHO = {"isuser": "user", "ishuman": "user", "fromuser": "user", "issystem": "system"}
_SAY_WHO |= dict.fromkeys(("isbot", "isassistant", "isai", "ismodel", "frombot"), "assistant")
_TRUE, _FALSE = frozenset({"true", "1", "yes"}), frozenset({"false", "0", "no"})
_REQUEST = re.compile(
    r"^(?:llm|user)?\.?(?:request|input|prompt)s?(?:body|messages?|value|text)?$|(?:request|prompt|inputmessages|inputbody)$"
)
_DEEPEST = 32  # tables within tables
_SAID = frozenset({"content", "text", "value", "utterance"})
_ASKED = frozenset({"request", "prompt", "input", "instance", "modelInput", "params"})  # what was sent, in a batch


def messages_before(messages: Any, at: Sequence[Any], own: Any) -> Any:
    """The messages before one: those of a list, or its ancestors in a tree of `parent`.

    Answers of other models to the same message, as in PRISM, are none of them.
    """
    if isinstance(messages, list):
        before = messages[: at[0]]
        while before and is_answer(before[-1]) and _model_of(before[-1]) != _model_of(own):
            before = before[:-1]
        return before
    chain: list[Any] = []
    node = own.get("parent") if isinstance(own, Mapping) else None
    while isinstance(messages, Mapping) and isinstance(node, str) and node in messages and len(chain) < len(messages):
        chain.append(messages[node].get("message"))
        node = messages[node].get("parent")
    return [one for one in reversed(chain) if one]


def chat_text(messages: Any) -> str | None:
    """The messages of a chat as one text: the user's words alone, or each with its role."""
    if isinstance(messages, str) or not isinstance(messages, list):
        return messages if isinstance(messages, str) else None
    turns = [(_role(one), words_of(one)) for one in messages if isinstance(one, Mapping)]
    said = [(role, text) for role, text in turns if text and text.strip()]
    if len(said) == 1 and _folded(said[0][0]) in ("user", "human"):
        return said[0][1]
    return "\n\n".join(f"{role}: {text}" for role, text in said) or None


def _role(message: Mapping[str, Any]) -> str:
    named = Record("", message).get("|".join(_ROLES))
    if isinstance(named, str) and named:
        return named
    if (said := _by_truth(message)) is not None:
        return said
    return next((str(value) for name, value in message.items() if _is_speaker(name, value)), "user")


def _by_truth(message: Mapping[str, Any]) -> str | None:
    """Who speaks, where fields say it by true or false; None where no field does."""
    known = {who: str(message[name]).casefold() for name in message if (who := _says_who(str(name)))}
    if not known:
        return None
    known = {who: said for who, said in known.items() if said in _TRUE | _FALSE}
    true = next((who for who, said in known.items() if said in _TRUE), None)
    other = "assistant" if "user" in known else "user" if "assistant" in known else None
    return true or other


@lru_cache(maxsize=4096)
def _says_who(name: str) -> str | None:
    return _SAY_WHO.get(folded(name))


def _is_speaker(name: str, value: Any) -> bool:
    """Whether a field of a message says who speaks: by its value, since tools have many names for it."""
    return name not in _SAID and _folded(value) in _ASKERS | _ANSWERERS


def is_asked(row: Mapping[str, Any]) -> bool:
    """Whether a row that is a message of its own says that a user, or a system prompt, speaks."""
    return any(_folded(row.get(name)) in _ASKERS for name in _ROLES) or _by_truth(row) in _ASKERS


def _model_of(message: Any) -> Any:
    """The model that a message names; None where it names none."""
    return Record("", message).get("model|model_name") if isinstance(message, Mapping) else None


def is_answer(message: Mapping[str, Any]) -> bool:
    return _folded(_role(message)) not in _ASKERS


def _folded(role: Any) -> str:
    return role.strip().casefold() if isinstance(role, str) else ""


def conversation(values: Any) -> list[Mapping[str, Any]] | None:
    """The messages of the one conversation in a record; None where there is none in which somebody asks and somebody
    answers, or where there are several: which of them is meant nobody knows."""
    chats = [one for one in _message_lists(values) if len({is_answer(message) for message in one}) == 2]
    return chats[0] if len(chats) == 1 else None


def has_chat(values: Mapping[str, Any]) -> bool:
    """Whether a record has one conversation whose answers are its texts: one that ends with a question, or whose column
    is named as what was asked, is the prompt of a text beside it."""
    chat = conversation(values)
    if chat is None:
        return False
    asked = any(conversation({name: value}) for name, value in values.items() if _is_prompt(str(name)))
    if not asked and is_answer(chat[-1]) and (words_of(chat[-1]) or "").strip():
        return True
    usual, beside = known_names()["names"]["text"], {str(name).casefold(): value for name, value in values.items()}
    texts = (value for name in usual for value in (beside.get(name), beside.get(f"{name}s")))
    return not any(isinstance(one, str | list) and conversation(one) is None for one in texts)


def _message_lists(value: Any, depth: int = 0) -> Iterator[list[Mapping[str, Any]]]:
    """The lists of messages that say whose they are."""
    value = opened(value)
    if isinstance(value, str):
        yield from filter(None, [transcript(value)])
    elif isinstance(value, Mapping) and depth < 3:
        for inner in value.values():
            yield from _message_lists(inner, depth + 1)
    elif isinstance(value, list) and value and all(isinstance(one, Mapping) and has_role(one) for one in value):
        yield value


_SIGNS = ("<[|｜]?", r"<[^<>\s]{1,40}>", r"\[", "#{1,6}", "[*_]{1,3}", "")  # before a label
_NAME = r"(?P<name>[^\W\d_](?:[\w .'’-]{0,28}[\w.])?)(?: ?\([^()\n]{1,30}\))?"
_COLON, _MARK = r"[*_\]]{0,3} ?[:：][*_]{0,3}", r"[|｜]?>|<[^<>\s]{1,40}>|[*_]{0,3}[ \t]*(?=\n)"
_CAPITALS = re.compile(
    r"(?:^|(?<=[\s>]))(?P<sign>)(?P<name>[A-Z]{2,20})(?P<end>:)(?=\s|$)"
)  # `USER: ... ASSISTANT: ...`
_BEGIN = re.compile(r"\s*(?:(?:<s>|<bos>|<[|｜](?:begin|start)[\w▁]*(?:text|sentence)[|｜]>)\s*)*")
_TOKENS_AT_END = re.compile(r"(?:\s*(?:</?[a-z_]{1,20}>|<[|｜][^<>\s]{1,40}[|｜]?>))+\s*$")
_INSTRUCTION = re.compile(r"\[/?INST\]")


def transcript(text: str) -> list[Mapping[str, Any]] | None:
    """The messages of a conversation that is one text; None where it is none.

    It begins with the label of who asks, or of a system, and a second label of the same form takes turns with the
    first: a text that mentions who speaks does neither. One of the two must be a name of the user or the assistant of a
    system; where both are, an introduction may stand before labels with signs or in capitals ("### Instruction:").
    """
    text = _INSTRUCTION.sub(lambda one: "<|assistant|>" if "/" in one[0] else "<|user|>", text)
    start = begun.end() if (begun := _BEGIN.match(text)) else 0
    users, questions, answers = names_of_speakers()
    labels = _labels(text, start, _ASKERS | _ANSWERERS | users | questions | answers)
    names = [_folded(one["name"]) for one in labels]
    asker = next((name for name in names if name != "system"), None)
    # "A:" answers "Q:", and is one of the choices that a user lists.
    by_form = asker in questions and asker not in _ASKERS | users
    listed = {name for name in names if len(name) == 1} if {"a", "b"} <= set(names) else set[str]()
    askers, answerers = (questions, answers - listed) if by_form else (_ASKERS | users, _ANSWERERS)
    known = next((name for name in names if name in answerers), None)
    answerer = known or next((name for name in names if name not in askers), None)
    if answerer is None or asker is None or asker == answerer:
        return None
    sure = asker in askers and known is not None
    kept = {asker, answerer, "system", *askers, *(answerers if sure else ())}
    turns = [(one, name) for one, name in zip(labels, names, strict=True) if name in kept]
    spoken = [name for _, name in turns if name != "system"]
    alternates = all(one != other for one, other in pairwise(spoken))
    if not sure and not (alternates and turns[0][0].start() == start and ":" in _narrow(labels[0]["end"])
                         and (asker in _ASKERS | users or known in _ANSWERERS)):  # fmt: skip
        return None
    if not sure and not text[turns[0][0].end() : turns[1][0].start()].strip():
        return None  # "My friend said:" announces who speaks
    before = text[start : turns[0][0].start()].strip()
    messages: list[dict[str, Any]] = [{"role": "system", "content": before}] if before else []
    for place, (label, name) in enumerate(turns):
        until = turns[place + 1][0].start() if place + 1 < len(turns) else len(text)
        role = "system" if name == "system" else "assistant" if name in (answerer, *answerers) else "user"
        at = label.end() if label["end"] == labels[0]["end"] or ":" in label["end"] else label.start("end")
        said = text[at:until].strip().removesuffix(f"</{label['name']}>")
        said = said if role == "assistant" else _TOKENS_AT_END.sub("", said)
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += f"\n\n{said}"
        else:
            messages.append({"role": role, "content": said})
    return list(messages)


def _labels(text: str, start: int, known: Collection[str]) -> list[re.Match[str]]:
    """The labels of turns in a text, all of the form of the first, which has a known name or no sign."""
    for sign in _SIGNS:
        first = _label(sign).match(text, start)
        if first is not None and (not sign or _folded(first["name"]) in known):
            break
    else:
        introduced = (one for sign in _SIGNS[:-1] for one in _label(sign).finditer(text, start))
        first = next((one for one in introduced if _folded(one["name"]) in known), None)
    if first is not None and first["sign"]:
        return [*_label(re.escape(first["sign"])).finditer(text, first.start())]
    in_capitals = [*_CAPITALS.finditer(text, start)]
    in_lines = [*_label("").finditer(text, start)] if first is not None else []
    return in_lines if len({one["name"] for one in in_lines}) > 1 else in_capitals


@lru_cache(maxsize=64)
def _label(sign: str) -> re.Pattern[str]:
    """`Human: `, `### User:`, `**You**:`, `[USER]: `, `<|user|>`, `<|im_start|>user`: a sign that others have, too,
    counts at the beginning of a line alone."""
    where = "" if sign[:1] in ("<", "#", "\\") and sign[:2] != r"\[" else r"(?m:^)[ \t]*"
    end = f"{_COLON}|{_MARK}" if sign else _COLON
    return re.compile(rf"{where}(?P<sign>{sign})[ \t]?{_NAME}(?P<end>{end})")


def _narrow(colon: str) -> str:
    return colon.replace("：", ":")


def has_role(message: Mapping[str, Any]) -> bool:
    named = any(isinstance(message.get(name), str) for name in _ROLES)
    return named or any(_is_speaker(name, value) for name, value in message.items()) or _by_truth(message) is not None


def words_of(message: Mapping[str, Any]) -> str | None:
    """The text of a message: a string, or the parts of one."""
    text, _ = content_of(
        Record("", message).get("content.parts|content.answer|parts|content|value|text|utterance|data.content|prompt")
    )
    return text if isinstance(text, str) else None


def asked_words(value: Any) -> str | None:
    """What was asked, in a text, a message, a list of either, or a table that holds one of these; None where nothing
    is known to be."""
    value = opened(value)
    if isinstance(value, list):
        while len(value) == 1 and isinstance(value[0], list):
            value = value[0]
        if value and all(isinstance(one, str) for one in value):
            return "\n\n".join(value)
        return chat_text([_unwrapped(one) for one in value])
    if isinstance(value, Mapping):
        value = _unwrapped(value)
        if has_role(value):
            return words_of(value)
        named = {folded(str(name)): one for name, one in value.items()}
        usual = ("messages", "contents", "content", "text", "raw", *map(folded, known_names()["names"]["prompt"]))
        return next(filter(None, (asked_words(named[one]) for one in usual if one in named)), None)
    return value if isinstance(value, str) else None


def _is_prompt(name: str) -> bool:
    return folded(name) in set(map(folded, known_names()["names"]["prompt"])) or _is_request(name)


@lru_cache(maxsize=4096)
def _is_request(name: str) -> bool:
    return _REQUEST.match(folded(name)) is not None


def asked_in(values: Mapping[str, Any], depth: int = 0) -> str | None:
    """What was asked, by a column or a table's field that is so named, whatever log it is; None where there is none."""
    for name, value in values.items():
        if _is_request(str(name)) and (said := asked_words(value)):
            return said
    tables = (opened(value) for name, value in values.items() if name[:1] not in (" ", "@"))
    inner = (asked_in(one, depth + 1) for one in tables if isinstance(one, dict)) if depth < 2 else ()
    return next(filter(None, inner), None)


def _unwrapped(message: Any) -> Any:
    """A message out of the table that a log keeps it in: LangChain's `kwargs` and `data`, OpenInference's `message`."""
    inner = map(message.get, ("kwargs", "data", "message")) if isinstance(message, Mapping) else ()
    found = next((one for one in inner if isinstance(one, Mapping)), message)
    return (dotted(found, "message") or found) if isinstance(found, Mapping) else found


def message_in(cell: Any) -> Any:
    """The message of an answer that a cell holds as JSON; else the cell."""
    message = opened(cell) if isinstance(cell, str) else cell
    return message if isinstance(message, Mapping) and _folded(message.get("role")) in _ANSWERERS else cell


def has_other_words(value: Any, depth: int = 0) -> bool:
    """Whether somebody says something who is no asker: an answer of a shape, or under a role, that is not known."""
    if depth > _DEEPEST:
        return True  # nobody knows what is in it
    if isinstance(value, Mapping):
        if has_role(value):
            return is_answer(value) and any(map(value.get, ("content", "value", "text", "parts")))
        if any(isinstance(said := value.get(name), str) and said.strip() for name in ("text", "content")):
            return True
        return any(has_other_words(inner, depth + 1) for name, inner in value.items() if name not in _ASKED)
    return isinstance(value, list) and any(has_other_words(inner, depth + 1) for inner in value)
