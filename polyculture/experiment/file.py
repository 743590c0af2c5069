"""The experiment file: models, prompts and settings in one TOML file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr, ValidationError, field_validator, model_validator

from polyculture.cache.errors import ExperimentError, together
from polyculture.cache.store.model_facts import Price
from polyculture.cache.store.schema import CONDITIONS, Condition
from polyculture.cache.text.sanitize import find_key
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.cache.toml_files import read_toml
from polyculture.cache.validation import ClosedModel
from polyculture.experiment.mistakes import key_mistakes
from polyculture.experiment.sections import (
    PUBLISHED,
    ExtractSection,
    LinkSection,
    ModelFactsSection,
    PriceSection,
    PromptsSection,
    SamplingSection,
    StopSection,
    StudyName,
    StudySection,
)
from polyculture.experiment.variants import find_variant, with_variants, wrong_variants
from polyculture.generate.design import read_preset
from polyculture.generate.engines import ModelSpec, find_kind
from polyculture.generate.engines.imported import PREFIX
from polyculture.generate.engines.options import SYSTEM
from polyculture.instruments import INSTRUMENTS

_LATER = "once these keys fit, its names, models and prices are checked, too"


class Experiment(ClosedModel):
    """An experiment, as given in its file."""

    name: StudyName
    preset: str | None = None
    models: tuple[str, ...] = Field(min_length=1)
    # What prompts are made of: an experiment that only asks instruments has none of the three.
    languages: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    countries: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = Field(default=CONDITIONS, min_length=1)
    implicit_countries: Literal["first", "all"] = (
        "first"  # whose names: those of the language's first country, or of all countries
    )
    # Append "please answer in <language>" to the prompts of all models, of none, or of these.
    answer_in_language: bool | tuple[str, ...] = False
    # Of models that are asked in some of the languages alone.
    languages_of: Mapping[str, Annotated[tuple[str, ...], Field(min_length=1)]] = {}
    catalog: tuple[str, ...] = ()  # culture packs: folders, relative to the file's; a single one needs no list
    prompts: PromptsSection = PromptsSection()
    sampling: SamplingSection = SamplingSection()
    extract: ExtractSection = ExtractSection()
    link: LinkSection = LinkSection()
    stop: StopSection = StopSection()
    study: StudySection | None = None  # what the experiment must not differ from
    instruments: Mapping[str, Mapping[str, Any]] = {}  # per command: instruments that `run` asks, with their options
    defaults: Mapping[str, Mapping[str, Any]] = {}  # per command: defaults of its options
    options: Mapping[str, Mapping[str, Any]] = {}  # per engine or per model: base_url, concurrency, ...
    variants: Mapping[str, Mapping[str, Mapping[str, Any]]] = {}  # per model: other options, under names of their own
    prices: Mapping[str, PriceSection] = {}  # per model
    model_facts: Mapping[str, ModelFactsSection] = {}  # per model: what tables and comparisons group by
    max_cost: float | None = Field(default=None, gt=0, strict=True, allow_inf_nan=False)  # in the prices' currency
    notes: tuple[str, ...] = ()  # what a reader of the report must know
    _folder: Path = PrivateAttr(default=Path())  # of the file, which paths in it are relative to

    @field_validator("catalog", mode="before")
    @classmethod
    def _one_pack_or_several(cls, wanted: object) -> object:
        return (wanted,) if isinstance(wanted, str) else wanted

    @field_validator("answer_in_language", mode="before")
    @classmethod
    def _all_none_or_some(cls, wanted: object) -> object:
        if isinstance(wanted, bool):
            return wanted
        if isinstance(wanted, list | tuple) and all(isinstance(model, str) for model in wanted):
            return tuple(wanted)
        raise ValueError("is neither true (all models), false, nor a list of models")

    @model_validator(mode="before")
    @classmethod
    def _expand(cls, data: Any) -> Any:
        return with_variants(data) if isinstance(data, dict) else data

    def contradictions(self, file: Path) -> Iterator[ExperimentError]:
        """An error for each thing that keys of `file` say against another one."""
        return (ExperimentError(line, where=file) for line in self._contradictions())

    def _contradictions(self) -> Iterator[str]:
        for key in ("models", "languages", "topics", "countries", "conditions"):
            values = getattr(self, key)
            twice = sorted({value for value in values if values.count(value) > 1})
            if twice:
                yield f"{key} names {', '.join(twice)} twice"
        yield from wrong_variants(self.variants, self.models)
        appending = () if isinstance(self.answer_in_language, bool) else self.answer_in_language
        known = {*self.models, *self.variants}
        for key, named in (("answer_in_language", appending), ("languages_of", self.languages_of)):
            for model in named:
                if model not in known:
                    yield f"{key}: {model!r} is none of the models. {did_you_mean(model, known)}"
        for model, languages in self.languages_of.items():
            for code in languages:
                if code not in self.languages:
                    near = did_you_mean(code, self.languages)
                    yield f"languages_of.{model}: {code!r} is none of the languages. {near}"
        if self.imported and not all(model.startswith(PREFIX) for model in self.models):
            yield "models: imported texts answer prompts of their own; give them an experiment of their own"
        if PUBLISHED in (self.extract.with_, self.link.source) and not self.imported:
            yield "published mentions and links come with imported texts: see docs/importing.md"
        if self.link.source == PUBLISHED and self.extract.with_ != PUBLISHED:
            yield 'link.source "published" is of published mentions: write extract.with = "published"'

    @property
    def imported(self) -> bool:
        """Whether somebody else generated the texts: nothing is asked, and the prompts are those of their files.

        Without topics there are no texts: what was imported then are answers to question sets.
        """
        return bool(self.topics) and any(model.startswith(PREFIX) for model in self.models)

    @property
    def asked(self) -> tuple[str, ...]:
        """All models that receive requests: those under study, and the extractor where it is a model."""
        extractor = (self.extract.with_,) if self.extract.by_model else ()
        return tuple(dict.fromkeys((*self.models, *extractor)))

    @property
    def played_line(self) -> str | None:
        """A line that names mock models, whose numbers are not real. None where all models are real."""
        played = [model for model in self.asked if not find_kind(self.model_spec(model)).real]
        names = ", ".join(played)
        return f"Not real: no model answers for {names}, and no number made with it counts." if played else None

    @property
    def report_notes(self) -> tuple[str, ...]:
        """Notes for the report: those of the file, and the names of mock models."""
        return (*self.notes, *filter(None, [self.played_line]))

    def price(self, model: str) -> Price | None:
        """A model's price, if the file has one."""
        section = self.prices.get(model)
        return Price(**section.model_dump()) if section else None

    @property
    def facts_of_models(self) -> dict[str, dict[str, Any]]:
        """The known facts of this experiment's models, per model."""
        told = {model: self.model_facts[model] for model in self.models if model in self.model_facts}
        return {model: facts.model_dump(exclude_none=True) for model, facts in told.items()}

    def model_spec(self, model: str) -> ModelSpec:
        """A model with its options: its own take precedence over those of its engine, these over `[prompts]`."""
        engine = model.partition(":")[0]
        common = {} if self.prompts.system is None else {SYSTEM: self.prompts.system}
        options = {**common, **self.options.get(engine, {}), **self.options.get(model, {})}
        if options.get(SYSTEM) == "":  # a model that has none, where others have one
            del options[SYSTEM]
        variant = find_variant(model, self.variants)
        return ModelSpec(model, options, variant[1] if variant else None, self._folder)

    def languages_asked(self, model: str) -> tuple[str, ...]:
        """The languages that a model is asked in, in the order of the experiment's; a variant in those of its model."""
        some = self.languages_of.get(model, self.languages_of.get(self.base_of(model)))
        return self.languages if some is None else tuple(code for code in self.languages if code in some)

    def base_of(self, model: str) -> str:
        """The model that a variant is one of; any other model itself."""
        variant = find_variant(model, self.variants)
        return variant[0] if variant else model

    @property
    def appending(self) -> tuple[str, ...]:
        """The models that have the sentence behind their prompts, where not all have it: it is not in the prompts."""
        if isinstance(self.answer_in_language, bool):
            return ()
        named = self.answer_in_language
        return tuple(model for model in self.models if model in named or self.base_of(model) in named)


