"""The parts of a paper: the commands that measure it, in the data set's languages and in English."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from polyculture.cache.errors import DataSetError, did_you_mean
from polyculture.instruments.contract import AtLeastOne, Part
from polyculture.instruments.papers.paper import papers

if TYPE_CHECKING:
    from polyculture.instruments.datasets.model import DataSet

TRANSLATED = ("cbs", "sentiment", "ner", "qa")  # the commands that papers also run on the English translation
PRESET = "preset"  # the option of commands that have the papers' protocols


def _words(value: object) -> object:
    """'zh,ja' and ['zh', 'ja'] alike."""
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list | tuple):
        return value
    return tuple(word.strip() for one in given for word in str(one).split(",") if word.strip())


DATA = "The data set, or a rules file; own for one in your own tables."
Words = Annotated[tuple[str, ...], BeforeValidator(_words)]


class PaperOptions(BaseModel):
    """What a paper's command asks, of which part of its data set."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    paper: ClassVar[str]

    data: Annotated[str, Field(description=DATA)]
    folder: Annotated[Path | None, Field(description="The folder of the data set, if it was not fetched.")] = None
    model: Annotated[str | None, Field(description="Only this model of the experiment.")] = None
    languages: Annotated[Words, Field(description="Only these languages: zh,ja,ko.")] = ()
    cultures: Annotated[Words, Field(description="Only these native cultures.")] = ()
    types: Annotated[Words, Field(description="Only these types of entities.")] = ()
    contexts: Annotated[AtLeastOne | None, Field(description="At most this many of each type and setting.")] = None
    entities: Annotated[AtLeastOne | None, Field(description="At most this many of each culture and type.")] = None
    parts: Annotated[Words, Field(description="Only these of what the paper measured: cbs,sentiment.")] = ()
    native_only: Annotated[bool, Field(description="Leave the publisher's English translation out.")] = False
    form: Annotated[
        Literal["causal", "masked"] | None, Field(description="Contexts of cbs: masked for encoders. Default: causal.")
    ] = None
    protocol: Annotated[
        Literal["ours", "paper"],
        Field(description="paper: by the paper's own choices, the presets of the parts. See docs/papers.md."),
    ] = "ours"

    @field_validator("parts")
    @classmethod
    def _known_parts(cls, parts: tuple[str, ...]) -> tuple[str, ...]:
        known = papers()[cls.paper].parts
        for part in parts:
            if part not in known:
                raise ValueError(f"there is no part {part!r}: {', '.join(known)}")
        return parts


class CamelliaOptions(PaperOptions):
    """Measure what the Camellia paper measured of models: likelihood, sentiment, extraction; and their vocabularies.

    In the languages of the data set and in its English translation. A model that cannot do a part is a line, and the
    rest goes on. What is answered already stays: a second run asks nothing.
    """

    paper = "camellia"
    data: Annotated[str, Field(description=DATA)] = "camellia"


class CamelOptions(PaperOptions):
    """Measure what the CAMeL paper measured of models: likelihood, sentiment, names; and their embeddings.

    A model that cannot do a part is a line, and the rest goes on. What is answered already stays: a second run asks
    nothing.
    """

    paper = "camel"
    data: Annotated[str, Field(description=DATA)] = "camel"


def paper_parts(paper: str, options: PaperOptions) -> list[Part]:
    """The commands with their options."""
    wanted = options.parts or papers()[paper].parts
    return [
        Part(name, command, values, optional="english" in values)
        for command in wanted
        for name, values in _readings(command, paper, options)
    ]


def check_choice(options: PaperOptions, dataset: DataSet) -> None:
    """Raises `DataSetError` of a language, culture or type that the data set has no context of."""
    there = {
        "language": (options.languages, {context.language for context in dataset.contexts}),
        "culture": (options.cultures, {context.culture for context in dataset.contexts}),
        "type": (options.types, {context.entity_type for context in dataset.contexts}),
    }
    for what, (wanted, known) in there.items():
        for word in wanted:
            if word not in known:
                remedy = did_you_mean(word, known) or f"There are {', '.join(sorted(known))}."
                raise DataSetError(f"{dataset.name} has no context of {what} {word!r}", where=dataset.folder,
                                   remedy=remedy)  # fmt: skip


def _readings(command: str, paper: str, options: PaperOptions) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """A command's options: of the data set as it is, and of its translation where the papers asked that, too."""
    if command == "tokens":
        characters = "ranges" if options.protocol == "paper" else "letters"
        yield command, {"language": _languages(options), "characters": characters}
        return
    chosen = {"data": options.data, "folder": options.folder, "type": options.types, **_sizes(options)}
    if command == "cbs" and options.form:
        chosen["form"] = options.form
    if command in TRANSLATED and options.protocol == "paper":
        chosen[PRESET] = paper
    yield command, {**chosen, "language": options.languages, "culture": options.cultures}
    if command in TRANSLATED and not options.native_only:
        yield f"{command} in English", {**chosen, "culture": read_cultures(options), "english": True}


def _sizes(options: PaperOptions) -> dict[str, int]:
    """The sizes that were said: a preset gives the others."""
    sizes = {"contexts": options.contexts, "entities": options.entities}
    return {name: size for name, size in sizes.items() if size is not None}


def _languages(options: PaperOptions) -> tuple[str, ...]:
    """Those whose share of a vocabulary is counted: the chosen ones, else all that the data set's rules name."""
    from polyculture.instruments.datasets.rules import rules_of

    return options.languages or tuple(rules_of(options.data).languages)


def read_cultures(options: PaperOptions) -> tuple[str, ...]:
    """The chosen cultures, and those of the chosen languages: a translation is known by its culture."""
    spoken = tuple(dict.fromkeys(culture for code in options.languages for culture in _speaking(code, options)))
    return tuple(one for one in spoken if one in (options.cultures or spoken)) or options.cultures


def _speaking(language: str, options: PaperOptions) -> Sequence[str]:
    from polyculture.instruments.datasets.opened import open_data_set
    from polyculture.instruments.datasets.rules import rules_of

    rules = rules_of(options.data)
    if rules.cultures:
        return [culture for culture, codes in rules.cultures.items() if language in codes]
    try:
        dataset = open_data_set(options.data, options.folder)
    except DataSetError:  # told by the command itself
        return []
    return sorted({context.culture for context in dataset.contexts if context.language == language})
