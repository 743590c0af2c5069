"""Templates of prompts: per topic, wording and condition, and where in which file each of them stands.

A language file has them in `[wordings.<wording>.<topic>]`, or in `[topics.<topic>]` where it has a single wording
without a name. A user's own topic file has them in `[wording.<language>.<wording>]`, or in `[wording.<language>]`.
A wording without a name stands for the first wording that an experiment asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from polyculture.cache.catalog import Language, Topic
from polyculture.cache.catalog.read import parse_model
from polyculture.cache.errors import CatalogError, did_you_mean
from polyculture.cache.schema import CONDITIONS, Condition

# The placeholders for the inserted text in a template of each condition: exactly one of them stands there, once.
PLACEHOLDERS: Mapping[Condition, tuple[str, ...]] = {
    "neutral": (),
    "explicit": ("{country}", "{origin}"),
    "implicit_male": ("{name}",),
    "implicit_female": ("{name}",),
    "audience": ("{country}", "{origin}"),
}


class Template(BaseModel):
    """The text of a prompt with its placeholder, and what it says in English, word by word."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str
    gloss: str | None = None  # None in English, and where a user gives none

    @model_validator(mode="before")
    @classmethod
    def _plain_text(cls, data: Any) -> Any:
        return {"text": data} if isinstance(data, str) else data


def _complete(templates: Mapping[Condition, Template]) -> Mapping[Condition, Template]:
    missing = [condition for condition in CONDITIONS if condition not in templates]
    if missing:
        raise ValueError(f"no template for {', '.join(missing)}")
    return templates


Templates = Annotated[Mapping[Condition, Template], AfterValidator(_complete)]
WordingName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$", max_length=50)]


class _Unnamed(BaseModel):
    wording: Mapping[str, Templates]


class _Named(BaseModel):
    wording: Mapping[str, Mapping[WordingName, Templates]]


@dataclass(frozen=True, slots=True)
class TopicWording:
    """One wording of a topic in a language."""

    name: str | None  # None: it has none, and is the first that an experiment asks
    templates: Mapping[Condition, Template]
    file: Path
    place: str  # in the file: 'wordings.write.food'


def language_wordings(
    topic: str, wordings: Mapping[str, Mapping[str, Templates]], unnamed: Mapping[str, Templates], file: Path
) -> list[TopicWording]:
    """The wordings of a topic in a language file."""
    of_topic = [
        TopicWording(name, topics[topic], file, f"wordings.{name}.{topic}")
        for name, topics in wordings.items()
        if topic in topics
    ]
    return [*of_topic, *([TopicWording(None, unnamed[topic], file, f"topics.{topic}")] if topic in unnamed else [])]


def own_wordings(topic: Topic, language: Language) -> list[TopicWording]:
    """The wordings in a user's own topic file; none where it has none in this language."""
    if language.code not in topic.wording:
        return []
    file, table = Path("topics", f"{topic.code}.toml"), topic.wording[language.code]
    data, place = {"wording": {language.code: table}}, f"wording.{language.code}"
    if table and not any(map(_is_template, table.values())):
        named = parse_model(_Named, data, file).wording[language.code]
        return [TopicWording(name, templates, file, f"{place}.{name}") for name, templates in named.items()]
    return [TopicWording(None, parse_model(_Unnamed, data, file).wording[language.code], file, place)]


def _is_template(value: object) -> bool:
    return not isinstance(value, Mapping) or "text" in value


def choose(wordings: list[TopicWording], wording: str, first: bool, topic: Topic, language: Language) -> TopicWording:
    """The wording of this name, or the one without a name where the `first` is asked. `CatalogError` where neither."""
    named = {one.name: one for one in wordings}
    chosen = named.get(wording) or (named.get(None) if first else None)
    if chosen:
        return chosen
    own = Path("topics", f"{topic.code}.toml")
    if not wordings:
        raise CatalogError(
            f"topic {topic.code!r} has no wording in language {language.code!r}",
            where=own,
            remedy=f"Add a table [wording.{language.code}] with {', '.join(CONDITIONS)}.",
        )
    names = [name for name in named if name]
    remedy = (
        f"Add it, or set wordings = {names} under [prompts]."
        if names
        else "Add it, or set wordings = 1 under [prompts]."
    )
    near = did_you_mean(wording, names) if names else ""
    raise CatalogError(
        f"topic {topic.code!r} has no wording {wording!r} in language {language.code!r}",
        where=wordings[0].file,
        remedy=f"{near} {remedy}".strip(),
    )


def template_of(wording: TopicWording, condition: Condition) -> str:
    """The text for a condition; `CatalogError` where this wording has none, as it may of `audience`."""
    if condition not in wording.templates:
        raise CatalogError(
            f"{wording.place}: no template for {condition}",
            where=wording.file,
            remedy=f'Add {condition} = "...", or take {condition!r} out of the conditions of the experiment.',
        )
    return wording.templates[condition].text
