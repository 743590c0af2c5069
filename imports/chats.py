"""Conversations: who speaks in a message, what is said, and what was asked before an answer.

Tools have many names for who speaks: a message says it by its value, whatever the field is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from polyculture.generate.engines.answer import content_of
from polyculture.imports.record import Record, opened

_ROLES = ("role", "from", "speaker", "author.role", "sender", "author")
_ASKERS = frozenset({"user", "human", "system", "developer", "tool", "function", "prompter", "customer", "you", "me"})
_ANSWERERS = frozenset(
    {"ai", "assistant", "bot", "chatbot", "model", "gpt", "chatgpt", "claude", "gemini", "llm", "agent"}
)
_SAID = frozenset({"content", "text", "value", "utterance"})
_ASKED = frozenset({"request", "prompt", "input", "instance", "modelInput", "params"})  # what was sent, in a batch


def messages_before(messages: Any, at: Sequence[Any], own: Any) -> Any:
    """The messages before one: those of a list, or its ancestors in a tree of `parent`."""
    if isinstance(messages, list):
        return messages[: at[0]]
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
    if len(said) == 1 and said[0][0] in ("user", "human"):
        return said[0][1]
    return "\n\n".join(f"{role}: {text}" for role, text in said) or None


def _role(message: Mapping[str, Any]) -> str:
    named = Record("", message).get("|".join(_ROLES))
    if isinstance(named, str) and named:
        return named
    return next((str(value) for name, value in message.items() if _is_speaker(name, value)), "user")


def _is_speaker(name: str, value: Any) -> bool:
    """Whether a field of a message says who speaks: by its value, since tools have many names for it."""
    return name not in _SAID and _folded(value) in _ASKERS | _ANSWERERS


def is_asked(row: Mapping[str, Any]) -> bool:
    """Whether a row that is a message of its own says that a user, or a system prompt, speaks."""
    return any(_folded(row.get(name)) in _ASKERS for name in _ROLES)


def is_answer(message: Mapping[str, Any]) -> bool:
    return _folded(_role(message)) not in _ASKERS


def _folded(role: Any) -> str:
    return role.strip().casefold() if isinstance(role, str) else ""


def conversation(values: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """The messages of the one conversation in a record; None where there is none in which somebody asks and somebody
    answers, or where there are several: which of them is meant nobody knows."""
    chats = [one for one in _message_lists(values) if len({is_answer(message) for message in one}) == 2]
    return chats[0] if len(chats) == 1 else None


def _message_lists(value: Any, depth: int = 0) -> Iterator[list[Mapping[str, Any]]]:
    """The lists of messages that say whose they are."""
    value = opened(value)
    if isinstance(value, Mapping) and depth < 3:
        for inner in value.values():
            yield from _message_lists(inner, depth + 1)
    elif isinstance(value, list) and value and all(isinstance(one, Mapping) and has_role(one) for one in value):
        yield value


def has_role(message: Mapping[str, Any]) -> bool:
    named = any(isinstance(message.get(name), str) for name in _ROLES)
    return named or any(_is_speaker(name, value) for name, value in message.items())


def words_of(message: Mapping[str, Any]) -> str | None:
    """The text of a message: a string, or the parts of one."""
    text, _ = content_of(Record("", message).get("content.parts|parts|content|value|text|utterance|data.content"))
    return text if isinstance(text, str) else None


def has_other_words(value: Any) -> bool:
    """Whether somebody says something who is no asker: an answer of a shape, or under a role, that is not known."""
    if isinstance(value, Mapping):
        if has_role(value):
            return is_answer(value) and any(map(value.get, ("content", "value", "text", "parts")))
        if any(isinstance(said := value.get(name), str) and said.strip() for name in ("text", "content")):
            return True
        return any(has_other_words(inner) for name, inner in value.items() if name not in _ASKED)
    return isinstance(value, list) and any(map(has_other_words, value))