def read_experiment(file: Path) -> Experiment:
    """The experiment in `file`, its preset filled in. Raises `ExperimentError` with file, place and remedy."""
    experiment = parse_experiment(read_keys(file), file)
    if found := list(experiment.contradictions(file)):
        raise together(found)
    return experiment


_BLOCKS_OF_RULES = ("questions", "entities", "contexts")


def read_keys(file: Path) -> dict[str, Any]:
    """The keys of an experiment file. Raises `ExperimentError` where it cannot be read."""
    if not file.exists():
        meant = file.with_name(f"{file.name}.toml")
        remedy = f"Did you mean {meant}?" if meant.exists() else "Write one with: polyculture init"
        raise ExperimentError("there is no such experiment file", where=file, remedy=remedy)
    if file.is_dir():
        raise ExperimentError("is a folder, not an experiment file", where=file, remedy="Name the .toml file in it.")
    keys = read_toml(file, ExperimentError)
    if blocks := [f"[[{name}]]" for name in _BLOCKS_OF_RULES if isinstance(keys.get(name), list)]:
        what = f"is a rules file, as it has {' and '.join(blocks)}, and no experiment file"
        remedy = (
            f"Name it before the experiment: polyculture data check {file.name}, polyculture ask {file.name} exp.toml."
        )
        raise ExperimentError(what, where=file, remedy=remedy)
    place = find_key(keys, issued=True)
    if place is not None:
        remedy = "Put it in an environment variable; a server's is named in api_key_env, that of the hub is HF_TOKEN."
        raise ExperimentError(f"{place} looks like a key, and every run keeps a copy of this file", where=file,
                              remedy=remedy)  # fmt: skip
    return keys


def parse_experiment(data: dict[str, Any], file: Path) -> Experiment:
    """The experiment that the keys of a file say, its preset filled in.

    Raises `ExperimentError` with a line for each key that is unknown, is missing or does not fit.
    """
    data = with_defaults(_with_preset(data, file))
    try:
        experiment = Experiment.model_validate(data)
        experiment._folder = file.parent
    except ValidationError as fault:
        mistakes = list(key_mistakes(fault, data, file, Experiment))
        if len(mistakes) > 1:
            mistakes.append(ExperimentError(_LATER, where=file))
        raise together(mistakes) from None
    return experiment


def _with_preset(data: dict[str, Any], file: Path) -> dict[str, Any]:
    """The preset's keys; those of the file take precedence."""
    if "preset" not in data:
        return data
    try:
        preset = read_preset(str(data["preset"]))
    except ExperimentError as fault:
        raise ExperimentError(f"preset: {fault.what}", where=file, remedy=fault.remedy) from fault
    return {**preset.model_dump(), **data}


def with_defaults(data: dict[str, Any]) -> dict[str, Any]:
    """A section named after a command sets the options of that command, as `[cbs]` does."""
    commands = {command for entry in INSTRUMENTS for command in entry.lines}
    named = {key: value for key, value in data.items() if key in commands and isinstance(value, dict)}
    rest = {key: value for key, value in data.items() if key not in named}
    return {**rest, "defaults": {**named, **rest.get("defaults", {})}} if named else data
