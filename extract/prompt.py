"""The prompt of the extractor model: the topic's kinds, then few-shot examples."""

from __future__ import annotations

import tomllib
from pathlib import Path
from string import Template

from polyculture.cache.catalog import Topic
from polyculture.extract.answer import write_answer
from polyculture.extract.base import NamedEntity
from polyculture.generate.engines.base import Message

_FOLDER = Path(__file__).with_name("prompts")


def prompt_head(topic: Topic) -> tuple[Message, ...]:
    """The messages before the text: the same for all texts of a topic, so that engines can cache the prefix."""
    return (Message("system", _instruction(topic)), *_examples(topic))


def _instruction(topic: Topic) -> str:
    kinds = "\n".join(f"- {name}: {kind.description}" for name, kind in topic.kinds.items())
    template = Template((_FOLDER / "system.txt").read_text(encoding="utf-8"))
    return template.substitute(topic=topic.name.lower(), kinds=kinds).strip()


def _examples(topic: Topic) -> list[Message]:
    """Two messages per example; none for a topic without a file, or with other kinds than the file's."""
    file = _FOLDER / "examples" / f"{topic.code}.toml"
    if not file.exists():
        return []
    examples = tomllib.loads(file.read_text(encoding="utf-8"))["examples"]
    if not all(set(example["mentions"]) <= set(topic.kinds) for example in examples):
        return []
    messages = []
    for example in examples:
        text = example["text"]
        entities = [NamedEntity(text=one[0], kind=kind, name=one[1], english=one[2] or None)
                    for kind, listed in example["mentions"].items() for one in listed]  # fmt: skip
        entities.sort(key=lambda entity: text.index(entity.text))
        messages += [Message("user", text), Message("assistant", write_answer(entities))]
    return messages
