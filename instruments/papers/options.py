"""The options of `polyculture paper`, and the parts that it asks: what the paper's preset names, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator

from polyculture.cache.errors import DataSetError
from polyculture.cache.validation import ClosedModel
from polyculture.cache.written_paths import FilePath, NameOrFolder, NameOrRules
from polyculture.instruments.contract import AtLeastOne, in_file
from polyculture.instruments.datasets.opened import open_data_set
from polyculture.instruments.datasets.presets import PaperPart, PaperPreset, read_preset

KnownPaper = Literal["camel", "camellia", "culturescope", "kobbq", "makieval"]
NAMES: tuple[KnownPaper, ...] = get_args(KnownPaper)
DATA_PARTS = ("cbs", "sentiment", "qa", "ner", "embeddings")  # commands on a data set of entities and contexts
_OF_DATA = ("data", "type", "contexts", "entities")
SOURCE = "condition=source"
# How often a question is asked under each condition of a relevance (CultureScope 7).
CONDITIONS = {"condition=alone": 1, "condition=culture": 1, "condition=probe": 1, SOURCE: 3}
# Which parts a smaller choice reaches, and as what. What no part of the paper takes is refused.
_REACHES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(_OF_DATA, DATA_PARTS),
    "culture": (*DATA_PARTS, "probe"),
    "language": (*DATA_PARTS, "tokens"),
    "units": ("ask", "probe"),
    "encoder": ("probe",),
    "concepts": ("ask",),
}


def _words(value: object) -> object:
    """'zh,ja' and ['zh', 'ja'] alike."""
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list | tuple):
        return value
    return tuple(word.strip() for one in given for word in str(one).split(",") if word.strip())


_OF_LANGUAGE = re.compile(r"[a-z]{2,3}=")
SeveralWords = Annotated[tuple[str, ...], BeforeValidator(_words)]
SeveralPlaces = Annotated[tuple[NameOrFolder, ...], BeforeValidator(_words)]


@dataclass(frozen=True, slots=True)
class AsPaper:
    """What is counted as MAKIEval counts it, in the place of our own way."""

    union: bool = False  # an item counts once for a prompt (section 4), else once for each response that names it
    countries: bool = False  # an item's countries are those of 3.3 alone

    @property
    def words(self) -> str:
        """How the numbers were counted, as the protocol of a row says it."""
        chosen = [
            *(["each item once for a prompt (section 4)"] if self.union else []),
            *(["country of origin, or nationality of author or performer, alone (3.3)"] if self.countries else []),
        ]
        return "counted as the paper does: " + ", ".join(chosen)


class PaperOptions(ClosedModel):
    """Measure what a paper measured, by its own protocol, and print its numbers next to those of your models.

    NAME is camel, camellia, culturescope, kobbq or makieval. With --model no experiment is needed: one is written. A
    model that cannot do a part is a line, and the rest goes on. Existing answers are kept: a second run asks nothing.
    If you ask less than the paper does, or in another way, a mark behind your number says so.

    --language and --culture are of camel and camellia (--culture of culturescope's probe, too); makieval's are those of
    the experiment.
    """

    name: Annotated[KnownPaper, Field(description="The paper.")]
    model: Annotated[str | None, Field(description="ENGINE:NAME; with an experiment, only this one of it.")] = None
    part: Annotated[
        SeveralWords,
        Field(description="Only these parts of it: cbs,qa. An unknown name is answered with the list of all parts."),
    ] = ()
    data: Annotated[
        NameOrRules | None, Field(description="Another data set in the paper's place; own: your tables.")
    ] = None
    folder: Annotated[
        FilePath | None,
        Field(
            description="The folder of the data set, if it was not fetched; of several, with a folder named as each."
        ),
    ] = None
    language: Annotated[SeveralWords, Field(description="Only these languages: zh,ja,ko.")] = ()
    culture: Annotated[SeveralWords, Field(description="Only these cultures.")] = ()
    type: Annotated[SeveralWords, Field(description="Only these types of entities.")] = ()
    contexts: Annotated[AtLeastOne | None, Field(description="At most this many of each type and setting.")] = None
    entities: Annotated[AtLeastOne | None, Field(description="At most this many of each culture and type.")] = None
    units: Annotated[AtLeastOne | None, Field(description="Only so many units of a question set.")] = None
    encoder: Annotated[SeveralPlaces, in_file("LANGUAGE=NAME or a folder, in the place of culturescope's.")] = ()
    concepts: Annotated[FilePath | None, in_file("Concepts by culture, as CANDLE's, for culturescope's relevance.")] = (
        None
    )

    union: Annotated[
        bool, Field(description="makieval: count each item once for a prompt, as its section 4, not once a response.")
    ] = False
    paper_countries: Annotated[
        bool, Field(description="makieval: take only the countries of its section 3.3 (origin, author, performer).")
    ] = False

    @field_validator("union", "paper_countries")
    @classmethod
    def _of_makieval(cls, value: bool, info: ValidationInfo) -> bool:
        if value and info.data.get("name", "makieval") != "makieval":
            raise ValueError("only makieval counts items and countries")
        return value

    @field_validator("part")
    @classmethod
    def _known_parts(cls, part: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        parts = read_preset(info.data["name"]).parts if "name" in info.data else ()
        names = sorted({name for one in parts for name in (one.command, one.title.lower())})
        for word in part:
            if parts and word.lower() not in names:
                raise ValueError(f"{info.data['name']} has no part {word!r}: it has {', '.join(names)}")
        return tuple(word.lower() for word in part)

    @field_validator(*_REACHES)
    @classmethod
    def _reaches_something(cls, value: Any, info: ValidationInfo) -> Any:
        if value and "name" in info.data and "part" in info.data:
            name = info.data["name"]
            asked = {one.command for one in _chosen(read_preset(name).parts, info.data["part"])}
            if not asked.intersection(_REACHES[info.field_name or ""]):
                raise ValueError(f"no part of {name} that is asked takes it")
        return value

    def check_names(self) -> None:
        """Raises `DataSetError` of a data set that there is not."""
        from polyculture.instruments.datasets.rules import rules_of

        if self.data is not None:
            rules_of(self.data)

    @property
    def counting(self) -> AsPaper:
        """What the tables count as MAKIEval does."""
        return AsPaper(self.union, self.paper_countries)

    @property
    def preset(self) -> PaperPreset:
        """The paper's protocol."""
        return read_preset(self.name)

    @property
    def commands(self) -> list[tuple[PaperPart, dict[str, Any]]]:
        """The parts that are asked, each with the options of its command."""
        return [(one, {**protocol_values(self.name, one), **_smaller(self, one)}) for one in chosen_parts(self)]

    def answers_to_each(self, part: PaperPart) -> int:
        """How many answers a relevance takes to each question of the part that it asks about, at most."""
        [values] = [values for one, values in self.commands if one == part]
        return sum(CONDITIONS[name] for name in values["only"])


def chosen_parts(options: PaperOptions) -> list[PaperPart]:
    """The parts that options name, by command or by title; else all."""
    return _chosen(options.preset.parts, options.part)


def _chosen(parts: Sequence[PaperPart], wanted: Sequence[str]) -> list[PaperPart]:
    return [one for one in parts if not wanted or {one.command, one.title.lower()} & set(wanted)]


def protocol_values(paper: str, part: PaperPart) -> dict[str, Any]:
    """The options of a part as the paper asks it."""
    preset = {"preset": paper} if read_preset(paper).choices(part.command) else {}
    return {**preset, **{option: choice.value for option, choice in part.options.items()}}


def _smaller(options: PaperOptions, part: PaperPart) -> dict[str, Any]:
    """What a user asks otherwise, of a part that it reaches."""
    reached = [option for option, commands in _REACHES.items() if part.command in commands]
    found = {option: getattr(options, option) for option in reached if getattr(options, option)}
    if options.encoder and part.command == "probe":
        found["encoder"] = _encoders(part, options.encoder)
    if options.folder is not None and part.command != "tokens" and not part.after:
        folders = [options.folder / name for name in _data_of(part, options)]
        own = next((folder for folder in folders if folder.is_dir()), None)
        if own or part.command != "probe":  # whose data are others than those of the paper's questions
            found["folder"] = own or options.folder
    if part.command == "ask" and not part.after:
        found.pop("concepts", None)
    elif part.after and options.concepts is None:  # whose condition there is only with a table of them
        found["only"] = [one for one in part.options["only"].value if one != SOURCE]
    if found.get("language") and "english" in part.options:
        # A translation is in English, whatever its source is in: it is chosen by its cultures.
        del found["language"]
        found["culture"] = spoken(options) or options.culture
    return found


def _data_of(part: PaperPart, options: PaperOptions) -> list[str]:
    """The data set or question set that a part asks about, and the one whose files that has."""
    from polyculture.instruments.questions.rules.opened import SHELF

    if "set" in part.options:
        named = str(part.options["set"].value).partition(":")[0]
        return [named, SHELF.of(named).files_of or named]
    asked = part.options.get("data")
    return [str(asked.value) if asked else options.data or options.preset.data]


def _encoders(part: PaperPart, given: Sequence[str]) -> list[str]:
    """The encoders of a part's languages: those that are given, else the paper's. 'NAME' is of every language."""
    own = dict(one.split("=", 1) for one in part.options["encoder"].value)
    named = [one.partition("=") if _OF_LANGUAGE.match(one) else ("", "=", one) for one in given]
    every = {language: name for code, _, name in named if not code for language in own}
    return [f"{code}={name}" for code, name in {**own, **every, **{c: n for c, _, n in named if c in own}}.items()]


def spoken(options: PaperOptions) -> tuple[str, ...]:
    """The cultures of the chosen languages, and of these the chosen ones."""
    found = dict.fromkeys(culture for code in options.language for culture in _speaking(code, options))
    return tuple(one for one in found if one in (options.culture or found))


def _speaking(language: str, options: PaperOptions) -> list[str]:
    from polyculture.instruments.datasets.rules import rules_of

    data = options.data or options.preset.data
    if cultures := rules_of(data).cultures:
        return [culture for culture, codes in cultures.items() if language in codes]
    try:
        contexts = open_data_set(data, options.folder).contexts
    except DataSetError:  # told by the command itself
        return []
    return sorted({one.culture for one in contexts if one.language == language})
