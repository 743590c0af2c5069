"""The prompt of the extractor model: the topic's kinds, then few-shot examples; ours, or a study's own from a file."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from polyculture.cache.catalog import Topic
from polyculture.cache.errors import ExperimentError
from polyculture.extract.answer import write_answer, write_answers
from polyculture.extract.base import NamedEntity
from polyculture.generate.engines.base import Message

_FOLDER = Path(__file__).with_name("prompts")
_KNOWN = ("topic", "kinds")  # what a prompt may have filled in: `$topic`, `$kinds`


@dataclass(frozen=True, slots=True)
class ExtractorPrompt:
    """How a model is asked: the instruction, a template, and how many texts one request has."""

    instruction: str | None = None  # of the study; None: ours, with its examples
    texts: int = 1

    def head(self, topic: Topic, several: bool = False) -> tuple[Message, ...]:
        """The messages before the text, or several: the same for all of a topic, so that engines cache the prefix."""
        kinds = "\n".join(f"- {name}: {kind.description}" for name, kind in topic.kinds.items())
        template = Template(self.instruction or (_FOLDER / "system.txt").read_text(encoding="utf-8"))
        parts = [template.substitute(topic=topic.name.lower(), kinds=kinds).strip()]
        parts += [(_FOLDER / "several.txt").read_text(encoding="utf-8").strip()] if several else []
        examples = [] if self.instruction else _examples(topic)
        if several and examples:
            answer = write_answers([entities for _, entities in examples])
            turns = [Message("user", join_texts([text for text, _ in examples])), Message("assistant", answer)]
        else:
            roles = ("user", "assistant")
            turns = [Message(role, said) for text, entities in examples
                     for role, said in zip(roles, (text, write_answer(entities)), strict=True)]  # fmt: skip
        return (Message("system", "\n".join(parts)), *turns)


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


def join_texts(texts: Sequence[str]) -> str:
    """Several texts as one message; each has its number, from 1."""
    return "\n".join(f'<text id="{number}">\n{text}\n</text>' for number, text in enumerate(texts, start=1))


def _examples(topic: Topic) -> list[tuple[str, list[NamedEntity]]]:
    """Texts and their entities: the topic's own, else of its file; none where the file has other kinds."""
    if topic.examples:
        return [(one.text, _entities({"text": one.text, "mentions": one.mentions})) for one in topic.examples]
    file = _FOLDER / "examples" / f"{topic.code}.toml"
    if not file.exists():
        return []
    examples = tomllib.loads(file.read_text(encoding="utf-8"))["examples"]
    if not all(set(example["mentions"]) <= set(topic.kinds) for example in examples):
        return []
    return [(example["text"], _entities(example)) for example in examples]


def _entities(example: dict[str, Any]) -> list[NamedEntity]:
    entities = [
        NamedEntity(text, kind, name, english or None)
        for kind, listed in example["mentions"].items()
        for text, name, english in listed
    ]
    return sorted(entities, key=lambda entity: example["text"].index(entity.text))
