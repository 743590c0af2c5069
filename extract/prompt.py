"""The prompt of the extractor model: the topic's kinds, then few-shot examples; ours, or a study's own from a file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from string import Template
from typing import Any

from polyculture.cache.catalog import Topic
from polyculture.cache.errors import ExperimentError
from polyculture.extract.answer import write_answer
from polyculture.extract.base import NamedEntity
from polyculture.generate.engines.base import Message

_FOLDER = Path(__file__).with_name("prompts")
_KNOWN = ("topic", "kinds")  # what a prompt may have filled in: `$topic`, `$kinds`


def prompt_head(topic: Topic, instruction: str | None = None) -> tuple[Message, ...]:
    """The messages before the text: the same for all of a topic, so that engines cache the prefix.

    `instruction` is the study's own, a template; None: ours, with its examples.
    """
    kinds = "\n".join(f"- {name}: {kind.description}" for name, kind in topic.kinds.items())
    template = Template(instruction or (_FOLDER / "system.txt").read_text(encoding="utf-8"))
    turns = [Message("system", template.substitute(topic=topic.name.lower(), kinds=kinds).strip())]
    for text, entities in [] if instruction else _examples(topic):
        turns += [Message("user", text), Message("assistant", write_answer(entities))]
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
